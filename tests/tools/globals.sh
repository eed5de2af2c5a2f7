#!/bin/sh
# globals.sh EMULATOR: the emulator has no writable variable outside a struct but the shim's one context and its lock, in
# cudart/core/context.c, and the account of the host's memory, which is one for the process, in base/budget.c: no object has anything in .data, .bss or thread-local storage. Tables of constants are read-only.
# EMULATOR is the build folder, whose file `objects` lists the object files from the repository's root.
set -u
found=$(cat "$1/objects" | tr ' ' '\n' | while read -r object; do
    case $object in */cudart/core/context.o | */base/budget.o) continue ;; esac
    objdump -t "$1/${object#*/emulator/}" | tr '\t' ' ' | grep -E ' O \.(data|bss|tdata|tbss)[. ]' |
        grep -v ' O \.data\.rel\.ro' | sed "s|.* |    ${object#*/obj/}: |"
done)
[ -z "$found" ] || {
    echo "FAILED: writable variables outside the shim's context and the account of memory:"
    echo "$found"
    exit 1
}
[ -s "$1/objects" ]
