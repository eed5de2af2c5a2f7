#!/bin/sh
# cuda_headers.sh ROOT TOOLKIT_ENV: every header of common/ compiles alone for the family, without a warning.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
# shellcheck disable=SC1090
. "$2"
count=0
for header in "$root"/common/*.h "$root"/common/*.cuh; do
    count=$((count + 1))
    printf '#include "common/%s"\n' "$(basename "$header")" >"$scratch/alone.cu"
    "$NVCC" -std=c++17 -gencode arch=compute_100f,code=sm_100f -I "$root" -Werror all-warnings -Xcompiler -Wall \
        -c -o "$scratch/alone.o" "$scratch/alone.cu" ||
        failed "common/$(basename "$header") does not compile alone"
done
echo "$count headers"
[ $count -gt 0 ] && exit $bad
