#!/bin/sh
# sanitizer.sh ROOT: scripts/sanitizer.py judges as its contract says, with stand-ins for the GPU, compute-sanitizer and the
# kernels; and tests/silicon/sanitized.txt names enough kernels, which are there, of every family.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
cd "$scratch" || exit 1
unset SAN_LIB
mkdir bin
stand_in bin/compute-sanitizer <<'STAND_IN'
# --tool NAME PROGRAM...: what the program says, and what said.NAME holds
tool=$2
shift 2
"$@"
code=$?
cat "said.$tool" 2>/dev/null
[ -e silent ] || echo '========= ERROR SUMMARY: 0 errors'
exit $code
STAND_IN
stand_in kernel <<'STAND_IN'
# TEXT CODE SECONDS
printf '%b' "$1"
sleep "${3:-0}"
exit "${2:-0}"
STAND_IN
export PATH="$scratch/bin:$PATH" CUDA_HOME="$scratch/none"

# judged CODE PATTERN [LINE...]: what the script says of a list of these lines
judged() {
    wanted=$1 pattern=$2
    shift 2
    printf '%s\n' "$@" >list
    # shellcheck disable=SC2086 # words on purpose
    caught python "$root/scripts/sanitizer.py" $options . list
    expect "$wanted" "$pattern" "$* with $options"
}
smi() { echo "echo '$1'" | stand_in bin/nvidia-smi; }
told() {
    printf '========= %s\n=========     at k+0x10\n' "$@" >said.racecheck
}

options=--timeout=20
smi 'No devices were found'
judged 77 '*needs a GPU of compute capability 9.0*' 'kernel.cu a'
smi 12.0
judged 77 '*needs a GPU of compute capability 9.0*' 'kernel.cu a'
smi 9.0
mv bin/compute-sanitizer kept
if ! command -v compute-sanitizer >/dev/null; then
    judged 77 '*needs compute-sanitizer*' 'kernel.cu a'
fi
mv kept bin/compute-sanitizer
options=--have
judged 0 '' 'kernel.cu a'
options=--timeout=1
judged 0 '*memcheck*synccheck*kernel PASS *clean *clean *clean *clean*1 kernels, 0 not clean' 'kernel.cu PASS'
judged 1 '*kernel FAIL *WRONG*4 not clean' 'kernel.cu FAIL'
judged 1 '*WRONG*exit code 1*' 'kernel.cu text 1'
judged 1 '*HANGS *4 not clean' 'kernel.cu text 0 3'
judged 2 '*list:2: neither*' 'kernel.cu a' '    nocheck "x": why'
judged 2 '*list:1: neither*' '    racecheck "x": why' 'kernel.cu a'
touch silent
judged 1 '*WRONG*no summary*' 'kernel.cu a'
rm silent
told 'Error: Race reported'
judged 1 '*kernel a *clean *TOLD 1 *clean*kernel.cu: racecheck: Error: Race reported*1 not clean' 'kernel.cu a'
judged 0 '*clean *argued 1 *clean*' 'kernel.cu a' '    racecheck "Race": there is none'
judged 1 '*TOLD 1*' 'kernel.cu a' '    memcheck "Race": there is none'
judged 1 '*TOLD 1*' 'kernel.cu a' '    racecheck "Hazard": there is none'
told 'Error: Race reported' 'Error: Hazard'
judged 1 '*TOLD 1*racecheck: Error: Hazard*' 'kernel.cu a' '    racecheck "Race": there is none'
told 'Error: Race reported' 'Target application returned an error'
judged 1 '*TOLD 1*racecheck: Target application*' 'kernel.cu text 1' '    racecheck "Race": there is none'
judged 1 '*WRONG *argued 2 *WRONG*' 'kernel.cu text 1' '    racecheck "Race": there is none' '    racecheck "Target": it ends the kernel'
told 'Error: this instruction is not supported by the tool'
judged 1 '*unsupported*' 'kernel.cu a'
rm said.racecheck

# A kernel in PTX: its target, its words, its results.
mkdir -p tests/negative
printf 'grep ^.target "$1"\nshift\necho "out $*"\n' | stand_in tests/negative/launch_ptx
printf '// ARGS: k buf:4\n// EXPECT: ^out k buf:4$\n.version 8.7\n.target sm_100a\n' >k.ptx
judged 0 '*k  *clean*' k.ptx
printf '// EXPECT: ^.target sm_100a$\n' >>k.ptx
judged 1 '*WRONG*not in the output: ^.target sm_100a*' k.ptx

# The emulator's findings are reports.
printf '[ "$1" = --check=strict ] || exit 9\nshift\nexec "$@"\n' | stand_in emulator
options='--emulator ./emulator'
judged 0 '*emulator*kernel ok *clean*' 'kernel.cu ok'
judged 1 '*TOLD 1*kernel.cu: emulator: strict: a line*' 'kernel.cu strict:\040a\040line\n'

# The list itself.
kernels=$(grep -c '^[^# ]' "$root/tests/silicon/sanitized.txt")
[ "$kernels" -ge 30 ] || failed "$kernels kernels are few"
for path in $(sed -n 's/^\([^# ][^ ]*\).*/\1/p' "$root/tests/silicon/sanitized.txt"); do
    [ -f "$root/$path" ] || failed "sanitized.txt: there is no $path"
done
for name in $(grep -o 'CORRECT([a-z_]*, [0-9B]' "$root/tests/silicon/correct.cu" | sed 's/.*(//; s/,.*//'); do
    grep -qx "tests/silicon/correct.cu $name" "$root/tests/silicon/sanitized.txt" ||
        failed "correct.cu has $name, sanitized.txt has not"
done
exit $bad
