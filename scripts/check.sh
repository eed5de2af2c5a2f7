#!/bin/sh
# check.sh EMULATOR SEEDS PROGRAM [ARGS]: a program that ends with a PASS line gives that very line, up to the first
# semicolon (what may follow are counts of who waited), under every schedule: eager, lazy, and random with the seeds
# 1 ... SEEDS, with a missing fence or wait taken as an error. Several at a time. The first schedule that does otherwise
# is named, with the end of what it printed. SAN_LIB as in run.sh.
set -eu

# one SCHEDULE: a run; nothing to say where it is right. Called by xargs below, with the rest in the environment.
if [ "$1" = one ]; then
    schedule=$2
    shift 2
    out=$(env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
        "$CHECK_EMULATOR" --check=error --schedule="$schedule" "$@" 2>&1) && code=0 || code=$?
    last=$(printf '%s\n' "$out" | grep -v '^sm100emu: note: ' | tail -n 1)
    [ "$code" -eq 0 ] && [ "${last%%;*}" = "${CHECK_LINE%%;*}" ] && exit 0
    printf 'FAILED under --schedule=%s, exit code %s, instead of: %s\n%s\n' "$schedule" "$code" "$CHECK_LINE" \
        "$(printf '%s\n' "$out" | tail -n 40)"
    exit 255 # xargs stops
fi

export CHECK_EMULATOR="$1" CHECK_LINE=
seeds=$2
shift 2
CHECK_LINE=$(env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
    "$CHECK_EMULATOR" --check=error "$@" 2>&1 | grep -v '^sm100emu: note: ' | tail -n 1)
case $CHECK_LINE in
PASS*) ;;
*)
    printf 'FAILED under the default schedule: %s\n' "$CHECK_LINE"
    exit 1
    ;;
esac
{
    printf '%s\n' eager lazy
    i=0
    while [ $((i += 1)) -le "$seeds" ]; do echo "random:$i"; done
} | xargs -P "$(nproc)" -I '{}' sh "$0" one '{}' "$@" 2>/dev/null || exit 1
printf '%s\n  the same under eager, lazy and %s random schedules\n' "$CHECK_LINE" "$seeds"
