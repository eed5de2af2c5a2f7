#!/bin/sh
# launcher.sh ROOT EMULATOR LIBRARIES LAUNCH_PTX CC: what sm100emu takes and what users rely on. Scripts, shims and
# programs that start others; findings of children in one summary, in one file and in the exit code; signals, stops, the
# terminal's own and a launcher that is killed; --env; front ends' variables and cache; the stand-in for ptxas, with a
# script as the front end.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 emulator=$2 libraries=$3 driver=$4 cc=$5
unset CUPY_COMPILE_WITH_PTX CUPY_ACCELERATORS CUPY_CACHE_DIR
unset CUTE_DSL_ARCH CUTE_DSL_LIBS CUTE_DSL_LINEINFO CUTE_DSL_CACHE_DIR CUTE_EXPERIMENTAL_DSL_ARCH PYTHONPATH
unset TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH TRITON_CACHE_DIR TRITON_LIBCUDA_PATH
unset PYTEST_CURRENT_TEST SM100EMU_CACHE LD_LIBRARY_PATH
loud=$root/tests/negative/bulk_store_reuse.ptx
cd "$scratch" || exit 2
export HOME="$scratch/home" driver loud
unset XDG_CACHE_HOME

# script NAME FIRST-LINE: a program of the text on stdin
script() {
    { echo "$2" && cat; } >"$1"
    chmod +x "$1"
}
# begin COMMAND...: emulated, in the background; launcher is its process. It has written `started` when this returns.
begin() {
    rm -f started
    env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" "$@" >/dev/null 2>&1 &
    launcher=$! tries=0
    until_true '[ -s started ]' || failed "$* does not begin"
}
# until_true TEST: within half a minute
until_true() {
    tries=0
    until eval "$1"; do
        [ $((tries += 1)) -le 300 ] || return
        sleep 0.1
    done
}
# finds: shell text of a process that finds something
# shellcheck disable=SC2016
finds='"$driver" "$loud" bulk_store_reuse buf:512'

# ---- what is taken
echo "$finds" | script plain '#!/bin/sh'
echo 'exec "$@"' | script shim '#! /usr/bin/env	sh'
echo 'exit 9' | script inner "#!$scratch/shim sh"
run 3 'a script' "$emulator" ./plain
says '^warning: .*\[bulk-store-overwritten\]'
run 3 'a shim' "$emulator" ./shim sh -c "$finds"
run 9 'a script for a script' "$emulator" ./inner
run 0 'a program that uses no CUDA' "$emulator" true
says '^sm100emu: note: no process of this run used CUDA before the program ended$'
run 5 'the same that fails' "$emulator" sh -c 'exit 5'
silent 'used CUDA'
: | script none '#!'
run 126 'a script without an interpreter' "$emulator" ./none
says '^sm100emu: ./none: is a script whose first line names no interpreter$'
: | script away "#!$scratch/gone -x"
run 126 'a script whose interpreter is not there' "$emulator" ./away
says "^sm100emu: ./away: is a script for $scratch/gone, which is no executable file\$"
: | script ring "#!$scratch/ring"
run 126 'a script for itself' "$emulator" ./ring
says 'is a script'
printf 'no program' >text
chmod +x text
run 126 'a text' "$emulator" ./text
says '^sm100emu: ./text: is neither an ELF program nor a script'
printf '#include <unistd.h>\nint main(int argc, char **argv) { return execvp(argv[1], argv + 1); }\n' >static.c
if "$cc" -static static.c -o static 2>/dev/null; then
    run 3 'a static program that starts another' "$emulator" ./static sh -c "$finds"
    says '^warning: .*\[bulk-store-overwritten\]'
fi

# ---- what children find
run 3 'a child that finds something' "$emulator" sh -c "$finds; true"
says '^sm100emu: 1 finding in a run of 1 process with a device:$'
bug='.*bulk_store_reuse.ptx:[0-9]* \[bulk-store-overwritten\]'
says "^  warning: $bug: launch_ptx .*bulk_store_reuse buf:512 \\(process [0-9]*\\)\$"
run 7 "the program's own exit code" "$emulator" sh -c "$finds; exit 7"
says '^sm100emu: 1 finding in a run of 1 process'
run 3 'a child that is left behind' "$emulator" sh -c "($finds) & wait; exit 0"
run 0 'findings that are not looked for' "$emulator" --check=off sh -c "$finds; true"
silent 'finding'
run 3 'tests, by their names' "$emulator" sh -c "
    for test in 'a.py::one (setup)' 'a.py::two (call)' 'a.py::two (call)' 'b.py::three[x, y] (call)' a.py::4 a.py::5; do
        PYTEST_CURRENT_TEST=\$test $finds
    done; true"
says '^sm100emu: 1 finding in a run of 6 processes with a device:$'
says '\[bulk-store-overwritten\]: a.py::4, a.py::5, a.py::one, a.py::two, and 1 more$'
run 3 'several bugs' "$emulator" sh -c "$finds; '$driver' '$root/tests/negative/trap.ptx' trap; true"
says '^sm100emu: 2 findings in a run of 2 processes'
says '^  error: .*trap.ptx:[0-9]* \[[a-z-]*\]: launch_ptx'
# lines that are none, a record that is too long, and one that may not be written
quiet=$root/tests/negative/race_bar_ok.ptx
quiet="'$driver' '$quiet' $(sed -n 's|^// ARGS: *||p' "$quiet")"
# shellcheck disable=SC2016
run 0 'lines of strangers' "$emulator" sh -c \
    'printf "found\\tx\\n\\n\\tfound\\nuse\\n" >>"$SM100EMU_RECORD"; '"exec $quiet"
# shellcheck disable=SC2016
run 3 'a NUL in the record' "$emulator" sh -c 'printf "\\0\\n" >>"$SM100EMU_RECORD"; '"$finds; true"
says '^sm100emu: 1 finding in a run of 1 process'
# shellcheck disable=SC2016
run 3 'a record that is too long' "$emulator" sh -c "$finds; "'truncate -s 80M "$SM100EMU_RECORD"; '"$quiet"
says '^sm100emu: note: the record of this run is longer than 64 MiB: the summary and the exit code lack the rest$'
# shellcheck disable=SC2016
run 4 'the same, which is not complete' "$emulator" --require-complete sh -c 'truncate -s 80M "$SM100EMU_RECORD"'
run 0 'a record that is gone' env LD_LIBRARY_PATH="$libraries" SM100EMU_RECORD=/proc/self/fd/99 sh -c "$finds"
says '^sm100emu: note: this process cannot report its findings to its launcher'
[ "$(grep -c 'findings to its launcher' "$scratch/err")" = 1 ] || failed 'it is said more than once'
: >mine
run 0 'a file in place of a record that is gone' \
    env LD_LIBRARY_PATH="$libraries" SM100EMU_RECORD=/proc/self/fd/8 sh -c "$finds" 8>>mine
[ ! -s mine ] || failed "the record goes into a stranger's file: $(cat mine)"
run 0 'a process that outlives the program' "$emulator" sh -c \
    "{ until [ -e ended ]; do sleep 0.1; done; $finds; } >late 2>&1 &"
: >ended
until_true "grep -q 'findings to its launcher' late" || failed "a process that outlives the program: $(cat late)"
run 3 'a launcher inside a launcher' "$emulator" sh -c "'$emulator' sh -c '$finds'; true"
# In a PID namespace with a /proc of its own the record has another path.
if unshare -rpf --mount-proc true 2>/dev/null; then
    run 3 'another PID namespace' "$emulator" unshare -rpf --mount-proc sh -c "$finds; true"
    says '^sm100emu: 1 finding in a run of 1 process'
    silent 'findings to its launcher'
fi

# ---- files that several processes write
# json FILE EXPRESSION...: each holds of what FILE has, f
json() {
    python3 -IS - "$@" <<'P' || failed "$what: $*"
import json, sys
f = json.load(open(sys.argv[1]))
for expression in sys.argv[2:]:
    assert eval(expression), (expression, f)
P
}
several="$finds; $quiet; '$emulator' sh -c '$finds'; true"
for time in first second; do # the second run begins the files anew
    run 3 "files of three processes, $time" "$emulator" --check-json=all.sarif --stats-json=all.json sh -c "$several"
    # shellcheck disable=SC2016
    json all.sarif '[len(r["results"]) for r in f["runs"]] == [1, 0, 1]' \
        '[r["properties"]["launches"] for r in f["runs"]] == [1, 1, 1]' \
        '[r.get("automationDetails", {}).get("id") for r in f["runs"]] == [None, "process 2/", "process 3/"]' \
        '"race_bar_ok" in f["runs"][1]["invocations"][0]["commandLine"]'
    json all.json '[l["process"] for l in f["launches"]] == [1, 2, 3]'
done
# Eight at a time, and one of them changes its part after the others have written theirs.
# shellcheck disable=SC2016
run 3 'files of many processes' "$emulator" --check-json=all.sarif --stats-json=all.json --threads=1 sh -c \
    'for i in 1 2 3 4 5 6 7 8; do '"$finds"' & done; wait'
json all.sarif '[len(r["results"]) for r in f["runs"]] == 8 * [1]' \
    'len({r.get("automationDetails", {}).get("id") for r in f["runs"]}) == 8'
json all.json 'sorted(l["process"] for l in f["launches"]) == list(range(1, 9))'
run 3 'a file for each process' "$emulator" --check-json='of-%p.sarif' sh -c "$finds; $finds; true"
[ "$(find . -name 'of-*.sarif' | wc -l)" -eq 2 ] || failed "files by process: $(echo of-*)"
for file in of-*.sarif; do json "$file" 'len(f["runs"]) == 1 and len(f["runs"][0]["results"]) == 1'; done
run 3 '--explore of a script' "$emulator" --explore=1 sh -c "$finds >&2; true"
says 'it does what it does by default'

# ---- signals and the terminal
for signal in TERM:143 INT:130 HUP:129 USR1:138 QUIT:131 KILL:137 SEGV:139; do
    # shellcheck disable=SC2016 # the inner shell's
    ASAN_OPTIONS=handle_segv=0 run ${signal#*:} "a program that ends by $signal" \
        sh -c '"$0" sh -c "kill -$1 \$\$"; exit $?' "$emulator" ${signal%:*}
    case $signal in # the shell says how its child, the launcher, has ended
    TERM*) says 'Terminated' ;;
    SEGV*) says 'Segmentation fault' ;;
    esac
done
echo 'trap "exit 42" TERM HUP USR1 USR2; echo $$ >started; while :; do sleep 0.1; done' | script traps '#!/bin/sh'
for signal in TERM HUP USR1 USR2; do
    begin "$emulator" ./traps
    kill -$signal $launcher
    until_true "! kill -0 $(cat started) 2>/dev/null" || { failed "$signal to the launcher" && kill -KILL $launcher; }
    wait $launcher
    code=$?
    [ $code -eq 42 ] || failed "$signal to the launcher: exit code $code"
done
echo 'echo $$ >started; while :; do sleep 0.1; done' | script endless '#!/bin/sh'
begin "$emulator" ./endless
program=$(cat started)
kill -STOP "$program"
until_true "grep -q '^State:.T' /proc/$launcher/status" || failed 'a program that stops does not stop its launcher'
kill -CONT $launcher
until_true "grep -q '^State:.[SR]' /proc/$program/status" || failed 'a launcher that goes on leaves its program stopped'
kill -KILL $launcher
wait $launcher 2>/dev/null
until_true "! kill -0 $program 2>/dev/null" || failed 'the program goes on without its launcher'
[ "$(echo input | emulated "$emulator" cat 2>/dev/null)" = input ] || failed 'standard input'

# What is inherited: as a program that ignores SIGCHLD, or has set a timer, becomes the launcher; a fork that comes back
# late
cat >inherit.c <<'INHERIT'
#include <signal.h>
#include <unistd.h>
int main(int argc, char **argv) {
    if (argv[1][0] == 'i')
        signal(SIGCHLD, SIG_IGN);
    else
        alarm(1);
    return argc > 2 ? execvp(argv[2], argv + 2) : 2;
}
INHERIT
cat >late.c <<'LATE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>
pid_t fork(void) {
    pid_t pid = ((pid_t(*)(void))dlsym(RTLD_NEXT, "fork"))();
    if (pid > 0)
        usleep(500000);
    return pid;
}
LATE
"$cc" inherit.c -o inherit || failed 'no program that leaves something'
"$cc" -shared -fPIC late.c -o late.so -ldl || failed 'no fork that comes back late'
run 7 'SIGCHLD is ignored' timeout -s KILL 60 ./inherit ignores env LD_PRELOAD="${SAN_LIB:+$SAN_LIB:}$scratch/late.so" \
    "$emulator" sh -c 'exit 7'
run 0 'a program that ignores SIGCHLD' timeout -s KILL 60 ./inherit ignores "$emulator" \
    grep -q '^SigIgn:.*[13579bdf]....$' /proc/self/status
run 0 '--explore where SIGCHLD is ignored' timeout -s KILL 60 ./inherit ignores "$emulator" --explore=1 true
run 142 'a timer that the launcher inherits' ./inherit timer "$emulator" sleep 60

# ---- --env
run 2 '--env with a file of no rules' "$emulator" --suppress=gone --env
run 2 '--env and a program' "$emulator" --env true
run 0 --env "$emulator" --check=error --trace="it's %p" --env
cat "$scratch/out" >env.sh
run 1 'options through --env' sh -c ". ./env.sh; $finds"
[ -n "$(find . -name "it's [0-9]*")" ] || failed "a value with a quote: $(cat env.sh)"
run 0 'exit codes through --env' sh -c "eval \"\$('$emulator' --env)\"; $finds"
says '\[bulk-store-overwritten\]'

# ---- front ends
run 0 'the variables of front ends' env TRITON_CACHE_DIR=own TRITON_PTXAS_PATH=/their/ptxas "$emulator" "$emulator" env
has "$scratch/out" "TRITON_CACHE_DIR=$HOME/.cache/sm100emu/triton" "TRITON_PTXAS_PATH=$libraries/ptxas" \
    CUPY_COMPILE_WITH_PTX=1 "CUPY_CACHE_DIR=$HOME/.cache/sm100emu/cupy" \
    "TRITON_PTXAS_BLACKWELL_PATH=$libraries/ptxas" "TRITON_LIBCUDA_PATH=$libraries" \
    SM100EMU_WAS_TRITON_PTXAS_PATH=/their/ptxas SM100EMU_WAS_TRITON_CACHE_DIR=own
grep -qx CUPY_ACCELERATORS= "$scratch/out" || failed 'CUPY_ACCELERATORS is not empty'
[ "$(grep -c "^LD_LIBRARY_PATH=$libraries\$" "$scratch/out")" = 1 ] ||
    failed "LD_LIBRARY_PATH: $(grep LD_LIB "$scratch/out")"
for folder in 'a:b' 'other one'; do
    mkdir -p "$folder/emulator"
    cp "$emulator" "$folder/sm100emu"
    ln -s "$libraries"/* "$folder/emulator"
done
run 126 'a folder with a colon' ./a:b/sm100emu true
says '^sm100emu: .*/a:b/emulator: a folder with a colon'
run 0 'two installations' env LD_PRELOAD="${SAN_LIB:+$SAN_LIB:}/gone/libsm100emu-static.so" \
    './other one/sm100emu' "$emulator" env
grep -qx "LD_PRELOAD=${SAN_LIB:+$SAN_LIB:}$libraries/libsm100emu-static.so" "$scratch/out" ||
    failed "two installations: $(grep LD_PRELOAD "$scratch/out")"
run 0 'a cache of ones own' env SM100EMU_CACHE=/some/where "$emulator" env
has "$scratch/out" TRITON_CACHE_DIR=/some/where/triton CUTE_DSL_CACHE_DIR=/some/where/cute_dsl
# Without a home, a folder in that for temporary files, which must be ours alone.
own=tmp/sm100emu-$(id -u)
mkdir tmp tmp/elsewhere
homeless() { run "$1" "$2" env -u HOME TMPDIR="$scratch/tmp" "$emulator" env; }
for time in first second; do
    homeless 0 "no home, the $time time"
    has "$scratch/out" "TRITON_CACHE_DIR=$scratch/$own/triton"
    [ "$(stat -c %a "$own")" = 700 ] || failed "no home: $(ls -ld "$own")"
done
chmod 770 "$own"
homeless 126 'no home, and a folder for others'
says "^sm100emu: $scratch/$own cannot hold the cache of front ends: others may write to it; set HOME or SM100EMU_"
chmod 700 "$own"
if chown 1 "$own" 2>/dev/null; then
    homeless 126 "no home, and another's folder"
    says "it is another user's"
fi
rmdir "$own"
for made in 'ln -s elsewhere' touch; do
    $made "$own"
    homeless 126 "no home: $made"
    says 'it is not a folder'
    rm "$own"
done
[ -z "$(ls tmp/elsewhere)" ] || failed 'a link is followed'
run 0 'defaults and lists' env CUTE_DSL_ARCH=sm_103a PYTHONPATH=own:more "$emulator" "$emulator" env
has "$scratch/out" CUTE_DSL_ARCH=sm_103a CUTE_EXPERIMENTAL_DSL_ARCH=sm_100a CUTE_DSL_LINEINFO=1
for wanted in "PYTHONPATH=$libraries/python:own:more" "CUTE_DSL_LIBS=$libraries/libcute_dsl_runtime.so"; do
    [ "$(grep -cx "$wanted" "$scratch/out")" = 1 ] || failed "$wanted: $(grep 'PYTHON\|_DSL_' "$scratch/out")"
done
run 0 'a list that is empty' env -u PYTHONPATH "$emulator" env
[ "$(grep -cx "PYTHONPATH=$libraries/python" "$scratch/out")" = 1 ] ||
    failed "PYTHONPATH: $(grep PYTHON "$scratch/out")"

# A front end: it asks ptxas for its version, has it compile, keeps the "cubin", and another program loads that.
{
    printf '.version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry told(.param .u64 out)\n{\n'
    printf '.reg .b32 %%r<2>;\n'
    printf '.shared .b32 w;\n.file 1 "%s/kernel.py"\n.loc 1 3 0\nmov.u32 %%r1, %%tid.x;\n' "$scratch"
    printf '.loc 1 4 0\nst.shared.u32 [w], %%r1;\nret;\n}\n'
} >kernel.ptx
printf 'line 1\nline 2\nline 3\nstore(w, tid)\n' >kernel.py
sed 's/st.shared.u32/nonsense :/' kernel.ptx >wrong.ptx
# shellcheck disable=SC2016
echo '"$TRITON_PTXAS_BLACKWELL_PATH" --version &&
    "$TRITON_PTXAS_BLACKWELL_PATH" -lineinfo -v --gpu-name=sm_100a "$1.ptx" -o "$1.cubin" &&
    cp "$1.cubin" kept && exec "$driver" kept told block=64 buf:4' | script front '#!/usr/bin/env sh'
# PATH without a ptxas, and with one of ours
mkdir tools
for tool in sh env cp cat grep; do ln -s "$(command -v $tool)" tools/$tool; done
run 3 'a front end' env PATH="$scratch/tools" CUDA_HOME= "$emulator" ./front kernel
has "$scratch/out" 'release 13.4' "sm100emu $(cat "$root/VERSION") runs its PTX; there is no ptxas here"
says '^warning: .*\[shared-race\]$'
says '^  --> kernel.py:4 in told$'
says 'ptx: told.sm_100a.ptx:1[0-9] '
run 255 'a front end with a mistake' env PATH="$scratch/tools" CUDA_HOME= "$emulator" ./front wrong
says 'nonsense'
# shellcheck disable=SC2016
stand_in tools/ptxas <<'STAND_IN'
case "$*" in
*--version*) echo "Cuda compilation tools, release 12.8, V12.8.1" ;;
*) while [ $# -gt 1 ]; do [ "$1" != -o ] || output=$2; shift; done
   ! grep -q nonsense ./*.ptx || [ ! -e strict ] || { echo "ptxas fatal: their words" >&2; exit 37; }
   echo 'their cubin' >"$output" ;;
esac
STAND_IN
run 3 'a front end with a real ptxas' env PATH="$scratch/tools" "$emulator" ./front kernel
has "$scratch/out" 'release 12.8' "sm100emu $(cat "$root/VERSION") runs its PTX"
grep -q 'their cubin' kept || failed "the real one's cubin is not handed on"
run 3 'a real ptxas where SIGCHLD is ignored' env PATH="$scratch/tools" "$scratch/inherit" ignores \
    "$emulator" ./front kernel
: >strict
run 37 "the real one's errors" env PATH="$scratch/tools" "$emulator" ./front wrong
says '^ptxas fatal: their words$'
mkdir chosen
sed 's/12.8/12.9/g' tools/ptxas >chosen/ptxas && chmod +x chosen/ptxas
run 37 'the one that was chosen' env PATH="$scratch/tools" TRITON_PTXAS_PATH="$scratch/chosen/ptxas" \
    "$emulator" ./front wrong
has "$scratch/out" 'release 12.9'
rm strict
head -c 200 kept >short
run 1 'a cubin that is cut off' "$emulator" "$driver" short told block=64 buf:4
says "cuModuleLoad: the image is marked as PTX from sm100emu's ptxas, and is damaged"
exit $bad
