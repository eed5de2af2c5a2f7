"""dsl.py ROOT [PROGRAM PTX]: the lesson of docs/cute.md on the DSL says what is so.

1. Its table has an instruction of common/*.cuh in each row that names a line of step 05.
2. With PROGRAM, the DSL's file, and PTX, what the DSL makes of it: the call is in the line that the row names, the PTX
   has the row's instructions there, and none of these families elsewhere; arrivals and bytes are those of the page.
3. Each of these comparisons fails when what it compares with is changed by a little.
"""

import glob
import os
import re
import sys

FAMILIES = re.compile(r"""(?:@\S+\s+)?(tcgen05\.\w+|mbarrier\.arrive\.expect_tx|mbarrier\.\w+|cp\.async\.bulk\.\w+|
    fence\.proxy\.async|fence\.mbarrier_init|barrier\.cluster\.\w+|bar\.sync|prefetch\.tensormap|mapa)\b""", re.X)
BLOCK = 6  # lines of a wait's loop, which inline assembly adds to the line of the call


def rows_of(page):
    """[(lines, call, instructions, ours)] of the table under `Line by line`."""
    part = page[page.index("### Line by line") : page.index("### The same in Triton")]
    rows = []
    for lines, call, ptx, ours in re.findall(r"^\| ([\d, to]+) `([^`]+)` \| (.*?) \| (.*?) \| .* \|$", part, re.M):
        numbers = [int(n) for n in re.findall(r"\d+", lines)]
        if " to " in lines:
            numbers = list(range(numbers[0], numbers[1] + 1))
        rows.append((numbers, call, re.findall(r"`([^`]+)`", ptx), ours))
    return rows


def barriers_of(page):
    """What completes a phase, by the table of barriers: {arrivals}, {bytes}."""
    cells = re.findall(r"^\| 0x4.*\| (.*) \|$", page, re.M)
    sizes = re.findall(r"([\d,]+) bytes", " ".join(cells))
    return {int(c.split()[0].rstrip(",:")) for c in cells}, {int(size.replace(",", "")) for size in sizes}


def check_common(rows, common):
    for numbers, _, instructions, ours in rows:
        for instruction in instructions:
            if ours != "none" and instruction != "bar.sync" and instruction not in common:
                yield f"line {numbers[0]}: common/ has no {instruction}"


def instructions_of(ptx):
    """[(line of the DSL's file, instruction)] of the families."""
    line, found = 0, []
    for text in ptx.splitlines():
        text = text.strip()
        if text.startswith(".loc"):
            line = int(text.split()[2])
        elif match := FAMILIES.match(text):
            found.append((line, match[1]))
    return found


def check_program(rows, program):
    lines = program.splitlines()
    for numbers, call, _, _ in rows:
        for n in numbers:
            if call not in re.sub(r"\s", "", "".join(lines[n - 1 : n + 2])) or call.split("(")[0] not in lines[n - 1]:
                yield f"line {n} of the program has no {call}"


def check_ptx(rows, ptx):
    told = {(n, i) for numbers, _, instructions, _ in rows for n in numbers for i in instructions}
    seen = set()
    for line, instruction in instructions_of(ptx):
        row = next(((n, i) for n, i in sorted(told, reverse=True) if i == instruction and n <= line <= n + BLOCK), None)
        if not row:
            yield f"{instruction} at line {line} is on no row"
        seen.add(row)
    yield from (f"the PTX has no {i} at line {n}" for n, i in sorted(told - seen))


def check_barriers(page, ptx):
    registers = dict(re.findall(r"mov\.b32\s+(%r\d+), (\d+);", ptx))
    count = {int(registers[r]) for r in re.findall(r"mbarrier\.init\S+\s+\[[^]]*\], (%r\d+);", ptx)}
    size = {int(registers[r]) for r in re.findall(r"expect_tx\S+ %rd\d+, \[[^]]*\], (%r\d+);", ptx)}
    if (count, size) != barriers_of(page):
        yield f"barriers: {count} arrivals and {size} bytes, on the page {barriers_of(page)}"


def main():
    root, *given = sys.argv[1:]
    with open(os.path.join(root, "docs", "cute.md")) as f:
        page = f.read()
    common = "".join(open(path).read() for path in sorted(glob.glob(os.path.join(root, "common", "*.cuh"))))
    rows = rows_of(page)
    bad = list(check_common(rows, common)) + ([] if len(rows) > 30 else [f"{len(rows)} rows"])
    if not list(check_common(rows, common.replace("tcgen05.mma", "tcgen05.nma"))):
        bad.append("an instruction that common/ has not is not seen")
    if given:
        program, ptx = (open(path).read() for path in given)
        bad += [*check_program(rows, program), *check_ptx(rows, ptx), *check_barriers(page, ptx)]
        changed = page.replace("| 8: four", "| 7: four")
        for what in (check_program([([n + 9 for n in r[0]], *r[1:]) for r in rows], program), check_ptx(rows[1:], ptx),
                     check_ptx([*rows, ([1], "x", ["mapa"], "")], ptx), check_barriers(changed, ptx)):
            if not list(what):
                bad.append("a change is not seen")
    print("\n".join(bad) or f"{len(rows)} rows" + (", as the DSL's PTX has them" if given else ""))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
