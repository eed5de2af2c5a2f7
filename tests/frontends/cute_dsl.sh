#!/bin/sh
# cute_dsl.sh ROOT EMULATOR: a kernel in Python, by CuTe DSL and cuda-bindings, is right; what it breaks is reported with the
# line of the Python file; an environment that has a version that is not known is refused; a sitecustomize of the user's is
# run, too; and the folders that the DSL would have used are what they were. Skipped (77) where `scripts/toolkit.sh cute_dsl`
# has not fetched CuTe DSL.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/../tools/shared.sh"
root=$1 emulator=$2
folder=${TOOLKIT_DIR:-$root/.toolkit}/cute_dsl
cmp -s "$folder/requirements.txt" "$root/scripts/cute-dsl-requirements.txt" || {
    echo "skipped: scripts/toolkit.sh cute_dsl has not fetched CuTe DSL"
    exit 77
}
scale=$root/tests/frontends/cute_dsl/scale.py
mkdir -p "$scratch/own" "$scratch/tmp" "$scratch/home" "$scratch/here"
cd "$scratch/here" || exit 1
export PYTHONPATH="$scratch/own:$folder:$folder/nvidia_cutlass_dsl/dsl_packages" HOME="$scratch/home" TMPDIR="$scratch/tmp"
unset XDG_CACHE_HOME SM100EMU_CACHE CUTE_DSL_CACHE_DIR CUTE_DSL_ARCH
echo 'print("their sitecustomize")' >"$scratch/own/sitecustomize.py"

run 0 'a kernel in Python' "$emulator" python3 -B -W ignore "$scale" right
has "$scratch/out" 'scale.py: right' 'their sitecustomize'
run 0 'the same a second time' "$emulator" python3 -B -W ignore "$scale" right
has "$scratch/out" 'scale.py: right'
line=$(grep -n '# STRAY' "$scale" | sed 's/:.*//')
run 1 'a kernel that strays' "$emulator" python3 -B -W ignore "$scale" stray
says "^ *--> .*scale.py:$line in kernel_cutlass_scale"
run 0 'without the launcher' sh -c "eval \"\$('$emulator' --env)\" && python3 -B -W ignore '$scale' right"
has "$scratch/out" 'scale.py: right'
left=$(find "$scratch/tmp" "$scratch/here" "$scratch/home" -type f ! -path "$HOME/.cache/sm100emu/*")
[ -z "$left" ] || failed "files are left: $left"

# Without line information the machine code carries no PTX. The same package under another version's name is not known.
run 1 'no PTX' "$emulator" env CUTE_DSL_LINEINFO=0 python3 -B -W ignore "$scale" right
says 'only machine code \(SASS\) and no PTX, which the emulator needs: build with -lineinfo'
mkdir "$scratch/other"
for each in "$folder"/*; do
    ln -s "$each" "$scratch/other/$(basename "$each" | sed 's/^nvidia_cutlass_dsl-[0-9.]*\.dist/nvidia_cutlass_dsl-4.99.0.dist/')"
done
export PYTHONPATH="$scratch/other:$scratch/other/nvidia_cutlass_dsl/dsl_packages"
run 1 'a version that is not known' "$emulator" python3 -B -W ignore "$scale" right
says 'cudaLibraryLoadData: 4.99.0 is not a version of CuTe DSL that the emulator knows: .*4.8.1$'
exit $bad
