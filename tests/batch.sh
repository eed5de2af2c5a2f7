#!/bin/sh
# batch.sh OUT FILE.cu...: one source OUT of many programs, since most of nvcc's time goes to headers. The program that it
# becomes runs the FILE by whose name it is called: each is a link to it. A FILE keeps the numbers of its lines, its kernels
# their names and the rest of it a namespace of its own. Compiled at the root with a `-I` of a FILE's folder, which all
# includes are relative to.
set -eu
out=$1
shift

one() {
    printf 'namespace program_%s {\n#line 1 "%s"\n' "$(basename "$1" .cu)" "$1"
    cat "$1"
    echo '}'
}

{
    grep -h '^#include' "$@" | LC_ALL=C sort -u
    echo '#include <cstring>'
    printf '#undef __global__\n#define __global__ extern "C" __location__(global)\n'
    for file; do one "$file"; done
    echo 'int main(int, char **words) {'
    echo '    const char *slash = strrchr(words[0], 0x2f), *name = slash ? slash + 1 : words[0];'
    for file; do
        name=$(basename "$file" .cu)
        printf '    if (!strcmp(name, "%s"))\n        return program_%s::main();\n' "$name" "$name"
    done
    printf '    return 125;\n}\n'
} >"$out"
