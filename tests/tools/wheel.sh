#!/bin/sh
# wheel.sh ROOT PRODUCTS PROGRAM: `make wheel` needs no network and gives the same bytes in another folder at another
# time, with a platform tag that the binaries bear out; in a fresh virtual environment PROGRAM runs on it, arguments,
# exit codes and signals go through unchanged, the names of the libraries are one emulator, and sm100emu-nvcc calls nvcc
# as it should.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 products=$2 program=$3
unset MAKEFLAGS MFLAGS MAKELEVEL SOURCE_DATE_EPOCH PYTHONPATH PYTHONHOME
needs python3 objdump strip

# wheel DIR: makes the wheel of DIR; its path
wheel() {
    (cd "$1" && make wheel) >"$scratch/log" 2>&1 || failed "make wheel: $(tail "$scratch/log")"
    echo "$1"/build/sm100emu-*.whl
}
copy "$scratch/one"
copy "$scratch/two, elsewhere"
# Debug information names the folder that an object was compiled in, so the other folder compiles one of each.
touch "$scratch/two, elsewhere/emulator/base/"*.c "$scratch/two, elsewhere/emulator/sm100emu.c"
one=$(wheel "$scratch/one")
[ -f "$one" ] || exit 1
sleep 2 # a zip file counts in steps of two seconds
mkdir "$scratch/two, elsewhere/.git" # one of which git tells nothing, as of another user's
two=$(wheel "$scratch/two, elsewhere")
cmp "$one" "$two" || failed 'two wheels of the same sources differ'

tag=$(objdump -T "$scratch/one/build/sm100emu" "$scratch/one/build/emulator/libsm100emu.so" |
    grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1 | sed 's/GLIBC_//; s/\./_/')
version=$(cat "$root/VERSION")
[ "${one##*/}" = "sm100emu-$version-py3-none-manylinux_${tag}_$(uname -m).whl" ] ||
    failed "the wheel is called ${one##*/}, its version is $version, its glibc $tag"

python3 -m venv "$scratch/venv" >"$scratch/log" 2>&1 || {
    echo "skipped: python3 has no venv: $(tail -1 "$scratch/log")"
    exit $((bad ? 1 : 77))
}
bin=$scratch/venv/bin
"$bin/python" -m pip install -q --no-index --disable-pip-version-check "$one" || exit 1
cd "$scratch" || exit 1
"$bin/sm100emu" "$program" >log 2>&1 && grep -q '^PASS' log || failed "the program: $(tail -3 log)"
[ "$("$bin/sm100emu" --version):$("$bin/python" -m sm100emu --version)" = "sm100emu $version:sm100emu $version" ] ||
    failed 'it says another version'
answers 127 '*' "$bin/sm100emu" ./none
grep -q "sm100emu $version" "$scratch/venv/share/man/man1/sm100emu.1" || failed 'no man page, or of another version'

# A page of a launch, by what the wheel has alone.
"$bin/sm100emu" --trace=launch "$program" >/dev/null 2>&1 && PATH=/usr/bin:/bin "$bin/python" -m sm100emu.watch launch -o page >log 2>&1 &&
    grep -q '<canvas\|id="data"' page/index.html || failed "sm100emu.watch: $(cat log)"

# One emulator by all its names, found without any variable.
cat >names.py <<'PYTHON'
import ctypes, os, sm100emu
names = ["libcudart.so.12", "libcudart.so.13", "libcuda.so.1", "libcute_dsl_runtime.so"]
libraries = [ctypes.CDLL(os.path.join(sm100emu.library_dir(), n)) for n in names]
print(len({ctypes.cast(l.cuInit, ctypes.c_void_p).value for l in libraries}), libraries[3]._cudaDeviceSynchronize())
PYTHON
[ "$("$bin/python" names.py)" = '1 0' ] || failed 'the names are several emulators'
# A program linked by the name that the linker asks for wants libcudart.so.13, and runs.
site=$("$bin/python" -c 'import os, sm100emu; print(os.path.dirname(sm100emu.__file__))')
echo 'int cudaFree(void *p) { return p != 0; }' >cudart.c
echo 'int cudaFree(void *); int main(void) { return cudaFree(0); }' >link.c
cc -shared -fPIC cudart.c -Wl,-soname,libcudart.so.13 -o libcudart.so.13
cc link.c -o link -L"$site/link" -L. -lcudart && "$bin/sm100emu" ./link || failed 'a program linked with -lcudart'

# What Triton links while a program runs, by a linker that drops libraries that define nothing of what is asked for.
echo 'int cuInit(unsigned); int begin(void) { return cuInit(0); }' >begin.c
cc -shared -fPIC begin.c -o begin.so -Wl,--as-needed -L"$site/lib/sm100emu" -l:libcuda.so.1 &&
    "$bin/sm100emu" "$bin/python" -c 'import ctypes; raise SystemExit(ctypes.CDLL("./begin.so").begin())' ||
    failed 'a library linked with -l:libcuda.so.1'

# A stand-in for the launcher: its arguments, then the end that the first one names.
stand_in "$site/bin/sm100emu" <<'STAND_IN'
printf '<%s>' "$@"
case $1 in [0-9]*) exit "$1" ;; *) kill -"$1" $$ ;; esac
STAND_IN
# ends CODE ARGS
ends() {
    wanted=$1
    shift
    for how in "$bin/sm100emu" "$bin/python -m sm100emu"; do
        # shellcheck disable=SC2086
        $how "$@" >log 2>/dev/null
        code=$?
        printf '<%s>' "$@" >args
        [ $code -eq "$wanted" ] && cmp -s args log || failed "$how $*: exit code $code, $(cat log)"
    done
}
ends 37 37 '' 'two words' '--help' "$(printf 'a\nb\377')" '*'
ends 143 TERM
ends 141 PIPE
ends 130 INT

answers 1 "sm100emu-nvcc: no CUDA compiler is installed here: pip install 'sm100emu[[]cuda]'" "$bin/sm100emu-nvcc" x.cu
mkdir -p "$site/../nvidia/cu13/bin"
echo 'echo "$@"; exit 3' | stand_in "$site/../nvidia/cu13/bin/nvcc"
answers 3 '*-cudart shared *-gencode arch=compute_100f,code=[[]sm_100f,compute_100f] x.cu' "$bin/sm100emu-nvcc" x.cu
for own in '-arch=sm_100a' '-gencode arch=compute_100a,code=compute_100a' '--gpu-architecture sm_100a'; do
    # shellcheck disable=SC2086
    answers 3 "* $own x.cu" "$bin/sm100emu-nvcc" $own x.cu
    [ "$out" = "${out#*100f}" ] || failed "sm100emu-nvcc $own adds a target"
done
# Every compiler wheel that the repository builds with, by the same version.
"$bin/python" -c 'import importlib.metadata as m; print(*m.requires("sm100emu"), sep="\n")' | sed 's/[ ;].*//' >extra
pins=$(grep -o "^[a-z-]*==[0-9.]*" "$root/scripts/toolkit-requirements.txt")
[ "$(cat extra)" = "$pins" ] || failed "the extra: $(cat extra)"
exit $bad
