#!/bin/sh
# bench.sh ROOT: scripts/bench.sh and scripts/bench_report.py, with programs and a clock that stand in for a GPU's: what was
# measured is in the table and the plot, what was not is not, and a failure is one. scripts/bench_emulator.py and
# scripts/bench_compare.py the same way.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
cd "$scratch" || exit 1

# lacks FILE TEXT...: no TEXT stands in FILE
lacks() {
    file=$1
    shift
    for text in "$@"; do
        ! grep -qF -e "$text" "$file" || failed "$file says: $text"
    done
}

# program NAME TFLOPS CODE: prints a TIME line of that rate for the --m it is given, unless it ends with CODE
program() {
    stand_in "$1" <<STAND_IN
[ "\$*" = "\${*#*--time 7}" ] && { echo "no --time 7"; exit 1; }
while [ \$# -gt 0 ]; do [ "\$1" = --m ] && m=\$2; shift; done
echo "a line that is nobody's business"
[ $3 -eq 0 ] || { echo "$1 cannot"; exit $3; }
echo "TIME  $1 \${m}x\${m}x\$m f16->f32: median 12.34 us, 11.50 to 20.75, 7 runs, $2 TFLOPS on NVIDIA B200"
STAND_IN
}
program cublas 1000.00 0
program 01_first 1.00 1
program 02_second 250.00 0
program 05_fifth 875.50 0
program 06_broken 1.00 1
mkdir bin
echo 'echo "1830 MHz, 1965 MHz, 3996 MHz, 640.10 W, 61"' | stand_in bin/nvidia-smi
PATH=$scratch/bin:$PATH

SIZES='512 1024' RUNS=7 sh "$root/scripts/bench.sh" rec.txt ./cublas ./01_first ./02_second ./05_fifth >table 2>&1 ||
    failed "bench.sh ends with $?"
has table 'TFLOPS on NVIDIA B200, f16->f32' 'median of 7 launches' '1000.0' '250.0 (0.25)' '875.5 (0.88)' \
    '12.3 (11.5-20.8)' 'CLOCKS before size 512: 1830 MHz, 1965 MHz' 'CLOCKS after size 1024' 'plot: '
lacks table 01_first Emulated FAILED "nobody's"
matplotlib=
if python3 -I -c 'import matplotlib' 2>/dev/null; then
    matplotlib=1
    has rec.svg '<svg ' '</svg>' 02_second 05_fifth 'NVIDIA B200'
    for name in cublas 02_second 05_fifth; do
        [ "$(sed -n "/<g id=\"$name\">/,/^  *<\/g>$/p" rec.svg | grep -c '<use ')" -eq 2 ] ||
            failed "the plot has not 2 points of $name"
    done
else
    has table 'no plot: python3 has no matplotlib'
fi

# no cuBLAS, a program that fails: said in the table, no ratio, no line in the plot, exit code 1
program cublas 1 3
SIZES=512 RUNS=7 sh "$root/scripts/bench.sh" rec.txt ./cublas ./02_second ./06_broken >table 2>&1 &&
    failed "bench.sh forgives a program that fails"
has table absent FAILED '250.0' 'NONE  cublas 512x512x512: cublas cannot' \
    'FAILED  06_broken 512x512x512: exit code 1: 06_broken cannot'
lacks table '(0.' '1000'
[ -z "$matplotlib" ] || has rec.svg 'cublas (not measured)' '06_broken (not measured)'

# nothing at all; the emulator's times; records of two GPUs
: >rec.txt
python3 -IB "$root/scripts/bench_report.py" rec.txt none.svg >table 2>&1 || bad=1
has table 'nothing was measured'
[ ! -e none.svg ] || failed "a plot of nothing"
line='TIME  02_second 512x512x512 f16->f32: median 1.00 us, 1.00 to 1.00, 1 runs, 2.00 TFLOPS on'
echo "$line Emulated NVIDIA B200 (sm100emu)" >rec.txt
python3 -IB "$root/scripts/bench_report.py" rec.txt emu.svg >table 2>&1 || bad=1
has table 'times of the emulator on this computer, not of a GPU'
echo "$line NVIDIA B200" >>rec.txt
! python3 -IB "$root/scripts/bench_report.py" rec.txt two.svg >table 2>&1 || failed "a table of two devices"

# the emulator: sgemm takes 2 s, kernels 1, 3 and 1.6 s in turn, programs 5 s, loops 250 ms
mkdir -p build/tests
printf '%s\n' 'echo "tensor core and interpreter"' 'printf "name,rate,beside\nmma f16,12.5,\n" >"$1"' |
    stand_in build/tests/bench_emulator
printf '%s\n' 'echo "forms of $1"' 'printf "form,off_ns\nfma.rn.f32,2.3\n" >"$2"' | stand_in build/tests/bench_forms
stand_in build/tests/bench_host <<'STAND_IN'
# bench_host sgemm N | run EMULATOR --time [--threads=N --check=LEVEL] PROGRAM ARGS
case $4$5 in --threads=*) echo "$4 $5" >>levels ;; esac
if [ "$1" = sgemm ]; then
    [ -e no_blas ] && exit 1
    echo 2.000000 4 Core
else
    [ "$4" = build/06_broken ] && { echo "it broke" >&2; exit 9; }
    echo run >>runs
    case $(($(wc -l <runs) % 3)) in 0) t=1.000000 ;; 1) t=3.000000 ;; *) t=1.600000 ;; esac
    echo "sm100emu: kernel: $t s, 4000000 warp instructions, 100000 steps" >&2
    echo "PASS: the loop takes 250.0000 ms"
    echo "5.000 123.4"
fi
STAND_IN
# emulator RUNS STEP...: bench_emulator.py at 1000 cubed
emulator() (
    export SIZE=1000 RUNS="$1" CSV=all.csv
    shift
    python "$root/scripts/bench_emulator.py" build "$@" >table 2>&1
)
emulator 3 01_first 05_fifth || failed "bench_emulator.py ends with $?"
has table 'forms of tests/silicon/known_good.txt'
has table 'tensor core and interpreter' '1000 cubed' 'OpenBLAS Core, 4 threads' '05_fifth f16, kernel' '05_fifth bf16, kernel' \
    ' 1.60 s (1.00-3.00)     1.2 GFLOP/s     4.0 M warp instr.   sgemm 2.00 s (2.00-2.00): 0.80 times (0.50-1.50)' \
    ' 5.00 s (5.00-5.00)' ' 2.50 times (2.50-2.50)' '123 MiB at most'
lacks table '01_first f16' 8192
has table 'naive_sgemm' 'loop  250.000 ms' 'threads, 05_fifth at 1000 cubed: seconds on 1' 'times as fast on'
has levels '--threads=1 --check=off' '--threads=1 --check=warn' '--threads=1 --check=strict'
has all.csv 'table,row,column,value' 'products,mma f16,rate,12.5' 'forms,fma.rn.f32,off_ns,2.3' \
    'plain kernels,alu,loop_ms,250' '"steps, whole",01_first,seconds,5' 'steps,"05_fifth f16, kernel",seconds,1.6' \
    'threads,05_fifth strict,on_1,'
touch no_blas
(export MEMORY=1 && emulator 1 05_fifth) || bad=1
has table 'OpenBLAS is not installed' 'MiB at most, all of 8192 cubed'
lacks table 'sgemm 2' 'times ('
! emulator 1 02_second 06_broken || failed "bench_emulator.py forgives a program that fails"
has table 'build/06_broken failed' 'it broke'

# ---- scripts/bench_compare.py: the base's emulator takes 2 s for a launch, the new one 1 s, but 4 s for fp8. A second
# launch of each, which a neighbour disturbs, takes 30 s
launcher() { # FP8 OTHERS: seconds of a launch
    cat <<STAND_IN
#!/bin/sh
while [ \$# -gt 2 ]; do shift; done
case \$1 in fp8) t=$1 ;; *) t=$2 ;; esac
for s in \$t 30; do echo "sm100emu: kernel: \$s s, 4000000 warp instructions, 100000 steps"; done >&2
STAND_IN
}
mkdir -p compared/build && cd compared || exit 1
launcher 2 2 >old
printf 'emulator:\n\tmkdir -p build && cp old build/sm100emu && chmod +x build/sm100emu\n' >Makefile
git init -q . && git add old Makefile &&
    git -c user.name=test -c user.email=test@example.org commit -q -m base
launcher 4 1 | sed 1d | stand_in build/sm100emu
compare() { caught python "$root/scripts/bench_compare.py" build programs "$@"; }
export KERNELS='alu fp8' RUNS=2 CSV=rates.csv
echo >>old
compare HEAD
expect 0 '*alu*off*2.00*4.00  2.00 (2.00-2.00)*fp8*off*2.00*1.00  0.50 (0.50-0.50)*fast math*warn*' 'two states'
expect 0 '*base: HEAD; new: * with uncommitted changes*slower: fp8, --check=off: 0.50*' 'what is slower'
has rates.csv 'kernel,check,base,new,ratio,least,most' '"alu, fast math",warn,2,4,2,2,2'
compare no-such-commit
expect 2 '*BASE=no-such-commit: no commit of this repository*' 'an unknown commit'
KERNELS=gemm compare HEAD
expect 2 '*KERNELS=gemm: no kernel of*alu*' 'an unknown kernel'
RUNS=0 compare HEAD
expect 2 '*BENCH_RUNS=0*' 'no runs'
echo 'exit 5' | stand_in build/sm100emu
compare HEAD
expect 1 '*ends with 5*' 'a run that fails'
exit $bad
