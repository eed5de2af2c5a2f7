#!/bin/sh
# other_gpu.sh EMULATOR OTHER_GPU PROGRAM...: what each program says where device 0 is of another kind: its name, what it is
# and what is needed, in one line, exit code 1; on a B300 it runs. OTHER_GPU is other_gpu.c as a library. The words for
# 9.0 are those that an H200 got.
set -u
emulator=$1 library=$2
shift 2
bad=0

# on GPU WANTED PATTERN PROGRAM
on() {
    said=$(OTHER_GPU=$1 LD_PRELOAD=$library "$emulator" "$4" 2>&1)
    code=$?
    # shellcheck disable=SC2254
    case $code:$said in
    $2:$3) ;;
    *)
        printf 'FAILED: %s on %s: exit code %s:\n%s\n' "$4" "$1" "$code" "$said"
        bad=1
        ;;
    esac
}

for program; do
    on '9.0 NVIDIA H200' 1 'device 0 (NVIDIA H200) has compute capability 9.0; tensor memory needs compute capability 10.0 or 10.3, a B200 or B300. *make run-NN BACKEND=emulator, or sm100emu PROGRAM' "$program"
done
on '12.0 NVIDIA GeForce RTX 5090' 1 'device 0 (NVIDIA GeForce RTX 5090) has compute capability 12.0; *' "$1"
on '10.3 NVIDIA B300' 0 '*PASS*' "$1"
exit $bad
