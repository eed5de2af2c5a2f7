#!/bin/sh
# bounds.sh ROOT EMULATOR PROGRAMS: each bound of emulator/report/bounds.def, tripped. With the bound as it is a kernel
# that breaks a rule is reported, and nothing is said of silence. With it lowered the program's last line says what may
# have been missed, and --require-complete ends with 4. Two kernels trip a bound that is not lowered.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/../tools/shared.sh"
root=$1 emulator=$2 programs=$3
launch=$programs/tests/negative/launch_ptx own=$root/tests/bounds/bounds.ptx negative=$root/tests/negative
unset SM100EMU_BOUNDS SM100EMU_SCHEDULE SM100EMU_CHECK
tripped=

# trips BOUND=MOST WORDS CODE COMMAND...: COMMAND ends with CODE where the bound is as it is. Lowered, it says WORDS.
trips() {
    bound=$1 words=$2 wanted=$3
    shift 3
    tripped="$tripped ${bound%%=*}"
    caught emulated "$emulator" --require-complete --timeout=20 "$@"
    expect "$wanted" '*' "$bound, not lowered: $*"
    case $out in *'did not see all'*) failed "$bound: announced, but not lowered: $out" ;; esac
    caught emulated env SM100EMU_BOUNDS="$bound" "$emulator" --require-complete --timeout=20 "$@"
    expect 4 "*sm100emu: note: the checks did not see all of a launch (*$words*): run a smaller problem, too*" "$bound: $*"
}

trips FLAG_BYTES=0 'releases more different words' 3 "$launch" "$own" flag_bytes block=1 grid=2 out:128
trips CELL_BYTES=0 'touches more of it' 3 "$launch" "$negative/race_global_relaxed.ptx" race_global_relaxed grid=2 out:8
trips MARKS=1 'more threads read the same bytes' 3 "$launch" "$own" marks block=1 grid=4 out:8
trips READS=0 'more reads of 2 MiB' 3 "$launch" "$own" reads block=1 grid=2 out:128
trips RECORDS=0 'last asynchronous operations' 3 "$launch" "$own" spans block=1 buf:32
trips RELEASES=0 'more release fences' 0 "$programs/tests/negative/race_tensormap_ok"
trips ACQUIRES=0 'more acquire fences' 0 "$programs/tests/negative/race_tensormap_ok"
trips EVENTS=4 'more events' 3 "$launch" "$own" spans block=1 buf:32
trips COPY_WAITS=1 'waited for more groups' 3 "$launch" "$own" copy_waits block=64 buf:4 out:4
trips BULK=1 'a warp has more' 3 "$launch" "$own" bulk block=1 out:32
trips SITES=0 'the line of an earlier access' 3 "$launch" "$own" sites block=64 out:4
trips READERS=1 'more threads read the same word' 3 "$launch" "$own" readers block=128 out:4
trips SPANS=1 'the same 16384 bytes' 3 "$launch" "$own" spans block=1 buf:32
trips AREAS=1 'different areas' 3 "$launch" "$own" areas
trips FINDINGS=0 'more findings wait' 3 --schedule=eager "$launch" "$negative/race_mma_rows.ptx" race_mma_rows out:4 \
    buf:5120 block=128
trips TASKS=1 'run at a time' 3 "$programs/tests/negative/launch_tasks" "$negative/grid_read.ptx" run:write early:read
trips TASK_BYTES=0 'they touch more memory' 3 "$programs/tests/negative/launch_tasks" "$negative/grid_read.ptx" run:write early:read

# ---- no bound is without a test, and the variable takes no other names and no higher figures
for name in $(sed -n 's/^BOUND(\([A-Z_]*\),.*/\1/p' "$root/emulator/report/bounds.def"); do
    case "$tripped " in *" $name "*) ;; *) failed "$name: no test trips it" ;; esac
done
for wrong in SPANS SPANS= SPANS=x SPANS=1x SPANS=1,, SPANS=99999999999 NONE=1 SPANS=1,NONE=1; do
    caught emulated env SM100EMU_BOUNDS="$wrong" "$emulator" "$launch" "$own" areas
    expect 1 "*SM100EMU_BOUNDS=$wrong: no lower bounds*" "$wrong"
done
caught emulated env SM100EMU_BOUNDS=SPANS=1,AREAS=1 "$emulator" --require-complete "$launch" "$own" areas
expect 4 '*different areas*' 'two bounds'

# ---- as they are: a thread that releases 400000 words, or reads one 40000 times, is seen, and so are the races beside it
# kernel FILE TIMES BODY: two CTAs; the first does BODY so often, its address 4 bytes further each time, before both
# store to the first word
kernel() {
    {
        printf '.version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %%p;\n'
        printf '.reg .b32 %%r<4>;\n.reg .b64 %%d<3>;\nld.param.u64 %%d1, [out];\nadd.u64 %%d2, %%d1, 4096;\n'
        printf 'mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, 0;\nsetp.ne.u32 %%p, %%r1, 0;\n@%%p bra RACE;\nNEXT: %s\n' "$3"
        printf 'add.u32 %%r2, %%r2, 1;\nsetp.lt.u32 %%p, %%r2, %s;\n@%%p bra NEXT;\nRACE: st.global.u32 [%%d1], %%r1;\n' "$2"
        printf 'ret;\n}\n'
    } >"$scratch/$1"
}
kernel words.ptx 400000 'st.release.gpu.global.u32 [%d2], 1; add.u64 %d2, %d2, 4;'
caught emulated "$emulator" --require-complete "$launch" "$scratch/words.ptx" k block=1 grid=2 buf:4000000
expect 3 '*global-race*' 'many releases'
kernel loop.ptx 40000 'ld.global.u32 %r3, [%d2];'
caught emulated "$emulator" --require-complete "$launch" "$scratch/loop.ptx" k block=1 grid=2 buf:4000000
expect 3 '*global-race*' 'many reads'
exit "$bad"
