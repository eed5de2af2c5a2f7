#!/bin/sh
# fuzz.sh BUILD SECONDS: links every fuzz_NAME.c of tests/fuzz with the instrumented emulator of BUILD and runs all of
# them side by side, SECONDS each. Seeds come from tests/fuzz/NAME/ where that folder is there; what is found lies in
# BUILD/NAME/. Exit 1 where one crashed, leaked, hung or found a sanitizer's complaint.
set -u
build=$1 seconds=$2
cd "$(dirname "$0")/.."
bad=0
running=
for source in tests/fuzz/fuzz_*.c; do
    [ -e "$source" ] || {
        echo "fuzz: there is no tests/fuzz/fuzz_*.c" >&2
        exit 1
    }
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    mkdir -p "$build/$name/corpus"
    clang -O1 -g -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I emulator -I . -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=undefined "$source" "$build/emulator/libsm100emu.a" -ldl -lm -lpthread \
        -o "$build/fuzz_$name" || exit 1
    seeds=
    [ ! -d "tests/fuzz/$name" ] || seeds=tests/fuzz/$name
    # shellcheck disable=SC2086 # no seeds, no word
    "$build/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/$name/" "$build/$name/corpus" $seeds >"$build/$name/log" 2>&1 &
    running="$running $!:$name"
    echo "fuzz: $name for $seconds s, log in $build/$name/log"
done
for job in $running; do
    name=${job#*:}
    if wait "${job%%:*}"; then
        echo "fuzz: $name: no finding, $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name/log") inputs"
    else
        echo "fuzz: $name: FINDING"
        tail -n 40 "$build/$name/log"
        bad=1
    fi
done
exit $bad
