#!/bin/sh
# break.sh ROOT: `make watch-04 BREAK=2` makes the page of two runs: the experiment is told by its diagnostic, the lesson
# beside it by none. That the other experiments do what they say, the lessons' test sees (lessons/lessons.py). And which
# pages have a tour: that of the lesson's own run, also beside another schedule.
set -u
root=$1
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
folder=build/watch/04/break-2
rm -rf "$folder"
make watch-04 BREAK=2 >build/watch-break.log 2>&1 || failed "BREAK=2: $(tail -5 build/watch-break.log)"
tells=$(sed -n 's/^Tells: //p' 04_pair_umma/breaks/2-*.patch)
grep -q "\"ruleId\": *\"$tells\"" "$folder/findings-broken.sarif" || failed "BREAK=2 is not told by $tells"
grep -q '"ruleId"' "$folder/findings.sarif" && failed "the lesson as it is is told, too"
size=$(wc -c <"$folder/index.html")
[ "$size" -gt 50000 ] && [ "$size" -lt 1000000 ] || failed "the page has $size bytes"
case $(make watch-04 BREAK=2 TEXT=1 2>/dev/null) in
*'peer bit is left alone'*'both side by side'*'pair_umma, cluster 0'*'epilogue '?'@cta'*) ;; # warps are called as in the lesson
*) failed 'BREAK=2 TEXT=1 does not show the broken run, or not with the names of the other' ;;
esac
# toured YES|NO WORD...: `make watch-02 WORD...` says that its page has a tour, or does not
toured() {
    wanted=$1
    shift
    case $(make watch-02 "$@" 2>&1) in
    *'index.html: the page, for a browser; the button Tour leads through it'*) has=YES ;;
    *'index.html: the page, for a browser'*) has=NO ;;
    *) has='no page' ;;
    esac
    [ "$has" = "$wanted" ] || failed "watch-02 $*: a tour: $has"
}
grep -q Tour build/watch-break.log && failed 'BREAK=2 has a tour'
toured NO ARGS='--k 64'
toured YES BESIDE=--schedule=lazy
toured YES
exit $bad
