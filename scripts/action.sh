#!/bin/sh
# action.sh: what action.yml does in a workflow: builds the emulator in its own checkout, puts it and a CUDA compiler on the
# PATH of this and the later steps of the job, and runs the caller's commands.
#
#   ACTION_RUN      commands for `sh -e`, in the caller's workspace; their exit code is this script's. May be empty
#   ACTION_TOOLKIT  true: make toolkit, which takes an nvcc of 12.9 or later or fetches one. false: no compiler
#   ACTION_OPTIONS  options as sm100emu takes them, handed to all its runs in the job by the environment (SM100EMU_...)
#   ACTION_DIRECT   true: LD_LIBRARY_PATH leads to the emulator, as sm100emu itself sets it. Programs with the shared CUDA
#                   runtime then run on it without sm100emu before their names, and without its look at the file; those with
#                   the static runtime by LD_PRELOAD
#
# GITHUB_PATH and GITHUB_ENV are the files by which a step tells the later ones: a folder a line, NAME=value a line.
# Wrong inputs end with 2.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

die() {
    echo "sm100emu action: $1" >&2
    exit 2
}

# For the commands below and for the later steps.
path() {
    PATH=$1:$PATH
    echo "$1" >>"$GITHUB_PATH"
}
environment() {
    export "$1=$2"
    echo "$1=$2" >>"$GITHUB_ENV"
}

# sm100emu judges the options, since programs believe what they find in the environment.
options() {
    "$root/build/sm100emu" "$@" --version >/dev/null || die "options: $*"
    for option in "$@"; do
        case $option in --explore=* | --jobs=* | --ignore=*) die "options: $option is for a single command" ;; esac
        name=${option%%=*} value=1 # --time has no value
        [ "$name" = "$option" ] || value=${option#*=}
        environment "SM100EMU_$(printf %s "${name#--}" | tr 'a-z-' 'A-Z_')" "$value"
    done
}

for input in "toolkit=$ACTION_TOOLKIT" "direct=$ACTION_DIRECT"; do
    case ${input#*=} in true | false) ;; *) die "${input%%=*} is true or false, not '${input#*=}'" ;; esac
done
make --no-print-directory -C "$root" emulator
path "$root/build"
set -f
# shellcheck disable=SC2086
options $ACTION_OPTIONS
if [ "$ACTION_TOOLKIT" = true ]; then
    make --no-print-directory -C "$root" toolkit
    # shellcheck disable=SC1091
    . "$root/build/toolkit.env"
    path "$(dirname "$NVCC")"
    environment CUDACXX "$NVCC" # the name by which CMake looks for it
    environment LIBRARY_PATH "$LINK_DIR${LIBRARY_PATH:+:$LIBRARY_PATH}" # where the linker finds libcudart.so
fi
if [ "$ACTION_DIRECT" = true ]; then
    environment LD_LIBRARY_PATH "$root/build/emulator${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    environment LD_PRELOAD "${LD_PRELOAD:+$LD_PRELOAD:}libsm100emu-static.so"
fi
[ -z "$ACTION_RUN" ] || sh -e -c "$ACTION_RUN"
