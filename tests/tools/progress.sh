#!/bin/sh
# progress.sh ROOT EMULATOR LAUNCH: who waits at a terminal is told that a launch of more than two seconds goes on, and
# elsewhere nobody is. LAUNCH runs an endless loop of tests/negative/, which --timeout ends.
set -u
root=$1 emulator=$2 launch=$3
command -v python3 >/dev/null || {
    echo "skipped: python3 is not installed"
    exit 77
}
set -- env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
    "$emulator" --timeout=3 "$launch" "$root/tests/negative/timeout_loop.ptx" timeout_loop
bad=0
plain=$("$@" 2>&1)
case $plain in
*'runs for'*)
    echo "FAILED: told without a terminal: $plain"
    bad=1
    ;;
*launch-timeout*) ;;
*)
    echo "FAILED: no time-out: $plain"
    bad=1
    ;;
esac
terminal=$(python3 -IS -c 'import pty, sys; sys.exit(0 if pty.spawn(sys.argv[1:]) else 1)' "$@" 2>&1)
case $terminal in
*'sm100emu: timeout_loop runs for 2 s'*launch-timeout*) ;;
*)
    echo "FAILED: not told on a terminal: $terminal"
    bad=1
    ;;
esac
exit $bad
