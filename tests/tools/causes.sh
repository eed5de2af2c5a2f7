#!/bin/sh
# causes.sh ROOT EMULATOR LAUNCH_PTX: reports name the cause where the checker can compute it, and not what follows from
# it: causes.txt, of the benchmark's broken kernels. That their mended forms are silent, benchmark.strict says.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 emulator=$2 launch=$3
unset SM100EMU_BOUNDS SM100EMU_SCHEDULE SM100EMU_CHECK
cd "$root/benchmark/pairs" || exit 1
while read -r pair words; do
    case $pair in '#'*) continue ;; esac
    # shellcheck disable=SC2046 # the kernel's name and its arguments
    out=$(emulated "$emulator" --timeout=60 "$launch" "$pair.ptx" $(sed -n 's|^// ARGS: ||p' "$pair.ptx") 2>&1)
    case $out in
    *"$words"*) ;;
    *) failed "$pair does not say \"$words\": $out" ;;
    esac
done <"$root/tests/tools/causes.txt"
exit $bad
