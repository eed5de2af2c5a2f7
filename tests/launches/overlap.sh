#!/bin/sh
# overlap.sh ROOT EMULATOR LAUNCH_TASKS: under --schedule=random launches with programmatic stream serialisation overlap
# (PTX ISA 9.7.13.13), and nothing else changes.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/../tools/shared.sh"
root=$1 emulator=$2 launch=$3
own=$root/tests/launches/overlap.ptx negative=$root/tests/negative seeds='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16'
unset SM100EMU_BOUNDS SM100EMU_SCHEDULE SM100EMU_CHECK

# outcomes FILE ARGS CODE: what the first word of b is under each seed; each run ends with CODE
outcomes() {
    words=
    for seed in $seeds; do
        # shellcheck disable=SC2086
        caught emulated "$emulator" --schedule=random:"$seed" --timeout=20 "$launch" "$1" $2
        [ "$code" = "$3" ] || failed "$1 $2 under random:$seed: exit code $code: $out"
        words="$words $(echo "$out" | sed -n 's/^b //p')"
    done
}

# ---- a read before griddepcontrol.wait gets old data under some seed, and new data under others; its twin never does
outcomes "$negative/grid_read_before_wait.ptx" 'run:write early:read' 3
same 'no seed gives old data' "$words" '*00000000*'
same 'no seed gives new data' "$words" '*0000002a*'
outcomes "$negative/grid_read_before_wait_ok.ptx" 'run:write early:read' 0
case $words in *00000000*) failed "behind griddepcontrol.wait there is old data:$words" ;; esac
outcomes "$own" 'run:long_tail early:waits' 0
case $words in *00000000*) failed "griddepcontrol.wait does not wait for the end:$words" ;; esac
# the third kernel's wait is for the second, which never waited for the first
outcomes "$negative/grid_chain.ptx" 'run:write early:middle early:read' 3
same 'no seed lets the third kernel begin before the end of the first' "$words" '*00000000*'
outcomes "$negative/grid_chain_trigger_ok.ptx" 'run:write early:middle early:read' 0
case $words in *00000000*) failed "the third kernel does not wait for the second:$words" ;; esac
# the second waits while it is left alone
outcomes "$negative/grid_chain_trigger.ptx" 'run:write early:middle early:read' 3

# ---- without the attribute, and under other schedules, one launch is behind the other
outcomes "$negative/grid_read.ptx" 'run:write run:read' 0
case $words in *00000000*) failed "launches without the attribute overlap:$words" ;; esac
for schedule in default eager lazy model pct:1,3 pct:2,3 pct:3,3; do
    caught emulated "$emulator" --schedule=$schedule "$launch" "$negative/grid_read.ptx" run:write early:read
    expect 3 '*b 0000002a*' "--schedule=$schedule"
done
# nor where the host sees memory of the device's: it may wait for a word that the kernel writes behind the trigger
outcomes "$negative/grid_read.ptx" 'pinned run:write early:read' 3
case $words in *00000000*) failed "a launch is left alone that the host may watch:$words" ;; esac

# ---- a seed is a run: on one host thread and on many
for seed in 1 2 3 4; do
    for threads in 1 1 3; do
        caught emulated "$emulator" --threads=$threads --check=off --schedule=random:$seed "$launch" "$own" \
            run:mixes early:splits early:mixes
        [ "$threads" = 1 ] && one=$out
        same "random:$seed is not one run" "$out" "$one"
    done
done
# ---- a launch that nothing joins is the one that is never left alone, bit for bit
for seed in $seeds; do
    caught emulated "$emulator" --check=off --schedule=random:"$seed" "$launch" "$own" pinned run:mixes run:splits
    one=$out
    caught emulated "$emulator" --check=off --schedule=random:"$seed" "$launch" "$own" run:mixes run:splits
    same "random:$seed gives another order to a launch that was left alone" "$out" "$one"
done

# ---- what is left alone ends: by a limit, or by its fault, which the next call answers
caught emulated "$emulator" --schedule=random:1 --timeout=1 "$launch" "$own" run:endless early:waits
expect 1 '*[[]launch-timeout]*endless*cuCtxSynchronize*702*' 'an endless kernel whose dependents have begun'
caught emulated "$emulator" --schedule=random:1 "$launch" "$own" run:faults
expect 1 '*[[]trap]*cuCtxSynchronize*719*' 'a fault behind the trigger'
caught emulated "$emulator" --schedule=random:1 "$launch" "$own" run:faults run:waits
expect 1 '*[[]trap]*waits: CUDA_ERROR_LAUNCH_FAILED*' 'a launch behind a fault'

# ---- they share SMs: a kernel that allocates behind its trigger may wait for one that waits for its end
caught emulated "$emulator" --schedule=random:1 --timeout=20 "$launch" "$own" grid:148 run:allocates early:holds
expect 1 '*512 of the overlapping kernel holds*deadlock*after griddepcontrol.wait*' 'tensor memory of two kernels'
for schedule in default random:1; do
    caught emulated "$emulator" --schedule=$schedule --timeout=20 "$launch" "$own" grid:148 run:allocates run:holds
    expect 0 '*' "tensor memory of two kernels, one behind the other, $schedule"
done
exit $bad
