"""clusters.py - figures of clusters and pairs: who shares what, who hears of it, where CTAs run."""

import re

from book import figure
from svg import MARGIN, Drawing

A, B, COMMIT, EVEN, ODD = "c1", "c7", "c3", "c4", "c1"


def masks(lines):
    """{(x, y): (A, B, commit)} of the masks that step 03 or 04 prints, and the arrivals that free a tile."""
    found = {}
    for line in lines:
        m = re.match(r"    x (\d)  ([0-9a-f ]+)$", line)
        if m:
            words = m[2].split()
            side = len(words) // 3
            for y in range(side):
                found[int(m[1]), y] = tuple(int(words[i * side + y], 16) for i in range(3))
    arrivals = [line for line in lines if "arrivals that free a tile" in line][0]
    return found, arrivals.split(": ")[1]


def grid(d, x, y, mask, fill, me, side=34, pairs=False):
    """The CTAs of a 4 x 4 cluster, those of a mask filled, CTA `me` with a thick edge; y of the bottom."""
    for rank in range(16):
        left, top = x + rank // 4 * side, y + rank % 4 * side
        hit = mask >> rank & 1
        d.rect(left, top, side, side, fill if hit else None, "g" if not hit else "e", round=0)
        d.text(left + side / 2, top + side / 2 + 5, str(rank), 13, "i" + fill[1:] if hit else "f", "middle")
    if pairs:
        for pair in range(8):
            d.rect(
                x + pair // 2 * side + 1.5, y + pair % 2 * 2 * side + 1.5, side - 3, 2 * side - 3, None, "e", round=6
            )
    d.rect(x + me // 4 * side, y + me % 4 * side, side, side, None, "k", round=0, thick=3)
    return y + 4 * side


def mask_rows(d, y, found, ranks, pairs=False):
    """For each CTA three grids: whom its copies of A and of B reach, and on whose mbarrier its commit arrives."""
    columns = [(52, A, "A"), (222, B, "B"), (392, COMMIT, "commit")]
    for rank, said in ranks:
        d.text(MARGIN, y + 14, said, 14, bold=True)
        y += 38
        for (x, fill, name), mask in zip(columns, found[rank % 4, rank // 4]):
            d.text(x, y, "%s 0x%04x" % (name, mask), 13, mono=True)
            for i in range(4):
                d.text(x + 17 + i * 34, y + 19, "y%d" % i, 12, "f", "middle")
                if x < 100:
                    d.text(x - 24, y + 48 + i * 34, "x%d" % i, 12, "f")
            grid(d, x, y + 26, mask, fill, rank, pairs=pairs)
        y += 26 + 4 * 34 + 24
    return y


@figure("multicast-4x4")
def multicast(runs):
    found, arrivals = masks(runs.prints("03_tma_multicast"))
    d = Drawing(540)
    y = d.heading(
        "Three masks of a CTA: bit r is the CTA of rank r",
        "as step 03 prints them; x along M, y along N, rank = x + 4 y",
    )
    y = mask_rows(d, y, found, [(0, "CTA 0 = (x 0, y 0)"), (11, "CTA 11 = (x 3, y 2)")])
    d.wrap(
        MARGIN,
        y,
        "Thick: the CTA itself. Filled: the CTAs that get its slice of A, those that get its slice of B, and those "
        "on whose mbarrier its commit arrives. Arrivals that free a tile: %s." % arrivals,
    )
    a, b, c = found[0, 0]
    return (
        d,
        "Multicast masks in a cluster of 4 x 4 CTAs",
        (
            "Grids of 16 CTAs for CTA 0 and CTA 11. CTA 0: its slice of A goes to mask 0x%04x, the CTAs of the same "
            "x; its "
            "slice of B to 0x%04x, the CTAs of the same y; its commit to 0x%04x, all of these. %s arrivals free a tile."
            % (a, b, c, arrivals)
        ),
    )


@figure("pair-masks-4x4")
def pair_masks(runs):
    found, arrivals = masks(runs.prints("04_pair_umma"))
    d = Drawing(540)
    y = d.heading(
        "Masks of a pair: CTA 0 leads, CTA 1 is its peer", "as step 04 prints them; ranks 2 i and 2 i + 1 are a pair"
    )
    y = mask_rows(d, y, found, [(0, "CTA 0, even: the leader"), (1, "CTA 1, odd: it copies and never commits")], True)
    d.wrap(
        MARGIN,
        y,
        "Ovals: pairs. A goes to all CTAs of the same x; B to those of the same y whose x is as even or "
        "odd; a leader's commit to both CTAs of every pair that shares a half with its own. Arrivals that free a "
        "tile, one for each pair: %s." % arrivals,
    )
    return (
        d,
        "Masks of the CTA pairs of a 4 x 4 cluster",
        (
            "CTA 0: A 0x%04x, B 0x%04x, commit 0x%04x. CTA 1: A 0x%04x, B 0x%04x, no commit. A goes along the row, "
            "B to the "
            "CTAs of the column with the same parity of x, the leader's commit to both CTAs of all pairs that share "
            "a half "
            "of A or of B; %s arrivals free a tile." % (*found[0, 0], *found[1, 0][:2], arrivals)
        ),
    )


@figure("pair-halves")
def pair_halves(runs):
    lines = runs.prints("04_pair_umma")
    m = [re.match(r"  leader    expect_tx (\d+) = 2 CTAs x \(A (\d+) \+ B (\d+) bytes\)", x) for x in lines]
    total, a, b = (int(v) for v in next(filter(None, m)).groups())
    step3 = [re.search(r"expect_tx (\d+) = A (\d+) \+ B (\d+)", x) for x in runs.prints("03_tma_multicast")]
    alone = [int(v) for v in next(filter(None, step3)).groups()]
    d = Drawing(540)
    y = d.heading("One UMMA of 256 x 256: which CTA holds what", "bytes of a K tile as steps 03 and 04 print them")
    y += 14
    d.text(334, y, "B, 256 rows of 128 bytes (columns of D)", 13, anchor="middle")
    y += 10
    d.box(190, y, 144, 46, ["rows 0-127", "%d bytes" % b], EVEN, 13)
    d.box(334, y, 144, 46, ["rows 128-255", "%d bytes" % b], ODD, 13)
    y += 62
    d.text(MARGIN, y + 12, "A, 256 rows of 128 bytes", 13)
    y += 24
    for i, (fill, rows) in enumerate([(EVEN, "rows 0-127"), (ODD, "rows 128-255")]):
        top = y + i * 100
        d.box(MARGIN + 20, top, 124, 100, [rows, "%d bytes" % a], fill, 13)
        d.box(
            190,
            top,
            288,
            100,
            ["128 x 256 of D", "in the tensor memory of", "the %s CTA" % ("even", "odd")[i]],
            fill,
            14,
        )
    y += 224
    y = d.legend(MARGIN + 20, y, [(EVEN, "even CTA, the leader: issues for both"), (ODD, "odd CTA, its peer")])
    y += 8
    third = (sum(alone[1:]) - (a + b)) * 3 == sum(alone[1:])
    d.wrap(
        MARGIN,
        y,
        "In shared memory a CTA holds %d + %d = %d bytes for a K tile; in step 03, without a pair, %d + %d = %d for as "
        "large a part of D%s. The leader's barrier expects both halves: %d bytes."
        % (a, b, a + b, alone[1], alone[2], alone[0], ": a third less" if third else "", total),
    )
    return (
        d,
        "Which CTA of a pair holds which half of A, B and D",
        (
            "The even CTA holds rows 0 to 127 of A, rows 0 to 127 of B and the upper 128 rows of D; the odd CTA "
            "rows 128 to "
            "255 of A, rows 128 to 255 of B and the lower 128 rows of D. Each CTA keeps %d bytes of a K tile "
            "instead of %d." % (a + b, alone[0])
        ),
    )


@figure("cta-sm-gpc")
def cta_sm_gpc(runs):
    sizes = re.search(r"--gpc-sizes.*?default: ([\d,]+)", runs.emulate(["--help"]), re.S)[1].split(",")
    log = runs.log("03_tma_multicast")
    cluster = log.clusters[0]
    sms, size = cluster.data["sm"], int(sizes[0])
    d = Drawing(540)
    y = d.heading(
        "A cluster of 16 CTAs on the SMs of one GPC",
        "ranks and SMs of a run of step 03; the emulated GPU has %d SMs" % sum(int(s) for s in sizes),
    )
    d.rect(MARGIN, y, 512, 262, "panel")
    d.text(MARGIN + 10, y + 22, "GPC 0: %d SMs, neighbours on the chip" % size, 14, bold=True)
    for sm in range(size):
        left, top = MARGIN + 12 + sm % 5 * 99, y + 36 + sm // 5 * 55
        used = sm in sms
        d.rect(left, top, 92, 47, None, "e")
        d.text(left + 6, top + 16, "SM %d" % sm, 12, "f")
        if used:
            d.box(left + 6, top + 21, 80, 21, "CTA %d" % sms.index(sm), "c4", 13)
        else:
            d.text(left + 46, top + 37, "no CTA", 12, "f", "middle")
    y += 284
    d.text(MARGIN, y, "SMs of GPC 0 to %d:" % (len(sizes) - 1), 13, "f")
    for i, n in enumerate(sizes):
        d.box(MARGIN + 140 + i * 46, y - 16, 42, 24, n, "c4" if i == 0 else "panel", 13)
    y += 34
    for name, said in (
        ("CTA", "the threads that share one shared memory: on one SM"),
        ("cluster", "CTAs that run at the same time: within one GPC"),
        ("DSMEM", "distributed shared memory: each CTA reaches the others'"),
        ("rank", "a CTA's number in its cluster, %cluster_ctarank"),
    ):
        d.text(MARGIN, y, name, 13, bold=True)
        d.text(MARGIN + 72, y, said, 13)
        y += 21
    return (
        d,
        "CTA, SM, cluster and GPC",
        (
            "GPC 0 of the emulated GPU has %d SMs. The cluster of step 03 has its 16 CTAs on the SMs %s of it, one "
            "CTA an SM; "
            "the other SMs of the GPC are free. A cluster never crosses from one GPC to another. The GPCs have %s SMs."
            % (size, ", ".join(map(str, sms)), ", ".join(sizes))
        ),
    )


@figure("peer-bit")
def peer_bit(runs):
    rows = [re.match(r"    rank (\d), (\w+) +0x(\w+) +0x(\w+) +0x(\w+)", x) for x in runs.prints("04_pair_umma")]
    rows = [(int(r[1]), r[2], *(int(r[i], 16) for i in (3, 4, 5))) for r in rows if r]
    d = Drawing(540)
    y = d.heading("Clear bit 24, and a barrier's address is the leader's", "addresses of `full` as step 04 prints them")
    x = MARGIN + 4
    d.text(x + 62, y + 12, "bits 31-25", 12, "f", "middle")
    d.text(x + 148, y + 12, "24", 12, "f", "middle")
    d.text(x + 222, y + 12, "23-0: offset", 12, "f", "middle")
    d.text(x + 400, y + 12, "& 0xfeffffff", 12, "f", "middle", mono=True)
    y += 22
    for rank, parity, own, cleared, mapped in rows:
        d.text(x, y + 12, "rank %d, %s%s" % (rank, parity, ": a leader" if parity == "even" else ""), 13)
        y += 20
        d.box(x, y, 124, 28, format(own >> 25, "07b"), "panel", 13, mono=True)
        d.box(x + 128, y, 40, 28, str(own >> 24 & 1), COMMIT if own >> 24 & 1 else "c5", 13, mono=True)
        d.box(x + 172, y, 100, 28, "0x%06x" % (own & 0xFFFFFF), "panel", 13, mono=True)
        d.arrow(x + 280, y + 14, x + 330, y + 14)
        d.box(x + 340, y, 120, 28, "0x%08x" % cleared, "c4", 13, mono=True)
        y += 44
    agree = all(r[3] == r[4] for r in rows)
    d.wrap(
        MARGIN,
        y + 10,
        "Bits 24 and up are the CTA's rank. The CTAs of a pair differ in bit 0 of the rank, which is bit "
        "24 of the address." + (" `mapa` to the even rank gives the same addresses." if agree else ""),
    )
    return (
        d,
        "Bit 24 of a shared address chooses between the CTAs of a pair",
        (
            "Addresses of the barrier full in ranks 0 to 3: "
            + ", ".join("0x%08x becomes 0x%08x" % r[2:4] for r in rows)
            + " when bit 24 is cleared. Even ranks keep their own address, odd ranks get their leader's."
        ),
    )


def layout(lines):
    """[(first lane, last lane, even CTA, odd CTA)] and the columns, as step 04 prints the layout of its accumulator."""
    columns = [int(m[1]) for m in (re.search(r"TMEM +layout \w, (\d+) columns", x) for x in lines) if m][0]
    rows = [re.match(r" +lanes +(\d+)-(\d+) +(rows \S+, columns \S+) +(rows \S+, columns \S+)$", x) for x in lines]
    return columns, [(int(m[1]), int(m[2]), m[3], m[4]) for m in rows if m]


@figure("tmem-layout-m256-m128")
def tmem_layouts(runs):
    d = Drawing(540)
    y = d.heading(
        "The accumulator of a pair in tensor memory", "as step 04 prints it, with --mma-m 256 and with --mma-m 128"
    )
    said = []
    for letter, m, args in ("A", 256, ()), ("B", 128, ("--mma-m", "128")):
        columns, rows = layout(runs.prints("04_pair_umma", *args))
        d.text(MARGIN, y + 14, "Layout %s, M %d: %d columns a CTA" % (letter, m, columns), 14, bold=True)
        y += 26
        for cta, name in enumerate(("even CTA", "odd CTA")):
            x = MARGIN + 66 + cta * 230
            d.text(x, y + 12, name, 13)
            for first, last, *parts in rows:
                top, high = y + 20 + first * 1.1, (last - first + 1) * 1.1
                right = "columns 128" in parts[cta]
                d.box(
                    x,
                    top,
                    columns * 0.84,
                    high,
                    parts[cta].split(", "),
                    ("c4", "c1")[cta] if not right else ("c2", "c9")[cta],
                    13 if columns > 128 else 12,
                )
                if not cta:
                    d.text(MARGIN, top + 14, "lane %d" % first, 12, "f")
                    d.text(MARGIN, top + high - 4, "lane %d" % last, 12, "f")
        said.append(
            "Layout %s, M %d: " % (letter, m)
            + "; ".join("lanes %d to %d: even CTA %s, odd CTA %s" % row for row in rows)
            + "."
        )
        y += 20 + 141 + 14
    d.wrap(
        MARGIN,
        y + 6,
        "Layout B folds the tile: the right half of the columns is in lanes 64 to 127, in other colours "
        "here. A lane holds one row, and a column one cell of 32 bits of it.",
    )
    return d, "Layouts of the accumulator for M 256 and M 128", " ".join(said)


@figure("tma-box")
def tma_box(runs):
    log = runs.log("03_tma_multicast")
    cluster = log.clusters[0]
    head = next(filter(None, (re.search(r"M (\d+), N (\d+), K (\d+)", x) for x in runs.prints("03_tma_multicast"))))
    m, _, k = (int(v) for v in head.groups())
    copies = [o for o in cluster.ops if o["agent"] == 2 and o["n"] == o["leader"] and o["rank"] == 9]
    op = copies[2]  # A of its second K tile
    rows, columns = op["bytes"] // op["row"], op["row"] // 2  # f16 has two bytes
    x0, y0 = op["coord"][0], op["coord"][1]
    base = min(o["to_off"] for o in cluster.ops if o["agent"] == 2)
    receivers = sorted(o["to"] - 1 for o in cluster.ops if o["leader"] == op["n"])
    d = Drawing(540)
    y = d.heading(
        "A tensor copy: a box of a matrix, by its coordinates", "the second copy of A by CTA 9 in a run of step 03"
    )
    d.text(MARGIN, y + 12, "A in global memory: %d rows of %d f16" % (m, k), 13)
    gx, gy, sx, sy = MARGIN + 20, y + 24, 0.72, 0.5
    d.rect(gx, gy, k * sx, m * sy, "panel", round=0)
    for c in range(columns, k, columns):
        d.line([(gx + c * sx, gy), (gx + c * sx, gy + m * sy)], "g", thick=1)
    d.rect(gx + x0 * sx, gy + y0 * sy, columns * sx, rows * sy, A, "k", round=0)
    d.text(gx + (x0 + columns) * sx + 6, gy + y0 * sy + 12, "box: %d x %d" % (columns, rows), 13, free=True)
    d.text(gx + x0 * sx, gy + y0 * sy - 6, "{%d, %d}" % (x0, y0), 13, mono=True)
    tx, slice_at = 340, (op["to_off"] - base) // op["row"]
    d.text(tx, y + 12, "A's tile in shared memory", 13)
    d.rect(tx, gy, 120, 128, "panel", round=0)
    d.rect(tx, gy + slice_at, 120, rows, A, "k", round=0)
    for r in range(0, 129, 32):
        d.text(tx + 126, gy + r + (10 if r < 128 else 4), "row %d" % r, 12, "f")
    d.arrow(gx + (x0 + columns) * sx + 96, gy + (y0 + rows / 2) * sy, tx - 6, gy + slice_at + rows / 2)
    d.lines(
        tx,
        gy + 154,
        [
            "from offset 0x%x," % op["to_off"],
            "the same in CTAs",
            ", ".join(map(str, receivers)),
            "%d bytes each, swizzled" % op["bytes"],
        ],
        13,
        "t",
    )
    y = gy + m * sy + 26
    d.wrap(
        MARGIN,
        y,
        "The map holds the matrix's address, its sizes and strides, the box and the swizzle. The instruction "
        "names the map, the coordinates of the box's first element, {k, row}, where it goes, the mbarrier that its "
        "bytes "
        "are reported to, and the mask of the receivers.",
    )
    return (
        d,
        "A TMA copy: tensor map, box and coordinates",
        (
            "A is a matrix of %d rows and %d columns. CTA 9 copies the box of %d columns and %d rows at coordinates "
            "%d, %d to "
            "offset 0x%x of the shared memory of CTAs %s, %d bytes each."
            % (m, k, columns, rows, x0, y0, op["to_off"], ", ".join(map(str, receivers)), op["bytes"])
        ),
    )
