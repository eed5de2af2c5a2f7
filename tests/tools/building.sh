#!/bin/sh
# building.sh ROOT: make counts what it builds, of how much there is to do, also in a tree that is partly built and under -j; on
# a terminal in one line, elsewhere in a few, and V=1 shows the commands. scripts/progress.sh does so for CTest. The
# compiler here only makes empty files.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
stand_in "$scratch/cc" <<'STAND_IN'
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || : >"$2"
    shift
done
STAND_IN
built() {
    env -u MAKEFLAGS -u MAKELEVEL "$@" --no-print-directory -C "$root" CC="$scratch/cc" BUILD="$scratch/out" PROGRAMS="$scratch/out" emulator >"$scratch/log" 2>&1 ||
        failed "$*: $(tail -3 "$scratch/log")"
}
# counts WHAT: the log's steps are [1/N] ... [N/N]; sets n. Two that begin at once may be shown in either order.
counts() {
    tr '\r' '\n' <"$scratch/log" | sed -n 's|^ *\[ *\([0-9]*\)/\([0-9]*\)\] [A-Z]* .*|\1 \2|p' | sort -n >"$scratch/steps"
    n=$(sed -n '$s/.* //p' "$scratch/steps")
    i=0
    while read -r step of; do
        i=$((i + 1))
        [ "$step $of" = "$i $n" ] || failed "$1: step $step of $of; expected $i of $n"
    done <"$scratch/steps"
    [ $i = "${n:-0}" ] || failed "$1: $i steps of ${n:-0}"
}

if command -v python3 >/dev/null; then
    terminal="python3 -ISB -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)'"
    eval "built $terminal make -j4"
    counts "a fresh tree"
    [ "${n:-0}" -gt 100 ] || failed "only $n steps build the emulator"
    rm "$scratch"/out/emulator/obj/base/*.o
    objects=$(ls "$root"/emulator/base/*.c | wc -l)
    eval "built $terminal make"
    counts "a tree partly built"
    [ "${n:-0}" = $((objects + 5)) ] || failed "$n steps instead of $objects objects, an archive and four programs"
    rm -r "$scratch/out"
fi
built make
lines=$(wc -l <"$scratch/log")
[ "$lines" -ge 4 ] && [ "$lines" -le 5 ] && grep -q '^  building, [0-9]* to do for .*; V=1 shows the commands$' "$scratch/log" ||
    failed "elsewhere than on a terminal: $(cat "$scratch/log")"
rm "$scratch"/out/emulator/obj/base/arena.o
built make V=1
grep -q "^$scratch/cc .*arena.c" "$scratch/log" && ! grep -q 'to do' "$scratch/log" || failed "V=1: $(cat "$scratch/log")"

stand_in "$scratch/ctest" <<'STAND_IN'
echo "      Start   1: unit.one"
echo "  1/200 Test   #1: unit.one ....   Passed    0.01 sec"
echo "100/200 Test #100: unit.two ....   Passed    0.01 sec"
echo "101/200 Test #101: unit.bad ....***Failed    0.01 sec"
echo "99% tests passed, 1 tests failed out of 200"
echo "a warning"
exit 8
STAND_IN
caught sh "$root/scripts/progress.sh" sh "$scratch/ctest"
wanted=$(sh "$scratch/ctest" | sed '/Start/d; /unit.one/d')
[ "$code:$out" = "8:$wanted" ] || failed "progress.sh ends with $code instead of 8, or not with $wanted: $out"
exit $bad
