#!/bin/sh
# static_versions.sh ROOT EMULATOR CC: a program with the static runtime of each version in static-requirements.txt
# runs: its version, memory and a kernel are the emulator's, and a function that the emulator lacks is refused by
# name; PIE and not. Each wheel is fetched by its hash, for the machine that CC compiles for; WHEELS=dir: from there.
# Skipped where none can be had.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 emulator=$2 cc=$3
pins=$root/tests/tools/static-requirements.txt
needs python3
machine=$("$cc" -dumpmachine)
machine=${machine%%-*}

skipped() {
    echo "skipped: $1"
    exit 77
}

cat >"$scratch/host.c" <<'C'
#include <stdio.h>
struct dim3 {
    unsigned x, y, z;
};
int cudaRuntimeGetVersion(int *version);
int cudaMalloc(void **p, size_t n);
int cudaMemcpy(void *to, const void *from, size_t n, int kind);
int cudaLibraryLoadData(void **library, const void *code, void *, void **, unsigned, void *, void **, unsigned);
int cudaLibraryGetKernel(void **kernel, void *library, const char *name);
int cudaLaunchKernel(const void *f, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream);
int cudaGraphCreate(void **graph, unsigned flags);

static const char ptx[] = ".version 8.8\n.target sm_100\n.address_size 64\n"
                          ".visible .entry store(.param .u64 p) { .reg .b64 %p; ld.param.u64 %p, [p];\n"
                          "st.global.u32 [%p], 42; ret; }\n";

int main(void) {
    void *library, *kernel, *p, *graph, *args[] = {&p};
    struct dim3 one = {1, 1, 1};
    int version, value = 0;
    if (cudaRuntimeGetVersion(&version) || cudaMalloc(&p, 4) ||
        cudaLibraryLoadData(&library, ptx, 0, 0, 0, 0, 0, 0) || cudaLibraryGetKernel(&kernel, library, "store") ||
        cudaLaunchKernel(kernel, one, one, args, 0, 0) || cudaMemcpy(&value, p, 4, 2))
        return 1;
    printf("major %d, value %d, graph %d\n", version / 1000, value, cudaGraphCreate(&graph, 0));
    return 0;
}
C
cd "$scratch" || exit 1
echo 'int main(void) { return 0; }' >none.c
"$cc" none.c -o none -lstdc++ 2>/dev/null || skipped "$cc links no C++ library"

# fetch PIN: the wheel of these lines of the requirements
fetch() {
    rm -rf wheel && mkdir wheel
    printf '%s\n' "$1" >pin.txt
    # shellcheck disable=SC2086
    python3 -m pip download -q --disable-pip-version-check --no-input --no-deps --require-hashes --only-binary :all: \
        --platform "manylinux2014_$machine" --platform "manylinux_2_17_$machine" -d wheel -r pin.txt \
        ${WHEELS:+--no-index --find-links "$WHEELS"} >pip.log 2>&1 &&
        python3 -m zipfile -e wheel/*.whl wheel
}

count=0
for version in $(sed -n 's/.*==\([0-9.]*\).*/\1/p' "$pins"); do
    if ! fetch "$(grep -A 2 -F "==$version " "$pins")"; then
        echo "skipped: runtime $version: $(tail -1 pip.log)"
        continue
    fi
    archive=$(find wheel -name libcudart_static.a)
    for how in -pie -no-pie; do
        "$cc" -fPIE host.c $how -o "prog$how" "$archive" -lstdc++ -ldl -lpthread -lrt -lm || exit 1
        run 0 "runtime $version, $how" "$emulator" "./prog$how"
        same "runtime $version, $how" "$(cat out)" "major ${version%%.*}, value 42, graph 801"
        says 'cudaGraphCreate: .*not supported by the emulator'
    done
    count=$((count + 1))
done
[ $count -gt 0 ] || skipped 'no wheel of a CUDA runtime can be had'
echo "$count versions"
exit $bad
