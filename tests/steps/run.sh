#!/bin/sh
# run.sh CODE EMULATOR PROGRAM [ARGS]: one run of a step on the emulator, and what every step promises:
#   0   the last line of stdout begins with PASS (but for --help, which prints the options), and nothing is told
#   1   the last line of stdout begins with FAIL
#   2   a bad command line: nothing but one line on stderr
# The emulator tells all that it can: --check=strict, by which a program that ends with 0 ends with 3 where it does.
# SAN_LIB is preloaded where it is set (the emulator is instrumented, PROGRAM is not).
set -u
wanted=$1
shift
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT
env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:exitcode=124:${ASAN_OPTIONS:-}" \
    UBSAN_OPTIONS="exitcode=124:${UBSAN_OPTIONS:-}" TSAN_OPTIONS="exitcode=124:${TSAN_OPTIONS:-}" \
    SM100EMU_CHECK=strict "$@" >"$out" 2>"$err"
code=$?

bad=0
complain() {
    echo "FAILED: $1"
    bad=1
}

[ $code -eq "$wanted" ] || complain "exit code $code, expected $wanted"
last=$(tail -n 1 "$out")
case " $* " in
*' --help '*) [ -s "$out" ] || complain "--help prints nothing" ;;
*)
    case $wanted:$last in
    0:PASS* | 1:FAIL*) ;;
    0:* | 1:*) complain "the last line is neither PASS nor FAIL as the exit code says: $last" ;;
    2:?*) complain "stdout of a bad command line is not empty" ;;
    esac
    ;;
esac
[ "$wanted" -ne 2 ] || [ "$(wc -l <"$err")" -eq 1 ] || complain "a bad command line gets one line on stderr"

if [ $bad -ne 0 ]; then
    echo "--- $*"
    echo "--- stdout:"
    tail -n 60 "$out"
    echo "--- stderr:"
    tail -n 60 "$err"
else
    echo "$last"
fi
exit $bad
