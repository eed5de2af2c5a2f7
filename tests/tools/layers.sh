#!/bin/sh
# layers.sh ROOT: scripts/layers.sh passes a small tree that keeps the rules and names each breach of one that does not.
set -u
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
bad=0

fresh() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/emulator/num" "$tree/emulator/isa" "$tree/emulator/trace" "$tree/emulator/cudart" "$tree/common" \
        "$tree/01_step"
    echo '#include "base/diag.h"' >"$tree/emulator/num/num.h"
    printf '#include <stdio.h>\n#include "ptx/ir.h"\n#include "engines/mma.h"\n' >"$tree/emulator/isa/core.c"
    echo '#include "machine/observer.h"' >"$tree/emulator/trace/log.c"
    echo '#include "trace/log.h"' >"$tree/emulator/cudart/runtime.c"
    echo '#include "../common/tmem.cuh"' >"$tree/01_step/01_step.cu"
}

# breach FILE INCLUDE TEXT: with INCLUDE in FILE the check fails, and says TEXT with the file and the line
breach() {
    fresh
    mkdir -p "$(dirname "$tree/$1")"
    printf '\n#  include %s\n' "$2" >"$tree/$1"
    out=$(sh "$root/scripts/layers.sh" "$tree")
    code=$?
    case $code:$out in
    1:*"$1:2: "*"$3"*) ;;
    *)
        echo "FAILED: $1 with $2: exit code $code: $out"
        bad=1
        ;;
    esac
}

fresh
sh "$root/scripts/layers.sh" "$tree" || {
    echo "FAILED: a tree that keeps the rules"
    bad=1
}
rm -rf "${tree:?}"/*
if sh "$root/scripts/layers.sh" "$tree" >/dev/null; then
    echo "FAILED: an empty tree passes"
    bad=1
fi

breach emulator/base/arena.c '"num/num.h"' 'base may not include num/num.h'
breach emulator/num/fp8.h '"machine/machine.h"' 'num may not include machine/machine.h'
breach emulator/ptx/parse.c '"num/num.h"' 'ptx may not include num/num.h'
breach emulator/machine/cta.c '"engines/mma.h"' 'machine may not include engines/mma.h'
breach emulator/machine/cta.c '"ptx/ir.h"' 'machine may not include ptx/ir.h'
breach emulator/simd/amx.c '"machine/machine.h"' 'simd may not include machine/machine.h'
breach emulator/simd/gather.h '"engines/tc.h"' 'simd may not include engines/tc.h'
breach emulator/machine/cta.c '"simd/simd.h"' 'machine may not include simd/simd.h'
breach emulator/engines/mma.c '"launch/state.h"' 'engines may not include launch/state.h'
breach emulator/isa/alu.c '"cudart/runtime.h"' 'isa may not include cudart/runtime.h'
breach emulator/warp/core.c '"isa/isa.h"' 'warp may not include isa/isa.h'
breach emulator/isa/alu.c '"launch/state.h"' 'isa may not include launch/state.h'
breach emulator/isa/alu.c '"trace/log.h"' 'isa may not include trace/log.h'
breach emulator/trace/log.h '"machine/machine.h"' 'trace may not include machine/machine.h'
breach emulator/check/race.c '"launch/state.h"' 'check may not include launch/state.h'
breach emulator/num/fp8.c '"num.h"' 'write "num.h" from emulator/'
breach emulator/num/fp8.c '"../base/diag.h"' 'write "../base/diag.h" from emulator/'
breach emulator/cudart/runtime.c '<cuda_runtime.h>' 'builds without the CUDA Toolkit'
breach emulator/extra/x.c '"base/diag.h"' 'emulator/extra/ is not a room'
breach common/tmem.cuh '"../emulator/base/diag.h"' 'knows nothing of the emulator'
breach 01_step/01_step.cu '"emulator/emu.h"' 'knows nothing of the emulator'
exit $bad
