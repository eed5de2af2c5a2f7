#!/bin/sh
# awk.sh ROOT EMULATOR PROGRAM FOLDER: what is left of awk says the same under every awk that is installed: GNU's,
# busybox's, mawk and the original one. tests/silicon/planted.sh is run on PROGRAM, and so is each awk in a page's
# comment `numbers`. A script that uses awk and is not run here fails the test.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 emulator=$2 program=$3 folder=$4
cd "$root" || exit 2
tried=

users=$(grep -rlw awk Makefile .ci scripts course examples tests --include=Makefile --include='*.sh' --include=run |
    grep -vxE 'tests/(silicon/planted|tools/awk)\.sh')
[ -z "$users" ] || failed "these use awk and are not run under each: $users"

# numbers FOLDER: what the awk of the pages makes of lines like theirs, with awk from FOLDER
numbers() {
    sed -n '/^<!-- numbers .*awk/,/-->/p; /^     .*awk .*-->/p' docs/*.md |
        tr '\n' ' ' | grep -o "awk '[^']*'" >"$scratch/programs"
    while IFS= read -r line; do
        printf '%s\n' 'error a' 'warning b' 'legal c' 'sm100emu: k: 1.5 s, 4000000 warp instructions, 7 steps' 1234.56 |
            PATH=$1:$PATH sh -c "$line"
    done <"$scratch/programs"
}

for awk in gawk 'busybox awk' mawk original-awk; do
    path=$(command -v "${awk% *}") || continue
    [ "$awk" != 'busybox awk' ] || busybox awk 'BEGIN { exit 0 }' 2>/dev/null || continue
    mkdir -p "$scratch/$awk"
    ln -s "$path" "$scratch/$awk/awk"
    tried="$tried, $awk"
    PATH=$scratch/$awk:$PATH sh tests/silicon/planted.sh "$emulator" "$program" "$folder" ||
        failed "planted.sh under $awk"
    numbers "$scratch/$awk" >"$scratch/said.$awk"
    [ -e "$scratch/said" ] || cp "$scratch/said.$awk" "$scratch/said"
    cmp "$scratch/said" "$scratch/said.$awk" || bad=1
done
[ -s "$scratch/said" ] || failed "no awk in the pages: $(cat "$scratch/programs")"
echo "tried: ${tried#, }"
exit $bad
