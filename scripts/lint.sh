#!/bin/sh
# lint.sh: what clang-format would rewrite in the sources that git knows, clang-tidy's findings in the emulator, functions
# of more than 80 lines or more than 30 ways through (lizard's cyclomatic complexity), scripts/measures.py, and
# tests/lessons/prose.py. Nothing is changed; exit 1 where anything was found.
set -u
cd "$(dirname "$0")/.."
sh scripts/doctor.sh need clang-format clang-tidy python3 || exit 1
lizard=$(sh scripts/toolkit.sh lizard) || exit 1
bad=0
sources() {
    git ls-files -z '*.c' '*.h' '*.cu' '*.cuh'
}
python3 -ISB python/sm100repo scripts/measures.py . || bad=1
python3 -ISB python/sm100repo tests/lessons/prose.py || bad=1
sources | PYTHONPATH=$lizard xargs -0 python3 -m lizard -C 30 -L 80 -w || bad=1
sources | xargs -0 clang-format --dry-run -Werror || bad=1
find emulator -name '*.c' -print0 | LC_ALL=C sort -z |
    xargs -0 -n 4 -P "$(nproc 2>/dev/null || echo 2)" sh -c \
        'clang-tidy --quiet "$@" -- -std=c11 -D_GNU_SOURCE -DVERSION=\"\" -DLIBRARIES=\"\" -I emulator 2>/dev/null' lint || bad=1
exit $bad
