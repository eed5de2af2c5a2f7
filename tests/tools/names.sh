#!/bin/sh
# names.sh ROOT: every file that a comment, script or page names with its folder ("room/file.c") exists, seen from the
# root, from emulator/, tests/ or tests/unit/, or from the file that names it; the tools' tests name made-up trees. Names
# below folders that the repository does not have are other people's. A ghost is one line `file:line: name`, and exit 1.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
gone=exec # a room that was

# ghosts DIR: the names in DIR's files that nothing answers to
ghosts() (
    cd "$1" || exit 2
    find ./* -type d \( -name 'build*' -o -name .toolkit \) -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.md' \
        -o -name '*.ptx' -o -name CMakeLists.txt -o -name Makefile \) \
        ! -path './tests/tools/*.sh' \
        -exec grep -noHE '[A-Za-z0-9_./-]*[A-Za-z0-9_]/[A-Za-z0-9_]+\.(c|h|def|cu|cuh|sh|md|map)\b' {} + |
        while IFS=: read -r file line name; do
        first=${name%%/*}
        case $first in
        '') continue ;;
        "$gone") ;;
        *) [ -d "$first" ] || [ -d "emulator/$first" ] || [ -d "tests/$first" ] || continue ;;
        esac
        for from in . emulator tests tests/unit "${file%/*}"; do
            [ -e "$from/$name" ] && continue 2
        done
        echo "${file#./}:$line: $name"
    done
)

mkdir -p "$scratch/emulator/num" "$scratch/docs"
echo '/* num/num.h - see docs/page.md, cute/arch/x.h and num/num.h */' >"$scratch/emulator/num/num.h"
echo 'emulator/num/num.h' >"$scratch/docs/page.md"
same "a tree without ghosts" "$(ghosts "$scratch")" ''
printf '/* as\n * num/gone.h says, and exec/core.c */\n' >"$scratch/emulator/num/num.c"
same "two ghosts" "$(ghosts "$scratch" | tr '\n' ' ')" "emulator/num/num.c:2: num/gone.h emulator/num/num.c:2: exec/core.c "
same "files that do not exist are named" "$(ghosts "$root")" ''
exit $bad
