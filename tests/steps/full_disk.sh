#!/bin/sh
# full_disk.sh EMULATOR PROGRAM: a step whose output cannot be written says so on stderr and ends with 1, like any
# program whose result is lost. With --help too, and so do the emulator's own tools.
# SAN_LIB is preloaded where it is set (the emulator is instrumented, PROGRAM is not).
set -u
[ -c /dev/full ] || exit 0
bad=0
for option in --help ''; do
    err=$(env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" "$1" "$2" $option \
        2>&1 >/dev/full)
    code=$?
    [ $code -eq 1 ] && [ "$err" = 'what is printed is not all there: stdout cannot be written' ] || {
        echo "FAILED: $2 $option >/dev/full: exit code $code, on stderr: $err"
        bad=1
    }
done
for tool in "$1" "$1-log"; do
    err=$("$tool" --help 2>&1 >/dev/full)
    code=$?
    case $code:$err in
    1:*'stdout takes no more'*) ;;
    *)
        echo "FAILED: $tool --help >/dev/full: exit code $code, on stderr: $err"
        bad=1
        ;;
    esac
done
exit $bad
