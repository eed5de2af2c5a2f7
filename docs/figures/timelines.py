"""timelines.py - figures of time: who does what when, on the model clock."""

from book import figure
from runs import BEGINS, EXPECT_TX, PHASE, SYNC, TENSOR_CORE, TENSOR_LDST, TMA, WAIT, claim
from svg import MARGIN, Drawing

TILES = ["c1", "c7", "c4", "c3"]  # tile after tile
FOUR_TILES = ("05_persistent_warpspec", "--m", "512", "--n", "512", "--k", "1024", "--clusters", "1")


class Axis:
    """Cycles from `first` to `last` as pixels from x on."""

    def __init__(self, d, x, wide, first, last):
        self.d, self.x, self.first, self.scale = d, x, first, wide / (last - first)
        self.last, self.wide = last, wide

    def at(self, cycle):
        return self.x + (cycle - self.first) * self.scale

    def ticks(self, y, step, bottom):
        """Lines every `step` cycles down to `bottom`, with their numbers at y; drawn first, below everything."""
        c = -(-self.first // step) * step
        while c <= self.last:
            self.d.line([(self.at(c), y + 5), (self.at(c), bottom)], "g", thick=1)
            if self.at(c) + 24 < self.d.width:
                self.d.text(self.at(c), y, "{:,}".format(int(c)), 12, "f", "middle")
            c += step

    def bar(self, y, begin, end, fill, text=None, high=20, size=12):
        """From one cycle to another; its text where it has room."""
        x, wide = self.at(begin), max(1.0, (end - begin) * self.scale)
        self.d.rect(x, y, wide, high, fill, "e", round=2)
        if text and wide > 7.5 * len(text):
            self.d.text(x + wide / 2, y + high / 2 + 4.5, text, size, "i" + fill[1:], "middle")


def spans(c, ops):
    """[(begin, end)] of operations, those that touch joined."""
    found = []
    for begin, end in sorted((c.cycle(o["started"]), c.cycle(o["completed"])) for o in ops):
        if found and begin <= found[-1][1] + 1:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def tiles(c, rank=0):
    """The UMMAs of a CTA, tile by tile: one that does not accumulate begins a tile."""
    found = []
    for o in c.ops:
        if o["agent"] == TENSOR_CORE and o["rank"] == rank:
            if not o["accumulate"]:
                found.append([])
            found[-1].append(o)
    return found


def waits(c, rank, warp, name=None):
    """[(begin, end)] of a warp's waits, for an object of this name."""
    wanted = c.object(name, rank) if name else None
    found, begun = [], None
    for e in c.events:
        if e["class"] == WAIT and e["rank"] == rank and e["warp"] == warp and wanted in (None, e["object"]):
            if e["kind"] == BEGINS:
                begun = e["cycle"]
            elif begun is not None:
                found.append((begun, e["cycle"]))
                begun = None
    return found


@figure("async-umma", timed=True)
def async_umma(runs):
    log = runs.log("02_simple_umma")
    c = log.clusters[0]
    work = [o for o in c.ops if o["agent"] == TENSOR_CORE][:4]
    commit = next(o for o in c.ops if o["name"] and log.text[o["name"]] == "tcgen05.commit")
    issued = [c.cycle(o["issued"]) for o in work]
    done = next(e["cycle"] for e in c.about("done") if e["class"] == SYNC and e["kind"] == PHASE)
    wait = waits(c, 0, 0, "done")[0]
    first, last = issued[0] - 60, wait[1] + 120
    d = Drawing(540)
    y = d.heading(
        "One thread issues, and waits for the commit",
        "the first K tile of a run of step 02; cycles of the model clock",
    )
    axis = Axis(d, 124, 396, first, last)
    bottom = y + 212
    axis.ticks(y + 10, 100 if last - first < 900 else 200, bottom)
    rows = [
        ("thread 0", "warp 0"),
        ("tensor core", "of the SM"),
        ("commit", "to `done`"),
        ("warps 1 to 3", "96 threads"),
    ]
    for i, (name, more) in enumerate(rows):
        d.text(MARGIN, y + 38 + i * 48, name, 13, bold=True)
        d.text(MARGIN, y + 54 + i * 48, more, 12, "f")
    top = y + 28
    shifts = [44 + i % 2 * 17 for i in range(4)]  # one begins before the last one's results are written
    for o, shift in zip(work, shifts):
        x = axis.at(c.cycle(o["issued"]))
        d.line([(x + 2, top + 22), (axis.at(c.cycle(o["started"])) + 2, top + shift)], thick=1)
        d.rect(x, top, 4, 22, "c2", "e", round=1)
    x = axis.at(c.cycle(commit["issued"]))
    d.line([(x + 2, top + 22), (x + 2, top + 118), (axis.at(done), top + 118)], "a", dash=True, thick=1)
    d.rect(x, top, 4, 22, "c3", "e", round=1)
    axis.bar(top, *wait, "c0", "waits for `done`, parity 0", 22)
    for i, (o, shift) in enumerate(zip(work, shifts)):
        axis.bar(top + shift, c.cycle(o["started"]), c.cycle(o["completed"]), "c2", "UMMA %d" % i, 16)
    d.rect(axis.at(done) - 3, top + 96, 6, 22, "c3", "e", round=1)
    d.text(axis.at(done) - 8, top + 112, "phase 0 complete", 12, anchor="end")
    (
        axis.bar(top + 144, *waits(c, 0, 1, "done")[0], "c0", "wait for `done`, too", 22)
        if waits(c, 0, 1, "done")
        else None
    )
    y = d.legend(MARGIN, bottom + 26, [("c2", "UMMA"), ("c3", "commit"), ("c0", "waiting")])
    d.wrap(
        MARGIN,
        y + 4,
        "The four UMMAs are issued within %.0f cycles and take the tensor core %.0f. The commit arrives at "
        "`done` when all of them are complete; nothing else says when the accumulator may be read."
        % (issued[-1] - issued[0], c.cycle(work[-1]["completed"]) - c.cycle(work[0]["started"])),
    )
    return (
        d,
        "One thread issues four UMMAs and waits for their commit",
        (
            "On the model clock: UMMAs issued at cycles %s, run by the tensor core from %.0f to %.0f; the commit "
            "completes "
            "phase 0 of the barrier done at %.0f, which ends the wait of thread 0."
            % (", ".join("%.0f" % v for v in issued), c.cycle(work[0]["started"]), c.cycle(work[-1]["completed"]), done)
        ),
    )


def role_bars(c, umma_tiles):
    """{role: [(begin, end, tile)]} of CTA 0: copies of A and B, UMMAs, the epilogue, copies of C."""
    found = {"load": [], "MMA": [], "C": [], "epilogue": []}
    per_tile = len(umma_tiles[0]) // 4 * 2  # copies of A and B
    ab = [o for o in c.ops if o["agent"] == TMA and o["rank"] == 0 and o["warp"] == 5]
    copies = [o for o in c.ops if o["agent"] == TMA and o["rank"] == 0 and o["warp"] == 6]
    for t, ops in enumerate(umma_tiles):
        found["MMA"] += [(b, e, t) for b, e in spans(c, ops)]
        mine = ab[t * per_tile : (t + 1) * per_tile]
        found["load"].append((min(c.cycle(o["issued"]) for o in mine), max(c.cycle(o["completed"]) for o in mine), t))
        mine = copies[t * len(copies) // len(umma_tiles) : (t + 1) * len(copies) // len(umma_tiles)]
        if mine:
            found["C"].append((min(c.cycle(o["issued"]) for o in mine), max(c.cycle(o["completed"]) for o in mine), t))
    reads = [o for o in c.ops if o["agent"] in (TENSOR_LDST, TMA) and o["rank"] == 0 and o["warp"] < 4]
    for t in range(len(umma_tiles)):
        mine = reads[t * len(reads) // len(umma_tiles) : (t + 1) * len(reads) // len(umma_tiles)]
        found["epilogue"].append(
            (min(c.cycle(o["issued"]) for o in mine), max(c.cycle(o["completed"]) for o in mine), t)
        )
    return found


@figure("roles-timeline", timed=True)
def roles(runs):
    c = runs.log(*FOUR_TILES, schedule="model").clusters[0]
    made = tiles(c)
    bars = role_bars(c, made)
    first = min(b[0] for row in bars.values() for b in row)
    last = max(b[1] for row in bars.values() for b in row)
    d = Drawing(540)
    y = d.heading(
        "The roles of a leader CTA, four tiles long",
        "a run of step 05: %d tiles, K %s; cycles of the model clock" % (len(made), FOUR_TILES[6]),
    )
    axis = Axis(d, 106, 414, first - 200, last + 200)
    bottom = y + 204
    axis.ticks(y + 10, 10000, bottom)
    said = {"load": "warp 5: A, B", "MMA": "warp 4", "C": "warp 6", "epilogue": "warps 0-3"}
    for i, name in enumerate(("load", "MMA", "C", "epilogue")):
        top = y + 24 + i * 46
        d.text(MARGIN, top + 12, name, 13, bold=True)
        d.text(MARGIN, top + 28, said[name], 12, "f")
        for begin, end, t in bars[name]:
            shift = 0 if name == "MMA" or t % 2 == 0 else 17  # loads of two tiles may overlap
            axis.bar(top + shift, begin, end, TILES[t], "tile %d" % t, 17 if name != "MMA" else 34)
    y = bottom + 24
    y = d.legend(MARGIN, y, [(TILES[t], "tile %d" % t) for t in range(len(made))])
    claim(
        all(bars["load"][t + 1][0] < joined(bars["MMA"])[t][1] for t in (0, 1)) and overlap(bars, 1, 0) > 0,
        "loads are ahead and the epilogue of tile 0 runs beside the UMMAs of tile 1",
    )
    busy = sum(e - b for b, e, _ in bars["MMA"])
    whole = bars["MMA"][-1][1] - bars["MMA"][0][0]
    d.wrap(
        MARGIN,
        y + 4,
        "Loads run ahead of the UMMAs; the UMMAs of tile %d run while the epilogue works "
        "on tile %d. From its first UMMA to its last the tensor core is busy %.0f%% of the time."
        % (1, 0, 100 * busy / whole),
    )
    return (
        d,
        "Who works on which tile when, in a CTA of step 05",
        "; ".join(
            "%s: %s"
            % (name, ", ".join("tile %d from cycle %.0f to %.0f" % (t, b, e) for b, e, t in joined(bars[name])))
            for name in bars
        )
        + ".",
    )


def overlap(bars, mma, epilogue):
    """Cycles during which the UMMAs of one tile run beside the epilogue of another."""
    spans_of = [next(s for s in joined(bars[r]) if s[2] == t) for r, t in (("MMA", mma), ("epilogue", epilogue))]
    return min(s[1] for s in spans_of) - max(s[0] for s in spans_of)


def joined(bars):
    """One span a tile."""
    return [
        (min(b for b, _, u in bars if u == t), max(e for _, e, u in bars if u == t), t)
        for t in sorted({t for _, _, t in bars})
    ]


@figure("accumulators", timed=True)
def accumulators(runs):
    c = runs.log(*FOUR_TILES, schedule="model").clusters[0]
    made = tiles(c)
    full, empty = {}, {}
    for i in 0, 1:
        for kept, name in (full, "acc_full[%d]" % i), (empty, "acc_empty[%d]" % i):
            for e in c.about(name):
                if e["class"] == SYNC and e["kind"] == PHASE:
                    kept[2 * e["phase"] + i] = e["cycle"]
    begin = [c.cycle(ops[0]["started"]) for ops in made]
    last = max(empty.values())
    d = Drawing(540)
    y = d.heading(
        "Two accumulators: one is filled while the other is read",
        "columns of tensor memory in a run of step 05; cycles of the model clock",
    )
    axis = Axis(d, 118, 402, begin[0] - 400, last + 200)
    bottom = y + 128
    axis.ticks(y + 10, 10000, bottom)
    for i in 0, 1:
        top = y + 26 + i * 52
        d.text(MARGIN, top + 14, "accumulator %d" % i, 13, bold=True)
        low, high = next((n[1], n[2]) for n in c.names["tmem"] if n[0] == 0 and n[3] == "D %d" % i)
        d.text(MARGIN, top + 30, "columns %d-%d" % (low, high - 1), 12, "f")
        for t in range(i, len(made), 2):
            axis.bar(top, begin[t], full[t], "c2", "fill %d" % t, 34)
            axis.bar(top, full[t], empty[t], "c4", "read %d" % t, 34)
    y = d.legend(MARGIN, bottom + 24, [("c2", "UMMAs fill tile n"), ("c4", "the epilogue reads tile n")])
    claim(
        all(begin[t + 2] >= empty[t] for t in range(len(made) - 2)), "an accumulator is read before it is overwritten"
    )
    hidden = [min(full[t + 1], empty[t]) - full[t] for t in range(len(made) - 1)]
    d.wrap(
        MARGIN,
        y + 4,
        "From the commit that fills acc_full to the last arrival on acc_empty an accumulator belongs to the "
        "epilogue. While tile 0 is read, %.0f cycles of tile 1's products go into the other one; tile 2 begins in the "
        "first when it has been read." % max(0, hidden[0]),
    )
    return (
        d,
        "Two accumulators, filled and read in turns",
        "; ".join(
            "tile %d in accumulator %d: filled from cycle %.0f to %.0f, read until %.0f"
            % (t, t % 2, begin[t], full[t], empty[t])
            for t in range(len(made))
        )
        + ".",
    )


def stage_rounds(c, stage):
    """[(copies begin, full, empty)] of a stage of the ring in CTA 0, round by round."""
    full = [e for e in c.about("full[%d]" % stage) if e["class"] == SYNC and e["kind"] == PHASE]
    empty = [e for e in c.about("empty[%d]" % stage) if e["class"] == SYNC and e["kind"] == PHASE]
    promise = [e for e in c.about("full[%d]" % stage) if e["class"] == SYNC and e["kind"] == EXPECT_TX]
    return [(p["cycle"], f["cycle"], e["cycle"]) for p, f, e in zip(promise, full, empty)]


@figure("ring", timed=True)
def ring(runs):
    c = runs.log(
        "05_persistent_warpspec", "--m", "256", "--n", "256", "--k", "960", "--clusters", "1", schedule="model"
    ).clusters[0]
    stages = sum(1 for o, name in zip(c.objects, c.names["objects"]) if name.startswith("full[") and not o["rank"])
    rounds = [stage_rounds(c, s) for s in range(stages)]
    first, last = rounds[0][0][0], max(r[-1][2] for r in rounds)
    d = Drawing(540)
    y = d.heading(
        "A ring of %d stages: filled, read, filled again" % stages,
        "the K loop of one tile in step 05; cycles of the model clock",
    )
    axis = Axis(d, 74, 450, first - 100, last + 100)
    bottom = y + 22 + stages * 34
    axis.ticks(y + 10, 2000, bottom)
    for s in range(stages):
        top = y + 24 + s * 34
        d.text(MARGIN, top + 17, "stage %d" % s, 13, bold=True)
        for n, (promise, full, empty) in enumerate(rounds[s]):
            axis.bar(top, promise, full, "c1", str(n * stages + s), 26)
            axis.bar(top, full, empty, "c2", str(n * stages + s), 26)
    y = d.legend(
        MARGIN, bottom + 24, [("c1", "being filled: expect_tx to `full`"), ("c2", "full: UMMAs read, to `empty`")]
    )
    y += 8
    d.text(MARGIN, y, "round", 13, "f")
    for n in range(len(rounds[0])):
        d.text(MARGIN + 250 + n * 90, y, str(n), 13, "f")
    for row, (who, shift) in enumerate((("MMA waits for `full`, parity", 0), ("load waits for `empty`, parity", 1))):
        d.text(MARGIN, y + 22 + row * 20, who, 13)
        for n in range(len(rounds[0])):
            d.text(MARGIN + 250 + n * 90, y + 22 + row * 20, str(n + shift & 1), 13, bold=True)
    y += 66
    d.wrap(
        MARGIN,
        y,
        "The number in a bar is the K tile. Both roles go round the same ring and flip their parity at its end. The "
        "load begins with 1: the phase before the first counts as over, so the first round waits for nobody.",
    )
    return (
        d,
        "A ring of %d stages in time" % stages,
        " ".join(
            "Stage %d: %s."
            % (
                s,
                "; ".join(
                    "K tile %d filled from %.0f to %.0f, read until %.0f" % (n * stages + s, *r)
                    for n, r in enumerate(rounds[s])
                ),
            )
            for s in range(stages)
        ),
    )
