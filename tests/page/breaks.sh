#!/bin/sh
# breaks.sh ROOT N...: every patch of a lesson's breaks/ applies and says what the emulator tells of it. Of lesson 04
# the N-th, built and run by `make watch-04 BREAK=N`, is told by that diagnostic, the lesson beside it by none, and the page
# of both is there.
set -u
root=$1
shift
unset MAKEFLAGS MFLAGS MAKELEVEL
for need in python3 patch; do
    command -v $need >/dev/null || {
        echo "skipped: $need is not installed"
        exit 77
    }
done
cd "$root" || exit 2
bad=0
failed() {
    echo "FAILED: $1"
    bad=1
}
for patch in [0-9][0-9]_*/breaks/*.patch; do
    patch --dry-run -s -p1 <"$patch" || failed "$patch does not apply"
    sed '/^--- /,$d' "$patch" | grep -q '^Tells: [a-z0-9-]*$' || failed "$patch does not say what the emulator tells"
    n=${patch##*/}
    [ "$(grep -c "^| ${n%%-*} |" "${patch%/*}/README.md")" = 1 ] || failed "$patch is not in the README"
done
for n in "$@"; do
    folder=build/watch/04/break-$n
    rm -rf "$folder"
    make watch-04 BREAK="$n" >build/watch-break.log 2>&1 || failed "BREAK=$n: $(tail -5 build/watch-break.log)"
    tells=$(sed -n 's/^Tells: //p' 04_pair_umma/breaks/"$n"-*.patch)
    grep -q "\"ruleId\": *\"$tells\"" "$folder/findings-broken.sarif" || failed "BREAK=$n is not told by $tells"
    grep -q '"ruleId"' "$folder/findings.sarif" && failed "BREAK=$n: the lesson as it is is told, too"
    size=$(wc -c <"$folder/index.html")
    [ "$size" -gt 50000 ] && [ "$size" -lt 1000000 ] || failed "BREAK=$n: the page has $size bytes"
done
exit $bad
