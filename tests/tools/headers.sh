#!/bin/sh
# headers.sh ROOT COMPILER: every header of the emulator compiles alone, and twice in one file.
set -u
root=$1
shift
bad=0 count=0
for header in "$root"/emulator/*/*.h "$root"/emulator/*/*/*.h; do
    [ -e "$header" ] || continue
    count=$((count + 1))
    name=${header#"$root"/emulator/}
    printf '#include "%s"\n#include "%s"\ntypedef int used;\n' "$name" "$name" |
        "$@" -x c -std=c11 -D_GNU_SOURCE -Wall -Wextra ${WERROR:+-Werror} -I "$root/emulator" -fsyntax-only - || {
        echo "FAILED: $name does not compile alone"
        bad=1
    }
done
echo "$count headers"
[ $count -gt 0 ] && exit $bad
