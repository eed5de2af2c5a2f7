#!/bin/sh
# doctor.sh ROOT: scripts/doctor.sh decides by toolkit, driver and compute capability as it should, picks the backend
# from what nvidia-smi says, and works with nothing installed.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1

while read -r toolkit driver cc decision word; do
    same "verdict $toolkit $driver $cc" "$(sh "$root/scripts/doctor.sh" verdict "$toolkit" "$driver" "$cc")" \
        "$decision *$word*"
done <<'TABLE'
12.9 575.57.08 10.0 gpu 12.9
12.9 575.57.08 10.3 gpu 12.9
12.9 570.195.03 10.0 driver 575
13.0 575.57.08 10.0 driver 580
13.0 580.65.06 10.0 gpu 13.0
13.0 580.65.06 10.3 gpu 13.0
13.2 590.10 10.3 gpu 13.2
13.0 579.99 10.3 driver 580
13.0 unknown 10.0 driver 580
13.0 580.65.06 9.0 emulator Hopper
13.0 580.65.06 10.1 emulator Thor
13.0 580.65.06 11.0 emulator Thor
13.0 580.65.06 12.0 emulator tensor
13.0 580.65.06 12.1 emulator tensor
13.0 580.65.06 8.9 emulator tensor
13.0 580.65.06 100.0 emulator family
13.0 none none emulator nvidia-smi
TABLE

# A PATH with the shell's helpers alone, to which each trial adds an nvidia-smi.
mkdir "$scratch/bin"
for tool in sh sed uname dirname cat; do
    ln -s "$(command -v $tool)" "$scratch/bin/$tool"
done
doctor() {
    env -u CUDA_HOME -u NVCC -u CC -u NVCC_CCBIN PATH="$scratch/bin" sh "$root/scripts/doctor.sh" "$@" 2>&1
}
pretend() { echo "echo '$1'" | stand_in "$scratch/bin/nvidia-smi"; }

same "backend without nvidia-smi" "$(doctor backend)" emulator
report=$(doctor) || same "the report's exit code" "$?" 0
same "report: compiler" "$report" '*cc * MISSING: install gcc*'
same "report: cmake" "$report" '*cmake * MISSING: install cmake*'
same "report: patch" "$report" '*patch * MISSING: install patch*git * MISSING: install git*'
same "report: what does not work" "$report" \
    '*make run-0N * does not work: MISSING cc c++*make break-0N-N * MISSING cc c++ patch*make test * MISSING cc c++ cmake*'
if [ ! -d "$root/.toolkit" ]; then
    same "report: toolkit" "$report" '*python3 * MISSING*nvcc * fetches CUDA*pip * MISSING*'
fi
same "report: test-aarch64" "$report" '*test-aarch64 * MISSING: install gcc-aarch64-linux-gnu *; install qemu-user *'
same "need" "$(doctor need cmake)" '*cmake is missing: install cmake*'

for compiler in gcc g++; do
    echo exit | stand_in "$scratch/bin/$compiler"
done
same "report: where" "$(doctor)" '*run-0N * runs on the emulator*make test * does not work: MISSING cmake*'

# A cross compiler that finds no C library is half an installation.
echo 'cat >/dev/null; exit 1' | stand_in "$scratch/bin/aarch64-linux-gnu-gcc"
same "need without libc" "$(doctor need aarch64-linux-gnu-gcc)" '*libc6-dev-arm64-cross*'
echo 'cat >/dev/null' | stand_in "$scratch/bin/aarch64-linux-gnu-gcc"
same "need with libc" "$(doctor need aarch64-linux-gnu-gcc)" ''

while IFS=: read -r wanted line; do
    pretend "$line"
    same "backend with $line" "$(doctor backend)" "$wanted"
done <<'TABLE'
gpu:10.0, 580.65.06, NVIDIA B200
gpu:10.3, 580.65.06, NVIDIA B300 SXM6 AC
emulator:9.0, 580.65.06, NVIDIA H200
emulator:10.1, 580.65.06, Thor
emulator:12.0, 580.65.06, NVIDIA GeForce RTX 5090
emulator:110.0, 580.65.06, Some GPU
emulator:No devices were found
TABLE
pretend "9.0, 580.159.04, NVIDIA H200"
same "report: Hopper" "$(doctor)" \
    '*NVIDIA H200, compute capability 9.0, driver 580.159.04*(Hopper) has no tensor memory*run-0N * runs on the emulator*'
pretend "10.0, 570.10, NVIDIA B200"
same "report: old driver" "$(doctor)" '*NVIDIA B200, compute capability 10.0*too old: CUDA * wants *runs on the GPU*'
rm "$scratch/bin/g++"

# The package manager that is here is named.
stand_in "$scratch/bin/dnf" </dev/null
same "need with dnf" "$(doctor need c++)" '*sudo dnf install gcc-c++*'
stand_in "$scratch/bin/apt-get" </dev/null
same "need with apt-get" "$(doctor need c++)" '*sudo apt-get install g++*'
exit $bad
