#!/bin/sh
# toolkit.sh: which nvcc builds the steps, and where the libcudart they link with lies.
#
#   toolkit.sh env FILE    chooses, fetches where there is nothing to choose, and writes FILE: shell variables
#                          NVCC         the compiler; build/nvcc where it has to be told which host compiler it takes
#                          NVCC_VERSION major.minor
#                          CUDART_DIR   folder of libcudart.so.N: the program's RUNPATH
#                          LINK_DIR     folder where the linker finds libcudart.so
#                          FILE is left alone where nothing changed, so that make rebuilds nothing. FILE.for is the question
#                          that it answers: while that is the same, nothing is run to answer it again.
#   toolkit.sh show FILE   says what FILE holds, in a line
#   toolkit.sh which       says what env would do: `use VERSION NVCC`, `old VERSION NVCC` or `fetch`
#   toolkit.sh lizard      says which PYTHONPATH python3 needs for the lizard that `make lint` measures with, and fetches it
#                          into .toolkit/lint/ where it is not installed
#   toolkit.sh site        says which PYTHONPATH has the Sphinx that `make site`, slides and handout run, and fetches it into
#                          .toolkit/site/
#   toolkit.sh triton      says which PYTHONPATH has the Triton that a test runs, and fetches it into .toolkit/triton/
#   toolkit.sh cute_dsl    says which PYTHONPATH has the CuTe DSL that a test runs, and fetches it into .toolkit/cute_dsl/
#   toolkit.sh disassembler says in which folder the cuobjdump and nvdisasm lie that `make sass` reads with, and fetches
#                          them into .toolkit/sass/
#
# In order: $NVCC; $CUDA_HOME/bin/nvcc; nvcc on the PATH; what an earlier run fetched into .toolkit/. An nvcc older
# than 12.9, the first that knows the family target sm_100f, stops the build unless .toolkit/ is there; NVCC=fetch
# passes over whatever is installed. An nvcc refuses a g++ that is newer than it (its crt/host_config.h), so another g++ or
# clang++ is looked for; without one, a newer CUDA is fetched where one is fetched at all. NVCC_CCBIN names one, as for
# nvcc. WHEELS=dir: the wheels come from there, and no network is used. TOOLKIT_DIR=dir: another folder than .toolkit/, as an
# absolute path.
set -eu
cd "$(dirname "$0")/.."
root=$PWD

OLDEST=12.9
FETCHED=13.0 FETCHED_GCC=15 FETCHED_CLANG=20 # and the newest host compilers that it takes
NEWER=13.5
TOOLKIT_DIR=${TOOLKIT_DIR:-$root/.toolkit}
REQUIREMENTS=scripts/toolkit-requirements.txt
LINT=scripts/lint-requirements.txt
SASS=scripts/sass-requirements.txt
SITE=scripts/site-requirements.txt
TRITON=scripts/triton-requirements.txt
CUTE_DSL=scripts/cute-dsl-requirements.txt

die() {
    printf 'toolkit: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '         %s\n' "$line" >&2; done
    exit 1
}

# at_least WANTED HAVE: major.minor versions
at_least() {
    [ "${2%%.*}" -gt "${1%%.*}" ] || { [ "${2%%.*}" -eq "${1%%.*}" ] && [ "${2#*.}" -ge "${1#*.}" ]; }
}

# version_of NVCC: major.minor, nothing where it does not run
version_of() {
    "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | sed 1q
}

# host GCC CLANG: the first host compiler on the PATH that is no newer than these; false without one
host() {
    if [ -n "${NVCC_CCBIN:-}" ]; then
        echo "$NVCC_CCBIN"
        return
    fi
    takes g++ "$1" || takes clang++ "$2"
}

# takes CXX MAJOR: CXX, or CXX-N with the greatest N from MAJOR down, if it is there and no newer than MAJOR
takes() {
    major=$("$1" -dumpversion 2>/dev/null) && [ "${major%%.*}" -le "$2" ] && echo "$1" && return
    n=$2
    while [ "$n" -ge 11 ]; do
        if command -v "$1-$n" >/dev/null; then
            echo "$1-$n"
            return
        fi
        n=$((n - 1))
    done
    return 1
}

# limit NVCC PATTERN: what nvcc's crt/host_config.h says of its newest host compiler, nothing where there is no such file
limit() {
    sed -n "s/^#if.*$2.*/\\1/p" "$(dirname "$1")/../include/crt/host_config.h" 2>/dev/null | sed 1q
}

# Which CUDA is fetched: the one whose output the lessons show, or one that takes this machine's host compiler.
pins() {
    host $FETCHED_GCC $FETCHED_CLANG >/dev/null || ! command -v g++ >/dev/null || {
        FETCHED=$NEWER
        REQUIREMENTS=scripts/toolkit-newer-requirements.txt
    }
}

# The stamp is a copy of the requirements: other versions in the file fetch again.
stored() {
    [ -x "$TOOLKIT_DIR/nvidia/cu13/bin/nvcc" ] && cmp -s "$TOOLKIT_DIR/requirements.txt" "$REQUIREMENTS"
}

# Sets choice (use, old or fetch), nvcc and version.
choose() {
    nvcc=
    if [ -n "${NVCC:-}" ]; then
        if [ "$NVCC" != fetch ]; then
            nvcc=$(command -v "$NVCC") || die "NVCC=$NVCC does not run"
        fi
    elif [ -n "${CUDA_HOME:-}" ] && [ -x "$CUDA_HOME/bin/nvcc" ]; then
        nvcc=$CUDA_HOME/bin/nvcc
    else
        nvcc=$(command -v nvcc) || nvcc=
    fi
    version=
    if [ -n "$nvcc" ]; then
        version=$(version_of "$nvcc")
        [ -n "$version" ] || die "$nvcc --version tells no version: is the installation whole?" \
            "NVCC=/path/to/nvcc names another; NVCC=fetch fetches CUDA $FETCHED into $TOOLKIT_DIR/."
    fi
    if [ -n "$version" ] && at_least $OLDEST "$version"; then
        choice=use
    elif pins && stored; then
        choice=use nvcc=$TOOLKIT_DIR/nvidia/cu13/bin/nvcc version=$FETCHED
    elif [ -n "$version" ]; then
        choice=old
    else
        choice=fetch
    fi
}

# wheels FOLDER REQUIREMENTS: what REQUIREMENTS name, by hash, from $WHEELS or PyPI into FOLDER, with a copy of REQUIREMENTS;
# false, and no FOLDER, where it cannot be had
wheels() {
    into=$1 pins=$2
    set --
    if [ -n "${WHEELS:-}" ]; then
        [ -d "$WHEELS" ] || die "WHEELS=$WHEELS is not a folder"
        set -- --no-index --find-links "$WHEELS"
    fi
    if [ -t 2 ]; then set -- --progress-bar=on "$@"; else set -- --quiet "$@"; fi
    rm -rf "$into"
    mkdir -p "$into"
    PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
        python3 -m pip install --no-input --no-deps --require-hashes --only-binary :all: \
        --target "$into" -r "$pins" "$@" >&2 || {
        rm -rf "$into"
        return 1
    }
    cp "$pins" "$into/requirements.txt"
}

lizard() {
    wanted=$(sed -n 's/^lizard==\([^ ]*\).*/\1/p' $LINT)
    [ "$(python3 -m lizard --version 2>/dev/null)" != "$wanted" ] || return 0
    cmp -s $TOOLKIT_DIR/lint/requirements.txt $LINT || {
        sh scripts/doctor.sh need python3 pip
        echo "toolkit: fetching lizard $wanted into $TOOLKIT_DIR/lint/" >&2
        wheels $TOOLKIT_DIR/lint $LINT || die "pip could not fetch lizard $wanted; where it is installed, lint takes it from there."
    }
    echo "$TOOLKIT_DIR/lint"
}

# The toolkit's own are not asked for: another version writes another text.
disassembler() {
    cmp -s $TOOLKIT_DIR/sass/requirements.txt $SASS || {
        sh scripts/doctor.sh need python3 pip
        echo "toolkit: fetching cuobjdump and nvdisasm from ${WHEELS:-PyPI} into $TOOLKIT_DIR/sass/ (5 MB, once)" >&2
        wheels $TOOLKIT_DIR/sass $SASS || die "pip could not fetch cuobjdump and nvdisasm. With a network elsewhere:" \
            "  python3 -m pip download --no-deps -r $SASS -d wheels" \
            "then, with that folder here: make WHEELS=wheels sass."
    }
    echo "$TOOLKIT_DIR/sass/nvidia/cu13/bin"
}

# python_for REQUIREMENTS WHAT: python3 is one that REQUIREMENTS name in their head
python_for() {
    sh scripts/doctor.sh need python3 pip
    range=$(sed -n 's/^.*for Python \(3\.[0-9]*\) to \(3\.[0-9]*\).*/\1 \2/p' "$1")
    # shellcheck disable=SC2086 # two words
    python3 -IS -c 'import sys
low, high = (tuple(map(int, word.split("."))) for word in sys.argv[1:])
sys.exit(not low <= sys.version_info[:2] <= high)' $range || die "$2 needs Python ${range% *} to ${range#* }," \
        "and python3 is $(python3 --version 2>&1). Another one in front of it on the PATH will do."
}

# packages FOLDER REQUIREMENTS WHOSE WHAT MEGABYTES COMMAND: WHAT is in the folder, for WHOSE sake; COMMAND takes it
# from a folder of wheels
packages() {
    cmp -s "$TOOLKIT_DIR/$1/requirements.txt" "$2" && return
    python_for "$2" "$3"
    echo "toolkit: fetching $4 from ${WHEELS:-PyPI} into $TOOLKIT_DIR/$1/ ($5 MB, once)" >&2
    wheels "$TOOLKIT_DIR/$1" "$2" || die "pip could not fetch $4. With a network elsewhere:" \
        "  python3 -m pip download --no-deps -r $2 -d wheels" \
        "then, with that folder here: $6."
}

site() {
    packages site $SITE "the site" "Sphinx, MyST-Parser, Furo and sphinx-revealjs" 30 "make WHEELS=wheels site"
    echo "$TOOLKIT_DIR/site"
}

triton() {
    packages triton $TRITON Triton Triton 200 "WHEELS=wheels sh scripts/toolkit.sh triton"
    echo "$TOOLKIT_DIR/triton"
}

cute_dsl() {
    packages cute_dsl $CUTE_DSL "CuTe DSL" "CuTe DSL" 130 "WHEELS=wheels sh scripts/toolkit.sh cute_dsl"
    echo "$TOOLKIT_DIR/cute_dsl:$TOOLKIT_DIR/cute_dsl/nvidia_cutlass_dsl/dsl_packages"
}

fetch() {
    sh scripts/doctor.sh need python3 pip ||
        die "no nvcc is here, and without python3 and pip it cannot be fetched. Install those, or" \
            "CUDA Toolkit $OLDEST or later (https://developer.nvidia.com/cuda-downloads), its bin folder on the PATH."
    echo "toolkit: fetching nvcc and headers of CUDA $FETCHED from ${WHEELS:-PyPI} into $TOOLKIT_DIR/ (about 105 MB, once, no root)" >&2
    wheels "$TOOLKIT_DIR" "$REQUIREMENTS" ||
        die "pip could not fetch CUDA $FETCHED. With a network elsewhere, on a machine of the same kind:" \
            "  python3 -m pip download --no-deps -r $REQUIREMENTS -d wheels" \
            "then, with that folder here: make WHEELS=wheels toolkit." \
            "Or install CUDA Toolkit $OLDEST or later and put its bin folder on the PATH."
    stored || die "the wheels hold no nvcc where it is expected: $TOOLKIT_DIR/nvidia/cu13/bin/nvcc"
}

# find_cudart NVCC: the first folder with a libcudart.so or libcudart.so.N among those nvcc itself links from
find_cudart() {
    plan=$("${told:-$1}" -dryrun --cudart shared probe.cu 2>&1) || :
    top=$(printf '%s\n' "$plan" | sed -n 's/^#\$ TOP=//p')
    printf '%s\n' "${CUDART_DIR:-}" "$(dirname "$1")/../lib64" "$top/lib64" "$top/lib" \
        "$top/targets/$(uname -m)-linux/lib" "$top/targets/sbsa-linux/lib" |
        { cat; printf '%s\n' "$plan" | sed -n '/^#\$ LIBRARIES=/p' | tr '"' '\n' | sed -n 's/^-L//p'; } |
        while IFS= read -r dir; do
            case $dir in '' | */stubs) continue ;; esac
            for lib in "$dir"/libcudart.so "$dir"/libcudart.so.1[0-9]; do
                if [ -e "$lib" ]; then
                    (cd "$dir" && pwd -P)
                    exit 0
                fi
            done
        done | sed 1q
}

# Sets nvcc to a script that names the host compiler, where nvcc does not take g++.
tell_host() {
    gcc=$(limit "$nvcc" '__GNUC__ > \([0-9]*\)') clang=$(limit "$nvcc" '__clang_major__ >= \([0-9]*\)')
    [ -n "$gcc" ] || return 0
    cxx=$(host "$gcc" $((${clang:-1} - 1))) ||
        die "nvcc $version takes g++ up to $gcc, and g++ is $(g++ -dumpversion): sudo apt-get install g++-$gcc" \
            "(Fedora: gcc$gcc-c++), or make ... NVCC=fetch for a CUDA from PyPI that takes it."
    [ "$cxx" != "${NVCC_CCBIN:-g++}" ] || return 0
    told=$(cd "$(dirname "$out")" && pwd)/nvcc
    printf '#!/bin/sh\nNVCC_CCBIN=%s exec "%s" "$@"\n' "$cxx" "$nvcc" >"$told.$$"
    chmod +x "$told.$$"
    mv "$told.$$" "$told"
}

# question: all that the answer depends on, and what the last answer named, a line each
question() (
    printf '%s\n' "${NVCC:-}" "${CUDA_HOME:-}" "${CUDART_DIR:-}" "${NVCC_CCBIN:-}" "$TOOLKIT_DIR"
    set -- "$(command -v "${NVCC:-nvcc}")" "${CUDA_HOME:-}/bin/nvcc" "$TOOLKIT_DIR/nvidia/cu13/bin/nvcc" \
        "$(command -v "${NVCC_CCBIN:-g++}")" "$(command -v clang++)" scripts/toolkit*
    # shellcheck disable=SC1090
    [ ! -e "$out" ] || . "$out"
    set -- "$@" "${NVCC:-}" "${CUDART_DIR:-}"/libcudart.so*
    for file; do [ ! "$file" -nt "$out.for" ] || echo "$file is new"; done
    ls -lL "$@" 2>/dev/null || :
)

write_env() {
    case $1 in /*) out=$1 ;; *) out=./$1 ;; esac
    asked=$(question)
    [ ! -e "$out" ] || [ "$asked" != "$(cat "$out.for" 2>/dev/null)" ] || return 0
    choose
    case $choice in
    old)
        die "$nvcc is CUDA $version; the steps need $OLDEST or later, the first that knows sm_100f. Do one of these:" \
            "- install a newer CUDA Toolkit (https://developer.nvidia.com/cuda-downloads), its bin folder on the PATH" \
            "- make ... CUDA_HOME=/path/to/cuda, where one lies elsewhere" \
            "- make toolkit NVCC=fetch: CUDA $FETCHED's compiler alone, from PyPI into $TOOLKIT_DIR/, no root"
        ;;
    fetch)
        fetch
        nvcc=$TOOLKIT_DIR/nvidia/cu13/bin/nvcc version=$FETCHED
        ;;
    esac
    sh scripts/doctor.sh need c++
    tell_host
    cudart=$(find_cudart "$nvcc")
    [ -n "$cudart" ] || die "$nvcc has no libcudart.so beside it: is the CUDA runtime's package installed?" \
        "CUDART_DIR=/folder/of/libcudart.so names it; NVCC=fetch fetches CUDA $FETCHED into $TOOLKIT_DIR/."
    link=$cudart
    # The wheels carry libcudart.so.13 without the name the linker asks for, and nvcc 13.0 looks for the libraries beside it
    # in lib64/, which they do not have.
    if [ ! -e "$cudart/libcudart.so" ]; then
        link=$(cd "$(dirname "$out")" && pwd)/cudart
        mkdir -p "$link"
        ln -sf "$cudart"/*.a "$link"
        ln -sf "$(ls "$cudart"/libcudart.so.1? | sed 1q)" "$link/libcudart.so" 2>/dev/null ||
            [ -e "$link/libcudart.so" ] # another make was as quick
    fi
    printf "NVCC='%s'\nNVCC_VERSION='%s'\nCUDART_DIR='%s'\nLINK_DIR='%s'\n" \
        "${told:-$nvcc}" "$version" "$cudart" "$link" >"$out.$$"
    if cmp -s "$out.$$" "$out"; then rm "$out.$$"; else mv "$out.$$" "$out"; fi
    : >"$out.for"
    question >"$out.$$"
    mv "$out.$$" "$out.for"
}

case ${1:-} in
which)
    choose
    echo "$choice $version $nvcc"
    ;;
env) write_env "$2" ;;
lizard | disassembler | site | triton | cute_dsl) "$1" ;;
show)
    # shellcheck disable=SC1090
    case $2 in /*) . "$2" ;; *) . "./$2" ;; esac
    echo "toolkit: CUDA $NVCC_VERSION, $NVCC; libcudart in $CUDART_DIR"
    ;;
*)
    echo "usage: toolkit.sh env FILE | show FILE | which | lizard | disassembler | site | triton | cute_dsl" >&2
    exit 2
    ;;
esac
