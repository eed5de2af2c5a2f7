# shellcheck shell=sh disable=SC2034,SC2154 # build, folder, schedule and options are set by who reads it
# watched.sh, read by watch.sh and watch_dsl.sh: a run with a log, and what is made of logs. They set
#
#   build     the folder with the emulator
#   folder    where the page goes
#   schedule, options  of the emulator
#   code      0; the exit code of a program that failed is left there

# record LOG FINDINGS SAYS PROGRAM...: what it prints goes to SAYS. A program that fails has a log all the same.
record() {
    log=$1 findings=$2 says=$3
    shift 3
    rm -f "$log" "$findings"
    # shellcheck disable=SC2086
    env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
        "$build/sm100emu" --trace="$log" --check-json="$findings" $schedule $options "$@" >"$says" 2>&1 || code=$?
    [ -s "$log" ] || {
        cat "$says" >&2
        echo "watch: $1 left no log" >&2
        exit 1
    }
}

# text [OPTION...] LOG: the timeline on the terminal, and the end. What to do about a doubt is said in words of make.
text() {
    status=0
    "$build/sm100emu-log" --timeline "$@" 2>"$folder/doubts.txt" || status=$?
    sed 's/; use --schedule=model/; it has no such doubt with SCHEDULE=model/' "$folder/doubts.txt" >&2
    for log in "$@"; do :; done
    echo "watch: $build/sm100emu-log --help says how to see more of $log" >&2
    exit $status
}

# page LOG...: makes the page; options for it are in "$@" too
page() {
    python3 -ISB python/sm100repo python/sm100emu/watch.py --log-tool "$build/sm100emu-log" "$@"
}
