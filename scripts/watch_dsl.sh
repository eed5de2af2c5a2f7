#!/bin/sh
# watch_dsl.sh BUILD: runs the CuTe DSL program that step 05 comes from, and step 05 on the same problem, both on the
# emulator with --trace; makes BUILD/watch/dsl/index.html, which shows the two side by side, and trace.json, of step 05.
#
#   DSL=FILE  the program, dense_gemm_alpha_beta_persistent.py of NVIDIA/cutlass. Without it the file is fetched from
#             GitHub at COMMIT into BUILD/dsl/, once, and must have SHA256. It is never part of this repository.
#   TEXT=1    two timelines on the terminal in place of the page
#   SCHEDULE= of the emulator, for both runs, in place of the model clock
#
# The packages are those of `scripts/toolkit.sh cute_dsl`. PyTorch, with which the program makes its matrices, is
# tests/frontends/stand_in/torch.py. PROGRAMS: the folder of step 05's program.
set -eu
# shellcheck source=scripts/watched.sh
. scripts/watched.sh
build=$1 step=05_persistent_warpspec
[ ! -t 1 ] || printf '\033[K' # make's line of what it builds
folder=$build/watch/dsl options='' code=0
schedule=--schedule=${SCHEDULE:-model}

COMMIT=7107b05535f8977f5ecb9d01ee203205b1fd9bc4
SHA256=0c56020660288037508b8fb3630adca89372ffa95a6d0bf55b3305b8b3a35a18
FILE=examples/python/CuTeDSL/cute/blackwell/kernel/dense_gemm/dense_gemm_alpha_beta_persistent.py
FROM=${DSL_FROM:-https://raw.githubusercontent.com/NVIDIA/cutlass}/$COMMIT/$FILE

# What both compute: 76 tiles of 256 x 128, for the 74 clusters that a B200 has room for. So the first two clusters make
# two tiles. Each tile has four K tiles of 64.
M=1024 N=2432 K=256

die() {
    printf 'watch-dsl: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '           %s\n' "$line" >&2; done
    exit 1
}

# sum FILE: its SHA-256
sum() {
    python3 -IS -c 'import hashlib, sys
print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1"
}

# fetch FILE: the program from GitHub; nothing stays of another file, or of part of it
fetch() {
    mkdir -p "${1%/*}"
    echo "watch-dsl: fetching $FROM into ${1%/*}/ (85 KB, once)" >&2
    why=$(python3 -IS -c 'import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=30) as answer, open(sys.argv[2], "wb") as to:
    to.write(answer.read())' "$FROM" "$1.new" 2>&1) || {
        rm -f "$1.new"
        die "the program cannot be fetched: $(printf '%s\n' "$why" | tail -1)" \
            "With a network elsewhere, fetch $FROM" \
            "then, with that file here: make watch-dsl DSL=${FILE##*/}"
    }
    [ "$(sum "$1.new")" = $SHA256 ] || {
        rm -f "$1.new"
        die "$FROM has not the SHA-256 $SHA256, and is not used"
    }
    mv "$1.new" "$1"
}

sh scripts/doctor.sh need python3
program=${DSL:-$build/dsl/${FILE##*/}}
if [ -n "${DSL:-}" ]; then
    [ -f "$DSL" ] || die "DSL=$DSL is no file; without DSL= the program is fetched from GitHub"
    [ "$(sum "$DSL")" = $SHA256 ] ||
        echo "watch-dsl: $DSL is not the file of NVIDIA/cutlass at $COMMIT; docs/cute.md names lines of that one" >&2
elif [ ! -f "$program" ]; then
    fetch "$program"
fi
packages=$(sh scripts/toolkit.sh cute_dsl)
mkdir -p "$folder"

record "$folder/log" "$folder/findings.sarif" "$folder/says.txt" "${PROGRAMS:-build}/$step" \
    --m $M --n $N --k $K --tile-n 128 --d-type f16 --alpha 2 --beta 1
[ $code = 0 ] || die "$step ended with exit code $code; $folder/says.txt has what it printed"
PYTHONPATH=tests/frontends/stand_in:$packages${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
record "$folder/log-dsl" "$folder/findings-dsl.sarif" "$folder/says-dsl.txt" python3 -B -W ignore "$program" \
    --mnkl $M,$N,$K,1 --ab_dtype Float16 --c_dtype Float16 --d_dtype Float16 --mma_tiler_mn 256,128 \
    --cluster_shape_mn 2,1 --use_2cta_instrs --alpha 2.0 --beta 1.0
unset PYTHONPATH
grep -qx PASS "$folder/says-dsl.txt" ||
    die "the program's result is not right; $folder/says-dsl.txt has what it printed"
[ $code = 0 ] || echo "watch-dsl: there are findings; $folder/says-dsl.txt has them, docs/conformance.md says why" >&2

# Its warps have the tasks of step 05's. No function is left of which its lines could be named.
warps=epilogue,epilogue,epilogue,epilogue,mma,load,c
if [ -n "${TEXT:-}" ]; then
    (text "$folder/log")
    text "--warps=$warps" "$folder/log-dsl"
fi
page "$folder/log" "$folder/log-dsl" -o "$folder" --title "step 05, and the CuTe DSL program" \
    --name "$step" --said "$folder/findings.sarif" \
    --name2 "${program##*/}" --said2 "$folder/findings-dsl.sarif" --root2 "$(dirname "$program")" --warps2 "$warps"
