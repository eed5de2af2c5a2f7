#!/bin/sh
# ladder_doors.sh ROOT: make run-05, check-05 and watch-05 with RUNG=N take the rung's program, without it the step's; a
# rung that there is not, RUNG with another step and RUNG with BREAK are refused in a line that says what to write.
set -u
cd "$1" || exit 2
bad=0
complain() {
    echo "FAILED: $1"
    bad=1
}
# takes PROGRAM WORD...: what make would run
takes() {
    program=$1
    shift
    env -u MAKEFLAGS -u MAKELEVEL make -n BACKEND=emulator "$@" 2>&1 |
        grep -q "scripts/[a-z]*\.sh .*$program *\$" || complain "make $*: not $program"
}
# refuses TEXT WORD...
refuses() {
    text=$1
    shift
    said=$(env -u MAKEFLAGS -u MAKELEVEL make -n BACKEND=emulator "$@" 2>&1 >/dev/null)
    [ $? -eq 2 ] || complain "make $*: exit code is not 2"
    case $said in *"$text"*) ;; *) complain "make $*: says $said" ;; esac
}
for rung in 05_persistent_warpspec/ladder/[0-9]*.cu; do
    name=${rung##*/}
    name=${name%.cu}
    for door in run check; do
        takes "/ladder/$name" $door-05 RUNG="${name%%_*}"
    done
done
takes /05_persistent_warpspec run-05
case $(env -u MAKEFLAGS -u MAKELEVEL make watch-05 RUNG=1 TEXT=1 2>/dev/null) in
*ring_of_stages*"lines without a name are those of 1_ring.cu"*) ;;
*) complain "make watch-05 RUNG=1 TEXT=1 shows something else" ;;
esac
# Step 05 is watched by the clock; another schedule has a doubt, and says what has none.
case $(env -u MAKEFLAGS -u MAKELEVEL make watch-05 TEXT=1 2>&1) in
*doubt*) complain "make watch-05 TEXT=1 has a doubt" ;;
*'left out: tiles 2 to 3'*'how to see more of build/watch/05/log'*) ;;
*) complain "make watch-05 TEXT=1 does not say that there is more" ;;
esac
case $(env -u MAKEFLAGS -u MAKELEVEL make watch-05 TEXT=1 SCHEDULE=default 2>&1) in
*'it has no such doubt with SCHEDULE=model'*) ;;
*) complain "make watch-05 TEXT=1 SCHEDULE=default has no doubt" ;;
esac
refuses 'RUNG=9: there are only 0_pair 1_ring' run-05 RUNG=9
refuses 'RUNG=2 is for step 05' run-04 RUNG=2
refuses 'RUNG=2 is for step 05' watch-03 RUNG=2
refuses 'RUNG=2 and BREAK=1 do not go together' watch-05 RUNG=2 BREAK=1
exit $bad
