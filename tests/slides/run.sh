#!/bin/sh
# run.sh ROOT PRODUCTS: makes the slides and the handout in PRODUCTS/tests/ and holds them to test_browser.py. Exit code 77
# where Sphinx is not fetched (`make slides` does that), or no Chromium.
set -u
root=$1 products=$2
# shellcheck source=tests/site/sphinx.sh
. "$(dirname "$0")/../site/sphinx.sh"
sh scripts/slides.sh "$products/tests/slides" || exit 1
sh scripts/handout.sh "$products/tests/handout" || exit 1
exec python3 -ISB python/sm100repo tests/slides/test_browser.py "$root" "$products/tests/slides" "$products/tests/handout"
