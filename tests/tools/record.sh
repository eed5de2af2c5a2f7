#!/bin/sh
# record.sh ROOT EMULATOR PROGRAMS: scripts/record.sh, with an nvidia-smi that is made up. What a program prints becomes the
# record, under a line that names the chip; nothing is written without a Hopper, nor by a program that fails.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 emulator=$2 programs=$3
check() { [ "$1" = "$2" ] || failed "$3: '$1', expected '$2'"; }

mkdir -p "$scratch/bin" "$scratch/h200" "$scratch/root/scripts" "$scratch/root/tests/silicon" "$scratch/programs/tests/silicon"
cp "$root/scripts/record.sh" "$scratch/root/scripts"
: >"$scratch/root/tests/silicon/good.c"
: >"$scratch/root/tests/silicon/worse.c"
printf 'echo "one 1 0000000000000001 1"\necho "two is new"\n' | stand_in "$scratch/programs/tests/silicon/good"
printf 'echo "one 2"\necho "no context" >&2\nexit 2\n' | stand_in "$scratch/programs/tests/silicon/worse"
smi() { echo "[ \$# = 0 ] && echo '| CUDA Version: 13.0 |' || $1" | stand_in "$scratch/bin/nvidia-smi"; }
record() { PATH=$scratch/bin:$PATH RECORD_INTO=$scratch/h200 sh "$scratch/root/scripts/record.sh" "$scratch/programs" "$@" 2>&1; }

smi 'exit 1'
answers 77 '*' record
smi 'echo "NVIDIA B200, 10.0, 590.1"'
answers 77 "record.sh: NVIDIA B200 has compute capability 10.0: the records are a Hopper's, 9.0" record
check "$(ls "$scratch/h200")" "" "files without a Hopper"

smi 'echo "NVIDIA H200, 9.0, 580.1"'
printf '# old\none 1 0000000000000001 1\n' >"$scratch/h200/good.txt"
echo "one 1" >"$scratch/h200/worse.txt"
answers 1 "good: 2 cases, 1 of them other than before
worse: failed: no context; $scratch/h200/worse.txt is as it was" record
check "$(cat "$scratch/h200/worse.txt")" "one 1" "its record"
check "$(cat "$scratch/h200/good.txt")" "# GPU: NVIDIA H200 (sm_90), driver 580.1 (CUDA 13.0)   date: $(date +%F)   command: good
one 1 0000000000000001 1
two is new" "a record"

answers 1 "record.sh: there is no tests/silicon/none.c" record none

# The programs themselves, on the emulator in the place of a chip: the lines of a record are what they print.
if [ -z "${SAN_LIB:-}" ]; then
    printf 'exec "%s" "%s" "$@"\n' "$emulator" "$programs/tests/silicon/vectors" |
        stand_in "$scratch/programs/tests/silicon/vectors"
    answers 0 '*' env PATH="$scratch/bin:$PATH" RECORD_INTO="$scratch/h200" \
        sh "$root/scripts/record.sh" "$scratch/programs" vectors
    check "$(grep -vc '^#' "$scratch/h200/vectors.txt")" "$(grep -vc '^#' "$root/tests/silicon/h200/vectors.txt")" "cases of vectors"
fi
exit $bad
