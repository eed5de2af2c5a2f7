#!/bin/sh
# measures.sh ROOT: scripts/measures.py passes a small tree that keeps the sizes and names each breach of one that does not.
set -u
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
bad=0

# lines N COLUMNS: N lines of COLUMNS columns
lines() {
    yes "$(printf "%$2s" ';')" | head -n "$1"
}
fresh() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/common" "$tree/tests"
    for room in base isa launch warp; do
        mkdir -p "$tree/emulator/$room"
        lines 300 120 >"$tree/emulator/$room/a.c"
    done
    lines 600 20 >"$tree/common/tmem.cuh"
    { echo "// EXPECT: $(lines 1 150)"; echo "// https://example.org/$(lines 1 150)"; } >"$tree/tests/a.cu"
}

# measured WHAT CODE TEXT: the check ends with CODE and says TEXT
measured() {
    out=$(python3 -ISB "$root/python/sm100repo" "$root/scripts/measures.py" "$tree")
    code=$?
    case $code:$out in
    $2:*"$3"*) ;;
    *)
        echo "FAILED: $1: exit code $code: $out"
        bad=1
        ;;
    esac
}

fresh
measured 'a tree that keeps the sizes' 0 'isa         300 lines, 25.0%'
for file in emulator/isa/a.c common/tmem.cuh tests/a.cu; do
    fresh
    lines 1 121 >"$tree/$file"
    measured "a long line in $file" 1 "$file:1: 121 columns"
done
fresh
lines 1 30 >>"$tree/common/tmem.cuh"
measured 'a long file' 1 'common/tmem.cuh: 601 lines'
fresh
mkdir "$tree/emulator/isa/family"
lines 90 30 >"$tree/emulator/isa/family/b.h"
measured 'a room that holds too much' 1 'emulator/isa/ holds more than 30%'
rm -rf "${tree:?}"/*
measured 'an empty tree' 1 'no room'
exit $bad
