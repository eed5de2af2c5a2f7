#!/bin/sh
# slides.sh FOLDER: the decks of docs/slides/ as FOLDER/1.html to 4.html; docs/slides/conf.py says how. A warning of the
# generator is an error.
set -eu
slides=$1
tools=$(sh scripts/toolkit.sh site)

rm -rf "$slides"
PYTHONPATH=$tools python3 -SB -m sphinx -q -E -W --keep-going -b revealjs -d "$slides.doctrees" docs/slides "$slides"
# The theme and the highlighter of reveal.js are not used; its fonts alone are 2 MB.
(cd "$slides" && rm -rf .buildinfo objects.inv _static/revealjs/css _static/revealjs/dist/theme _static/revealjs/dist/*.map \
    _static/revealjs/dist/*.esm.js _static/revealjs/plugin/[!n]* _static/revealjs/plugin/notes/*.esm.js)
for deck in "$slides"/[1-9].html; do echo "$deck"; done
