#!/bin/sh
# watch_dsl.sh ROOT PRODUCTS: `make watch-dsl` refuses in a sentence what it cannot have: no file, no network, another
# file than the pinned one; nothing of that stays. With the packages of `scripts/toolkit.sh cute_dsl` and the program in
# PRODUCTS/dsl/, where an earlier watch-dsl has put it, or in $DSL: the page has both runs, warps have the tasks of step
# 05's, and each row of the lesson's table is what the DSL's PTX has (tests/cute/dsl.py). Exit code 77: the second half
# is skipped.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 products=$2 given=${DSL:-}
cd "$root" || exit 2
unset DSL TEXT SCHEDULE
name=dense_gemm_alpha_beta_persistent.py

answers 1 '*DSL=nowhere.py is no file*without DSL= the program is fetched from GitHub*' \
    env DSL=nowhere.py sh scripts/watch_dsl.sh "$products"
# A server that has another file: folders like GitHub's, by the script's own paths.
commit=$(sed -n 's/^COMMIT=//p' scripts/watch_dsl.sh) file=$(sed -n 's/^FILE=//p' scripts/watch_dsl.sh)
mkdir -p "$scratch/served/$commit/${file%/*}"
ln -s "$products/sm100emu" "$scratch/sm100emu"
from=file://$scratch/served
answers 1 "*cannot be fetched: *With a network elsewhere, fetch $from/$commit/$file*make watch-dsl DSL=$name" \
    env DSL_FROM="$from" sh scripts/watch_dsl.sh "$scratch"
echo '# another' >"$scratch/served/$commit/$file"
answers 1 '*has not the SHA-256*and is not used' env DSL_FROM="$from" sh scripts/watch_dsl.sh "$scratch"
same 'what is left of a file that was refused' "$(ls "$scratch/dsl")" ''

program=${given:-$products/dsl/$name} folder=${TOOLKIT_DIR:-$root/.toolkit}/cute_dsl
[ $bad = 0 ] || exit $bad
{ [ -f "$program" ] && cmp -s "$folder/requirements.txt" scripts/cute-dsl-requirements.txt; } || {
    echo "skipped: no $program, which make watch-dsl fetches, or scripts/toolkit.sh cute_dsl has not fetched CuTe DSL"
    exit 77
}
ln -s "$products/sm100emu-log" "$scratch/sm100emu-log"
mkdir "$scratch/ptx"
export DSL="$program" CUTE_DSL_KEEP=ptx CUTE_DSL_DUMP_DIR="$scratch/ptx"
answers 0 '*there are findings*index.html: the page*' sh scripts/watch_dsl.sh "$scratch"
python3 -ISB python/sm100repo tests/cute/dsl.py . "$program" "$scratch"/ptx/*.ptx || failed 'the lesson on the DSL'
out=$(TEXT=1 sh scripts/watch_dsl.sh "$scratch" 2>/dev/null)
printf '%s\n' "$out" | sed -n '/^kernel_cutlass/,$p' >"$scratch/timeline" # the second one
has "$scratch/timeline" 'mma           4 x UMMA 256x128x16' 'load          expects 49152 bytes' \
    'c             expects 8192 bytes' '--- tile 1'
exit $bad
