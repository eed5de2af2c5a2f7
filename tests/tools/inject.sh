#!/bin/sh
# inject.sh ROOT: scripts/inject.py goes red on programs that abort, hang, say nothing or go on with a wrong result when an
# allocation fails, and is green on one that survives or tells; and so it is with a library of the emulator's name alone.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
cc=${CC:-cc}
unset PRELOAD

# A stand-in for the emulator's library: three allocations, and what HOW says where one fails.
cat >"$scratch/lib.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int work(const char *how);
int work(const char *how) {
    int got = 0;
    for (int i = 0; i < 3; i++) {
        void *volatile p = malloc(100);
        got += p != NULL;
        free(p);
    }
    if (got < 3 && strcmp(how, "abort") == 0)
        abort();
    if (got < 3 && strcmp(how, "hang") == 0)
        sleep(100);
    if (got < 3 && strcmp(how, "broken") == 0)
        return fprintf(stderr, "broken invariant, please report it\n"), 1;
    if (got < 3 && strcmp(how, "silent") == 0)
        return 1;
    if (got < 3 && strcmp(how, "told") == 0)
        return fprintf(stderr, "sm100emu: memory: the host cannot give 100 bytes\n"), 1;
    printf("%d\n", strcmp(how, "wrong") == 0 ? got : 3);
    return 0;
}
C
printf '%s\n' '#include <stdlib.h>' 'int work(const char *how);' \
    'int main(int argc, char **argv) { void *volatile p = malloc(9); free(p); return work(argc > 1 ? argv[1] : ""); }' >"$scratch/main.c"
mkdir "$scratch/build"
$cc -shared -fPIC -o "$scratch/libsm100emu.so" "$scratch/lib.c" &&
    $cc -o "$scratch/program" "$scratch/main.c" -L"$scratch" -lsm100emu -Wl,-rpath,"$scratch" || exit 2
echo 'exec "$@"' | stand_in "$scratch/build/sm100emu"

# outcome WANTED HOW: of three runs all are WANTED
outcome() {
    caught python "$root/scripts/inject.py" "$scratch/build" 0 "$scratch/out" "$scratch/program $2"
    case $1 in right | told) expected=0 ;; *) expected=1 ;; esac
    [ $code -eq $expected ] && [ "$(grep -c "^$1 " "$scratch/out/outcomes")" -eq 3 ] && [ "$(wc -l <"$scratch/out/outcomes")" -eq 3 ] ||
        failed "a program that does '$2' where memory fails: exit $code: $out $(cat "$scratch/out/outcomes")"
}
outcome right survive
outcome told told
outcome silent silent
outcome wrong wrong
outcome killed abort
outcome broken broken
outcome hung hang
exit $bad
