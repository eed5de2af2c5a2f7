#!/bin/sh
# run.sh ROOT PRODUCTS PROGRAM...: test_page.py, or why not.
set -u
command -v python3 >/dev/null || {
    echo "skipped: python3 is not installed"
    exit 77
}
exec env ${SAN_LIB:+LSAN_OPTIONS=detect_leaks=0} python3 -ISB "$1/python/sm100repo" "$1/tests/page/test_page.py" "$@"
