#!/bin/sh
# under.sh [OPTIONS] PROGRAM [ARGS]: what sm100emu does, for an emulator and a PROGRAM that were built for another machine.
# UNDER is the command that runs such programs, PRODUCTS the emulator's build folder. Under qemu-user a program cannot
# become another one, as a child of sm100emu does, so its options go into the environment here: --gpc-sizes=4 is
# SM100EMU_GPC_SIZES. What was found stands in the record of the run (emulator/report/record.h).
set -eu
while :; do
    case ${1:-} in
    --*=*) name=${1%%=*} value=${1#*=} ;;
    --*) name=$1 value=1 ;;
    *) break ;;
    esac
    name=SM100EMU_$(printf %s "${name#--}" | tr 'a-z-' 'A-Z_')
    export "$name=$value"
    shift
done
record=$(mktemp)
trap 'rm -f "$record"' EXIT
code=0
# shellcheck disable=SC2086 # words on purpose
$UNDER -E LD_LIBRARY_PATH="$PRODUCTS/emulator" -E LD_PRELOAD="$PRODUCTS/emulator/libsm100emu-static.so" \
    -E SM100EMU_RECORD="$record" "$@" || code=$?
[ $code -ne 0 ] || ! grep -q '^found' "$record" || code=3
exit $code
