#!/bin/sh
# headers.sh ROOT COMPILER: every header of the emulator compiles alone, and twice in one file.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
shift
count=0
for header in "$root"/emulator/*/*.h "$root"/emulator/*/*/*.h; do
    count=$((count + 1))
    name=${header#"$root"/emulator/}
    printf '#include "%s"\n#include "%s"\ntypedef int used;\n' "$name" "$name" |
        "$@" -x c -std=c11 -D_GNU_SOURCE -Wall -Wextra ${WERROR:+-Werror} -I "$root/emulator" -fsyntax-only - ||
        failed "$name does not compile alone"
done
echo "$count headers"
[ $count -gt 0 ] && exit $bad
