#!/bin/sh
# bench_emulator.sh BUILD BENCH STEP...: the emulator's speed, each figure beside OpenBLAS in the same run.
#
# BENCH is the program of tests/bench. A step runs with its defaults (wall-clock time of the whole program), then
# SIZE x SIZE x SIZE (default 1024) RUNS times (default 3): the kernel from launch to synchronise against sgemm of that
# size on one core, medians.
set -eu
build=$1 bench=$2
shift 2
size=${SIZE:-1024} runs=${RUNS:-3}

"$bench"
echo "steps: defaults as a whole; kernel alone at $size cubed"
blas=$("$bench" sgemm "$size") || blas=
[ -n "$blas" ] && echo "  OpenBLAS sgemm $size cubed, ${blas#* }, one core: ${blas%% *} s"

# seconds of every kernel that the program started, one line a run
kernels() {
    "$build/sm100emu" --stats "$@" 2>&1 >/dev/null |
        awk '/^sm100emu: .* s, [0-9]+ warp instructions$/ { t += $(NF - 4); n += $(NF - 2) } END { print t + 0, n + 0 }'
}

for step in "$@"; do
    start=$(date +%s%N)
    "$build/sm100emu" "build/$step" >/dev/null || { echo "  $step failed" >&2; exit 1; }
    end=$(date +%s%N)
    line=
    case $step in
    01_*) ;;
    *)
        line=$(for i in $(seq "$runs"); do kernels "build/$step" --m "$size" --n "$size" --k "$size"; done |
            sort -n | awk -v blas="${blas%% *}" '{ t[NR] = $1; n = $2 } END {
                m = t[int((NR + 1) / 2)]
                printf "   kernel %.3f s, %.1f million warp instructions", m, n / 1e6
                if (blas > 0) printf ", %.2f of sgemm", m / blas }')
        ;;
    esac
    awk -v s="$step" -v t="$((end - start))" -v l="$line" 'BEGIN { printf "  %-24s %6.2f s%s\n", s, t / 1e9, l }'
done
