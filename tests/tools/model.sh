#!/bin/sh
# model.sh EMULATOR LOG REPLAY PROGRAM: --schedule=model of a whole program, step 05. What it takes is the same in every
# run and on any number of host threads, and within 3 % of what the replay (tests/clock/replay.c) makes of a log of the
# default schedule, where tiles are given out by a formula. Its own log says "model", and PROGRAM is right, by CLC too.
# SAN_LIB is preloaded where it is set.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
emulator=$1 log=$2 replay=$3 program=$4
unset SM100EMU_TIME SM100EMU_STATS SM100EMU_THREADS SM100EMU_SCHEDULE
# run WORD...: the program on the emulator, which passes; options of the emulator come first
run() {
    emulated "$emulator" --time "$@" >"$scratch/out" 2>"$scratch/err" && tail -n 1 "$scratch/out" | grep -q '^PASS' ||
        failed "$*: $(tail -n 3 "$scratch/out" "$scratch/err")"
}
# cycles WORD...: what the model says of it
cycles() {
    run --schedule=model "$@"
    sed -n 's/^sm100emu: .*: modelled: \([0-9]*\) cycles, .*/\1/p' "$scratch/err"
}

for shape in "--m 1024 --n 1024 --k 512" "--m 1024 --n 512 --k 1024 --clusters 4" "--m 512 --n 512 --k 256 --cluster 4x2"; do
    # shellcheck disable=SC2086
    {
        one=$(cycles "$program" $shape)
        again=$(cycles --threads=1 --trace="$scratch/model" "$program" $shape)
        run --trace="$scratch/default" "$program" $shape
    }
    replayed=$("$replay" "$scratch/default" | sed -n 's/.*: \([0-9]*\) cycles,.*/\1/p')
    [ -n "$one" ] && [ "$one" = "$again" ] || failed "$shape: modelled $one cycles, then $again"
    a=${one:-0} b=${replayed:-0}
    [ $((100 * a)) -lt $((103 * b)) ] && [ $((100 * b)) -lt $((103 * a)) ] ||
        failed "$shape: modelled $one cycles, replayed $replayed"
    echo "$shape: modelled $one cycles, replayed $replayed"
done

# --clock has --time print what the replay gives, without --schedule=model; at another clock L2 takes other cycles
# shellcheck disable=SC2086
{
    run --clock=boost "$program" $shape
    grep -q "modelled: $replayed cycles, .* us at 1.965 GHz (boost)$" "$scratch/err" || failed "--clock=boost: $(cat "$scratch/err")"
    run --clock=900MHz "$program" $shape
    grep -q "modelled: .* us at 0.900 GHz (0.9GHz)$" "$scratch/err" || failed "--clock=900MHz: $(cat "$scratch/err")"
    ! grep -q "modelled: $replayed cycles" "$scratch/err" || failed "--clock=900MHz takes as many cycles as 1.965 GHz"
    run "$program" $shape
    ! grep -q modelled "$scratch/err" || failed "--time without --clock: $(cat "$scratch/err")"
}
"$log" --json "$scratch/model" | grep -q '"schedule": *"model"' || failed "the log does not say \"model\""
run --schedule=model --check=strict "$program" --scheduler clc
exit $bad
