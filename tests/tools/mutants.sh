#!/bin/sh
# mutants.sh ROOT BUILD: tests/mutants agrees with the sources of the steps, a handful of its cases is judged as their
# labels have it, and the runner turns red where it should: a mutant that nobody tells of, a legal change that is told, a
# deadlock whose report names a victim, a catalogue that has drifted. Exit 77 where there is no python3.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 build=$2
needs python3

# run WANTED WORDS...: the runner ends with exit code WANTED
run() {
    wanted=$1
    shift
    caught python "$root/tests/mutants/mutants.py" --build "$build" "$@"
    expect "$wanted" '*' "mutants.py $*"
}

# says REGEX: the last run did
says() { echo "$out" | grep -qE -e "$1" || failed "not said: $1: $out"; }

# one_case CODE WORDS NAME CLASS OLD NEW: a catalogue with one case on step 02, and what the runner with these words says of
# it. $more: another line of the case
more=
one_case() {
    cat >"$scratch/made_up.txt" <<CASE
run smem = 02_simple_umma --m 128 --n 256 --k 192
file 02_simple_umma/02_simple_umma.cu
use smem
case $3 $4
in simple_umma
- $5
+ $6
$more
why made up
CASE
    # shellcheck disable=SC2086 # words on purpose
    run "$1" $2 --catalogue "$scratch/made_up.txt"
}

run 0 --list

# shellcheck disable=SC2046 # a name a word
run 0 --require --json "$scratch/found.json" $(cat "$root/tests/mutants/quick.txt")
tr -d '\n' <"$scratch/found.json" | grep -q '"outcome": "right", *"place": true' ||
    failed 'no report of the handful names the line of its mutant'

one_case 1 '--require' silent 'warning: missing-proxy-fence' 'mbarrier_wait(done, kt & 1);' 'mbarrier_wait(done, kt & 1); /* the same */'
says '^ +warning +silent +silent \(default\)$'
run 0 --catalogue "$scratch/made_up.txt"

one_case 1 '--require' told 'legal:' 'fence_proxy_async_shared();' ';'
says '^ +legal +told +other: missing-proxy-fence'

one_case 1 '--require' other 'warning: deadlock' 'fence_proxy_async_shared();' ';'
says '^ +warning +other +other: missing-proxy-fence'

one_case 1 '--require' unbuilt 'warning: deadlock' 'fence_proxy_async_shared();' 'no_such_fence();'
says 'identifier "no_such_fence" is undefined'

one_case 1 '--require --timeout 1' hangs 'error: deadlock' 'mbarrier_wait(done, kt & 1);' 'while (true) __nanosleep(100);'
says '^ +error +hangs +hang'

more='root done'
one_case 0 '--require' root 'error: deadlock' 'mbarrier_init(done, 1);' 'mbarrier_init(done, 2);'
says '^deadlocks: 1, of which 1 of 1 name the root$'
more='root another'
one_case 0 '--require' line 'error: deadlock' 'mbarrier_wait(done, kt & 1);' \
    'mbarrier_wait(done, kt & 1); mbarrier_wait(done, ~kt & 1);'
says '^deadlocks: 1, of which 1 of 1 name the root$'
one_case 1 '--require' victim 'error: deadlock' 'mbarrier_init(done, 1);' 'mbarrier_init(done, 2);'
says '^deadlocks: 1, of which 0 of 1 name the root$'
says '^ +victim +\(default\) phase 0 of done '
more=

one_case 2 '' gone 'legal:' 'no_such_text();' ';'
says 'made_up.txt:6: gone: .*: 0 places instead of one are .no_such_text\(\);'
says 'nearest: 02_simple_umma/02_simple_umma.cu:[0-9]+: '
# all that drifted, and the command where a name is another: the steps' own catalogues on renamed sources
name=tmem_wait_ld
mkdir -p "$scratch/root" && cp -R "$root/python" "$root/common" "$root/course" "$root/0"* "$scratch/root" || exit 1
mkdir "$scratch/root/tests" && cp -R "$root/tests/mutants" "$scratch/root/tests" || exit 1
for file in "$scratch/root/common/tmem.cuh" "$scratch/root/0"*/*.cu; do
    sed "s/\\<$name\\>/${name}_now/" "$file" >"$scratch/new" && cat "$scratch/new" >"$file"
done
here=$root root=$scratch/root
run 2 --list
root=$here
for file in 01_tmem_alloc 02_simple_umma 03_tma_multicast 04_pair_umma 05_persistent_warpspec; do
    says "$file.txt:[0-9]+: 0.*: $file/$file.cu: 0 places instead of one are .$name\(\);"
done
says "^mend: make mend RENAME='$name ${name}_now'\$"
one_case 2 '' twice 'legal:' '__syncthreads();' ';'
says 'twice: .*: 3 places instead of one .*lines [0-9]+, [0-9]+, [0-9]+'
one_case 2 '' class 'wrong: deadlock' '__syncthreads();' ';'
says 'made_up.txt:4: a case is'
one_case 2 '' rules 'legal: deadlock' 'mbarrier_wait(done, kt & 1);' ';'
says 'rules: error, warning and strict name the rules'
exit $bad
