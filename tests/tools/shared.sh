# shellcheck shell=sh disable=SC2034,SC2154 # the tests read what it sets, and set root
# shared.sh, read by the tests beside it: a scratch folder that goes with the test, what a failure is, and programs that
# stand in for others. A test ends with `exit $bad`.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0 code=none out=

failed() {
    echo "FAILED: $*"
    bad=1
}

# same WHAT GOT PATTERN: GOT matches the shell pattern
same() {
    # shellcheck disable=SC2254
    case $2 in
    $3) ;;
    *) failed "$1: $2" ;;
    esac
}

# caught COMMAND...: sets out to what it prints, and code to its exit code
caught() {
    out=$("$@" 2>&1)
    code=$?
}

# expect CODE PATTERN WHAT: how the last command ended, and what it printed
expect() { same "$3: not exit code $1 with $2" "$code:$out" "$1:$2"; }

# gives CODE PATTERN WHAT COMMAND...: the same of COMMAND, a function that ends with caught
gives() {
    wanted=$1 pattern=$2 what=$3
    shift 3
    "$@"
    expect "$wanted" "$pattern" "$what"
}

# answers CODE PATTERN COMMAND...: it ends with CODE, and what it prints matches PATTERN
answers() {
    wanted=$1 pattern=$2
    shift 2
    gives "$wanted" "$pattern" "$*" caught "$@"
}

# has FILE TEXT...: each TEXT stands in FILE
has() {
    file=$1
    shift
    for text in "$@"; do
        grep -qF -e "$text" "$file" || failed "${what:-$file}: not said: $text: $(cat "$file")"
    done
}

# stand_in FILE: a program, the shell script on stdin
stand_in() {
    { echo '#!/bin/sh' && cat; } >"$1"
    chmod +x "$1"
}

# needs TOOL...: without one of them the test is skipped
needs() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null && continue
        echo "skipped: $tool is not installed"
        exit 77
    done
}

# copy DIR: the sources and what was built, not a repository
copy() {
    mkdir -p "$1/build"
    (cd "$root" && cp -a Makefile VERSION LICENSE emulator scripts python "$1")
    (cd "$products" && cp -a emulator sm100emu sm100emu.d sm100emu-log sm100emu-log.d "$1/build")
}

# python WORD...: the repository's own Python, as make calls it
python() { python3 -ISB "$root/python/sm100repo" "$@"; }

# emulated COMMAND...: SAN_LIB is preloaded where it is set; what a sanitizer finds ends with 124
emulated() {
    env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:exitcode=124:${ASAN_OPTIONS:-}" \
        TSAN_OPTIONS="exitcode=124:${TSAN_OPTIONS:-}" "$@"
}

# run CODE WHAT COMMAND...: emulated, it ends with CODE; its output in $scratch/out and $scratch/err
run() {
    wanted=$1 what=$2
    shift 2
    emulated "$@" >"$scratch/out" 2>"$scratch/err"
    code=$?
    [ "$code" -eq "$wanted" ] || failed "$what: exit code $code, not $wanted: $(tail -n 20 "$scratch/err")"
}

# says REGEX, silent REGEX: the last run's stderr does, or does not
says() { grep -qE -e "$1" "$scratch/err" || failed "$what: it does not say $1: $(tail -n 20 "$scratch/err")"; }
silent() { ! grep -qE -e "$1" "$scratch/err" || failed "$what: it says $1"; }
