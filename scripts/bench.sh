#!/bin/sh
# bench.sh RECORD CUBLAS STEP...: the steps beside cuBLAS on the GPU, in one run: what each prints for --time, by size, with
# the GPU's clocks before and after each size, into the file RECORD; then bench_report.py's table, and its plot beside
# RECORD. CUBLAS: the program of tests/bench. STEP: programs; those that have no --time (01) are left out.
#
#   SIZES  of M = N = K (default 1024 2048 4096 8192 16384)       RUNS  measured launches of each (default 20)
#   TYPE   of A and B (default f16)                               UNDER a command in front of each program, as the
#                                                                 tests have it: the emulator
# D is f32, alpha 1, beta 0. A program that fails is recorded as failed, and the exit code is 1.
set -eu
scripts=$(dirname "$0")
record=$1 cublas=$2
shift 2
sizes=${SIZES:-1024 2048 4096 8192 16384} runs=${RUNS:-20} type=${TYPE:-f16} under=${UNDER:-}
bad=0

clocks() {
    line=$(nvidia-smi -i 0 --query-gpu=clocks.sm,clocks.max.sm,clocks.mem,power.draw,temperature.gpu \
        --format=csv,noheader 2>/dev/null | sed 1q) || line=
    echo "CLOCKS $1 size $2: ${line:-nvidia-smi does not say} (SM, SM at most, memory, power, degrees C)"
}

# measure NAME SIZE COMMAND...: its TIME line, or why there is none
measure() {
    name=$1 size=$2
    shift 2
    code=0
    said=$($under "$@" --type "$type" --m "$size" --n "$size" --k "$size" --time "$runs" 2>&1) || code=$?
    case $code in
    0) printf '%s\n' "$said" | grep '^TIME ' && return ;;
    3) echo "NONE  $name ${size}x${size}x$size: $(printf '%s\n' "$said" | tail -n 1)" && return ;;
    esac
    echo "FAILED  $name ${size}x${size}x$size: exit code $code: $(printf '%s\n' "$said" | tail -n 1)"
    return 1
}

for size in $sizes; do
    clocks before "$size"
    measure cublas "$size" "$cublas" || bad=1
    for step in "$@"; do
        case ${step##*/} in 01_*) continue ;; esac
        measure "${step##*/}" "$size" "$step" --beta 0 || bad=1
    done
    clocks after "$size"
done >"$record"
python3 -IB "$scripts/bench_report.py" "$record" "${record%.txt}.svg"
exit $bad
