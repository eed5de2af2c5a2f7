#!/bin/sh
# watch.sh BUILD STEP: runs a step on the emulator with --trace, and makes BUILD/watch/NN/index.html and trace.json.
#
#   ARGS      of the program, and instead of what the step is watched with otherwise
#   TEXT=1    a timeline on the terminal in place of the page
#   BESIDE=   options of the emulator: the page shows a second run with them side by side (BESIDE=--schedule=lazy)
#   BREAK=N   the N-th patch of STEP/breaks/ is applied to a copy in BUILD/watch/NN/break-N, and the page, there too,
#             shows both runs side by side: as it is, and broken. The first lines of a patch, up to its ---, say what it
#             does, and may hold `Options:` of the emulator and `Arguments:` of the program, for both.
#
# SAN_LIB as in run.sh. MAKE builds the copy.
set -eu
build=$1 step=$2
[ ! -t 1 ] || printf '\033[K' # make's line of what it builds
number=${step%%_*}
folder=$build/watch/$number programs=${PROGRAMS:-build}

# record PROGRAM LOG FINDINGS SAYS: what it prints goes to SAYS. A program that fails has a log all the same.
record() {
    program=$1 log=$2
    rm -f "$log" "$3"
    # shellcheck disable=SC2086
    env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
        "$build/sm100emu" --trace="$log" --check-json="$3" $options "$program" $args >"$4" 2>&1 || code=$?
    [ -s "$log" ] || {
        cat "$4" >&2
        echo "watch: $program left no log" >&2
        exit 1
    }
}

# said PATCH NAME: what stands behind NAME: before the first line with ---
said() {
    sed -n "/^--- /q; s/^$2: *//p" "$1"
}

# page LOG...: makes the page; options for it are in "$@" too
page() {
    PYTHONPATH=python python3 -B -m sm100emu.watch --log-tool "$build/sm100emu-log" "$@"
}

args=${ARGS:-} options='' code=0
# A cluster then makes four tiles, one after the other.
if [ -z "$args" ] && [ "$number" = 05 ]; then args='--clusters 4'; fi
mkdir -p "$folder"

if [ -n "${BREAK:-}" ]; then
    patch=$(find "$step/breaks" -name "$BREAK-*.patch" 2>/dev/null | sed 1q)
    [ -n "$patch" ] || {
        echo "watch: $step/breaks has no patch $BREAK; there is:" >&2
        find "$step/breaks" -name '*.patch' 2>/dev/null | LC_ALL=C sort | sed 's|.*/||; s/^/  /' >&2
        exit 2
    }
    sh scripts/doctor.sh need python3 patch
    folder=$folder/break-$BREAK
    mkdir -p "$folder/source/$step"
    [ -n "${ARGS:-}" ] || args=$(said "$patch" Arguments)
    options=$(said "$patch" Options)
    rm -rf "$folder/source/common"
    cp -R common "$folder/source/common"
    cp "$step"/*.cu "$folder/source/$step/"
    patch -s -p1 -d "$folder/source" <"$patch"
    ${MAKE:-make} -s "$folder/source/$step/$step"
    record "$programs/$step" "$folder/log" "$folder/findings.sarif" "$folder/says.txt"
    record "$folder/source/$step/$step" "$folder/log-broken" "$folder/findings-broken.sarif" "$folder/says-broken.txt"
    sed '/^--- /,$d; /^[A-Z][a-z]*: /d' "$patch"
    page "$folder/log" "$folder/log-broken" -o "$folder" --title "$step, BREAK=$BREAK" \
        --name "$step" --said "$folder/findings.sarif" \
        --name2 "broken: $(sed 1q "$patch")" --said2 "$folder/findings-broken.sarif" --root2 "$folder/source"
    exit 0
fi

record "$programs/$step" "$folder/log" "$folder/findings.sarif" "$folder/says.txt"
if [ -n "${TEXT:-}" ]; then
    exec "$build/sm100emu-log" --timeline "$folder/log"
fi
sh scripts/doctor.sh need python3
set -- "$folder/log"
if [ -n "${BESIDE:-}" ]; then
    options=$BESIDE
    record "$programs/$step" "$folder/log-beside" "$folder/findings-beside.sarif" "$folder/says-beside.txt"
    set -- "$@" "$folder/log-beside" "--name2=$BESIDE" --said2 "$folder/findings-beside.sarif"
fi
page "$@" -o "$folder" --name "$step${args:+ $args}" --said "$folder/findings.sarif" --title "$step"
[ "$code" = 0 ] || echo "watch: the program ended with exit code $code; $folder/says.txt has what it printed" >&2
