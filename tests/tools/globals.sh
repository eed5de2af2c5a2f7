#!/bin/sh
# globals.sh EMULATOR: the emulator has no writable variable outside a struct but the shim's one context and its lock, in
# cudart/core/context.c, and the account of the host's memory, which is one for the process, in base/budget.c: no object has
# anything in .data, .bss or thread-local storage. Tables of constants are read-only. EMULATOR is the build folder, whose
# file `objects` lists the object files from the repository's root.
set -u
found=$(tr ' ' '\n' <"$1/objects" | grep -vE '/(cudart/core/context|base/budget)\.o$' | sed "s|.*/emulator/|$1/|" |
    tr '\n' '\0' | xargs -0 objdump -t | tr '\t' ' ' | sed -nE '/: +file format /{ s/: .*//; h; }; / O \.data\.rel\.ro/d
        / O \.(data|bss|tdata|tbss)[. ]/{ s/.* //; G; s/(.*)\n(.*)/    \2: \1/p; }')
[ -z "$found" ] || {
    echo "FAILED: writable variables outside the shim's context and the account of memory:"
    echo "$found"
    exit 1
}
[ -s "$1/objects" ]
