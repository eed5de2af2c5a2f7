#!/bin/sh
# break.sh BUILD NN-N: applies the N-th experiment of step NN (scripts/broken.sh) to a copy in build/break/NN-N, runs
# that on the emulator, and shows what was changed, what the emulator says, and the program's last line; what it
# printed before that lies in build/break/NN-N/says.txt. Exit code 0 where what is told is what the patch says, else 1;
# 2: there is no such experiment. SAN_LIB as in run.sh. MAKE builds the copy.
set -eu
# shellcheck source=scripts/broken.sh
. scripts/broken.sh
case $1 in
/*) build=$1 ;;
*) build=$PWD/$1 ;;
esac
[ ! -t 1 ] || printf '\033[K' # make's line of what it builds
number=${2%%-*}
n=${2#"$number"}
n=${n#-}
case $number in
[1-9]) number=0$number ;; # make break-4-1 is make break-04-1
esac
step=$(find . -maxdepth 1 -name "${number}_*" | sed 's|^\./||')
[ -n "$step" ] || {
    echo "break: there is no step $number; say make break-04-1 for the first experiment of step 04" >&2
    exit 2
}
find_patch "$step" "$n"
folder=${PROGRAMS:-build}/break/$number-$n
broken_copy "$step" "$patch" "$folder"

options=$(said "$patch" Options) args=$(said "$patch" Arguments) tells=$(said "$patch" Tells)
name=${broken##*/}
printf '%s, broken: ' "$name"
sentence "$patch"
sed -n '1,/^--- /d; /^--- /d; /^+++ /d; s/^\([-+]\) */  \1 /p' "$patch"
printf '  run with sm100emu%s %s%s\n\n' "${options:+ $options}" "$name" "${args:+ $args}"

# In the copy's folder, so that reports show the copy's lines by the names of the step's.
code=0
(
    cd "$folder"
    rm -f findings.sarif
    # shellcheck disable=SC2086
    env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
        "$build/sm100emu" --check-json=findings.sarif $options "$broken" $args 2>told.txt >says.txt
) || code=$?
sed "s|$folder/||g" "$folder/told.txt"
last=$(tail -n 1 "$folder/says.txt")
case $last in
PASS* | FAIL*) printf '%s\n' "$last" ;;
*) last='' ;;
esac

[ -f "$folder/findings.sarif" ] || {
    echo "break: $name did not run" >&2
    exit 1
}
found=$(sed -n 's/.*"ruleId": *"\([^"]*\)".*/\1/p' "$folder/findings.sarif" | LC_ALL=C sort -u | tr '\n' ' ')
found=${found% }
is="reported: ${found:-nothing}, exit code $code${last:+, ${last%% *}}"
wrong() {
    echo "break: $is; $patch expects $tells" >&2
    exit 1
}
case $tells in
'') wrong ;;
nothing) [ "$code:$found:${last%% *}" = 0::PASS ] || wrong ;;
FAIL) [ "$code:$found:${last%% *}" = 1::FAIL ] || wrong ;;
*)
    [ "$code" != 0 ] || wrong
    for id in $tells; do
        case " $found " in
        *" $id "*) ;;
        *) wrong ;;
        esac
    done
    ;;
esac
echo "$is: as the experiment says"
