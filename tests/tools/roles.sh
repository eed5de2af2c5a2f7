#!/bin/sh
# roles.sh ROOT: step 05's kernel can be read from top to bottom, sizes.h first: sizes, asserts, storage, the barriers'
# counts, the roles, the kernel; no header is included below the first line of code; and no role is so long that it does
# not fit on a screen, 60 lines with its comments.
set -u
step=$1/05_persistent_warpspec
file=$step/05_persistent_warpspec.cu
awk -v file="$file" '
function place(what) { if (!(what in seen)) { seen[what] = NR; order[++places] = what } }
/^enum \{/ { place("sizes") }
/^static_assert/ { place("asserts") }
/^struct shared_storage \{/ { place("storage") }
/^static .* init_barriers\(/ { place("counts") }
/^static .* [a-z_]+_role\(/ {
    place("roles")
    name = $0; sub(/\(.*/, "", name); sub(/.* /, "", name)
    start = FNR; roles++
}
/^}/ && name != "" {
    count = FNR - start + 1
    if (count >= 60) { printf "FAILED: %s:%d: %s has %d lines\n", file, start, name, count; bad = 1 }
    name = ""
}
/^__global__/ { place("kernel") }
FILENAME == file && /^#include/ {
    if (places > 2) { printf "FAILED: %s:%d: an include below the code\n", file, FNR; bad = 1 }
    if (/"sizes.h"/) included = 1
}
END {
    wanted = "sizes asserts storage counts roles kernel"
    for (i = 1; i <= places; i++) got = got (i > 1 ? " " : "") order[i]
    if (got != wanted) { printf "FAILED: %s: the order is %s, not %s\n", file, got, wanted; bad = 1 }
    if (roles < 5) { printf "FAILED: %s: %d roles found\n", file, roles; bad = 1 }
    if (!included) { printf "FAILED: %s does not include sizes.h\n", file; bad = 1 }
    printf "%d roles\n", roles
    exit bad
}' "$step/sizes.h" "$file"
