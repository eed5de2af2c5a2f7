#!/bin/sh
# inject.sh ROOT: scripts/inject.py goes red on programs that abort, hang, say nothing or go on with a wrong result when an
# allocation fails, and is green on one that survives or tells; and so it is with a library of the emulator's name alone.
set -u
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
bad=0
cc=${CC:-cc}

# A stand-in for the emulator's library: three allocations, and what HOW says where one fails.
cat >"$tree/lib.c" <<'C'
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
    'int main(int argc, char **argv) { void *volatile p = malloc(9); free(p); return work(argc > 1 ? argv[1] : ""); }' >"$tree/main.c"
mkdir "$tree/build"
$cc -shared -fPIC -o "$tree/libsm100emu.so" "$tree/lib.c" &&
    $cc -o "$tree/program" "$tree/main.c" -L"$tree" -lsm100emu -Wl,-rpath,"$tree" || exit 2
printf '#!/bin/sh\nexec "$@"\n' >"$tree/build/sm100emu"
chmod +x "$tree/build/sm100emu"

# outcome WANTED HOW: of three runs all are WANTED
outcome() {
    PRELOAD='' python3 -ISB "$root/python/sm100repo" "$root/scripts/inject.py" "$tree/build" 0 "$tree/out" "$tree/program $2" >"$tree/log" 2>&1
    code=$?
    case $1 in right | told) expected=0 ;; *) expected=1 ;; esac
    [ $code -eq $expected ] && [ "$(grep -c "^$1 " "$tree/out/outcomes")" -eq 3 ] && [ "$(wc -l <"$tree/out/outcomes")" -eq 3 ] || {
        echo "FAILED: a program that does '$2' where memory fails: exit $code"
        cat "$tree/log" "$tree/out/outcomes"
        bad=1
    }
}
outcome right survive
outcome told told
outcome silent silent
outcome wrong wrong
outcome killed abort
outcome broken broken
outcome hung hang
exit $bad
