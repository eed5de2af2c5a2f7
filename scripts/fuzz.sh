#!/bin/sh
# fuzz.sh BUILD SECONDS: links every fuzz_NAME.c of tests/fuzz with the instrumented emulator of BUILD and runs them two at
# a time, SECONDS each; then makes the allocations of the emulator in build/ fail (scripts/inject.py), as long. Seeds come
# from tests/fuzz/NAME/ where that folder is there, and for exec from the tests' and the built steps' PTX too. A line of
# progress every minute, a table at the end; what is found lies in BUILD/NAME/. Exit 1 where one crashed, leaked, hung or
# found a sanitizer's complaint, or an allocation's failure was not borne.
set -u
build=$1 seconds=$2
cd "$(dirname "$0")/.." || exit 2
bad=0
table=

compile() { # NAME
    clang -O1 -g -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I emulator -I tests -I . \
        -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -fno-sanitize-coverage=trace-cmp \
        "tests/fuzz/fuzz_$1.c" "$build/emulator/libsm100emu.a" -ldl -lm -lpthread -o "$build/fuzz_$1"
}

# The PTX of a program lies in it as text that ends with a NUL.
ptx_of() {
    grep -az 'address_size 64' "$1" | tr '\0' '\n' | sed -n '/\.version [0-9]/,$p' | sed '1s/^.*\.version/.version/'
}

seed() { # NAME
    mkdir -p "$build/$1/corpus" "$build/$1/seeds"
    [ ! -d "tests/fuzz/$1" ] || cp tests/fuzz/"$1"/* "$build/$1/seeds"
    [ "$1" = exec ] || return 0
    cp tests/negative/*.ptx tests/fuzz/ptx/*.ptx "$build/$1/seeds"
    for step in build/[0-9][0-9]_*[a-z]; do
        case $step in *.*) continue ;; esac
        ptx_of "$step" >"$build/$1/seeds/$(basename "$step").ptx"
    done
    find "$build/$1/seeds" -size +64k -delete # too slow to be worth it
    # Bulk copies without end take 192 threads longer than -timeout. This first line gives each CTA one thread.
    rm -f "$build/$1/seeds"/copies_endless_*.ptx
    { echo '//! 0000000000000003' && cat tests/negative/copies_endless_default.ptx; } \
        >"$build/$1/seeds/copies_endless.ptx"
}

found() { # NAME: how many inputs were found and saved
    find "$build/$1" -maxdepth 1 \( -name 'crash-*' -o -name 'leak-*' -o -name 'oom-*' -o -name 'timeout-*' \) | wc -l
}

run() { # NAME: goes on after a finding, so that one does not hide the next
    rm -f "$build/$1/counts"
    FUZZ_COUNTS=$build/$1/counts "$build/fuzz_$1" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -close_fd_mask=3 -entropic=0 -len_control=0 \
        -artifact_prefix="$build/$1/" "$build/$1/corpus" "$build/$1/seeds" >"$build/$1/log" 2>&1
}

progress() { # NAME
    echo "fuzz: $1: $(grep -a '^#' "$build/$1/log" | tail -n 1), $(found "$1") found"
}

names=
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    compile "$name" || exit 1
    seed "$name"
    rm -f "$build/$name"/crash-* "$build/$name"/leak-* "$build/$name"/oom-* "$build/$name"/timeout-*
    names="$names $name"
done
# shellcheck disable=SC2086 # words on purpose
set -- $names
while [ $# -gt 0 ]; do
    pair="$1 ${2:-}"
    jobs=
    for name in $pair; do
        echo "fuzz: $name for $seconds s, log in $build/$name/log"
        run "$name" &
        jobs="$jobs $!"
        shift
    done
    waited=0
    while sleep 5 && waited=$((waited + 5)) && [ $waited -le "$seconds" ]; do
        [ $((waited % 60)) -ne 0 ] || for name in $pair; do progress "$name"; done
    done
    for job in $jobs; do wait "$job"; done
    for name in $pair; do
        n=$(found "$name")
        told=
        grep -q counts.h "tests/fuzz/fuzz_$name.c" && told=$(FUZZ_COUNTS=$build/$name/counts "$build/fuzz_$name" --counts)
        table="$table$(printf '%-8s %4d findings; %s' "$name" "$n" \
            "${told:-$(grep -a '^#' "$build/$name/log" | tail -n 1 | sed 's/^#\([0-9]*\):.*/\1 inputs/')}")
"
        [ "$n" -eq 0 ] || bad=1
    done
done
if [ -e build/emulator/libsm100emu.so ]; then
    echo "fuzz: allocations that fail, for $seconds s"
    table="$table$(python3 -ISB python/sm100repo scripts/inject.py build "$seconds" "$build/inject")" || bad=1
else
    table="${table}inject   not run: build/emulator/libsm100emu.so is not built (make all)"
fi
printf '\nfuzz: what was found lies in %s/NAME/\n%s\n' "$build" "$table"
exit $bad
