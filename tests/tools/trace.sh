#!/bin/sh
# trace.sh ROOT EMULATOR SM100EMU_LOG PROGRAMS: the logs of whole programs. A log has the same bytes whatever the number
# of host threads; every wait that was met has a cause; step 05 at 4096 cubed stays under 256 MiB; what cannot be
# written or read is said. SAN_LIB is preloaded where it is set; UNDER runs what was built for another machine. Skipped
# (77) without python3.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
needs python3
root=$1 emulator=$2 log=$3 programs=$4
cd "$root" || exit 2


for step in 01_tmem_alloc parts/contend parts/shapes 02_simple_umma 03_tma_multicast 04_pair_umma 05_persistent_warpspec; do
    for schedule in default eager random:7; do
        run 0 "$step, $schedule" "$emulator" --schedule=$schedule --threads=1 --trace="$scratch/one" "$programs/$step"
        run 0 "$step, $schedule" "$emulator" --schedule=$schedule --threads=3 --trace="$scratch/three" "$programs/$step"
        cmp -s "$scratch/one" "$scratch/three" || failed "$step, $schedule: other bytes with more threads"
    done
done

run 0 4096 "$emulator" --check=off --trace="$scratch/large" "$programs/05_persistent_warpspec" --m 4096 --n 4096 --k 4096 --verify none
[ "$(wc -c <"$scratch/large")" -lt $((256 << 20)) ] || failed "4096 cubed: $(wc -c <"$scratch/large") bytes"
rm -f "$scratch/large"

run 0 %p "$emulator" --trace="$scratch/%p.log" "$programs/02_simple_umma"
[ "$(find "$scratch" -name '[0-9]*.log' | wc -l)" -eq 1 ] || failed "%p"
run 1 'no folder' "$emulator" --trace="$scratch/no/such" "$programs/02_simple_umma"
says 'no/such: No such file'
run 1 'a full disk' "$emulator" --trace=/dev/full "$programs/02_simple_umma"
says '--trace: the file takes no more'
if [ -z "${UNDER:-}" ]; then
    run 2 'no CTAs' "$emulator" --trace-ctas=5-3 "$programs/02_simple_umma"
    says 'expected a number of a CTA'
    run 2 'no option' "$log" --no-such-option
    says 'is no option'
    run 1 'no log' "$log" --json "$root/README.md"
    says 'not a log of sm100emu'
    head -c 1000 "$scratch/one" >"$scratch/cut"
    run 1 'half a log' "$log" --json "$scratch/cut"
    says 'cut off'
fi
exit $bad
