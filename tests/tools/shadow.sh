#!/bin/sh
# shadow.sh ROOT BUILD: whatever the user's PYTHONPATH or virtual environment has, the repository's Python finds its own
# modules. Here both have a module that raises for PyPI's `build`, for one of Python's own, and for each of ours; an
# exercise is written and marked, and what else make and the tests run is started. Then: every call of python3 is such.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 build=$2
needs python3
cd "$root" || exit 2

# fill FOLDER: the modules that raise
fill() {
    mkdir -p "$1"
    for path in build.py random.py sitecustomize.py $(find course docs/figures python scripts tests -name '[a-z]*.py'); do
        name=${path##*/}
        echo "raise SystemExit('$1 has a $name, too')" >"$1/$name"
    done
    mkdir -p "$1/sm100repo" "$1/sm100emu"
    cp "$1/build.py" "$1/sm100repo/__init__.py"
    cp "$1/build.py" "$1/sm100emu/__init__.py"
}

# runs WHAT WORD...: the repository's Python, which is to print WHAT
runs() {
    what=$1
    shift
    caught python "$@"
    same "$where: $*: not '$what'" "$out" "*$what*"
}

# marks EXERCISE FILE TEXT: the EXERCISE is written and, with the TEXT added to its FILE, marked
marks() {
    rm -rf "$scratch/work"
    runs "$1" course.exercise --to "$scratch/work" 02
    echo "$3" >>"$scratch/work/02/$1/$2"
    runs '1 of 1 begun' course.grade --build "$build" --work "$scratch/work" --exercise "$1" 02
}

# others: the rest of what make and the tests start
others() {
    runs '01-alloc-two-warps' tests/mutants/mutants.py --list
    runs '04_pair_umma/README.md' tests/lessons/lessons.py --tests
    runs 'ladder' docs/figures/draw.py --list
    runs 'usage: python3 -m sm100emu.watch' python/sm100emu/watch.py --help
    for script in tests/page/sample.py scripts/sanitizer.py course.grade_all; do runs 'usage: ' $script --help; done
}

fill "$scratch/modules"
where=PYTHONPATH
(
    export PYTHONPATH="$scratch/modules" PYTHONSAFEPATH=1
    marks 02-predict-swizzle answers.txt 'plain = 1'
    others
    exit $bad
) || bad=1
if python3 -m venv --without-pip "$scratch/venv" >"$scratch/log" 2>&1; then
    for site in "$scratch"/venv/lib/python3*/site-packages; do fill "$site"; done
    where='a virtual environment'
    (
        PATH=$scratch/venv/bin:$PATH
        marks 02-fill-commit kernel.cuh '/* begun */' # which compiles it
        exit $bad
    ) || bad=1
else
    echo "without a virtual environment, as python3 has no venv: $(tail -1 "$scratch/log")"
fi

others=$(find Makefile scripts course tests -type f \( -name '*.sh' -o -name Makefile -o -name CMakeLists.txt -o -name 'run_*' \) \
    -exec grep -nE 'python3\}? (-[A-Za-z]+ )*(-c |- |[^- ][^ ]*\.py)' {} + | grep -v 'python3}* -I')
same "call these as \`python3 -ISB python/sm100repo ...\`, or with -I where there is no script" "$others" ''
exit $bad
