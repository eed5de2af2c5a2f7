#!/bin/sh
# watch.sh BUILD STEP [PROGRAM]: runs a step on the emulator with --trace, and makes BUILD/watch/NN/index.html and
# trace.json. PROGRAM: a rung of the step's ladder or a part of it in its stead; its page is in BUILD/watch/NN/NAME.
#
#   ARGS      of the program, and instead of what the step is watched with otherwise
#   TEXT=1    a timeline on the terminal in place of the page; with BREAK or BESIDE, of the second run
#   SCHEDULE= of the emulator, for both runs (SCHEDULE=model); BREAK and BESIDE may name another
#   BESIDE=   options of the emulator: the page shows a second run with them side by side (BESIDE=--schedule=lazy)
#   BREAK=N   the N-th experiment of the step (scripts/broken.sh) on a copy, and a page in BUILD/watch/NN/break-N that shows
#             both runs side by side, as it is and broken, with the options and arguments that the experiment names
#
# SAN_LIB as in run.sh. MAKE builds the copy.
set -eu
# shellcheck source=scripts/broken.sh
. scripts/broken.sh
# shellcheck source=scripts/watched.sh
. scripts/watched.sh
build=$1 step=$2
[ ! -t 1 ] || printf '\033[K' # make's line of what it builds
number=${step%%_*}
folder=$build/watch/$number${3:+/${3##*/}} programs=${PROGRAMS:-build}
watched=${3:-$programs/$step}

args=${ARGS:-} options='' code=0
# The tour is of the lesson's own run: of no other arguments, rung, part or exercise, and not beside what an experiment breaks.
tour=$step/tour.txt
[ -z "${ARGS:-}${3:-}" ] || tour=''
# A cluster then makes four tiles, one after the other.
if [ -z "$args" ] && [ -z "${3:-}" ] && [ "$number" = 05 ]; then args='--clusters 4'; fi
mkdir -p "$folder"
schedule=${SCHEDULE:+--schedule=$SCHEDULE}
# What a peek of step 05 sees depends on when it asks: by the model clock, then, as in its lesson.
if [ -z "$schedule${3:-}${BREAK:-}" ] && [ "$number" = 05 ]; then schedule=--schedule=model; fi

if [ -n "${BREAK:-}" ]; then
    find_patch "$step" "$BREAK"
    sh scripts/doctor.sh need python3
    copy=$programs/break/$number-$BREAK
    broken_copy "$step" "$patch" "$copy"
    [ -n "${ARGS:-}" ] || args=$(said "$patch" Arguments)
    options=$(said "$patch" Options)
    folder=$folder/break-$BREAK
    mkdir -p "$folder"
    case $broken in
    */parts/*) watched=$programs/parts/${broken##*/} ;;
    esac
    # shellcheck disable=SC2086 # words
    record "$folder/log" "$folder/findings.sarif" "$folder/says.txt" "$watched" $args
    # shellcheck disable=SC2086 # words
    record "$folder/log-broken" "$folder/findings-broken.sarif" "$folder/says-broken.txt" "$copy/$broken" $args
    sentence "$patch"
    [ -z "${TEXT:-}" ] || echo "Below is the broken run alone. The page, without TEXT=1, shows both side by side."
    [ -z "${TEXT:-}" ] || text --like="$folder/log" "$folder/log-broken"
    page "$folder/log" "$folder/log-broken" -o "$folder" --title "${watched##*/}, BREAK=$BREAK" \
        --name "${watched##*/}" --said "$folder/findings.sarif" \
        --name2 "broken: $(sentence "$patch")" --said2 "$folder/findings-broken.sarif" --root2 "$copy"
    exit 0
fi

# shellcheck disable=SC2086 # words
record "$folder/log" "$folder/findings.sarif" "$folder/says.txt" "$watched" $args
set -- "$folder/log"
if [ -n "${BESIDE:-}" ]; then
    options=$BESIDE
    # shellcheck disable=SC2086 # words
    record "$folder/log-beside" "$folder/findings-beside.sarif" "$folder/says-beside.txt" "$watched" $args
    set -- "$@" "$folder/log-beside" "--name2=$BESIDE" --said2 "$folder/findings-beside.sarif"
fi
if [ -n "${TEXT:-}" ]; then
    text --like="$1" "${2:-$1}"
fi
sh scripts/doctor.sh need python3
[ -z "$tour" ] || set -- "$@" --tour "$tour"
page "$@" -o "$folder" --name "${watched##*/}${args:+ $args}" --said "$folder/findings.sarif" --title "${watched##*/}"
[ "$code" = 0 ] || echo "watch: the program ended with exit code $code; $folder/says.txt has what it printed" >&2
