#!/bin/sh
# symptoms.sh ROOT BUILD: the cases that docs/symptoms.md names are run without the checks, and what it says of how much
# of D is wrong is what they give.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 build=$2
page=$root/docs/symptoms.md
names=$(grep -oE '`0[0-9]-[a-z0-9-]+`' "$page" | tr -d '`' | sort -u)
# shellcheck disable=SC2086 # a word each
caught python "$root/tests/mutants/mutants.py" --build "$build" --level off --json "$scratch/off.json" $names
expect 0 '*' 'the cases'
python "$root/tests/mutants/symptoms.py" "$scratch/off.json" --page "$page" || bad=1
exit $bad
