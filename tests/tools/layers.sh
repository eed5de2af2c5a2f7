#!/bin/sh
# layers.sh ROOT: scripts/layers.py passes a small tree that keeps the rules and names each breach of one that does not.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1

fresh() {
    rm -rf "${scratch:?}"/*
    mkdir -p "$scratch/emulator/num" "$scratch/emulator/isa" "$scratch/emulator/trace" "$scratch/emulator/cudart/core" \
        "$scratch/emulator/cudart/runtime" "$scratch/common" "$scratch/01_step"
    echo '#include "base/arena.h"' >"$scratch/emulator/num/num.h"
    printf '#include <stdio.h>\n#include "ptx/ir.h"\n#include "engines/mma.h"\n' >"$scratch/emulator/isa/core.c"
    echo '#include "machine/events.h"' >"$scratch/emulator/trace/log.c"
    printf '#include "trace/log.h"\n#include "cudart/loader/fatbin.h"\n' >"$scratch/emulator/cudart/core/module.c"
    printf '#include "cudart/core/calls.h"\n#include "cudart/driver/entry.h"\n' \
        >"$scratch/emulator/cudart/runtime/module.c"
    echo '#include "../common/tmem.cuh"' >"$scratch/01_step/01_step.cu"
}

# breach FILE INCLUDE TEXT: with INCLUDE in FILE the check fails, and says TEXT with the file and the line
breach() {
    fresh
    mkdir -p "$(dirname "$scratch/$1")"
    printf '\n#  include %s\n' "$2" >"$scratch/$1"
    caught python "$root/scripts/layers.py" "$scratch"
    expect 1 "*$1:2: *$3*" "$1 with $2"
}

fresh
python "$root/scripts/layers.py" "$scratch" || failed "a tree that keeps the rules"
rm -rf "${scratch:?}"/*
! python "$root/scripts/layers.py" "$scratch" >/dev/null 2>&1 || failed "an empty tree passes"

breach emulator/base/arena.c '"num/num.h"' 'base may not include num/num.h'
breach emulator/num/fp8.h '"machine/machine.h"' 'num may not include machine/machine.h'
breach emulator/ptx/parse.c '"num/num.h"' 'ptx may not include num/num.h'
breach emulator/machine/cta.c '"engines/mma.h"' 'machine may not include engines/mma.h'
breach emulator/machine/cta.c '"ptx/ir.h"' 'machine may not include ptx/ir.h'
breach emulator/simd/amx.c '"machine/machine.h"' 'simd may not include machine/machine.h'
breach emulator/simd/gather.h '"engines/tc.h"' 'simd may not include engines/tc.h'
breach emulator/machine/cta.c '"simd/simd.h"' 'machine may not include simd/simd.h'
breach emulator/engines/mma.c '"launch/state.h"' 'engines may not include launch/state.h'
breach emulator/isa/alu.c '"cudart/core/abi.h"' 'isa may not include cudart/core/abi.h'
breach emulator/warp/core.c '"isa/isa.h"' 'warp may not include isa/isa.h'
breach emulator/isa/alu.c '"launch/state.h"' 'isa may not include launch/state.h'
breach emulator/isa/alu.c '"trace/log.h"' 'isa may not include trace/log.h'
breach emulator/isa/alu.c '"lower/lower.h"' 'isa may not include lower/lower.h'
breach emulator/lower/joins.c '"launch/state.h"' 'lower may not include launch/state.h'
breach emulator/deadlock/blame.c '"launch/state.h"' 'deadlock may not include launch/state.h'
breach emulator/deadlock/blame.c '"lower/lower.h"' 'deadlock may not include lower/lower.h'
breach emulator/trace/log.h '"machine/machine.h"' 'trace may not include machine/machine.h'
breach emulator/check/listener.c '"launch/state.h"' 'check may not include launch/state.h'
breach emulator/num/fp8.c '"num.h"' 'write "num.h" from emulator/'
breach emulator/num/fp8.c '"../base/arena.h"' 'write "../base/arena.h" from emulator/'
breach emulator/trace/record.c '"clock/clock.h"' 'trace may not include clock/clock.h'
breach emulator/cudart/loader/elf.c '"cudart/core/context.h"' 'cudart/loader may not include cudart/core/context.h'
breach emulator/cudart/loader/elf.c '"machine/machine.h"' 'cudart/loader may not include machine/machine.h'
breach emulator/cudart/core/launch.c '"cudart/runtime/stubs.h"' 'cudart/core may not include cudart/runtime/stubs.h'
breach emulator/cudart/core/launch.c '"cudart/driver/entry.h"' 'cudart/core may not include cudart/driver/entry.h'
breach emulator/cudart/driver/memory.c '"cudart/runtime/stubs.h"' 'cudart/driver may not include cudart/runtime/stubs.h'
breach emulator/cudart/driver/memory.c '"launch/launch.h"' 'cudart/driver may not include launch/launch.h'
breach emulator/cudart/runtime/memory.c '"cudart/driver/map.h"' 'cudart/runtime may not include cudart/driver/map.h'
breach emulator/cudart/runtime/memory.c '"cudart/loader/elf.h"' 'cudart/runtime may not include cudart/loader/elf.h'
breach emulator/cudart/common.c '"base/arena.h"' 'emulator/cudart/ is not a room'
breach emulator/explore/explore.c '"cudart/core/options.h"' 'explore may not include cudart/core/options.h'
breach emulator/sm100emu.c '"cudart/driver/entry.h"' 'the launcher may not include cudart/driver/entry.h'
breach emulator/cudart/core/context.c '<cuda_runtime.h>' 'builds without the CUDA Toolkit'
breach emulator/extra/x.c '"base/arena.h"' 'emulator/extra/ is not a room'
breach common/tmem.cuh '"../emulator/report/diag.h"' 'knows nothing of the emulator'
breach 01_step/01_step.cu '"emulator/launch/launch.h"' 'knows nothing of the emulator'
exit $bad
