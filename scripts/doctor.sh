#!/bin/sh
# doctor.sh: what this machine has for building and running the steps, what is missing, and what will run where.
#
#   doctor.sh                           the report; always ends with 0
#   doctor.sh backend                   `gpu` where a GPU that runs sm_100f code is present, else `emulator`
#   doctor.sh need TOOL...              silent where every TOOL is here; else says how to install it, exit 1
#   doctor.sh verdict TOOLKIT DRIVER CC the decision alone: `gpu`, `driver` (too old) or `emulator`, and why
#
# Needs a POSIX shell, sed and uname. The facts behind the verdict: the CUDA Toolkit's release notes (driver for each
# toolkit), the CUDA C++ Programming Guide (compute capabilities), the PTX ISA's target notes of tcgen05 (9.7.16).
set -eu
cd "$(dirname "$0")/.."

# install_line TOOL: the command that installs it, by the package manager that is here, or both names
install_line() {
    case $1 in
    cc) apt=gcc dnf=gcc ;;
    c++) apt=g++ dnf=gcc-c++ ;;
    cmake | ctest) apt=cmake dnf=cmake ;;
    pip) apt=python3-pip dnf=python3-pip ;;
    clang) apt=clang dnf="clang compiler-rt" ;;
    aarch64-linux-gnu-gcc) apt="gcc-aarch64-linux-gnu libc6-dev-arm64-cross" dnf=gcc-aarch64-linux-gnu ;;
    qemu-aarch64) apt=qemu-user dnf=qemu-user ;;
    clang-format) apt=clang-format dnf=clang-tools-extra ;;
    clang-tidy) apt=clang-tidy dnf=clang-tools-extra ;;
    objdump | strip) apt=binutils dnf=binutils ;;
    *) apt=$1 dnf=$1 ;;
    esac
    if command -v apt-get >/dev/null 2>&1; then
        echo "sudo apt-get install $apt"
    elif command -v dnf >/dev/null 2>&1; then
        echo "sudo dnf install $dnf"
    else
        echo "install $apt (Debian, Ubuntu) or $dnf (Fedora)"
    fi
}

# have TOOL: sets found to where it is
have() {
    found=
    case $1 in
    cc) found=$(command -v "${CC:-cc}" || command -v gcc || command -v clang) ;;
    c++) found=$(command -v "${NVCC_CCBIN:-g++}" || command -v clang++) ;;
    aarch64-linux-gnu-gcc) # with a C library for ARM64, which is a package of its own
        echo '#include <stdio.h>' | "$1" -E - >/dev/null 2>&1 && found=$(command -v "$1")
        ;;
    pip) python3 -m pip --version >/dev/null 2>&1 && found="python3 -m pip" ;;
    *) found=$(command -v "$1") ;;
    esac
    [ -n "$found" ]
}

need() {
    missing=0
    for tool in "$@"; do
        have "$tool" || {
            echo "$tool is missing: $(install_line "$tool")" >&2
            missing=1
        }
    done
    return $missing
}

# verdict TOOLKIT DRIVER CC: decision, a blank, the reason. TOOLKIT major.minor, DRIVER as nvidia-smi prints it,
# CC major.minor or `none`.
verdict() {
    case $3 in
    10.0 | 10.3)
        # the oldest driver branch that runs what the toolkit builds for sm_100f
        case $1 in 12.*) wanted=575 ;; *) wanted=580 ;; esac
        if [ "${2%%.*}" -ge "$wanted" ] 2>/dev/null; then
            echo "gpu compute capability $3 runs sm_100f code; driver $2 is recent enough for CUDA $1"
        else
            echo "driver driver $2 is too old: CUDA $1 wants $wanted or later (compute capability $3 itself is good)"
        fi
        ;;
    10.1 | 11.*)
        echo "emulator compute capability $3 (Jetson Thor) has tcgen05, but as another family (sm_101f, now sm_110f);" \
            "sm_100f code does not load there"
        ;;
    12.*)
        echo "emulator compute capability $3 (GeForce RTX 50, RTX PRO Blackwell, DGX Spark) has no tensor memory" \
            "and no tcgen05, the name Blackwell notwithstanding"
        ;;
    9.*)
        echo "emulator compute capability $3 (Hopper) has no tensor memory and no tcgen05; its UMMA forerunner is wgmma"
        ;;
    none) echo "emulator no NVIDIA GPU answers nvidia-smi" ;;
    [0-8].*) echo "emulator compute capability $3 has no tensor memory and no tcgen05" ;;
    *) echo "emulator compute capability $3 is not of the sm_100f family (10.0 and 10.3)" ;;
    esac
}

gpus() {
    nvidia-smi --query-gpu=compute_cap,driver_version,name --format=csv,noheader 2>/dev/null |
        sed -n 's/^\([0-9][0-9]*\.[0-9][0-9]*\), */\1 /; s/, / /p'
}

backend() {
    [ -n "$(gpus | sed -n '/^10\.[03] /p')" ] && echo gpu || echo emulator
}

row() {
    printf '  %-14s %s\n' "$1" "$2"
}

report_tools() {
    echo "To build"
    for tool in cc c++ make cmake patch git python3; do
        row "$tool" "$(have "$tool" && echo "$found: $("$found" --version 2>/dev/null | sed 1q)" ||
            echo "MISSING: $(install_line "$tool")")"
    done
    nvcc=$(sh scripts/toolkit.sh which 2>&1) || {
        row nvcc "$nvcc"
        nvcc=
    }
    toolkit=${nvcc#* }
    toolkit=${toolkit%% *}
    case $nvcc in
    use*) row nvcc "${nvcc##* }: CUDA $toolkit" ;;
    old*) row nvcc "${nvcc##* }: CUDA $toolkit is older than 12.9: install a newer toolkit, or make toolkit NVCC=fetch" ;;
    fetch*)
        toolkit=13.0
        row nvcc "none: the build fetches CUDA 13.0's compiler from PyPI into .toolkit/"
        row "  pip" "$(have pip && echo "$found" || echo "MISSING, wanted for that: $(install_line pip)")"
        if [ -z "$(command -v nvcc)" ] && [ -x /usr/local/cuda/bin/nvcc ]; then
            row "" "(there is /usr/local/cuda/bin/nvcc, not on the PATH: make CUDA_HOME=/usr/local/cuda ...)"
        fi
        ;;
    esac
}

report_gpus() {
    echo "To run"
    row machine "$(uname -s) $(uname -m)"
    list=$(gpus)
    if [ -z "$list" ]; then
        row GPU "$(verdict "$toolkit" none none | sed 's/^[a-z]* //')"
        return
    fi
    printf '%s\n' "$list" | while read -r cc driver name; do
        row GPU "$name, compute capability $cc, driver $driver"
        row "" "$(verdict "$toolkit" "$driver" "$cc" | sed 's/^[a-z]* //')"
    done
}

# so TARGET WHAT TOOL...: what it does, or which of the tools it lacks
so() {
    target=$1 what=$2 lacking=
    shift 2
    for tool in "$@"; do
        have "$tool" || lacking="$lacking $tool"
    done
    [ -z "$lacking" ] || what="does not work: MISSING$lacking"
    printf '  %-16s %s\n' "$target" "$what"
}

# What only some targets of the Makefile want, a line a target.
report_optional() {
    echo "For some targets only"
    while read -r target tools; do
        lacking=
        for tool in $tools; do
            have "$tool" || lacking="$lacking; $(install_line "$tool")"
        done
        row "$target" "$([ -n "$lacking" ] && echo "MISSING: ${lacking#; }" || echo "$tools")"
    done <<'TARGETS'
test-aarch64 aarch64-linux-gnu-gcc qemu-aarch64
lint clang-format clang-tidy
fuzz clang
TARGETS
}

report() {
    report_tools
    report_optional
    report_gpus
    echo "So"
    if [ "$(backend)" = gpu ]; then
        so "make run-0N" "runs on the GPU; BACKEND=emulator runs the same program on the emulator" cc c++
    else
        so "make run-0N" "runs on the emulator, the same program that a B200 or B300 runs" cc c++
    fi
    so "make watch-0N" "makes a page of a run" cc c++ python3
    so "make break-0N-N" "breaks a copy of a step and runs it" cc c++ patch
    so "make grade-0N" "marks exercises" cc c++ python3
    so "make test" "tests the steps on the emulator, with or without a GPU" cc c++ cmake ctest python3 patch git
}

case ${1:-} in
'') report ;;
backend | need | verdict) "$@" ;;
*)
    echo "usage: doctor.sh [backend | need TOOL... | verdict TOOLKIT DRIVER CC]" >&2
    exit 2
    ;;
esac
