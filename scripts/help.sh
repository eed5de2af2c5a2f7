#!/bin/sh
# help.sh STEP...: every target of the Makefile in a line, from the `##` beside it, by what it is for; and the steps by number.
# help.sh --meant NAME STEP...: says which targets a NAME that is none may have meant, and ends with 2.
# help.sh --variables NAME...: says which of these make variables nothing here asks, and which may have been meant.
set -eu
cd "$(dirname "$0")/.."

targets=$(sed -n 's/^\([a-z0-9-]*\):.*## /\1 /p' Makefile)
learn='watch-dsl lessons doctor toolkit'
own='emulator install uninstall wheel bench-emulator'
teach='grade-all site slides handout'

if [ "${1:-}" = --meant ]; then
    shift
    echo "make: there is no target $1; make alone lists them" >&2
    ! command -v python3 >/dev/null || printf '%s\n' "$targets" | python3 -ISB -c 'import difflib, sys
names = [line.split()[0] for line in sys.stdin]
names += [f"{word}-{step[:2]}" for word in "run check watch exercise grade answers".split() for step in sys.argv[2:]]
name = sys.argv[1].replace("test-", "check-")
same = [n for n in names if n.replace("-", "") == name.replace("-", "").replace("_", "")]
meant = same or difflib.get_close_matches(name, names, 3, 0.7)
if meant:
    print("make: did you mean " + " or ".join(meant) + "?", file=sys.stderr)' "$@"
    exit 2
fi

if [ "${1:-}" = --variables ]; then
    shift
    variables=$(sed -n 's/^\([A-Za-z][A-Za-z0-9_]*\) *[:?]*=.*/\1/p' Makefile)
    for name in "$@"; do
        upper=$(printf '%s' "$name" | tr a-z A-Z)
        ! printf '%s\n' "$variables" | grep -qxF -- "$name" || continue
        if [ "$name" = "$upper" ] && grep -rqwF -- "$name" Makefile scripts python; then continue; fi
        meant=$(printf '%s\n' "$variables" | grep -xF -- "$upper" || :)
        echo "make: nothing here asks the variable $name${meant:+; did you mean $meant?}" >&2
    done
    exit 0
fi

# Lines of 100 columns: what is longer goes on below its beginning.
line() {
    printf '%s\n' "$2" | fold -s -w 83 | while read -r text; do
        printf '  %-14s %s\n' "$1" "$text"
        set -- ''
    done
}

# group NAMES [not]: the targets with these names, or all but these
group() {
    printf '%s\n' "$targets" | while read -r name text; do
        case " $1 " in
        *" $name "*) [ "${2:-}" = not ] || line "$name" "$text" ;;
        *) [ "${2:-}" != not ] || line "$name" "$text" ;;
        esac
    done
}

echo "usage: make TARGET [ARGS='...'] [BACKEND=gpu|emulator] [SANITIZE=1|thread] [WHEELS=dir] [BUILD=dir] [V=1]"
printf '\nLearn\n'
for step in "$@"; do
    line "run-${step%%_*}" "build and run $step (ARGS='--help' lists its options)"
done
line "" "(run-01, check-01, watch-01 PART=contend or shapes: the other programs of step 01; run-05, check-05, watch-05 RUNG=N: a rung of the ladder to step 05)"
line "watch-NN" "a page that shows a run of a step: build/watch/NN/index.html (TEXT=1: on the terminal; BREAK=N: beside a broken copy; SCHEDULE=model: under that schedule; BESIDE=--schedule=lazy: beside another one)"
line "break-NN-N" "an experiment of a lesson: the change in a copy of the step, and what the emulator reports"
line "exercise-NN" "write the exercises of a lesson to exercises/NN (SEED=name: other mistakes and numbers; FORCE=1: edited files are kept as *.orig; exercise-all)"
line "grade-NN" "mark them (HINT=1, 2 or 3: rule, line, difference; EXERCISE=name; GRADE=gradescope|classroom)"
line "check-NN" "run a step under eager, lazy, SEEDS=100 random and as many pct schedules: the same result, and no finding"
group "$learn"
printf '\nYour own kernels: the emulator\n'
group "$own"
printf '\nTeach\n'
line "answers-NN" "the answers of a lesson's exercises (SEED=name; STUDENTS=seeds.csv: for a class)"
group "$teach"
printf '\nDevelop\n'
group "$learn $own $teach" not
