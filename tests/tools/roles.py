"""roles.py ROOT: step 05's kernel can be read from top to bottom, sizes.h first: sizes, asserts, storage, the barriers'
counts, the roles, the kernel; no header is included below the first line of code; and no role is so long that it does
not fit on a screen, 60 lines with its comments.
"""

import os
import re
import sys

from sm100repo import read

STEP = "05_persistent_warpspec"
SCREEN, ROLES = 60, 5
PLACES = {"sizes": r"enum \{", "asserts": r"static_assert", "storage": r"struct shared_storage \{",
          "counts": r"static .* init_barriers\(", "roles": r"static .* [a-z_]+_role\(", "kernel": r"__global__"}


def faults(sizes, step):
    """What is wrong with the texts of sizes.h and of the step's .cu, a line each."""
    order, included, roles = [], False, re.findall(r"^static .* ([a-z_]+_role)\(((?:.|\n)*?\n\})", step, re.M)
    for text in (sizes, step):
        for number, line in enumerate(text.splitlines(), 1):
            order += [name for name, pattern in PLACES.items() if re.match(pattern, line) and name not in order]
            if text is step and line.startswith("#include"):
                included = included or '"sizes.h"' in line
                if len(order) > 2:
                    yield f"{number}: an include below the code"
    for name, body in roles:
        if body.count("\n") + 1 >= SCREEN:
            yield f" {name} has {body.count(chr(10)) + 1} lines"
    if order != list(PLACES):
        yield f" the order is {' '.join(order)}, not {' '.join(PLACES)}"
    if len(roles) < ROLES:
        yield f" {len(roles)} roles found"
    if not included:
        yield " sizes.h is not included"


def main(root):
    found = list(faults(*(read(os.path.join(root, STEP, name)) for name in ("sizes.h", STEP + ".cu"))))
    for fault in found:
        print(f"FAILED: {STEP}/{STEP}.cu:{fault}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
