#!/bin/sh
# toolkit.sh ROOT: scripts/toolkit.sh takes an nvcc that will do, refuses an older one with what to install, and stops
# where there is nothing to fetch with or from. Nothing is fetched here: it works on a copy of scripts/.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/repo" "$scratch/bin" "$scratch/cuda" "$scratch/cuda/bin" "$scratch/cuda/lib64"
cp -r "$1/scripts" "$scratch/repo/scripts"
cd "$scratch/repo" || exit 1
bad=0

for tool in sh chmod sed uname dirname cat cmp mv rm mkdir ls ln cp tr printf g++ gcc; do
    ln -s "$(command -v $tool)" "$scratch/bin/$tool" 2>/dev/null
done

# toolkit [VAR=value]... -- ARGS
toolkit() {
    set -- "$@"
    out=$(env -u CUDA_HOME -u NVCC -u TOOLKIT_DIR -u WHEELS -u CUDART_DIR PATH="$scratch/cuda/bin:$scratch/bin" "$@" 2>&1)
    code=$?
}
# expect WHAT CODE PATTERN
expect() {
    # shellcheck disable=SC2254
    case $code:$out in
    $2:$3) ;;
    *)
        echo "FAILED: $1: exit code $code: $out"
        bad=1
        ;;
    esac
}
pretend() {
    printf '#!/bin/sh\n: >"%s/ran"\necho "Cuda compilation tools, release %s, V%s.1"\n' "$scratch" "$1" "$1" >"$scratch/cuda/bin/nvcc"
    chmod +x "$scratch/cuda/bin/nvcc"
}
run="sh scripts/toolkit.sh"

for version in 12.9 12.10 13.0 14.2; do
    pretend $version
    toolkit $run which
    expect "nvcc $version" 0 "use $version $scratch/cuda/bin/nvcc"
done
for version in 12.8 11.9 9.10; do
    pretend $version
    toolkit $run env out.env
    expect "nvcc $version" 1 "*is CUDA $version; the steps need 12.9 or later*install a newer CUDA Toolkit*"
done
[ ! -e out.env ] || { echo "FAILED: an old nvcc leaves out.env"; bad=1; }

pretend 13.1
toolkit $run env out.env
expect "no libcudart" 1 '*has no libcudart.so beside it*'
: >"$scratch/cuda/lib64/libcudart.so.13"
toolkit $run env out.env
expect "libcudart.so.13 alone" 0 ''
grep -qx "CUDART_DIR='$scratch/cuda/lib64'" out.env && grep -qx "LINK_DIR='$PWD/cudart'" out.env &&
    [ -L cudart/libcudart.so ] || { echo "FAILED: link folder for libcudart.so.13: $(cat out.env)"; bad=1; }
: >"$scratch/cuda/lib64/libcudart.so"
toolkit $run env out.env
grep -qx "LINK_DIR='$scratch/cuda/lib64'" out.env || { echo "FAILED: link folder: $(cat out.env)"; bad=1; }
rm "$scratch/ran"
toolkit $run env out.env
[ ! -e "$scratch/ran" ] || { echo "FAILED: nothing changed, and nvcc is asked again"; bad=1; }

# A g++ that is newer than nvcc takes: an older one, or clang++, is named to nvcc; else the remedy is one line.
compiler() {
    rm -f "$scratch/bin/$1"
    printf '#!/bin/sh\necho %s\n' "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
mkdir -p "$scratch/cuda/include/crt"
printf '#if __GNUC__ > 15\n#if (__clang_major__ >= 21) || (__clang_major__ < 3)\n' >"$scratch/cuda/include/crt/host_config.h"
told() {
    toolkit "$@" $run env out.env
    expect "g++ $*" 0 ''
    grep -h ^NVCC= out.env
    sed -n 's/^NVCC_CCBIN=\([^ ]*\) .*/\1/p' nvcc 2>/dev/null
}
hosts() {
    rm -f nvcc
    got=$(told "$@" | tr '\n' ' ')
    [ "$got" = "$want " ] || { echo "FAILED: $*: the host compiler: $got, not $want"; bad=1; }
}
compiler g++ 15.2
want="NVCC='$scratch/cuda/bin/nvcc'" hosts
compiler g++ 16
toolkit $run env out.env
expect "g++ 16 alone" 1 '*takes g++ up to 15, and g++ is 16: sudo apt-get install g++-15*'
want="NVCC='$scratch/cuda/bin/nvcc'" hosts NVCC_CCBIN=gcc
compiler clang++ 21
compiler clang++-19 19
want="NVCC='$PWD/nvcc' clang++-19" hosts
compiler clang++ 20
want="NVCC='$PWD/nvcc' clang++" hosts
compiler g++-13 13
want="NVCC='$PWD/nvcc' g++-13" hosts
compiler g++ 12

toolkit NVCC=no-such-nvcc $run which
expect "NVCC that is not there" 1 '*NVCC=no-such-nvcc does not run*'
toolkit NVCC=fetch $run which
expect "NVCC=fetch" 0 'fetch*'
rm "$scratch/cuda/bin/nvcc"
toolkit $run which
expect "no nvcc" 0 'fetch*'
toolkit $run env out.env
expect "no nvcc, no Python" 1 '*python3 is missing*pip is missing*'
if python3 -m pip --version >/dev/null 2>&1; then
    ln -s "$(python3 -I -c 'import sys; print(sys.executable)')" "$scratch/bin/python3"
    sed -i 's/^# for Python 3[^ ]* to 3[^ ]*/# for Python 3.1 to 3.2/' scripts/site-requirements.txt
    toolkit WHEELS="$scratch/nowhere" TOOLKIT_DIR="$scratch/tools" $run site
    expect "a Python that is too new for the site" 1 '*the site needs Python 3.1 to 3.2,*and python3 is Python 3*'
    mkdir "$scratch/empty"
    toolkit WHEELS="$scratch/empty" $run env out.env
    expect "an empty WHEELS folder" 1 '*fetching nvcc and headers of CUDA 13.0*pip could not fetch*'
    compiler g++ 16
    rm "$scratch"/bin/g++-* "$scratch"/bin/clang++*
    toolkit WHEELS="$scratch/empty" $run env out.env
    expect "g++ 16 wants a newer CUDA" 1 '*fetching nvcc and headers of CUDA 13.5*pip could not fetch*'
    toolkit WHEELS="$scratch/none" $run env out.env
    expect "WHEELS that is no folder" 1 '*WHEELS=*is not a folder*'
    [ ! -e .toolkit ] || { echo "FAILED: a failed fetch leaves .toolkit"; bad=1; }
fi
exit $bad
