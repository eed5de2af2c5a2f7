"""concepts.py - figures of what the parts are: proxies, generations of the MMA, Hopper beside Blackwell.

They show structure, not a run. What of it the programs or the headers can say is asked of them.
"""

from book import figure
from svg import MARGIN, Drawing, width_of


@figure("proxies")
def proxies(runs):
    d = Drawing(540)
    y = d.heading(
        "Proxies: two ways to the same shared memory", "PTX ISA 8.6, 9.7.9.25.2, 9.7.16.6.5; docs/memory-model.md"
    )
    cols = [(MARGIN, "generic proxy", "c0"), (190, "async proxy", "c1"), (366, "tcgen05", "c4")]
    who = [
        ["ld, st, atom, red", "mbarrier.arrive, wait", "of the threads"],
        ["TMA and bulk copies", "operands of UMMAs", "tcgen05.cp reads"],
        ["ld, st of threads", "D (and A) of UMMAs", "tcgen05.cp writes"],
    ]
    for (x, name, fill), lines in zip(cols, who):
        d.rect(x, y, 160, 96, "panel")
        d.box(x, y, 160, 26, name, fill, 14, bold=True)
        for i, line in enumerate(lines):
            d.text(x + 80, y + 48 + i * 19, line, 13, anchor="middle", room=156)
    top = y + 96
    y += 170
    memories = [(MARGIN, 160, "global memory"), (190, 160, "shared memory"), (366, 160, "tensor memory")]
    for x, w, name in memories:
        d.box(x, y, w, 44, name, "c6", 14, bold=True)
    for x1, x2 in ((60, 60), (140, 215), (240, 130), (290, 290), (446, 446)):
        d.line([(x1, top + 2), (x2, y - 3)], "a", arrow=True)
    y += 74
    rows = [
        (
            "c0",
            "a thread stores, then the TMA or an UMMA reads",
            ["fence.proxy.async, by the thread that stored, or after a barrier", "by the thread that issues"],
        ),
        (
            "c1",
            "a copy writes, then threads or UMMAs read",
            ["its completion: the phase of its mbarrier. No proxy fence"],
        ),
        ("c1", "an UMMA has read, then anybody writes", ["its completion: a commit and the wait for it"]),
        (
            "c4",
            "tcgen05.ld and st, then UMMAs, or back",
            [
                "no proxy: wait::ld, wait::st or a commit, and between",
                "threads tcgen05.fence before and after the barrier",
            ],
        ),
    ]
    for fill, head, lines in rows:
        d.rect(MARGIN, y - 11, 12, 12, fill, round=2)
        d.text(MARGIN + 20, y, head, 13, bold=True)
        y += 19
        y = d.lines(MARGIN + 20, y, lines, 13, "f") + 8
    return (
        d,
        "The generic proxy, the async proxy and tensor memory: who writes where, and what orders it",
        (
            "Threads reach global and shared memory through the generic proxy; TMA, bulk copies and the tensor "
            "core's operands go "
            "through the async proxy to the same memories; only tcgen05 reaches tensor memory, which belongs to "
            "no proxy. From "
            "generic stores to async reads it takes fence.proxy.async; from async writes to others their completion."
        ),
    )


def compare(d, y, heads, rows, label=108):
    """A table: rows of a label and a cell a column; cells are lists of lines, with a class of fill or None."""
    wide = (d.width - 2 * MARGIN - label) / len(heads)
    for i, (name, sub) in enumerate(heads):
        x = MARGIN + label + i * wide
        d.text(x + wide / 2, y + 14, name, 14, "t", "middle", bold=True, room=wide)
        d.text(x + wide / 2, y + 31, sub, 12, "f", "middle", room=wide)
    y += 42
    for name, cells in rows:
        high = 14 + 17 * max(len(lines) for _, lines in cells)
        for j, part in enumerate(name.split("|")):
            d.text(MARGIN, y + 20 + 16 * j, part, 13, "t" if not j else "f", bold=not j)
        for i, (fill, lines) in enumerate(cells):
            d.box(MARGIN + label + i * wide + 3, y, wide - 6, high - 4, lines, fill or "panel", 13)
        y += high + 4
    return y


@figure("hopper-blackwell")
def hopper_blackwell(runs):
    last = [x for x in runs.prints("04_pair_umma") if "UMMAs of" in x][0]
    shape = last.split("UMMAs of ")[1].split(" ")[0]
    d = Drawing(540)
    y = d.heading(
        "Who issues, and who holds the accumulator",
        "PTX ISA 9.7.15 (wgmma), 9.7.16 (tcgen05); shape of a pair's UMMA: step 04",
    )
    y = compare(
        d,
        y + 4,
        [("Hopper", "wgmma"), ("Blackwell", "tcgen05.mma")],
        [
            ("issued by", [("c8", ["a warpgroup: 128 threads"]), ("c2", ["one thread"])]),
            ("for", [(None, ["one CTA"]), (None, ["one CTA, or a pair of two"])]),
            ("A from", [(None, ["shared memory", "or registers"]), (None, ["shared memory", "or tensor memory"])]),
            ("B from", [(None, ["shared memory"]), (None, ["shared memory; of a pair,", "half in each CTA"])]),
            ("D in", [("c8", ["registers of the 128", "threads"]), ("c4", ["tensor memory,", "allocated by a warp"])]),
            ("largest|f16 shape", [(None, ["64x256x16"]), (None, ["128x256x16,", "%s of a pair" % shape])]),
            (
                "complete",
                [
                    (None, ["wgmma.commit_group,", "wait_group of the issuers"]),
                    (None, ["tcgen05.commit to an", "mbarrier: anybody waits"]),
                ],
            ),
            (
                "epilogue",
                [
                    (None, ["has D in registers;", "the issuers wait for it"]),
                    (None, ["tcgen05.ld by other", "warps, beside the MMAs"]),
                ],
            ),
            ("registers", [(None, ["moved to the MMA warps", "by setmaxnreg"]), (None, ["nothing to move: step 05"])]),
        ],
    )
    d.wrap(
        MARGIN,
        y + 16,
        "The operands come in the same way: TMA into swizzled shared memory, mbarriers with expect_tx. The result has "
        "moved, out of the registers of the threads that issue.",
    )
    return (
        d,
        "Hopper's wgmma beside Blackwell's tcgen05.mma",
        (
            "Hopper: a warpgroup of 128 threads issues, A comes from shared memory or registers, B from shared "
            "memory, D is in the "
            "registers of the issuing threads, and they wait for it. Blackwell: one thread issues for a CTA or a "
            "pair, A comes from "
            "shared or tensor memory, D is in tensor memory, a commit arrives on an mbarrier, and other warps read D "
            "with tcgen05.ld."
        ),
    )


GENERATIONS = [
    ("Volta", "wmma, mma.sync", "a warp, 32 threads", "registers", "registers", "registers", "the warp: synchronous"),
    (
        "Ampere",
        "mma.sync, cp.async",
        "a warp, 32 threads",
        "registers",
        "registers",
        "registers",
        "copies asynchronous, MMA not",
    ),
    (
        "Hopper",
        "wgmma, TMA",
        "a warpgroup, 128",
        "SMEM or registers",
        "SMEM",
        "registers",
        "wait_group, by the issuers",
    ),
    ("Blackwell", "tcgen05.mma", "one thread", "SMEM or TMEM", "SMEM", "TMEM", "an mbarrier, by a commit"),
    (
        "Blackwell, pair",
        "cta_group::2",
        "one thread of the pair",
        "SMEM or TMEM",
        "SMEM, half each",
        "TMEM of both",
        "mbarriers of both CTAs",
    ),
]


@figure("mma-generations")
def mma_generations(runs):
    d = Drawing(540)
    y = d.heading(
        "From registers to tensor memory: where A, B and D are",
        "PTX ISA 9.7.14 (wmma, mma), 9.7.15 (wgmma), 9.7.16 (tcgen05)",
    )
    said = []
    for name, opcode, issuer, a, b, result, waits in GENERATIONS:
        d.rect(MARGIN, y, 512, 100, "panel")
        d.text(MARGIN + 10, y + 21, name, 14, bold=True)
        d.text(MARGIN + 148, y + 21, opcode, 13, "f", mono=True)
        few = "thread of" in issuer or issuer == "one thread"
        d.box(MARGIN + 10, y + 32, 160, 58, ["issued by", issuer], "c2" if few else "c0", 13)
        for i, (what, where) in enumerate((("A", a), ("B", b), ("D", result))):
            fill = "c8" if where == "registers" else "c4" if "TMEM" in where and what == "D" else "c7"
            x = MARGIN + 178 + i * 110
            d.box(x, y + 32, 106, 32, [], fill)
            size = 12 if width_of("%s: %s" % (what, where), 12) < 104 else 10
            text = "%s: %s" % (what, where)
            if size == 12:
                d.text(x + 53, y + 52, text, 12, "i" + fill[1:], "middle", room=106)
            else:
                head, tail = text.rsplit(" ", 1) if "half" not in text else (text.split(",")[0] + ",", "half each")
                d.text(x + 53, y + 46, head, 12, "i" + fill[1:], "middle", room=106)
                d.text(x + 53, y + 60, tail, 12, "i" + fill[1:], "middle", room=106)
        d.text(MARGIN + 178, y + 83, "waits: " + waits, 13, "t", room=330)
        said.append(
            "%s (%s): issued by %s; A in %s, B in %s, D in %s; waits: %s." % (name, opcode, issuer, a, b, result, waits)
        )
        y += 108
    y = d.legend(MARGIN, y + 14, [("c8", "registers"), ("c7", "shared memory, SMEM"), ("c4", "tensor memory, TMEM")])
    return d, "Generations of the matrix instruction: who issues, where A, B and D are, who waits", " ".join(said)
