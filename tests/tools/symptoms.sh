#!/bin/sh
# symptoms.sh ROOT BUILD: the cases that docs/symptoms.md names are run without the checks, and what it says of how much
# of D is wrong is what they give.
set -u
root=$1 build=$2
page=$root/docs/symptoms.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
names=$(grep -oE '`0[0-9]-[a-z0-9-]+`' "$page" | tr -d '`' | sort -u)
# shellcheck disable=SC2086 # a word each
python3 -ISB "$root/python/sm100repo" "$root/tests/mutants/mutants.py" --build "$build" --level off --json "$scratch/off.json" $names \
    >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    exit 1
}
python3 -ISB "$root/python/sm100repo" "$root/tests/mutants/symptoms.py" "$scratch/off.json" --page "$page"
