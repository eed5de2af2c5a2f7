#!/bin/sh
# unswizzled.sh ROOT TOOLKIT_ENV EMULATOR STEP_02: lesson 02's layouts, counted. With the swizzle no store of a tile has bank
# conflicts; 02_simple_umma/breaks/6-unswizzled.patch applies, its program passes, and each of them takes eight turns. The
# lesson's README shows these very lines.
set -eu
root=$1 toolkit=$2 emulator=$3 program=$4
# shellcheck disable=SC1090
. "$toolkit"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# counts PROGRAM FILE
counts() {
    env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
        "$emulator" --stats "$1" >"$2" 2>&1 || {
        cat "$2"
        echo "FAILED: $1 ends with $?"
        exit 1
    }
    grep -q '^PASS' "$2"
}
# shows FILE WAVEFRONTS: the file says so, and the lesson quotes it
shows() {
    line=$(grep -E "^    threads' accesses .* wavefronts; " "$1")
    case $line in
    *" $2  wavefronts; 24,640 without bank conflicts"*) ;;
    *)
        echo "FAILED: not $2 wavefronts: $line"
        bad=1
        ;;
    esac
    grep -qxF -e "$line" "$root/02_simple_umma/README.md" || {
        echo "FAILED: 02_simple_umma/README.md does not show $line"
        bad=1
    }
}

counts "$program" "$scratch/swizzled"
shows "$scratch/swizzled" 24,640
cp -r "$root/common" "$root/02_simple_umma" "$scratch"
patch -s -p1 -d "$scratch" <"$root/02_simple_umma/breaks/6-unswizzled.patch"
LIBRARY_PATH=$LINK_DIR "$NVCC" -O3 -std=c++17 -lineinfo -gencode 'arch=compute_100f,code=[sm_100f,compute_100f]' \
    -cudart shared -o "$scratch/program" "$scratch/02_simple_umma/02_simple_umma.cu" || {
    echo "FAILED: the patched lesson does not compile"
    exit 1
}
counts "$scratch/program" "$scratch/unswizzled"
shows "$scratch/unswizzled" 196,672
exit $bad
