#!/bin/sh
# run.sh BUILD PROGRAM [ARGS]: runs a step where RUN_ON says, gpu or emulator; the exit code is the step's.
# SAN_LIB names the sanitizer's runtime where BUILD is instrumented: the host program is not, so it is preloaded.
set -eu
build=$1 program=$2
shift 2
[ ! -t 1 ] || printf '\033[K' # make's line of what it builds

if [ "$RUN_ON" = gpu ]; then
    case $program in /*) exec "$program" "$@" ;; *) exec "./$program" "$@" ;; esac
fi
if [ -n "${SAN_LIB:-}" ]; then
    ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" LD_PRELOAD="$SAN_LIB" exec "$build/sm100emu" "$program" "$@"
fi
exec "$build/sm100emu" "$program" "$@"
