#!/bin/sh
# run.sh ROOT TEST PRODUCTS PROGRAM...: a test in Chromium, or why not.
set -u
command -v python3 >/dev/null || {
    echo "skipped: python3 is not installed"
    exit 77
}
root=$1 test=$2
shift 2
exec env ${SAN_LIB:+LSAN_OPTIONS=detect_leaks=0} python3 -ISB "$root/python/sm100repo" "$root/tests/page/$test" "$@"
