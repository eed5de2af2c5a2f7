#!/bin/sh
# handout.sh FOLDER: docs/handout/handout.md with the tables that it names, as FOLDER/index.html, to be printed; where
# Chromium is installed also as FOLDER/handout.pdf. A warning of the generator is an error.
set -eu
handout=$1
tools=$(sh scripts/toolkit.sh site)

rm -rf "$handout"
PYTHONPATH=$tools python3 -SB -m sphinx -q -E -W --keep-going -b html -d "$handout.doctrees" docs/handout "$handout"
mv "$handout/handout.html" "$handout/index.html"
(cd "$handout" && rm -rf .buildinfo objects.inv search.html searchindex.js _static/*.js _static/*.png _static/*.svg)
echo "$handout/index.html"
python3 -ISB python/sm100repo scripts/print.py "$handout/index.html" "$handout/handout.pdf"
