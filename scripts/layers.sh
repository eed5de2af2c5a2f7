#!/bin/sh
# layers.sh ROOT: proves from the #include lines that the emulator's rooms depend one way, and that what runs on a GPU
# knows nothing of the emulator. A breach is one line `file:line: ...`, and exit 1. Needs find, sort and awk.
#
#   base       sees base                       report    base report
#   num        base num                        ptx       base report ptx
#   machine    base report num machine         simd      base num simd
#   engines    base report num machine simd engines      warp      base report num ptx machine engines warp
#   isa        all of these, and isa
#   lower      base report ptx machine warp isa lower    deadlock   base report machine warp deadlock
#   launch     base report machine engines warp isa lower deadlock launch
#   check, trace, stats    each base, report, machine/events.h and itself
#   clock                  base, report, machine/events.h, trace and itself
#   view                   base, report, machine/events.h, trace, clock and itself
#   cudart/loader          base and itself
#   cudart/core            every room above, cudart/loader and itself
#   cudart/driver          base engines cudart/core and itself
#   cudart/runtime         base cudart/core cudart/driver/entry.h and itself
#   explore                base machine/worker.h and itself
#   sm100emu*.c            report cudart/loader cudart/core explore trace clock view
#
# Every quoted include is written from emulator/ ("room/file.h"), so that a line says what it depends on. No room
# includes a header of the CUDA Toolkit: the emulator builds without one. The steps and common/ include nothing of
# emulator/.
set -eu
cd "$1"

find emulator common [0-9][0-9]_* -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null |
    LC_ALL=C sort | awk '
function allow(room, list,   n, i, part) {
    known[room] = list
    n = split(list, part, " ")
    for (i = 1; i <= n; i++) may[room, part[i]] = 1
}
function breach(text) {
    printf "%s:%d: %s\n", file, line, text
    bad++
}
function from_gpu_side(target) {
    if (target ~ /(^|\/)emulator\//)
        breach("a step or common/ may not include " target ": what runs on a GPU knows nothing of the emulator")
}
# The room of a path from emulator/: its folder, of cudart/ the folder below.
function room_of(path,   n, part) {
    n = split(path, part, "/")
    if (n == 1) return "the launcher"
    return part[1] == "cudart" && n > 2 ? part[1] "/" part[2] : part[1]
}
function from_emulator(room, target, quoted) {
    if (!quoted) {
        if (target ~ /^(cuda|cudart|driver_types|vector_types|crt\/|nv)/)
            breach("the emulator may not include <" target ">: it builds without the CUDA Toolkit")
        return
    }
    if (target ~ /\.\./ || target !~ /\//) {
        breach("write \"" target "\" from emulator/: \"room/file.h\"")
        return
    }
    if (!(room in known))
        breach("emulator/" room "/ is not a room of scripts/layers.sh: say there what it may see")
    else if (!((room, room_of(target)) in may) && !((room, target) in may))
        breach(room " may not include " target " (it sees: " known[room] ")")
}
BEGIN {
    executor = "base report num ptx machine engines warp isa lower launch"
    allow("base", "base"); allow("report", "base report"); allow("num", "base num"); allow("ptx", "base report ptx")
    allow("machine", "base report num machine"); allow("simd", "base num simd")
    allow("engines", "base report num machine simd engines")
    allow("warp", "base report num ptx machine engines warp")
    allow("isa", "base report num ptx machine engines warp isa")
    allow("lower", "base report ptx machine warp isa lower"); allow("deadlock", "base report machine warp deadlock")
    allow("launch", "base report machine engines warp isa lower deadlock launch")
    allow("check", "base report machine/events.h check"); allow("trace", "base report machine/events.h trace")
    allow("stats", "base report machine/events.h stats"); allow("clock", "base report machine/events.h trace clock")
    allow("view", "base report machine/events.h trace clock view")
    allow("cudart/loader", "base cudart/loader")
    allow("cudart/core", executor " simd check trace stats clock view cudart/loader cudart/core")
    allow("cudart/driver", "base engines cudart/core cudart/driver")
    allow("cudart/runtime", "base cudart/core cudart/driver/entry.h cudart/runtime")
    allow("explore", "base machine/worker.h explore")
    allow("the launcher", "report cudart/loader cudart/core explore trace clock view")
}
{
    file = $0
    files++
    room = ""
    if (sub(/^emulator\//, "")) room = room_of($0)
    line = 0
    while ((getline text < file) > 0) {
        line++
        if (text !~ /^[ \t]*#[ \t]*include[ \t]*["<]/) continue
        includes++
        quoted = text ~ /include[ \t]*"/
        sub(/^[^"<]*["<]/, "", text)
        sub(/[">].*/, "", text)
        if (room == "") from_gpu_side(text)
        else from_emulator(room, text, quoted)
    }
    close(file)
}
END {
    if (!includes) {
        print "layers: no #include line found: is this the root of the repository?"
        exit 1
    }
    if (!bad) printf "layers: %d includes of %d files point one way\n", includes, files
    exit bad > 0
}'
