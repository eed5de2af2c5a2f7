#!/bin/sh
# progress.sh ROOT EMULATOR LAUNCH: who waits at a terminal is told that a launch of more than two seconds goes on, and
# elsewhere nobody is. LAUNCH runs an endless loop of tests/negative/, which --timeout ends.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
needs python3
root=$1 emulator=$2 launch=$3
set -- env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
    "$emulator" --timeout=3 "$launch" "$root/tests/negative/timeout_loop.ptx" timeout_loop
caught "$@"
same 'a time-out' "$out" '*launch-timeout*'
[ "$out" = "${out#*runs for}" ] || failed "told without a terminal: $out"
caught python3 -IS -c 'import pty, sys; sys.exit(0 if pty.spawn(sys.argv[1:]) else 1)' "$@"
same 'told on a terminal' "$out" '*sm100emu: timeout_loop runs for 2 s*launch-timeout*'
exit $bad
