# shellcheck shell=sh
# sphinx.sh: sourced by a run.sh whose first argument is the repository's root. Goes there, and ends the test with 77 where
# Sphinx is not fetched (`make site`, slides and handout do that).
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$1" || exit 2
cmp -s "${TOOLKIT_DIR:-.toolkit}/site/requirements.txt" scripts/site-requirements.txt || {
    echo "skipped: make site has not fetched Sphinx"
    exit 77
}
