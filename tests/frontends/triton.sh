#!/bin/sh
# triton.sh ROOT EMULATOR: a kernel in Python, by Triton, is right; what it breaks is reported with the line of the Python
# file, by child and by test, in the summary and in the exit code; Triton's PTX version is its own ptxas's; and the user's
# cache is what it was. Skipped (77) where `scripts/toolkit.sh triton` has not fetched Triton, or it finds no compiler.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/../tools/shared.sh"
root=$1 emulator=$2
folder=${TOOLKIT_DIR:-$root/.toolkit}/triton
cmp -s "$folder/requirements.txt" "$root/scripts/triton-requirements.txt" || {
    echo "skipped: scripts/toolkit.sh triton has not fetched Triton"
    exit 77
}
needs cc
export PYTHONPATH="$folder" HOME="$scratch/home" TRITON_DEFAULT_FP_FUSION=1
unset TRITON_CACHE_DIR XDG_CACHE_HOME SM100EMU_CACHE PYTEST_CURRENT_TEST
dot=$root/tests/frontends/dot.py
python3 -I -c 'import sysconfig, os; raise SystemExit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' || {
    echo "skipped: python3 has no headers, which Triton compiles its launcher with"
    exit 77
}
mkdir -p "$HOME/.triton/cache/KEPT" "$scratch/own"
echo 'a cubin' | tee "$HOME/.triton/cache/KEPT/dot.cubin" >"$scratch/own/dot.cubin"
# theirs: what the user's caches hold, and when it was written
theirs() { find "$HOME/.triton" "$scratch/own" -printf '%p %s %T@\n' | sort; }
before=$(theirs)

run 0 'a kernel in Python' "$emulator" python3 "$dot" right
has "$scratch/out" 'C is right'
ours=$HOME/.cache/sm100emu/triton
ptx=$(find "$ours" -name dot.ptx)
grep -q 'tcgen05.mma' "$ptx" || failed "the kernel's PTX has no tcgen05.mma: $ptx"
version=$("$folder/triton/backends/nvidia/bin/ptxas-blackwell" --version | sed -n 's/.*release 13\.\([0-9]*\).*/9.\1/p')
grep -q "^\.version $version\$" "$ptx" || failed "the PTX version is not $version: $(grep '^.version' "$ptx")"
[ "$(head -c 8 "$(find "$ours" -name dot.cubin)")" = SM100PTX ] || failed 'the cubin is no marked PTX'
run 0 'the same out of the cache' env TRITON_CACHE_DIR="$scratch/own" "$emulator" python3 "$dot" right
[ "$(find "$ours" -name dot.ptx)" = "$ptx" ] || failed 'the cache is not used'

line=$(grep -n '# STRAY' "$dot" | sed 's/:.*//')
for how in stray child test; do
    run 3 "$how" "$emulator" python3 "$dot" $how
    says "^ *--> .*dot.py:$line in dot\$"
done
says "^  error: .*dot.py:$line \[global-out-of-bounds\]: test_dot.py::test_stray\$"
run 3 child "$emulator" python3 "$dot" child
says '^sm100emu: 1 finding in a run of 1 process with a device:$'
run 0 'without the launcher' sh -c "eval \"\$('$emulator' --env)\" && python3 '$dot' stray"
says '\[global-out-of-bounds\]'
[ "$(theirs)" = "$before" ] || failed "the user's cache has changed: $(theirs)"
exit $bad
