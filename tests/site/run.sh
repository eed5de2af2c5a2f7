#!/bin/sh
# run.sh ROOT PRODUCTS: makes the site in PRODUCTS/tests/site and holds it to check.py and test_browser.py; and the spelling
# of what it is made of, and of comments. Exit code 77 where Sphinx is not fetched (`make site` does that), or no Chromium.
set -u
root=$1 products=$2
# shellcheck source=tests/site/sphinx.sh
. "$(dirname "$0")/sphinx.sh"
bad=0
# A part of a tile; CuTe's name; two macros' parameters; mistakes on purpose in tests.
words=subtile,subtiles,thrid,te,ue,ines,countr,doen
site=$products/tests/site
sh scripts/site.sh "$products" "$site" || exit 1
python3 -ISB python/sm100repo tests/site/check.py "$site" || bad=1
git ls-files -z '*.md' '*.c' '*.h' '*.cu' '*.cuh' '*.py' '*.sh' '*.html' '*.js' '*.txt' \
    ':!tests/silicon/h200/*.txt' ':!tests/silicon/published/*.txt' | # hashes, and the driver's own words
    PYTHONPATH=${TOOLKIT_DIR:-.toolkit}/site xargs -0 \
        python3 -SB -m codespell_lib --ignore-words-list $words || bad=1
[ $bad -eq 0 ] || exit 1
exec python3 -ISB python/sm100repo tests/site/test_browser.py "$root" "$site"
