"""test_cute.py ROOT VALUES EMULATOR PROGRAMS: docs/cute.md says what CuTe prints, and that is what this code computes.

1. Each line of printed.txt: derive.py makes the printed value, and docs/cute.md shows it.
2. The layouts are what the code computes: swizzle, K step, offsets and addresses of common/ (VALUES is values.c), and
   the masks and counts that steps 03 and 04 print, for each CTA of their clusters.
3. Each of these comparisons fails when what it compares with is changed by a little.
"""

import os
import re
import subprocess
import sys


import derive
from layout import Layout, swizzle, tree_of

HERE = os.path.dirname(os.path.abspath(__file__))


def printed():
    """(line, article, name, printed value, expression) of printed.txt."""
    with open(os.path.join(HERE, "printed.txt")) as f:
        for at, line in enumerate(f, 1):
            if line.strip() and not line.startswith("#"):
                yield (at, *(part.strip() for part in line.split(" | ", 3)))


def value_of(text):
    """What a printed value stands for: a layout, a tuple or a number."""
    if ":" in text:
        return Layout.parse(text)
    if text.startswith("("):
        return tree_of(text)
    if "," in text:
        return tree_of(f"({text})")
    if re.fullmatch(r"0x[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}", text):
        return int(text.replace(".", ""), 16)
    return eval(text.lstrip("_"))  # a number, or a sum that printed.txt writes out


def derived(expression):
    return eval(expression, {name: getattr(derive, name) for name in dir(derive)})


def check_printed(page, lines):
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    shown = {re.sub(r"\s", "", code) for code in re.findall(r"`([^`]+)`", prose)}
    for at, _, name, text, expression in lines:
        want, got = value_of(text), derived(expression)
        if want != got:
            yield f"printed.txt:{at}: {name} is {got}, not {text}"
        if not any(re.sub(r"\s", "", text) in code for code in shown):
            yield f"docs/cute.md does not show `{text}`, {name} (printed.txt:{at})"
    counts = [sum(line[1] == article for line in lines) for article in "123"]
    told = re.search(r"(\d+) of part 1, (\d+) of part 2 and (\d+) of", page)
    if not told or [int(n) for n in told.groups()] != counts:
        yield f"docs/cute.md counts other values than the {counts} of printed.txt"


def check_values(lines):
    """What values.c printed, beside the layouts."""
    tile, acc = derive.smem_tile(128, 64, 16), derive.accumulator(128, 512)
    steps = derive.descriptors(tile, 2)
    bits = {16: 0, 32: 1, 64: 2, 128: 3}  # of Sw<bits,4,3>
    for line in lines:
        kind, *words = line.split()
        numbers = [int(word) for word in words if word.isdigit()]
        if kind == "swizzle":
            want = swizzle(bits[numbers[0]], 4, 3, numbers[1])
        elif kind == "advance":
            want = steps(0, 0, numbers[0] // 32)
        elif kind == "stride":
            want = 2 * tile(8, 0, 0, 0)  # bytes from eight rows to the next eight
        elif kind == "cell":
            want = acc(numbers[0], numbers[1], 0, 0)
        else:
            want = numbers[0] & 0xFEFFFFFF
        if want != numbers[-1]:
            yield f"values.c: {line}: by the layout {want}"


def check_masks(output, ctas, cluster):
    """The grids of masks that a step prints, rank by rank, and its count of arrivals."""
    rows = [[int(word, 16) for word in line.split()[2:]] for line in re.findall(r"^    x \d .*$", output, re.M)]
    if len(rows) != cluster[0]:
        yield f"{len(rows)} rows of masks, not {cluster[0]}"
    for x, row in enumerate(rows):
        for y in range(cluster[1]):
            rank = x + cluster[0] * y
            leads = derive.vmnk(ctas, cluster, rank)[0] == 0
            want = (derive.mask(ctas, cluster, rank, {2}), derive.mask(ctas, cluster, rank, {1}),
                    derive.mma_mask(ctas, cluster, rank) if leads else 0)
            if tuple(row[y::cluster[1]]) != want:
                yield f"rank {rank}: masks {row[y::cluster[1]]}, by the layout {want}"
    if f"= {derive.participants(ctas, cluster)}\n" not in output:
        yield f"not {derive.participants(ctas, cluster)} arrivals"


def main():
    root, values, emulator, programs = sys.argv[1:]
    with open(os.path.join(root, "docs", "cute.md")) as f:
        page = f.read()
    listed, bad = list(printed()), []
    bad += check_printed(page, listed)
    lines = subprocess.run([values], capture_output=True, text=True, check=True).stdout.splitlines()
    bad += check_values(lines)
    for step, ctas in (("03_tma_multicast", 1), ("04_pair_umma", 2)):
        for shape in ((2, 2, 1), (2, 4, 1), (4, 4, 1)):
            words = [emulator, os.path.join(programs, step), "--cluster", f"{shape[0]}x{shape[1]}"]
            run = subprocess.run(words, capture_output=True, text=True, check=False)
            bad += [f"{step} {shape}: {what}" for what in check_masks(run.stdout, ctas, shape)]
            if not list(check_masks(run.stdout.replace("\n    x 1  ", "\n    x 1  1"), ctas, shape)):
                bad.append(f"{step}: a mask that is changed is not seen")
    for old, new in (("_65536", "_65535"), ("0x333f", "0x333e"), ("_64@0", "_63@0")):
        changed = [(*line[:3], line[3].replace(old, new), line[4]) for line in listed]
        if not any("printed.txt" in what and " is " in what for what in check_printed(page, changed)):
            bad.append(f"{old} as {new} in printed.txt is not seen")
    for old, new in (("swizzle 128 144", "swizzle 128 128"), ("advance 64", "advance 32"), ("cell 31", "cell 30")):
        if not list(check_values([line.replace(old, new) for line in lines])):
            bad.append(f"{old} as {new} is not seen")
    print("\n".join(bad) or f"{len(listed)} printed values, {len(lines)} values of the code, 6 grids of masks")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
