"""course.py - figures of step 05's order of tiles and epilogue, of the ladder, and of the whole course."""

import csv
import glob
import os
import re

from book import figure
from runs import ROOT, claim
from svg import MARGIN, Drawing

GROUPS = ["c1", "c7", "c4", "c3"]
LADDER = "05_persistent_warpspec/ladder"
RASTER = r"""
#define __host__
#define __device__
#include "05_persistent_warpspec/raster.h"
#include <stdio.h>
int main(void) {
    for (int group = 2; group <= 5; group += 3) {
        struct raster r = raster_make(5, 4, group);
        for (uint32_t i = 0; i < 20; i++) {
            struct raster_tile t = raster_tile(&r, i);
            printf("%d %u %u %u\n", group, i, t.m, t.n);
        }
    }
    return 0;
}
"""


@figure("raster")
def raster(runs):
    rows = [tuple(int(v) for v in line.split()) for line in runs.compute(RASTER)]
    d = Drawing(540)
    y = d.heading("In which order tiles are made: groups of rows", "5 x 4 tiles by raster_tile() of step 05's raster.h")
    said = []
    for k, group in enumerate((2, 5)):
        x = MARGIN + 10 + k * 270
        d.text(x, y + 14, "--group %d" % group, 14, bold=True, mono=True)
        order = {i: (m, n) for g, i, m, n in rows if g == group}
        for i, (m, n) in order.items():
            fill = "c2" if i < 8 else None
            d.rect(x + n * 56, y + 26 + m * 44, 56, 44, fill or "panel", "e", round=0)
            d.text(x + n * 56 + 28, y + 53 + m * 44, str(i), 14, "i2" if fill else "t", "middle")
        first = [order[i] for i in range(8)]
        a, b = len({m for m, _ in first}), len({n for _, n in first})
        d.text(x, y + 26 + 5 * 44 + 20, "tiles 0-7 read %d rows of A" % a, 13)
        d.text(x, y + 26 + 5 * 44 + 38, "and %d columns of B: %d tiles" % (b, a + b), 13)
        said.append("In groups of %d rows the first eight tiles read %d rows of A and %d columns of B." % (group, a, b))
    y += 26 + 5 * 44 + 62
    d.wrap(
        MARGIN,
        y,
        "Tiles that run at the same time (here 0 to 7, filled) should share what is in L2. They are walked down the "
        "rows of a group, then to the next column, then to the next group.",
    )
    return d, "The order of tiles for two sizes of group", " ".join(said)


def numbers(runs, *names):
    """Constants of step 05's sizes.h."""
    prints = "".join('printf("%%d\\n", (int)(%s));' % n for n in names)
    source = (
        "#include <stdio.h>\n#include <stdint.h>\n#define __host__\n#define __device__\n#define __forceinline__ "
        "inline\n"
        "%s\nint main(void) { %s return 0; }\n" % (enums("05_persistent_warpspec/sizes.h"), prints)
    )
    return [int(v) for v in runs.compute(source)]


def enums(path):
    """The enumerations of a header that only nvcc compiles whole."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return "\n".join(re.findall(r"^enum \{.*?\};", f.read(), re.S | re.M))


@figure("slab")
def slab(runs):
    rows, columns, warps, buffers = numbers(runs, "CTA_M", "SUBTILE_COLUMNS", "EPILOGUE_WARPS", "BUFFERS")
    d = Drawing(540)
    y = d.heading("The epilogue, a subtile at a time", "sizes of step 05's sizes.h")
    d.text(MARGIN, y + 14, "subtile: %d rows x %d columns of D" % (rows, columns), 13, bold=True)
    for w in range(warps):
        top = y + 26 + w * 62
        d.box(MARGIN, top, 116, 58, ["slab of warp %d" % w, "%d x %d" % (rows // warps, columns)], GROUPS[w], 13)
        d.text(MARGIN + 124, top + 14, "row %d: thread %d" % (w * rows // warps, w * rows // warps), 12, "f")
        d.text(
            MARGIN + 124,
            top + 54,
            "row %d: thread %d" % ((w + 1) * rows // warps - 1, (w + 1) * rows // warps - 1),
            12,
            "f",
        )
    x, at = 292, y + 4
    chain = [
        ("c4", "tensor memory", "tcgen05.ld, wait::ld"),
        ("c0", "%d registers of a thread" % columns, "wait_group.read: the buffer is free"),
        ("c7", "buffer 0 or 1 of D, shared", "fence.proxy.async, __syncwarp()"),
        ("c1", "TMA store, by one lane", "commit_group"),
        ("c6", "D in global memory", None),
    ]
    for fill, name, between in chain:
        d.box(x, at, 234, 28, name, fill, 13)
        if between:
            d.arrow(x + 12, at + 29, x + 12, at + 54)
            d.text(x + 24, at + 46, between, 12, "f", room=214)
        at += 56
    y = max(y + 26 + warps * 62, at) + 14
    d.wrap(
        MARGIN,
        y,
        "A warp writes, fences and stores its own slab: no barrier joins the %d warps. With %d buffers the store "
        "of one subtile runs while the next is written." % (warps, buffers),
    )
    return (
        d,
        "A subtile of D, cut into four slabs, and its way to global memory",
        (
            "A subtile of %d rows and %d columns is cut into %d slabs of %d rows, one a warp, a row a thread. Its "
            "way: tensor memory, "
            "registers, one of %d buffers in shared memory, a TMA store by one lane, global memory."
            % (rows, columns, warps, rows // warps, buffers)
        ),
    )


STEPS = [
    ("01_tmem_alloc", "tensor memory", ["alloc, st, ld and dealloc,", "windows of the warps, shapes"]),
    ("02_simple_umma", "one UMMA, one thread", ["descriptors, swizzle, proxy fence,", "commit and mbarrier"]),
    ("03_tma_multicast", "TMA and clusters", ["tensor maps, tx-count, multicast,", "who may overwrite what"]),
    ("04_pair_umma", "a pair of CTAs", ["cta_group::2, leader and peer,", "halves of A and B, bit 24"]),
    ("05_persistent_warpspec", "the whole GEMM", ["roles, rings, two accumulators,", "persistence, TMA stores"]),
]


def rungs():
    """[(number, what it adds)] of the ladder, from the first line of each rung."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, LADDER, "[0-9]_*.cu"))):
        with open(path, encoding="utf-8") as f:
            m = re.match(r"/\* (\d)_\w+ - ([^:.]*)", f.readline())
        found.append((int(m[1]), m[2].strip()))
    return found


@figure("course-map")
def course_map(runs):
    d = Drawing(540)
    y = d.heading(
        "The course: five steps, one idea each", "in the order to read; each step is one program and one lesson"
    )
    found, said = rungs(), []
    for i, (folder, name, lines) in enumerate(STEPS):
        assert os.path.isfile(os.path.join(ROOT, folder, folder + ".cu"))
        d.rect(MARGIN, y, 512, 62, "panel")
        d.box(MARGIN, y, 46, 62, folder[:2], "c2", 18, bold=True)
        d.text(MARGIN + 58, y + 26, name, 14, bold=True)
        d.text(MARGIN + 58, y + 46, folder, 12, "f", mono=True)
        d.lines(MARGIN + 264, y + 26, lines, 13, "t")
        said.append("Step %s, %s: %s" % (folder[:2], name, " ".join(lines)))
        y += 62
        if i < len(STEPS) - 1:
            d.arrow(MARGIN + 23, y, MARGIN + 23, y + 16)
            if i == 3 and found:
                y = ladder_rows(d, y + 20, found)
                said.append("Between: the ladder of step 05: " + ", ".join(name for _, name in found))
                d.arrow(MARGIN + 23, y - 2, MARGIN + 23, y + 14)
            y += 18
    y += 22
    for word, meaning in (
        ("make run-03", "build and run a step"),
        ("make watch-03", "see it: warps, TMA, tensor core, barriers"),
        ("make break-03-1", "break a copy; the rule is named"),
        ("make exercise-03", "fill, repair, predict"),
        ("make grade-03", "a mark, and why"),
    ):
        d.text(MARGIN, y, word, 13, mono=True)
        d.text(MARGIN + 170, y, meaning, 13)
        y += 20
    return d, "A map of the course", ". ".join(said) + "."


def ladder_rows(d, y, found):
    """The rungs between 04 and 05; the y behind."""
    for n, name in found:
        d.box(MARGIN + 58, y, 454, 24, "rung %d: %s" % (n, name), "c4", 13)
        y += 28
    return y


def measured():
    """{(M, N, K): {program: TFLOPS}} with beta 0.5, as tests/clock/rungs.py wrote them down."""
    with open(os.path.join(ROOT, "tests/clock/results/rungs.csv"), encoding="utf-8") as f:
        found = {}
        for row in csv.DictReader(line for line in f if line[0] != "#"):
            if row["beta"] == "0.5":
                size = tuple(int(row[side]) for side in "mnk")
                found.setdefault(size, {})[row["program"]] = int(row["tflops"])
    return found


@figure("ladder")
def ladder(runs):
    sizes = measured()
    shown = sorted(sizes, key=lambda s: (s[0], s[2]), reverse=True)[:2]
    names, most = dict(rungs()), max(v for size in shown for v in sizes[size].values())
    d = Drawing(540)
    y = d.heading("What each rung buys", "TFLOPS by the model clock, launches in a row, beta 0.5; no run on a B200")
    gains = [[sizes[size][p] for p in sizes[size]] for size in shown]
    claim(max(range(1, 6), key=lambda i: gains[0][i] / gains[0][i - 1]) == 1, "the ring counts most in the long K loop")
    claim(gains[1][5] / gains[1][3] > gains[1][3] / gains[1][1], "the epilogue counts most in the short one")
    claim(all(abs(g[2] / g[1] - 1) < 0.02 for g in gains), "rung 2 buys nothing")
    fills, said = ("c2", "c4"), []
    y = d.legend(MARGIN, y + 12, [(fill, "%d x %d x %d" % size) for fill, size in zip(fills, shown)]) + 4
    for program in sizes[shown[0]]:
        m = re.match(r"(\d)_", program)
        rung = m and names.get(int(m[1]))
        name = "%s: %s" % (m[1], rung) if rung else "the main program"
        d.text(MARGIN, y + 12, name, 13, bold=True, room=d.width - 2 * MARGIN)
        values = [sizes[size][program] for size in shown]
        for i, (fill, value) in enumerate(zip(fills, values)):
            wide = 440 * value / most
            d.rect(MARGIN, y + 19 + 19 * i, wide, 17, fill, round=2)
            d.text(MARGIN + wide + 8, y + 32 + 19 * i, "{:,}".format(value), 13)
        said.append("%s: %s" % (name, " and ".join(map(str, values))))
        y += 70
    d.wrap(
        MARGIN,
        y + 6,
        "With a long K loop the ring counts most; with a short one the epilogue, which two accumulators and TMA "
        "stores take out of the way. Rung 2 buys nothing yet: it makes room for what follows.",
    )
    return (
        d,
        "What each rung of the ladder buys, by the model of a B200",
        ("TFLOPS at %s: " % " and at ".join("%d x %d x %d" % size for size in shown) + "; ".join(said) + "."),
    )
