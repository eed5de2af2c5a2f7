#!/bin/sh
# nvcc_line.sh ROOT STEP TOOLKIT_ENV EMULATOR: the lesson's nvcc line, as a reader types it, builds the step without the
# rest of the repository's build, and what it built passes on the emulator. The line is the first of STEP/README.md that
# begins with `nvcc ` (a trailing backslash goes on); it is typed at the root or in the step's folder, as its path says.
set -eu
root=$1 step=$2 toolkit=$3 emulator=$4
# shellcheck disable=SC1090
. "$toolkit"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$root/common" "$root/$step" "$scratch"

line=$(sed -e ':join' -e '/\\$/N; s/\\\n */ /; tjoin' "$root/$step/README.md" | sed -n 's/^ *\(\$ \)\{0,1\}\(nvcc .*\)/\2/p' | sed 1q)
[ -n "$line" ] || {
    echo "FAILED: $step/README.md has no line that begins with nvcc"
    exit 1
}
echo "$line"
case $line in
*"$step/$step.cu"*) cd "$scratch" ;;
*) cd "$scratch/$step" ;;
esac
# The linker's search path serves a toolkit from PyPI, whose library folder lacks the name libcudart.so.
LIBRARY_PATH=$LINK_DIR PATH=$(dirname "$NVCC"):$PATH sh -c "$line" >nvcc.log 2>&1 || {
    cat nvcc.log
    echo "FAILED: the line does not compile"
    exit 1
}
program=$(printf '%s\n' "$line" | sed -n 's/.* -o  *\([^ ]*\).*/\1/p')
readelf -d "$program" 2>/dev/null | grep -q '(RPATH)' && {
    echo "FAILED: RPATH in $program goes before the emulator's library path"
    exit 1
}
sh "$root/tests/steps/run.sh" 0 "$emulator" "./$program"
