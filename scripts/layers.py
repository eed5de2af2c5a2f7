"""layers.py ROOT: proves from the #include lines that the emulator's rooms depend one way, and that what runs on a GPU
knows nothing of the emulator. A breach is one line `file:line: ...`, and exit 1.

Every quoted include is written from emulator/ ("room/file.h"), so that a line says what it depends on. No room includes
a header of the CUDA Toolkit: the emulator builds without one. The steps and common/ include nothing of emulator/.
"""

import os
import re
import sys

from sm100repo import read, sources

# A room, and the rooms and files that it sees. "the launcher": emulator/*.c.
EXECUTOR = "base report num ptx machine engines warp isa lower launch"
ROOMS = {
    "base": "base",
    "report": "base report",
    "num": "base num",
    "ptx": "base report ptx",
    "machine": "base report num machine",
    "simd": "base num simd",
    "engines": "base report num machine simd engines",
    "warp": "base report num ptx machine engines warp",
    "isa": "base report num ptx machine simd engines warp isa",
    "lower": "base report ptx machine warp isa lower",
    "deadlock": "base report machine warp deadlock",
    "launch": "base report machine engines warp isa lower deadlock launch",
    "check": "base report simd/simd.h machine/events.h check",
    "trace": "base report machine/events.h trace",
    "stats": "base report machine/events.h stats",
    "clock": "base report machine/events.h machine/gpcs.h trace clock",
    "view": "base report machine/events.h trace clock view",
    "cudart/loader": "base cudart/loader",
    "cudart/core": EXECUTOR + " simd check trace stats clock view cudart/loader cudart/core",
    "cudart/cutedsl": "base cudart/core cudart/cutedsl",
    "cudart/driver": "base engines cudart/core cudart/driver",
    "cudart/runtime": "base cudart/core cudart/driver/entry.h cudart/runtime",
    "launcher": "base report launcher",
    "explore": "base report machine/worker.h launcher explore",
    "the launcher": "base report ptx cudart/loader cudart/core launcher explore trace clock view",
}
TOOLKIT = re.compile(r"cuda|cudart|driver_types|vector_types|crt/|nv")


def room_of(path):
    """The room of a path from emulator/: its folder, of cudart/ the folder below."""
    part = path.split("/")
    if len(part) == 1:
        return "the launcher"
    return "/".join(part[:2]) if part[0] == "cudart" and len(part) > 2 else part[0]


def breach(room, bracket, target):
    """What is wrong with a room's include, or None; room: None for what runs on a GPU."""
    if room is None:
        gpu = "a step or common/ may not include {}: what runs on a GPU knows nothing of the emulator"
        return gpu.format(target) if re.search(r"(^|/)emulator/", target) else None
    if bracket == "<":
        built = f"the emulator may not include <{target}>: it builds without the CUDA Toolkit"
        return built if TOOLKIT.match(target) else None
    if ".." in target or "/" not in target:
        return f'write "{target}" from emulator/: "room/file.h"'
    if room not in ROOMS:
        return f"emulator/{room}/ is not a room of scripts/layers.py: say there what it may see"
    if {room_of(target), target} & set(ROOMS[room].split()):
        return None
    return f"{room} may not include {target} (it sees: {ROOMS[room]})"


def main(root):
    files, includes, bad = sources(root, r"emulator|common|\d\d_.*", r"\.([ch]|def|cu|cuh)"), 0, 0
    for path in files:
        room = room_of(path[len("emulator/"):]) if path.startswith("emulator/") else None
        for number, line in enumerate(read(os.path.join(root, path)).split("\n"), 1):
            found = re.match(r'[ \t]*#[ \t]*include[ \t]*(["<])([^">]*)', line)
            said = breach(room, *found.groups()) if found else None
            includes += found is not None
            if said:
                print(f"{path}:{number}: {said}")
                bad += 1
    if not includes:
        sys.exit("layers: no #include line found: is this the root of the repository?")
    if not bad:
        print(f"layers: {includes} includes of {len(files)} files point one way")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
