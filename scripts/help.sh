#!/bin/sh
# help.sh STEP...: every target of the Makefile in a line, from the `##` beside it, and the steps by number.
set -eu
cd "$(dirname "$0")/.."

echo "usage: make TARGET [ARGS='...'] [BACKEND=gpu|emulator] [SANITIZE=1|thread] [WHEELS=dir] [BUILD=dir] [V=1]"
echo
for step in "$@"; do
    printf '  %-11s %s\n' "run-${step%%_*}" "build and run $step (ARGS='--help' lists its options)"
done
printf '  %-11s %s\n' "" "(run-05, check-05, watch-05 RUNG=N: a rung of the ladder that leads to step 05)"
printf '  %-11s %s\n' "check-NN" "a step on the emulator under eager, lazy, SEEDS=100 random and as many pct schedules: the same result, and no finding"
printf '  %-11s %s\n' "watch-NN" "a page of what happens in a step: build/watch/NN/index.html (TEXT=1: on the terminal; BREAK=N: beside a broken copy; BESIDE=--schedule=lazy: beside another schedule)"
printf '  %-11s %s\n' "break-NN-N" "an experiment of a lesson: what was changed in a copy of the step, and what the emulator says of it"
printf '  %-11s %s\n' "exercise-NN" "the exercises of a lesson, into exercises/NN (SEED=name: other mistakes and numbers; exercise-all)"
printf '  %-11s %s\n' "grade-NN" "marks them (HINT=1, 2 or 3: rule, line, difference; EXERCISE=name; GRADE=gradescope|classroom)"
sed -n 's/^\([a-z0-9-]*\):.*## /\1 /p' Makefile | while read -r name text; do
    printf '  %-11s %s\n' "$name" "$text"
done
