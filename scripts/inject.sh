#!/bin/sh
# inject.sh BUILD SECONDS FOLDER [PROGRAM]...: every PROGRAM ("path arguments") on the emulator of BUILD, again and again,
# each time with another of the emulator's allocations failing (tests/fuzz/inject.c): the first 2,000 of them and 2,000
# spread over the rest, two runs at a time, until SECONDS have passed (0: all). Without PROGRAM: the steps and the sample
# programs of build/. A run is
#
#   right     exit 0 and the output of a run in which nothing fails: it was survived
#   told      another exit code, and a sentence on stderr that names memory
#   silent    another exit code without one                                  (a finding, like all that follow)
#   wrong     exit 0 with other output
#   killed    by a signal
#   broken    the emulator asks to be reported
#   hung      not ended after 10 times as long as without a failure, at least 2 seconds
#
# What was found lies in FOLDER/findings, a line each: outcome, allocation, program; its stderr in FOLDER/OUTCOME.NUMBER...
# Prints the counts and how much of the plan was done; exit 1 on findings, 2 where a program fails by itself.
# INJECT_RUNS: at most so many of each program. PRELOAD: what must be loaded before the injector (a sanitizer's library).
set -u
said() { # of the output, without what it says of time
    grep -v '^TIME' | cksum
}
if [ "${1:-}" = one ]; then # one FOLDER END LIMIT NUMBER PROGRAM: a single run before END, appended to FOLDER/outcomes
    folder=$2 end=$3 limit=$4 n=$5 program=$6
    [ "$end" -eq 0 ] || [ "$(date +%s)" -lt "$end" ] || exit 0
    tag=$folder/run.$$
    # shellcheck disable=SC2086 # a command line
    INJECT_AT=$n LD_PRELOAD="${PRELOAD:+$PRELOAD:}$folder/inject.so" timeout -k 1 "$limit" $program \
        >"$tag.out" 2>"$tag.err" </dev/null
    code=$?
    if grep -q 'please report it' "$tag.err"; then
        outcome=broken
    elif [ $code -eq 124 ] || [ $code -eq 137 ]; then
        outcome=hung
    elif [ $code -gt 128 ]; then
        outcome=killed
    elif [ $code -eq 0 ]; then
        outcome=wrong
        [ "$(said <"$tag.out")" != "$(cat "$folder/right.$(echo "$program" | cksum | tr ' ' -)")" ] || outcome=right
    elif grep -qiE 'memory|cudaErrorMemoryAllocation|error 2\b' "$tag.err"; then
        outcome=told
    else
        outcome=silent
    fi
    case $outcome in
    right | told) ;;
    *) cp "$tag.err" "$folder/$outcome.$n.$(echo "${program#* }" | tr -dc a-z0-9_)" ;;
    esac
    rm -f "$tag.out" "$tag.err"
    echo "$outcome $n $program" >>"$folder/outcomes"
    exit 0
fi

build=$1 seconds=$2 folder=$3
shift 3
cd "$(dirname "$0")/.." || exit 2
rm -rf "$folder"
mkdir -p "$folder"
${CC:-cc} -O1 -g -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -shared -fPIC tests/fuzz/inject.c -o "$folder/inject.so" -ldl || exit 2
if [ $# -eq 0 ]; then
    for step in build/[0-9][0-9]_*[a-z]; do
        case $step in *.*) ;; *) set -- "$@" "$step" ;; esac
    done
    for source in tests/steps/*.cu; do
        program=build/${source%.cu}
        grep -q "^quick 1 $(basename "$program")" tests/steps/cases.txt || [ ! -x "$program" ] || set -- "$@" "$program"
    done
fi

# The plan, program by program: how long it takes, what it prints, and which of its allocations fail. Numbers in an order
# in which every part of the plan is an even sample of all.
for program; do
    command="$build/sm100emu $program"
    begin=$(date +%s%N)
    # shellcheck disable=SC2086 # a command line
    INJECT_COUNT=$folder/count LD_PRELOAD="${PRELOAD:+$PRELOAD:}$folder/inject.so" $command >"$folder/out" 2>"$folder/err" </dev/null || {
        echo "inject: $program fails by itself:"
        cat "$folder/err"
        exit 2
    }
    limit=$(awk -v ns=$(($(date +%s%N) - begin)) 'BEGIN { s = 10 * ns / 1e9; printf "%.1f", s < 2 ? 2 : s }')
    said <"$folder/out" >"$folder/right.$(echo "$command" | cksum | tr ' ' -)"
    total=$(cat "$folder/count")
    echo "inject: $program: $total allocations, a limit of $limit s"
    awk -v total="$total" -v limit="$limit" -v command="$command" -v runs="${INJECT_RUNS:-0}" 'BEGIN {
        for (n = 1; n <= total && n <= 2000; n++) plan[++count] = n
        rest = total - 2000
        for (i = 0; i < 2000 && i < rest; i++) plan[++count] = 2001 + int(i * (rest < 2000 ? 1 : rest / 2000))
        stride = int(count * 0.618) + 1
        while (gcd(stride, count) > 1) stride++
        for (i = 0; i < count && (!runs || i < runs); i++) printf "%d %s %d %s\n", i, limit, plan[i * stride % count + 1], command
    }
    function gcd(a, b) { return b ? gcd(b, a % b) : a }'
done >"$folder/said" || {
    cat "$folder/said"
    exit 2
}
grep '^inject' "$folder/said"
: >"$folder/outcomes"
# By turns of the programs.
end=0
[ "$seconds" -eq 0 ] || end=$(($(date +%s) + seconds))
grep -v '^inject' "$folder/said" | sort -s -n -k1,1 | while read -r _ limit n command; do
    printf '%s\0' one "$folder" "$end" "$limit" "$n" "$command"
done | xargs -0 -r -n 6 -P 2 sh scripts/inject.sh
grep -vE '^(right|told) ' "$folder/outcomes" | LC_ALL=C sort >"$folder/findings"
awk -v planned="$(grep -vc '^inject' "$folder/said")" '{ name = $4; sub(".*/", "", name); program[name]; of[name, $1]++; n++ }
    END {
        split("right told silent wrong killed broken hung", outcome)
        for (i = 1; i in outcome; i++) head = head sprintf("%8s", outcome[i])
        printf "%-36s%s\n", "inject: " n " of " planned " runs", head
        for (p in program) {
            line = ""
            for (i = 1; i in outcome; i++) line = line sprintf("%8d", of[p, outcome[i]])
            printf "%-36s%s\n", p, line
        }
    }' "$folder/outcomes"
[ ! -s "$folder/findings" ]
