"""measures.py ROOT: the sizes of the house style that are counted in lines: none has more than 120 columns and no
file more than 600 lines, in C and CUDA, and no room of the emulator holds more than 30% of it. A breach is one line,
and exit 1; the rooms' shares are printed.

A URL may be longer, and what a test says after `// EXPECT:`, `// NEVER:` or `// NVCC:` stands in one line.
"""

import collections
import re
import sys
from pathlib import Path

from sm100repo import sources

MARGIN, LONGEST, LARGEST = 120, 600, 30  # columns of a line, lines of a file, % of the emulator in a room


def main(root):
    bad, rooms = [], collections.Counter()
    for path in sources(root, r"emulator|common|tests|\d\d_.*", r"\.([ch]|cu|cuh)"):
        lines = Path(root, path).read_bytes().splitlines()
        for number, line in enumerate(lines, 1):
            if len(line) > MARGIN and b"://" not in line and not re.match(rb"// (EXPECT|NEVER|NVCC): ", line):
                bad.append(f"{path}:{number}: {len(line)} columns; the margin is {MARGIN}")
        if len(lines) > LONGEST:
            bad.append(f"{path}: {len(lines)} lines; a file has {LONGEST} at most")
        part = path.split("/")
        if part[0] == "emulator" and len(part) > 2:
            rooms[part[1]] += len(lines)
    if not rooms:
        bad.append("measures: no room of the emulator found: is this the root of the repository?")
    for room, lines in sorted(rooms.items()):
        share = 100 * lines / sum(rooms.values())
        print(f"measures: {room:<8} {lines:6d} lines, {share:4.1f}%")
        if share > LARGEST:
            bad.append(f"emulator/{room}/ holds more than {LARGEST}% of the emulator")
    print("".join(line + "\n" for line in bad), end="")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
