#!/bin/sh
# explore.sh EMULATOR LAUNCH_PTX CC: sm100emu --explore finds the first schedule under which a program does otherwise,
# and only that: with a program that does otherwise when told to, and with kernels of which one lacks a wait that no
# schedule without a seed misses. SAN_LIB as in scripts/run.sh.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
emulator=$1 launch_ptx=$2 cc=$3 err=$scratch/err
unset SM100EMU_SCHEDULE SM100EMU_TIME SM100EMU_STATS SM100EMU_THREADS SM100EMU_TIMEOUT


# odd SCHEDULE HOW: a program that does HOW where its schedule begins with SCHEDULE. It asks for no library, but could.
cat >"$scratch/odd.c" <<'PROGRAM'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void act(const char *how) {
    if (strcmp(how, "exit") == 0)
        exit(5);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "print") == 0)
        puts("took 3 ms; result 8");
    if (strcmp(how, "time") == 0)
        printf("took %d ms; result 7\n", (int)getpid());
    if (strcmp(how, "report") == 0)
        fputs("warning: two [shared-race]\n  --> b.cu:2 in k\n   ptx: x\n  and: st\n  --> a.cu:1 in k\n", stderr);
    if (strcmp(how, "turned") == 0)
        fputs("warning: two    [shared-race]\n  --> a.cu:1 in k\n  and: ld\n  --> b.cu:2 in k\n", stderr);
    for (int i = 0; strcmp(how, "flood") == 0; i++)
        printf("%d\n", i);
    while (strcmp(how, "hang") == 0)
        sleep(1);
}

int main(int argc, char **argv) {
    const char *schedule = getenv("SM100EMU_SCHEDULE");
    if (argc < 3 || !schedule || getchar() != EOF || dlopen("libcuda.so.0", RTLD_NOW))
        return 1;
    puts("begun");
    for (int i = 1; i + 1 < argc; i += 2)
        if (strncmp(schedule, argv[i], strlen(argv[i])) == 0)
            act(argv[i + 1]);
    return 0;
}
PROGRAM
"$cc" -o "$scratch/odd" "$scratch/odd.c" -ldl || exit 1
odd=$scratch/odd

# A process that hangs takes 20 s to be stopped; meanwhile the rest.
emulated "$emulator" --explore=1 "$odd" random:1 hang >"$scratch/hang.out" 2>"$scratch/hang.err" &
hang=$!

run 0 'no schedule differs' "$emulator" --explore=3 "$odd" none exit
has "$err" 'random:1 to random:3 and pct:1,3 to pct:3,3 it does what it does by default' 'no proof'
[ "$(cat "$scratch/out")" = begun ] || failed "the output of the program: $(cat "$scratch/out")"
run 5 'a program that fails under each' "$emulator" --explore=3 "$odd" '' exit
run 3 'the exit code' "$emulator" --explore=9 --jobs=4 "$odd" random:7 exit pct:4 exit pct:9 exit
has "$err" "pct:4,3 gives another result" 'ends with exit code 5; under the default schedule it ends with exit code 0' \
    "$emulator --threads=1 --schedule=pct:4,3 $odd random:7 exit pct:4 exit pct:9 exit"
run 3 'a signal' "$emulator" --explore=9 --jobs=1 --check=error "$odd" lazy abort "it's" ''
has "$err" 'lazy gives another result' 'it ends by signal 6' \
    "$emulator --threads=1 --check=error --schedule=lazy $odd lazy abort 'it'\\''s' ''"
run 3 'the output' "$emulator" --explore=2 "$odd" eager print
has "$err" 'eager gives another result' 'line 2 of its output is "took 3 ms; result 8"; under the default schedule it is missing'
run 3 'the output but for what is ignored' "$emulator" --explore=2 --ignore='took [0-9]* ms|8$' "$odd" pct:2 print '' time
has "$err" 'pct:2,3 gives another result' 'is "; result "; under the default schedule it is "; result 7"'
run 0 'times that are ignored' "$emulator" --explore=2 --ignore='took [0-9]* ms' "$odd" '' time
run 2 'times' "$emulator" --explore=2 "$odd" '' time
has "$err" 'two runs under the default schedule differ' '--ignore=REGEX'
run 3 'a report' "$emulator" --explore=2 "$odd" random:2 report
has "$err" 'random:2 gives another result' 'reported, but not under the default schedule: shared-race at a.cu:1 and b.cu:2'
run 3 'a report that is missing' "$emulator" --explore=2 "$odd" default report
has "$err" 'eager gives another result' 'not reported, but under the default schedule: shared-race at a.cu:1 and b.cu:2'
run 0 'a race told the other way round' "$emulator" --explore=2 "$odd" default report e report lazy turned r turned p report
run 3 'a program that prints for ever' "$emulator" --explore=1 "$odd" pct flood
has "$err" 'pct:1,3 gives another result' 'it printed more than 64 MiB'

for options in '--jobs=2' '--ignore=x' '--explore=0' '--explore=x' '--explore=2 --jobs=0' '--explore=2 --ignore=(' \
    '--explore=2 --schedule=lazy'; do
    # shellcheck disable=SC2086
    run 2 "$options" "$emulator" $options "$odd" none exit
    has "$err" 'sm100emu: --'
done

# Two copies, each with its mbarrier. `wrong` waits for the second alone, which comes last unless a seed says otherwise.
kernel() {
    printf '.version 8.7\n.target sm_100a\n.address_size 64\n.entry k(.param .u64 data, .param .u64 out)\n{\n'
    printf '.reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .pred %%p<2>; .shared .align 128 .b8 sm[1024];\n'
    printf 'ld.param.u64 %%rd1, [data]; ld.param.u64 %%rd2, [out]; mov.u32 %%r1, sm;\n'
    for at in 0 8; do
        printf 'mbarrier.init.shared::cta.b64 [%%r1+%s], 1;\n' "$at"
    done
    for at in 0 8; do
        printf 'mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r1+%s], 16;\n' "$at"
        printf 'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes '
        printf '[%%r1+%s], [%%rd1], 16, [%%r1+%s];\n' $((at * 16 + 128)) "$at"
    done
    for at in $1; do
        printf 'w%s: mbarrier.try_wait.parity.shared::cta.b64 %%p1, [%%r1+%s], 0; @!%%p1 bra w%s;\n' "$at" "$at" "$at"
    done
    printf '%s\nst.global.u32 [%%rd2], %%r2; ret;\n}\n' "$2"
}
load='ld.shared.u32 %r2, [%r1+128];'
kernel '0 8' "$load" >"$scratch/right.ptx"
kernel 8 "$load" >"$scratch/wrong.ptx"
kernel 8 'mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0; e: @!%p1 bra e; mov.u32 %r2, 0;' \
    >"$scratch/endless.ptx"

# `told` is told of a race under each schedule, always the same.
{
    printf '.version 8.7\n.target sm_100a\n.address_size 64\n.shared .b32 w;\n.entry k()\n{\n.reg .b32 %%r;\n'
    printf 'mov.u32 %%r, %%tid.x;\nst.shared.u32 [w], %%r;\nret;\n}\n'
} >"$scratch/told.ptx"

words='k block=1 buf:64 out:4'
# shellcheck disable=SC2086
{
    run 0 'a kernel with its waits' "$emulator" --explore=8 "$launch_ptx" "$scratch/right.ptx" $words
    has "$err" 'pct:8,3,2'
    run 0 'with --time' "$emulator" --explore=8 --time "$launch_ptx" "$scratch/right.ptx" $words
    has "$err" 'warp instructions'
    run 3 'a race under each schedule' "$emulator" --explore=2 "$launch_ptx" "$scratch/told.ptx" k block=64
    has "$err" '[shared-race]' 'it does what it does by default'
    run 3 'a kernel without a wait' "$emulator" --explore=8 --check=off --jobs=3 "$launch_ptx" "$scratch/wrong.ptx" $words
    has "$err" 'not under the default schedule: uninitialised-global-store at'
    first=$(sed -n 's/^sm100emu: \(.*\) gives another result.*/\1/p' "$err")
    command=$(sed -n 's/^    \(.*--schedule=.*\)/\1/p' "$err")
    run 3 'the same with one job' "$emulator" --explore=8 --check=off --jobs=1 "$launch_ptx" "$scratch/wrong.ptx" $words
    has "$err" "sm100emu: $first gives another result"
    run 3 'without a seed' "$emulator" --time "$launch_ptx" "$scratch/wrong.ptx" $words
    steps=$(sed -n 's/.*, \([0-9]*\) steps$/\1/p' "$err")
    # by hand: right under all that come before it, wrong with the command that was told
    i=0
    for schedule in default eager lazy $(while [ $((i += 1)) -le 8 ]; do echo "random:$i pct:$i,3,$steps"; done); do
        [ "$schedule" = "$first" ] && break
        run 0 "$schedule, which comes before $first" \
            "$emulator" --check=off "--schedule=$schedule" "$launch_ptx" "$scratch/wrong.ptx" $words
    done
    [ "$schedule" = "$first" ] || failed "the first schedule that differs is none: $first"
    run 1 'the command that shows it again' sh -c "$command"
    has "$err" uninitialised-global-store
    run 3 'a kernel that does not end' "$emulator" --explore=8 --timeout=0.3 "$launch_ptx" "$scratch/endless.ptx" $words
    has "$err" 'not under the default schedule: launch-timeout at'
}

wait "$hang"
code=$? what='a process that hangs'
[ "$code" -eq 3 ] || failed "$what: exit code $code"
cp "$scratch/hang.err" "$err"
has "$err" 'random:1 gives another result' 'it has not ended after ' "--schedule=random:1 $odd random:1 hang"
exit $bad
