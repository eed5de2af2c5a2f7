"""What the repository's own Python shares: course/, and for tests, lessons and figures what several of them need.

It is no part of the wheel. `python3 -ISB python/sm100repo ...` (__main__.py) runs it.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = [sys.executable, "-ISB", os.path.dirname(os.path.abspath(__file__))]  # and a script: as make runs it


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    """Writes a text file, and makes its folder where there is none."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def sources(root, rooms, names):
    """The files' paths from the root, in their order: patterns of the folders there, and of the ends of names."""
    found = [os.path.join(at, name) for room in os.listdir(root) if re.fullmatch(rooms, room)
             for at, _, files in os.walk(os.path.join(root, room)) for name in files if re.search(names + "$", name)]
    return sorted(os.path.relpath(path, root) for path in found)
