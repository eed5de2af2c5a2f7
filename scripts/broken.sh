# shellcheck shell=sh
# broken.sh, read by watch.sh and break.sh: copies of a step with one of its experiments applied, and their build.
#
# An experiment is a patch STEP/breaks/N-word.patch, to be applied at the root with -p1. Before its first line with ---
# stand one sentence that says what it does and, where wanted, a line each of
#   Options:    of the emulator
#   Arguments:  of the program
#   Tells:      the diagnostics that come of it; FAIL, a wrong answer of which nothing is told; nothing, a right one

# find_patch STEP N: sets patch; where there is none, says which there are and ends the script with 2
find_patch() {
    patch=$(find "$1/breaks" -name "$2-*.patch" 2>/dev/null | LC_ALL=C sort | sed 1q)
    [ -n "$patch" ] && return
    echo "$1 has no experiment ${2:-without a number}; there are:" >&2
    find "$1/breaks" -name '*.patch' 2>/dev/null | sed 's|.*/||; s/\.patch$//; s/^/  /' | LC_ALL=C sort -n >&2
    exit 2
}

# said PATCH NAME: what stands behind NAME: before the first line with ---
said() {
    sed -n "/^--- /q; s/^$2: *//p" "$1"
}

# sentence PATCH: what it does
sentence() {
    sed '/^--- /,$d; /^[A-Z][a-z]*: /d' "$1"
}

# program_of STEP PATCH: sets broken to the program that the patch changes, the step's or a part of it, as its source
# without .cu
program_of() {
    broken=$(sed -n 's|^+++ b/\(.*/parts/.*\)\.cu$|\1|p' "$2")
    broken=${broken:-$1/$1}
}

# host_part FILE: what a step's .cu has for the host
host_part() {
    sed -n '/^\/\* -* host/,$p' "$1"
}

# kernel_alone STEP PATCH FOLDER: the patch changes statements of kernels: nothing that the host's compiler sees, no constant,
# and not how many registers a thread may have, which the emulator takes from the machine code
kernel_alone() {
    ! grep -qE '^[-+](.*__launch_bounds__| *[A-Z_]+ = |[a-z#])' "$2" &&
        ! sed -n 's|^+++ b/||p' "$2" | grep -qv '\.cuh*$' &&
        [ -n "$(host_part "$1/$1.cu")" ] && [ "$(host_part "$1/$1.cu")" = "$(host_part "$3/$1/$1.cu")" ]
}

# broken_copy STEP PATCH FOLDER: FOLDER gets the step and common/ with the patch in them, and the program that program_of
# names is built there. Files keep their times, and a patched one that is the same as before its own: what was built is
# built again only where something changed.
broken_copy() {
    sh scripts/doctor.sh need patch
    fresh=$3.$$
    mkdir -p "$fresh" "$3"
    cp -Rp "$1" common "$fresh"
    chmod -R u+w "$fresh"
    patch -s -p1 -d "$fresh" <"$2" || {
        echo "$2 does not apply" >&2
        rm -rf "$fresh"
        exit 2
    }
    for file in $(sed -n 's|^+++ b/||p' "$2"); do
        ! cmp -s "$fresh/$file" "$3/$file" || touch -r "$3/$file" "$fresh/$file"
    done
    cp -Rpf "$fresh/." "$3"
    rm -rf "$fresh"
    kernel=
    program_of "$1" "$2"
    [ "$broken" != "$1/$1" ] || ! kernel_alone "$1" "$2" "$3" || ! command -v python3 >/dev/null || kernel=$3
    ${MAKE:-make} -s KERNEL_IN="$kernel" KERNEL_OF="$1" "$3/$broken" >/dev/null
}
