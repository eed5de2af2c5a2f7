#!/bin/sh
# runners.sh ROOT: the scripts that judge the other tests turn red where they should: negative/run.sh, steps/run.sh,
# steps/ptxas_log.sh and scripts/check.sh, each driven with a stand-in for the emulator.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
unset SAN_LIB # the stand-ins are shell scripts, in which ThreadSanitizer's runtime cannot start
cd "$scratch" || exit 1

# judged WANTED WHAT COMMAND...: its exit code is 0 (green) or 1 (red)
judged() {
    wanted=$1 what=$2
    shift 2
    caught sh "$@"
    expect "$wanted" '*' "$what"
}
stand_in emulator <<'STAND_IN'
# prints its program's text and ends with its code: emulator TEXT CODE
printf '%b' "$1"
exit "$2"
STAND_IN

# negative WANTED TEXT CODE HEADER...: a kernel with these header lines, an emulator that prints TEXT and ends with CODE
negative() {
    result=$1 text=$2 ends=$3
    shift 3
    printf '%s\n' "$@" >kernel.cu
    judged "$result" "negative/run.sh, $*, against '$text' and $ends" \
        "$root/tests/negative/run.sh" kernel.cu ./emulator "$text" "$ends"
}
negative 0 'kernel.cu:2: bad lane\n' 1 '// EXPECT: bad lane' 'ld(); // HERE' '// EXPECT: kernel.cu:@HERE@:'
negative 1 'kernel.cu:3: bad lane\n' 1 '// EXPECT: bad lane' 'ld(); // HERE' '// EXPECT: kernel.cu:@HERE@:'
negative 1 'bad lane\n' 1 '// EXPECT: @NOWHERE@'
negative 1 'another report\n' 1 '// EXPECT: bad lane'
negative 1 'bad lane\n' 1 '// EXPECT: bad lane' '// EXPECT: a second line'
negative 1 'bad lane\n' 0 '// EXPECT: bad lane'
negative 1 'bad lane\n' 139 '// EXPECT: bad lane'
negative 1 'bad lane\n' 124 '// EXPECT: bad lane'
negative 1 'bad lane\n' 127 '// EXPECT: bad lane'
negative 0 'refused\n' 126 '// EXPECT: refused'
negative 0 '' 0 '// EXIT: 0'
negative 1 '' 3 '// EXIT: 0'
negative 0 'bad lane\n' 0 '// EXPECT: bad lane' '// EXIT: 0'
negative 1 'bad lane\n' 1 '// EXPECT: bad lane' '// EXIT: 0'
negative 1 'bad lane\n' 1 'no expectation'
negative 1 'bad lane, worse lane\n' 1 '// EXPECT: bad lane' '// NEVER: worse'
negative 0 'bad lane\n' 1 '// EXPECT: bad lane' '// NEVER: worse'

# step WANTED CODE TEXT ENDS: steps/run.sh CODE against a program that prints TEXT and ends with ENDS
step() {
    judged "$1" "steps/run.sh $2 against '$3' and $4" "$root/tests/steps/run.sh" "$2" ./emulator "$3" "$4"
}
step 0 0 'line\nPASS 1e-3\n' 0
step 1 0 'PASS\nline\n' 0
step 1 0 'PASS\n' 1
step 1 0 'FAIL\n' 0
step 0 1 'FAIL 0.5\n' 1
step 1 1 'PASS\n' 1
step 1 1 'FAIL\n' 139
step 1 2 'text\n' 2
step 1 2 '' 2
echo 'echo "--m 3: a multiple of 128" >&2; exit 2' | stand_in emulator
step 0 2 '' 2

# log WANTED LINE...: ptxas_log.sh on a log of these lines
log() {
    result=$1
    shift
    printf '%s\n' "$@" >step.log
    judged "$result" "ptxas_log.sh on $*" "$root/tests/steps/ptxas_log.sh" step.log
}
kernel="ptxas info    : Compiling entry function 'k' for 'sm_100f'"
none='    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
log 0 "$kernel" "$none"
log 1 "$kernel"
log 1 "$none"
log 1 "${kernel%sm_*}sm_100a'" "$none"
log 1 "$kernel" "$none" '    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads'
log 1 "$kernel" "$none" '    8 bytes stack frame, 10 bytes spill stores, 0 bytes spill loads'
log 1 "$kernel" "$none" 'step.cu(3): warning #177-D: variable "x" was declared but never referenced'

# schedules WANTED TEXT ENDS: scripts/check.sh where the emulator prints TEXT and ends with ENDS
stand_in emulator <<'STAND_IN'
[ "$1 $2 $3" = '--check=strict --explore=3 --ignore=^[^P].*|;.*' ] || exit 2
printf '%b' "$4"
exit "$5"
STAND_IN
schedules() {
    judged "$1" "check.sh against an emulator that prints '$2' and ends with $3" \
        "$root/scripts/check.sh" ./emulator 3 "$2" "$3"
}
schedules 0 'text\nPASS 0.5; 3 waited\n' 0
schedules 1 'PASS 0.5; 3 waited\n' 3
schedules 1 'PASS 0.5\nFAIL\n' 0
schedules 1 '' 0
exit $bad
