#!/bin/sh
# site.sh BUILD [FOLDER]: lessons, pages, figures, the sources that they link to and the watch pages of all steps and
# rungs as a static site in FOLDER, BUILD/site without it: docs/site/conf.py says what is on it. A warning of the
# generator is an error. MAKE makes the watch pages that are not there.
set -eu
build=$1 site=${2:-$1/site}
tools=$(sh scripts/toolkit.sh site)

# watched PAGE TARGET...: the page of `make TARGET...`
watched() {
    page=$1
    shift
    [ -s "$build/watch/$page/index.html" ] || {
        [ ! -t 2 ] || printf '  watch %s\033[K\r' "$page" >&2
        ${MAKE:-make} -s "$@" >/dev/null
    }
    mkdir -p "$site/watch/$page"
    cp "$build/watch/$page/index.html" "$site/watch/$page/index.html"
}

rm -rf "$site"
for step in 0[1-9]_*/; do
    watched "${step%%_*}" "watch-${step%%_*}"
done
for part in 01_tmem_alloc/parts/*.cu; do
    part=${part##*/}
    watched "01/${part%.cu}" watch-01 "PART=${part%.cu}"
done
for rung in 05_persistent_warpspec/ladder/*.cu; do
    rung=${rung##*/}
    watched "05/${rung%.cu}" watch-05 "RUNG=${rung%%_*}"
done
[ ! -t 2 ] || printf '  pages\033[K\r' >&2
PYTHONPATH=$tools python3 -SB -m sphinx -q -E -W --keep-going -b html -d "$build/site-doctrees" \
    -c docs/site . "$site"
cp "$site/README.html" "$site/index.html" # beside it, so that its links hold
echo "$site/index.html"
