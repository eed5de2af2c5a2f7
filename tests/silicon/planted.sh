#!/bin/sh
# planted.sh EMULATOR PROGRAM FOLDER [ARGUMENT...]: the test of run.sh's test. In a copy of what the chip gave, one digit of
# one case is another; the comparison has to tell of that case and of no other.
set -u
record=${RECORD:-h200/${2##*/}.txt} here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/${record%/*}"
# The middle case that agrees: its second word, or the last digit of its hash.
case=$(grep -v '^#' "$3/$record" | awk '{ l[NR] = $1 } END { print l[int((NR + 1) / 2)] }')
awk -v name="$case" '$1 == name {
        at = NF < 3 ? 2 : 3
        last = substr($at, length($at))
        $at = substr($at, 1, length($at) - 1) (last == "0" ? "1" : "0")
    } { print }' "$3/$record" >"$work/$record"
emulator=$1 program=$2
shift 3
if sh "$here/run.sh" "$emulator" "$program" "$work" "$@" "$case" >"$work/said"; then
    echo "planted.sh: the wrong record of $case was not told:"
    cat "$work/said"
    exit 1
fi
if ! grep -q "^recorded: $case " "$work/said" || ! grep -q '^1 [a-z]*, 1 differ$' "$work/said"; then
    echo "planted.sh: $case alone is to be told, with its name:"
    cat "$work/said"
    exit 1
fi
