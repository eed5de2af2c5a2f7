#!/bin/sh
# toolkit.sh ROOT: scripts/toolkit.sh takes an nvcc that will do, refuses an older one with what to install, and stops
# where there is nothing to fetch with or from. Nothing is fetched here: it works on a copy of scripts/.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
mkdir "$scratch/repo" "$scratch/bin" "$scratch/cuda" "$scratch/cuda/bin" "$scratch/cuda/lib64"
cp -r "$1/scripts" "$scratch/repo/scripts"
cd "$scratch/repo" || exit 1

for tool in sh chmod sed uname dirname cat cmp mv rm mkdir ls ln cp tr printf g++ gcc; do
    ln -s "$(command -v $tool)" "$scratch/bin/$tool" 2>/dev/null
done

# toolkit [VAR=value]... ARGS
toolkit() {
    caught env -u CUDA_HOME -u NVCC -u TOOLKIT_DIR -u WHEELS -u CUDART_DIR PATH="$scratch/cuda/bin:$scratch/bin" "$@"
}
pretend() {
    printf ': >"%s/ran"\necho "Cuda compilation tools, release %s, V%s.1"\n' "$scratch" "$1" "$1" |
        stand_in "$scratch/cuda/bin/nvcc"
}
run="sh scripts/toolkit.sh"

for version in 12.9 12.10 13.0 14.2; do
    pretend $version
    gives 0 "use $version $scratch/cuda/bin/nvcc" "nvcc $version" toolkit $run which
done
for version in 12.8 11.9 9.10; do
    pretend $version
    gives 1 "*is CUDA $version; the steps need 12.9 or later*install a newer CUDA Toolkit*" "nvcc $version" \
        toolkit $run env out.env
done
[ ! -e out.env ] || failed "an old nvcc leaves out.env"

pretend 13.1
gives 1 '*has no libcudart.so beside it*' "no libcudart" toolkit $run env out.env
: >"$scratch/cuda/lib64/libcudart.so.13"
gives 0 '' "libcudart.so.13 alone" toolkit $run env out.env
grep -qx "CUDART_DIR='$scratch/cuda/lib64'" out.env && grep -qx "LINK_DIR='$PWD/cudart'" out.env &&
    [ -L cudart/libcudart.so ] || failed "link folder for libcudart.so.13: $(cat out.env)"
: >"$scratch/cuda/lib64/libcudart.so"
toolkit $run env out.env
grep -qx "LINK_DIR='$scratch/cuda/lib64'" out.env || failed "link folder: $(cat out.env)"
rm "$scratch/ran"
toolkit $run env out.env
[ ! -e "$scratch/ran" ] || failed "nothing changed, and nvcc is asked again"

# A g++ that is newer than nvcc takes: an older one, or clang++, is named to nvcc; else the remedy is one line.
compiler() {
    rm -f "$scratch/bin/$1"
    echo "echo $2" | stand_in "$scratch/bin/$1"
}
mkdir -p "$scratch/cuda/include/crt"
printf '#if __GNUC__ > 15\n#if (__clang_major__ >= 21) || (__clang_major__ < 3)\n' >"$scratch/cuda/include/crt/host_config.h"
told() {
    gives 0 '' "g++ $*" toolkit "$@" $run env out.env
    grep -h ^NVCC= out.env
    sed -n 's/^NVCC_CCBIN=\([^ ]*\) .*/\1/p' nvcc 2>/dev/null
}
hosts() {
    rm -f nvcc
    got=$(told "$@" | tr '\n' ' ')
    [ "$got" = "$want " ] || failed "$*: the host compiler: $got, not $want"
}
compiler g++ 15.2
want="NVCC='$scratch/cuda/bin/nvcc'" hosts
compiler g++ 16
gives 1 '*takes g++ up to 15, and g++ is 16: sudo apt-get install g++-15*' "g++ 16 alone" toolkit $run env out.env
want="NVCC='$scratch/cuda/bin/nvcc'" hosts NVCC_CCBIN=gcc
compiler clang++ 21
compiler clang++-19 19
want="NVCC='$PWD/nvcc' clang++-19" hosts
compiler clang++ 20
want="NVCC='$PWD/nvcc' clang++" hosts
compiler g++-13 13
want="NVCC='$PWD/nvcc' g++-13" hosts
compiler g++ 12

gives 1 '*NVCC=no-such-nvcc does not run*' "NVCC that is not there" toolkit NVCC=no-such-nvcc $run which
gives 0 'fetch*' "NVCC=fetch" toolkit NVCC=fetch $run which
rm "$scratch/cuda/bin/nvcc"
gives 0 'fetch*' "no nvcc" toolkit $run which
gives 1 '*python3 is missing*pip is missing*' "no nvcc, no Python" toolkit $run env out.env
if python3 -m pip --version >/dev/null 2>&1; then
    ln -s "$(python3 -I -c 'import sys; print(sys.executable)')" "$scratch/bin/python3"
    sed -i 's/^# for Python 3[^ ]* to 3[^ ]*/# for Python 3.1 to 3.2/' scripts/site-requirements.txt
    gives 1 '*the site needs Python 3.1 to 3.2,*and python3 is Python 3*' "a Python that is too new for the site" \
        toolkit WHEELS="$scratch/nowhere" TOOLKIT_DIR="$scratch/tools" $run site
    mkdir "$scratch/empty"
    gives 1 '*fetching nvcc and headers of CUDA 13.0*pip could not fetch*' "an empty WHEELS folder" \
        toolkit WHEELS="$scratch/empty" $run env out.env
    compiler g++ 16
    rm "$scratch"/bin/g++-* "$scratch"/bin/clang++*
    gives 1 '*fetching nvcc and headers of CUDA 13.5*pip could not fetch*' "g++ 16 wants a newer CUDA" \
        toolkit WHEELS="$scratch/empty" $run env out.env
    gives 1 '*WHEELS=*is not a folder*' "WHEELS that is no folder" toolkit WHEELS="$scratch/none" $run env out.env
    [ ! -e .toolkit ] || failed "a failed fetch leaves .toolkit"
fi
exit $bad
