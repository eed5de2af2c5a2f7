"""What the repository's own Python shares: course/, and for tests, lessons and figures what several of them need.

It is no part of the wheel. `python3 -ISB python/sm100repo ...` (__main__.py) runs it.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = [sys.executable, "-ISB", os.path.dirname(os.path.abspath(__file__))]  # and a script: as make runs it


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()
