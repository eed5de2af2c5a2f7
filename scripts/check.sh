#!/bin/sh
# check.sh EMULATOR SEEDS PROGRAM [ARGS]: a program that ends with a PASS line does the same under every schedule that
# --explore=SEEDS tries, and with --check=strict nothing is told of it. Compared are lines that begin with a P, up to the
# first semicolon: others may tell who came first, and what follows there counts who waited. SAN_LIB as in run.sh.
set -eu
emulator=$1 seeds=$2
shift 2
[ ! -t 1 ] || printf '\033[K' # make's line of what it builds

code=0
out=$(env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
    "$emulator" --check=strict --explore="$seeds" --ignore='^[^P].*|;.*' "$@") || code=$?
last=$(printf '%s\n' "$out" | tail -n 1)
case $code:$last in
0:PASS*) printf '%s\n' "$last" ;;
*)
    printf 'FAILED: exit code %s; under the default schedule:\n%s\n' "$code" "$(printf '%s\n' "$out" | tail -n 40)"
    exit 1
    ;;
esac
