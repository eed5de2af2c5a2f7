#!/bin/sh
# measures.sh ROOT: scripts/measures.py passes a small tree that keeps the sizes and names each breach of one that does not.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1

# lines N COLUMNS: N lines of COLUMNS columns
lines() {
    yes "$(printf "%$2s" ';')" | head -n "$1"
}
fresh() {
    rm -rf "${scratch:?}"/*
    mkdir -p "$scratch/common" "$scratch/tests"
    for room in base isa launch warp; do
        mkdir -p "$scratch/emulator/$room"
        lines 300 120 >"$scratch/emulator/$room/a.c"
    done
    lines 600 20 >"$scratch/common/tmem.cuh"
    { echo "// EXPECT: $(lines 1 150)"; echo "// https://example.org/$(lines 1 150)"; } >"$scratch/tests/a.cu"
}

# measured WHAT CODE TEXT: the check ends with CODE and says TEXT
measured() {
    caught python "$root/scripts/measures.py" "$scratch"
    expect "$2" "*$3*" "$1"
}

fresh
measured 'a tree that keeps the sizes' 0 'isa         300 lines, 25.0%'
for file in emulator/isa/a.c common/tmem.cuh tests/a.cu; do
    fresh
    lines 1 121 >"$scratch/$file"
    measured "a long line in $file" 1 "$file:1: 121 columns"
done
fresh
lines 1 30 >>"$scratch/common/tmem.cuh"
measured 'a long file' 1 'common/tmem.cuh: 601 lines'
fresh
mkdir "$scratch/emulator/isa/family"
lines 90 30 >"$scratch/emulator/isa/family/b.h"
measured 'a room that holds too much' 1 'emulator/isa/ holds more than 30%'
rm -rf "${scratch:?}"/*
measured 'an empty tree' 1 'no room'
exit $bad
