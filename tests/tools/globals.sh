#!/bin/sh
# globals.sh ARCHIVE: the emulator has no writable variable outside a struct but the shim's one context: nothing in .data,
# .bss or thread-local storage, but in objects that only emulator/cudart/ has. Tables of constants are read-only.
set -u
archive=$1
objdump -t "$archive" >/dev/null || exit 1
found=$(objdump -t "$archive" | awk '
    /file format/ { object = $1; sub(/:$/, "", object) }
    / O \.(data|bss|tdata|tbss)(\.|[ \t])/ && !/ O \.data\.rel\.ro/ && $NF !~ /^rt_/ { print object ": " $NF }')
[ -z "$found" ] || {
    echo "FAILED: writable variables (only the shim's rt_ context may be one):"
    echo "$found"
    exit 1
}
