#!/bin/sh
# doors.sh ROOT PROGRAM: what make says to who is new here: a target without its number or with a wrong one, a folder that
# cannot be written to, a size that cannot be, a step's own folder; and what a program says where there is no GPU.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 program=$2
unset MAKEFLAGS MFLAGS MAKELEVEL MAKE_TERMOUT BUILD PROGRAMS
cd "$root" || exit 2

for target in run check watch exercise grade; do
    answers 2 "*which step?*make $target-01*make $target-05*" make $target
    answers 2 '*there is no *6; *: 01 02 03 04 05*' make $target-6
done
answers 2 '*which step?*make break-01-1*' make break
answers 0 '*scripts/run.sh*/05_persistent_warpspec*' make -n run-5
answers 0 '*scripts/run.sh*/ladder/1_*' make -n run-5 RUNG=1
answers 0 '*course.exercise* 05*' make -n exercise-5
answers 2 "*04_pair_umma has no experiment 99*" sh scripts/break.sh build 4-99
answers 2 '*did you mean watch-04*' make wacth-04
answers 2 '*did you mean run-02[?]*' make run02
answers 2 '*did you mean check-02[?]*' make test-02
answers 0 '*variable args; did you mean ARGS[?]*' make -n args=--help run-02
answers 0 '*nothing here asks the variable FOO*' make FOO=1 help
answers 0 'usage: make*' make NVCC_CCBIN=clang++ help
[ "$(make help | wc -L)" -le 110 ] || failed "make help has lines of $(make help | wc -L) columns"
answers 0 'sh scripts/doctor.sh need*course.grade*' make -s -n BUILD="$scratch/out" grade-01 EXERCISE=01-predict-image,01-predict-address
case $(make -s -n BUILD="$scratch/out" grade-01 EXERCISE=01-predict-image,01-fill-alloc) in
sh\ scripts/doctor.sh\ need\ python3*) failed "a kernel is marked, and nothing is built for it" ;;
esac
answers 2 '*there is no target tset*did you mean test*' make tset
answers 2 '*cannot be written to: say BUILD=dir*make BUILD=/tmp/sm100 run-02*' make BUILD=/proc/none run-02
answers 0 'usage: make*' make BUILD=/proc/none help
answers 2 "*BENCH_SIZE is a multiple of 256*'77'*" make BENCH_SIZE=77 bench-emulator
answers 2 "*BENCH_RUNS='none'*" make BENCH_RUNS=none bench-emulator
for step in 0[1-9]_*; do
    number=${step%%_*}
    answers 0 "*$step --help*" make -n -C "$step" ARGS=--help
    answers 0 "*$step --k 64*" make -n -C "$step" "run-$number" 'ARGS=--k 64'
    answers 2 '*which step?*' make -C "$step" run
done
[ -c /dev/nvidia0 ] || answers 1 '*no GPU that the runtime can use*BACKEND=emulator*' "$program"
exit $bad
