#!/bin/sh
# run.sh EMULATOR PROGRAM FOLDER [ARGUMENT...]: PROGRAM's cases on the emulator, compared with FOLDER/h200/NAME.txt,
# which is what an H200 gave, or with FOLDER/$RECORD. SAN_LIB is preloaded where it is set (the emulator is
# instrumented, PROGRAM is not); OPTIONS are the emulator's.
set -u
emulator=$1 program=$2 folder=$3
shift 3
env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
    "$emulator" ${OPTIONS:-} "$program" "$@" --check "$folder/${RECORD:-h200/${program##*/}.txt}"
code=$?
[ $code -ne 3 ] || code=0 # the program found no difference; what is reported of its cases' processes is theirs
exit $code
