"""threads.py - figures of warps: converged, elected, a warpgroup and its windows."""

import re

from book import figure
from memory import windows
from runs import Failed
from svg import MARGIN, Drawing

ROLE = ["c1", "c7", "c4", "c3"]


def lanes_of(log, cluster, pattern, rank=0, warp=0):
    """(instruction, lanes) of the first event of a warp at an instruction of this kind."""
    for e in cluster.events:
        site = cluster.site(e)
        if site and e["rank"] == rank and e["warp"] == warp and not e["op"]:
            text = log.text[site["text"]]
            if re.search(pattern, text):
                return text, e["lanes"]
    raise Failed("no instruction matches %r" % pattern)


@figure("converged")
def converged(runs):
    log = runs.log("03_tma_multicast")
    c = log.clusters[0]
    rows = [
        ("tcgen05.alloc ... .sync.aligned", r"^tcgen05\.alloc"),
        ("mbarrier.init, after elect.sync", r"mbarrier\.init"),
        ("__syncwarp(): the others wait", r"(bar\.warp\.sync|elect)"),
        ("arrive.expect_tx, in the K loop", r"arrive\.expect_tx"),
        ("tcgen05.ld ... .sync.aligned", r"tcgen05\.ld"),
        ("tcgen05.dealloc ... .sync.aligned", r"tcgen05\.dealloc"),
    ]
    d = Drawing(540)
    y = d.heading(
        "A warp: 32 lanes, together or one for all", "warp 0 of CTA 0 in a run of step 03: which lanes execute what"
    )
    said = []
    d.text(MARGIN, y + 12, "lane 0", 12, "f")
    d.text(526, y + 12, "31", 12, "f", "end")
    y += 20
    for name, pattern in rows:
        if "others" in name:  # the lanes that were not elected
            lanes = next(
                e["lanes"]
                for e in c.events
                if e["class"] == 2 and e["rank"] == 0 and e["warp"] == 0 and bin(e["lanes"]).count("1") == 31
            )
        else:
            lanes = lanes_of(log, c, pattern)[1]
        count = bin(lanes).count("1")
        fill = "c0" if "wait" in name else "c2" if count == 32 else "c1"
        for lane in range(32):
            d.rect(
                MARGIN + lane * 16,
                y,
                14,
                18,
                fill if lanes >> lane & 1 else None,
                "e" if lanes >> lane & 1 else "g",
                round=2,
            )
        d.text(MARGIN, y + 36, name, 13, mono=True)
        d.text(526, y + 36, "%d lane%s" % (count, "" if count == 1 else "s"), 13, "f", "end")
        said.append("%s: %d lanes" % (name, count))
        y += 52
    y = d.legend(MARGIN, y + 8, [("c2", "all lanes: converged"), ("c1", "one, elected"), ("c0", "waiting")])
    d.wrap(
        MARGIN,
        y + 4,
        "Converged: all lanes of the warp are at the same instruction and execute it together. .sync waits for "
        "the lanes, .aligned promises that they all come. elect.sync picks one of a converged warp, and "
        "__syncwarp() brings them together again.",
    )
    return d, "A converged warp, elect.sync, and together again", "; ".join(said) + "."


@figure("warpgroup")
def warpgroup(runs):
    rows, _, _ = windows(runs)
    d = Drawing(540)
    y = d.heading("A warpgroup: four warps reach all 128 lanes", "windows of tensor memory as step 01 prints them")
    d.text(MARGIN, y + 12, "warpgroup 0: 0-127", 13, bold=True)
    d.text(270, y + 12, "tensor memory", 13, anchor="middle", bold=True)
    d.text(526, y + 12, "warpgroup 1: 128-255", 13, anchor="end", bold=True)
    y += 24
    for i, (first, last, a, b) in enumerate(rows):
        top = y + i * 58
        d.box(MARGIN, top, 132, 50, ["warp %d" % a, "threads %d-%d" % (a * 32, a * 32 + 31)], ROLE[i], 13)
        d.box(200, top, 140, 50, ["lanes %d-%d" % (first, last)], ROLE[i], 13)
        d.box(394, top, 132, 50, ["warp %d" % b, "threads %d-%d" % (b * 32, b * 32 + 31)], ROLE[i], 13)
        d.arrow(150, top + 25, 196, top + 25)
        d.arrow(390, top + 25, 344, top + 25)
    y += 4 * 58 + 18
    d.wrap(
        MARGIN,
        y,
        "A warpgroup is four warps in a row whose first has a number that 4 divides. Warp w reaches the lanes from "
        "32 (w mod 4) on: with 32x32b thread t of a warpgroup has lane t, a row of the accumulator.",
    )
    return (
        d,
        "A warpgroup and the lanes of tensor memory that its warps reach",
        "; ".join("lanes %d to %d: warps %d and %d" % r for r in rows) + ".",
    )
