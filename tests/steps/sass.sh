#!/bin/sh
# sass.sh ROOT TOOLKIT PROGRAM...: no loop of the steps makes every write visible on the whole GPU or clears the L1
# cache, and docs/performance.md shows the figures that `make sass` prints, where the compiler is the one it names.
# Exit code 77 where the disassembler is not here and cannot be fetched.
set -u
cd "$1" || exit 1
toolkit=$2
shift 2
if ! tools=$(PIP_RETRIES=1 PIP_DEFAULT_TIMEOUT=20 sh scripts/toolkit.sh disassembler); then
    echo "SKIPPED: without cuobjdump and nvdisasm nothing was looked at"
    exit 77
fi
out=$(PATH="$tools:$PATH" python3 -ISB python/sm100repo scripts/sass.py --hold scripts/sass-cutlass.txt "$@" 2>&1)
bad=$?
printf '%s\n' "$out"
# shellcheck disable=SC1090
. "$toolkit"
page=docs/performance.md
named=$(sed -n 's/.*nvcc` \([0-9.]*\) makes of them.*/\1/p' $page)
[ -n "$named" ] || { echo "FAILED: $page does not say which nvcc its figures are of"; bad=1; }
if [ "$NVCC_VERSION" = "$named" ]; then
    printf '%s\n' "$out" | grep -v '^FAILED' | while IFS= read -r line; do
        grep -qxF -- "$line" $page || echo "FAILED: $page does not have: $line"
    done | grep . && bad=1
else
    echo "$page has the figures of nvcc $named, and this is $NVCC_VERSION"
fi
exit $bad
