#!/bin/sh
# run.sh EMULATOR VECTORS FOLDER: runs FOLDER's forms on the emulator and compares with what an H200 gave. SAN_LIB is
# preloaded where it is set (the emulator is instrumented, VECTORS is not).
set -u
exec env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
    "$1" "$2" "$3/forms.txt" --check "$3/h200.txt"
