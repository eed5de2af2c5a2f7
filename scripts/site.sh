#!/bin/sh
# site.sh BUILD [FOLDER]: lessons, pages, figures, sources that they link to and the watch pages of all steps as a static
# site in FOLDER, BUILD/site without it: docs/site/conf.py says what is on it. A warning of the generator is an error.
#
# MAKE makes the watch pages; WATCH=no leaves out those that are not there.
set -eu
build=$1 site=${2:-$1/site}
tools=$(sh scripts/toolkit.sh site)

for step in 01 02 03 04 05; do
    [ "${WATCH:-}" = no ] || [ -s "$build/watch/$step/index.html" ] || ${MAKE:-make} -s "watch-$step" >/dev/null
done
rm -rf "$site"
mkdir -p "$site"
PYTHONPATH=$tools PYTHONDONTWRITEBYTECODE=1 python3 -m sphinx -q -E -W --keep-going -b html -d "$build/site-doctrees" \
    -c docs/site . "$site"
cp "$site/README.html" "$site/index.html" # beside it, so that its links hold
for page in "$build"/watch/[0-9][0-9]/index.html; do
    to=$site/${page#"$build"/}
    mkdir -p "${to%/*}"
    cp "$page" "$to"
done
echo "$site/index.html"
