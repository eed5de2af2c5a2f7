"""circles.py ROOT EMULATOR: the parts of emulator/check/ call one way, and so do its files; EMULATOR is the build folder
of the emulator, whose objects `nm` reads.

A part is a folder; it calls itself and the parts before it, and the listener, check/*.c, calls all of them. Within a
part a file may call another, but never in a circle. Includes go the same way, and a header that says "For this folder
alone" is included by files of its folder only. A breach is one line, and exit 1.
"""

import graphlib
import os
import re
import subprocess
import sys

from sm100repo import read, sources

PARTS = ("vclock", "know", "verdict", "shadow", "grids", "")


def part_of(path):
    return os.path.dirname(path)


def calls(emulator):
    """{file: {file that it calls: name}} of the objects that the library is made of."""
    objects = [o for o in read(os.path.join(emulator, "objects")).split() if "/obj/check/" in o]
    defined, wanted = {}, {}
    for path in objects:
        source = re.sub(r".*/obj/check/(.*)\.o$", r"\1.c", path)
        local = os.path.join(emulator, "obj", "check", source[:-2] + ".o")
        names = subprocess.run(["nm", local], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
        for kind, name in re.findall(r"^[0-9a-f ]* ([A-Za-z]) (\w+)$", names, re.M):
            if kind == "U":
                wanted.setdefault(source, []).append(name)
            elif kind.isupper():
                defined[name] = source
    return {source: {defined[n]: n for n in names if n in defined} for source, names in wanted.items()}


def faults(graph, texts):
    for source, callees in sorted(graph.items()):
        for to, name in sorted(callees.items()):
            if PARTS.index(part_of(to)) > PARTS.index(part_of(source)):
                yield f"check/{source} calls {name} of check/{to}: a part calls only those before it ({' '.join(PARTS)})"
    try:
        graphlib.TopologicalSorter({source: set(callees) - {source} for source, callees in graph.items()}).prepare()
    except graphlib.CycleError as circle:  # from the callee to its caller
        yield f"a circle of calls: check/{' -> check/'.join(reversed(circle.args[1]))}"
    for path, text in sorted(texts.items()):
        for header in re.findall(r'#include "check/(.*?)"', text):
            if PARTS.index(part_of(header)) > PARTS.index(part_of(path)) and header != "check.h":
                yield f"check/{path} includes check/{header}, which belongs to a later part"
            if "For this folder alone" in re.sub(r"\s+\*?\s*", " ", texts.get(header, "")) and \
                    part_of(header) != part_of(path):
                yield f"check/{path} includes check/{header}, which is for its folder alone"


def main(root, emulator):
    room = os.path.join(root, "emulator", "check")
    texts = {os.path.relpath(path, "check"): read(os.path.join(room, "..", path))
             for path in sources(os.path.dirname(room), "check", "")}
    graph = calls(emulator)
    found = list(faults(graph, texts))
    if sum(map(len, graph.values())) < len(texts):
        found.append(f"{len(graph)} objects found in {emulator}: is this the emulator's build folder?")
    for fault in found:
        print(f"FAILED: {fault}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
