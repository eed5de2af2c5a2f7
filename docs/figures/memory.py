"""memory.py - figures of tensor memory, of tiles in shared memory and of their descriptors."""

import re

from book import figure
from runs import claim
from svg import MARGIN, Drawing

STEPS = ["c1", "c7", "c4", "c3"]  # the four UMMAs of a K tile


def windows(runs):
    """[(first lane, last lane, warp that writes, warp that reads)], columns, base, as step 01 prints them."""
    lines = runs.prints("01_tmem_alloc")
    rows = [re.match(r"  lanes +(\d+)- *(\d+) +written by warp (\d), read by warp (\d):", x) for x in lines]
    found = [re.match(r"  (\d+) columns allocated at 0x\w+: lane 0, column (\d+)$", x) for x in lines]
    block = next(b for b in found if b)
    return [tuple(map(int, r.groups())) for r in rows if r], int(block[1]), int(block[2])


def columns(d, x, y, wide, marks):
    """A scale of columns."""
    for column in sorted({0, 512} | set(marks)):
        d.text(x + column * wide, y, str(min(column, 511)), 12, "f", "middle")


@figure("tmem-windows")
def tmem_windows(runs):
    rows, count, base = windows(runs)
    d = Drawing(540)
    y = d.heading("Tensor memory: 128 lanes x 512 columns in each SM", "columns and windows as step 01 prints them")
    x, wide = 70, 0.88
    columns(d, x, y + 12, wide, [base, base + count])
    y += 20
    for i, (first, last, *warps) in enumerate(rows):
        top = y + i * 62
        d.text(MARGIN, top + 14, "lane %d" % first, 12, "f")
        d.text(MARGIN, top + 52, "lane %d" % last, 12, "f")
        d.rect(x + base * wide, top, count * wide, 58, STEPS[0], round=0)
        d.rect(x, top, 512 * wide, 58, None, "k", round=0, thick=2)
        d.text(x + 8, top + 34, "window of warps %d, %d ..." % tuple(warps), 13, "i1")
        d.text(x + (512 + base + count) / 2 * wide, top + 34, "free", 13, "f", "middle")
    y += 4 * 62 + 16
    d.wrap(
        MARGIN,
        y + 4,
        "A CTA allocates columns, all 128 lanes of each: here %d. Warp w of a CTA reaches the 32 lanes from "
        "32 (w mod 4) on, and no others: to touch all lanes takes four warps." % count,
    )
    return (
        d,
        "Tensor memory with the windows of the warps",
        "A grid of 128 lanes by 512 columns. Four bands of 32 lanes: "
        + "; ".join("lanes %d to %d for warps %d and %d" % r for r in rows)
        + ". Allocated: %d columns from %d on; the columns after them are free." % (count, base),
    )


@figure("tmem-blocks")
def tmem_blocks(runs):
    lines = runs.prints("parts/contend")
    found = [re.match(r"     ([A-Z]) +(\d+) columns at 0x\w+: lane 0, column (\d+)$", line) for line in lines]
    blocks = [(b[1], int(b[2]), int(b[3])) for b in found if b]
    ticket = re.compile(r"     CTA (\d+) +asked at ticket (\d+) +got .* at (\d+) +freed them at (\d+)")
    found = [ticket.match(line) for line in lines]
    visits = [tuple(map(int, v.groups())) for v in found if v]
    claim(len(visits) == 2 and visits[1][2] > visits[0][3], "the second CTA gets its columns when the first freed them")
    d = Drawing(540)
    y = d.heading("Two CTAs on an SM, and columns for one", "blocks and tickets as parts/contend prints them")
    x, wide = 90, 0.84
    columns(d, x, y + 12, wide, [b[2] for b in blocks])
    d.text(MARGIN, y + 44, "columns", 13, "f")
    for i, (letter, count, base) in enumerate(blocks):
        d.rect(x + base * wide, y + 20, count * wide, 40, STEPS[i], round=0)
        d.text(x + (base + count / 2) * wide, y + 46, letter, 14, "i" + STEPS[i][1:], "middle", bold=True)
    d.rect(x, y + 20, 512 * wide, 40, None, "k", round=0, thick=2)
    y += 84
    scale = 512 * wide / visits[-1][3]
    for cta, asked, got, freed in visits:
        d.text(MARGIN, y + 20, "CTA %d" % cta, 13, bold=True)
        d.rect(x + asked * scale, y, (got - asked) * scale, 30, "panel", dash=True, round=0)
        if got - asked > 100:
            d.text(x + (asked + got) / 2 * scale, y + 20, "waits in tcgen05.alloc", 12, "f", "middle")
        d.rect(x + got * scale, y, (freed - got) * scale, 30, "c1", round=0)
        d.text(x + (got + freed) / 2 * scale, y + 20, "has them", 12, "i1", "middle")
        y += 38
    d.text(MARGIN, y + 14, "order", 13, "f")
    d.arrow(x, y + 10, x + 512 * wide, y + 10)
    said = "; ".join("CTA %d asks at ticket %d, gets the columns at %d, frees them at %d" % v for v in visits)
    sizes = ", ".join("%d" % b[1] for b in blocks)
    d.wrap(MARGIN, y + 36, "Each CTA allocates %s columns, the largest block first. %s." % (sizes, said))
    return (
        d,
        "Two CTAs of an SM that want the same columns",
        "Blocks " + ", ".join("%s of %d columns from %d" % b for b in blocks) + ". " + said + ".",
    )


@figure("tmem-shapes")
def tmem_shapes(runs):
    lines, shapes = runs.prints("parts/shapes"), []
    for x in lines:
        head = re.match(r"     (\S+\.x\d): (\d) registers a thread", x)
        row = re.match(r"       lane +(\d+) +(t.*)$", x)
        if head:
            shapes.append((head[1], []))
        elif row and shapes:
            shapes[-1][1].append((row[1], [re.match(r"t(\d+)\.r(\d+)", c).groups() for c in row[2].split()]))
    d = Drawing(540)
    y = d.heading(
        "Who gets which cell: the five shapes of tcgen05.ld",
        "some lanes, as parts/shapes found them; t2.r1: thread 2, register 1",
    )
    for name, rows in shapes:
        d.text(MARGIN, y + 14, name, 14, bold=True, mono=True)
        y += 22
        for lane, cells in rows:
            d.text(MARGIN + 50, y + 15, "lane " + lane, 12, "f", "end")
            for i, (t, r) in enumerate(cells):
                d.box(MARGIN + 58 + i * 56, y, 54, 20, "t%s.r%s" % (t, r), STEPS[int(r)], 12, "g", mono=True)
            y += 22
        y += 10
    y = d.legend(MARGIN, y + 12, [(STEPS[i], "register %d" % i) for i in range(4)])
    d.wrap(
        MARGIN,
        y + 4,
        "Columns go to the right. In 32x32b a thread has a row: what an epilogue wants. 16x256b puts the "
        "cells where mma.sync has its 16 x 8 accumulator.",
    )
    return (
        d,
        "Which thread and register holds which cell of tensor memory, for five shapes",
        " ".join(
            "%s: %s."
            % (
                name,
                "; ".join("lane %s: %s" % (lane, " ".join("t%s.r%s" % c for c in cells)) for lane, cells in rows[:3]),
            )
            for name, rows in shapes
        ),
    )


SWIZZLE = r"""
#include "common/descriptors.h"
int main(void) {
    for (uint32_t row = 0; row < 8; row++)
        for (uint32_t chunk = 0; chunk < 8; chunk++)
            printf("%u ", umma_swizzle_offset(UMMA_SWIZZLE_128B, row * 128 + chunk * 16));
    uint64_t desc = umma_smem_desc_packed(0x400, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, 128);
    printf("\n");
    for (uint32_t i = 0; i < 4; i++)
        printf("0x%05x ", umma_smem_unpack(umma_smem_advance(desc, 32 * i)).start);
    printf("\n");
    return 0;
}
"""


@figure("swizzle-atom")
def swizzle_atom(runs):
    placed, starts = runs.compute(SWIZZLE)
    placed = [int(v) for v in placed.split()]
    stored = {to // 16: i for i, to in enumerate(placed)}
    claim(all(to == (i ^ i // 8) * 16 for i, to in enumerate(placed)), "chunk c of row r is at place c XOR r")
    d = Drawing(540)
    y = d.heading(
        "The 128-byte swizzle: 8 rows x 8 chunks of 16 bytes", "places by umma_swizzle_offset() of common/descriptors.h"
    )
    side = 28
    for k, (x, name) in enumerate(((34, "as the matrix has it"), (292, "as shared memory has it"))):
        d.text(x, y + 12, name, 14, bold=True)
        for r in range(8):
            top = y + 24 + r * side
            if not k:
                d.text(x - 8, top + 19, str(r), 12, "f", "end")
            for c in range(8):
                chunk = r * 8 + c if not k else stored[r * 8 + c]
                step = STEPS[chunk % 8 // 2]
                d.rect(x + c * side, top, side, side, step, "g", round=0)
                d.text(x + (c + 0.5) * side, top + 19, str(chunk % 8), 13, "i" + step[1:], "middle")
        d.text(x, y + 24 + 8 * side + 18, "banks 0-3", 12, "f")
        d.text(x + 8 * side, y + 24 + 8 * side + 18, "banks 28-31", 12, "f", "end")
    y += 24 + 8 * side + 46
    y = d.legend(MARGIN + 20, y, [(STEPS[i], "UMMA %d: from %s" % (i, s)) for i, s in enumerate(starts.split())])
    d.wrap(
        MARGIN,
        y + 6,
        "Chunk c of row r is at place c XOR r. Down a column of the matrix the eight chunks are in eight "
        "different groups of banks. A step along K adds 32 bytes to the descriptor's start address. The hardware first "
        "adds and then permutes, so all four start in row 0 of the same atom.",
    )
    return (
        d,
        "The swizzle atom of 8 rows by 128 bytes, with the K step inside",
        (
            "Left, the eight 16-byte chunks of each of eight rows in order. Right, where they are: row by row "
            + "; ".join(" ".join(str(stored[r * 8 + c] % 8) for c in range(8)) for r in range(8))
            + ". Each UMMA takes two chunks of each row; the four start at "
            + starts.strip().replace(" ", ", ")
            + "."
        ),
    )


@figure("descriptor-k-steps")
def descriptor(runs):
    lines = runs.prints("02_simple_umma")
    at = next(i for i, x in enumerate(lines) if "A in SMEM" in x)
    value = int(lines[at].split()[-1], 16)
    fields = []
    for x in lines[at + 1 :]:
        m = re.match(r"    (\d+)(?:-(\d+))? +(\w[\w ]*?)  +(0x\w+|\d+) *(.*)$", x)
        if not m:
            break
        fields.append((int(m[1]), int(m[2] or m[1]), m[3], m[4], m[5]))
    starts = runs.compute(SWIZZLE)[1].split()
    d = Drawing(540)
    y = d.heading(
        "64 bits that say where a tile is, and how it is laid out", "the descriptor of A as step 02 prints it: 0x%016x" % value
    )
    x, bit = MARGIN, 16
    colours = ["c1", "c7", "c4", "c9", "c5", "c6", "c3"]
    for i in range(64):
        left, top = x + (31 - i % 32) * bit, y + (56 if i < 32 else 16)
        fill = next((c for f, c in zip(fields, colours) if f[0] <= i <= f[1]), None)
        d.rect(left, top, bit, 22, fill, "g", round=0)
        d.text(left + bit / 2, top + 16, str(value >> i & 1), 13, "i" + fill[1:] if fill else "f", "middle", mono=True)
        if i in (63, 48, 32, 31, 16, 0):
            d.text(left + bit / 2, top - 4, str(i), 12, "f", "middle")
    y += 104
    for (low, high, name, stored, said), fill in zip(fields, colours):
        d.rect(x, y - 11, 14, 14, fill, round=2)
        d.text(x + 24, y, "%d-%d" % (low, high) if low != high else str(low), 13, "f")
        d.text(x + 82, y, name, 13)
        d.text(x + 232, y, "%s %s" % (stored, said), 13, mono=True)
        y += 22
    y += 16
    d.text(x, y, "Four UMMAs of a K tile: only the start address grows", 14, bold=True)
    y += 12
    for i, start in enumerate(starts):
        d.box(x + i * 127, y, 122, 40, ["UMMA %d" % i, start], STEPS[i], 13)
    y += 62
    d.wrap(
        MARGIN,
        y,
        "Start and offsets are stored in units of 16 bytes. The stride byte offset leads from 8 rows to the next 8; "
        "a step along K is 32 bytes, 2 units.",
    )
    return (
        d,
        "The shared memory descriptor of a tile, field by field, and its four K steps",
        (
            "Descriptor 0x%016x. " % value
            + "; ".join("bits %d to %d: %s %s %s" % f for f in fields)
            + ". The four UMMAs of a K tile start at "
            + ", ".join(starts)
            + "."
        ),
    )
