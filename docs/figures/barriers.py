"""barriers.py - figures of mbarriers: phases, parities, pending arrivals, transaction counts."""

from book import figure
from runs import ARRIVE, COMPLETE_TX, EXPECT_TX, PHASE, SYNC, claim
from svg import MARGIN, Drawing
from timelines import Axis, waits

EARLY = "pct:1,3"  # a schedule under which copies overtake the thread that announces them


def changes(c, name, rank):
    """The events that change an mbarrier: arrivals, expectations, bytes, completed phases."""
    return [
        e for e in c.about(name, rank) if e["class"] == SYNC and e["kind"] in (ARRIVE, EXPECT_TX, COMPLETE_TX, PHASE)
    ]


def stairs(d, axis, y, high, steps, most, fill):
    """Bars from step to step: [(from, to, value)]."""
    for begin, end, value in steps:
        if value > 0:
            tall = high * value / most
            d.rect(axis.at(begin), y + high - tall, (end - begin) * axis.scale, tall, fill, None, round=0)
    d.line([(axis.x, y + high), (axis.x + axis.wide, y + high)], "e", thick=1)


@figure("mbarrier-phases", timed=True)
def phases(runs):
    c = runs.log("03_tma_multicast", schedule="model").clusters[0]
    events = [e for e in changes(c, "full", 0) if e["phase"] < 2 or e["kind"] == EXPECT_TX and e["phase"] == 2]
    ends = [e["cycle"] for e in events if e["kind"] == PHASE]
    first, last = events[0]["cycle"] - 150, events[-1]["cycle"] + 150
    most = max(e["tx"] for e in events)
    d = Drawing(540)
    y = d.heading(
        "The life of an mbarrier: two phases of `full`", "CTA 0 in a run of step 03; cycles of the model clock"
    )
    axis = Axis(d, 104, 420, first, last)
    axis.ticks(y + 10, 1000, y + 268)
    y += 22
    names = (
        ("phase", "its parity"),
        ("pending", "arrivals"),
        ("tx-count", "bytes to come"),
        ("", ""),
        ("wait", "of the CTA's"),
    )
    for (name, more), at in zip(names, (0, 46, 92, 0, 216)):
        d.text(MARGIN, y + at + 14, name, 13, bold=True)
        d.text(MARGIN, y + at + 30, more, 12, "f")
    d.text(MARGIN, y + 262, "one thread", 12, "f", free=True)
    begin = first
    for n, end in enumerate(ends + [last]):
        axis.bar(y, begin, end, ("c5", "c6")[n % 2], "phase %d, parity %d" % (n, n % 2) if n < 2 else None, 30, 13)
        begin = end
    pending, tx = [], []
    for e, following in zip([dict(events[0], cycle=first, pending=1, tx=0)] + events, events + [{"cycle": last}]):
        left = 1 if e["kind"] == PHASE else e["pending"]
        pending.append((e["cycle"], following["cycle"], left))
        tx.append((e["cycle"], following["cycle"], e["tx"]))
    stairs(d, axis, y + 46, 30, pending, 1, "c3")
    stairs(d, axis, y + 92, 104, tx, most, "c1")
    for n in 0, 1:
        mine = [e for e in events if e["phase"] == n]
        at = next(e for e in mine if e["kind"] == EXPECT_TX)["cycle"]
        d.text(axis.at(at) + 5, y + 106, "{:,}".format(most), 12, "i1")
        copies = [e for e in mine if e["kind"] == COMPLETE_TX]
        d.text(axis.at(at) + 5, y + 172, "%d copies bring" % len(copies), 12, "i1")
        d.text(axis.at(at) + 5, y + 188, "{:,} or {:,}".format(*sorted({e["value"] for e in copies})), 12, "i1")
    for n, (begin, end) in enumerate(waits(c, 0, 0, "full")[:2]):
        axis.bar(y + 216, begin, end, "c0", "parity %d" % (n % 2), 26)
    y = d.legend(MARGIN, y + 296, [("c3", "1 arrival pending"), ("c1", "tx-count"), ("c0", "waiting for this parity")])
    d.wrap(
        MARGIN,
        y + 4,
        "arrive.expect_tx adds %s to the tx-count and arrives: 0 arrivals pending. Each copy takes its bytes off. "
        "At 0 and 0 the phase is complete: the next one begins by itself, with 1 arrival pending and the other parity."
        % "{:,}".format(most),
    )
    return (
        d,
        "Phases, parity, pending arrivals and transaction count of an mbarrier over time",
        (
            "The barrier full of CTA 0. "
            + " ".join(
                "Phase %d: at cycle %.0f expect_tx of %d bytes and the one arrival; %d copies take their bytes off; "
                "complete at "
                "cycle %.0f."
                % (
                    n,
                    next(e for e in events if e["phase"] == n and e["kind"] == EXPECT_TX)["cycle"],
                    most,
                    sum(e["phase"] == n and e["kind"] == COMPLETE_TX for e in events),
                    ends[n],
                )
                for n in (0, 1)
            )
        ),
    )


def early(c):
    """The events of that phase of `full` of CTA 0 in which most bytes came before they were announced."""
    phases = [[e for e in changes(c, "full", 0) if e["phase"] == n] for n in range(4)]
    return min(phases, key=lambda mine: min(e["tx"] for e in mine))


@figure("mbarrier-early-bytes", timed=True)
def early_bytes(runs):
    c = runs.log("03_tma_multicast", schedule=EARLY).clusters[0]
    events = early(c)
    most = max(abs(e["tx"]) for e in events)
    d = Drawing(540)
    y = d.heading(
        "Bytes may come before they are announced",
        "phase %d of `full` of CTA 0, event by event: step 03 with --schedule=%s" % (events[0]["phase"], EARLY),
    )
    d.text(MARGIN, y + 12, "event", 12, "f")
    d.text(266, y + 12, "pending", 12, "f", "middle")
    d.text(400, y + 12, "tx-count", 12, "f", "middle")
    zero, scale = 372, 84 / most
    y += 22
    top = y
    said = []
    for e in events:
        if e["kind"] == ARRIVE:
            what = "CTA %d arrives" % e["rank"]
        elif e["kind"] == EXPECT_TX:
            what = "CTA %d expects %s" % (e["rank"], "{:,}".format(e["value"]))
        elif e["kind"] == PHASE:
            what = "the phase is complete"
        else:
            what = "a copy of CTA %d: %s" % (e["rank"], "{:,}".format(e["value"]))
        bold = e["kind"] in (PHASE, EXPECT_TX)
        d.text(MARGIN, y + 15, what, 13, bold=bold)
        if e["kind"] != PHASE:
            d.text(266, y + 15, str(e["pending"]), 13, anchor="middle")
            wide = abs(e["tx"]) * scale
            if wide:
                d.rect(zero if e["tx"] > 0 else zero - wide, y + 2, wide, 17, "c1" if e["tx"] > 0 else "c8", round=0)
            d.text(526, y + 15, "{:,}".format(e["tx"]), 12, "t", "end")
        said.append("%s%s" % (what, "" if e["kind"] == PHASE else ", tx-count %d" % e["tx"]))
        y += 23
    d.line([(zero, top), (zero, y)], "e", thick=1)
    d.wrap(
        MARGIN,
        y + 20,
        "The tx-count may be negative for a while. The phase cannot complete then: one arrival, the CTA's own "
        "with its expect_tx, is still pending.",
    )
    return d, "Bytes that come before their expect_tx make the transaction count negative", "; ".join(said) + "."


@figure("mbarrier-parity", timed=True)
def parity(runs):
    c = runs.log("02_simple_umma", schedule="model").clusters[0]
    events = [e for e in changes(c, "done", 0) if e["kind"] in (ARRIVE, PHASE)]
    ends = [e["cycle"] for e in events if e["kind"] == PHASE]
    first, last = waits(c, 0, 0, "done")[0][0] - 1600, ends[-1] + 900
    d = Drawing(540)
    y = d.heading(
        "Phases, and the parity that a wait asks for",
        "`done` of CTA 0 in a run of step 02; cycles of the model clock",
    )
    axis = Axis(d, 104, 420, first, last)
    axis.ticks(y + 10, 2000, y + 196)
    y += 22
    for name, more, at in (
        ("phase", "its parity", 0),
        ("pending", "arrivals", 44),
        ("wait for", "parity 0", 92),
        ("wait for", "parity 1", 134),
    ):
        d.text(MARGIN, y + at + 13, name, 13, bold=True)
        d.text(MARGIN, y + at + 29, more, 12, "f")
    begin = first
    for n, end in enumerate(ends + [last]):
        axis.bar(y, begin, end, ("c5", "c6")[n % 2], "%d, parity %d" % (n, n % 2) if n < len(ends) else None, 28, 12)
        for p in 0, 1:
            waiting = n % 2 == p
            axis.bar(y + 92 + 42 * p, begin, end, "c0" if waiting else "c7", "waits" if waiting else "goes on", 28, 12)
        begin = end
    stairs(d, axis, y + 44, 28, [(a, b, 1) for a, b in zip([first] + ends, ends + [last])], 1, "c3")
    for n, end in enumerate(ends):
        d.line([(axis.at(end), y - 4), (axis.at(end), y + 166)], "k", thick=2)
        d.text(axis.at(end) - 5, y + 63, "commit", 12, "i3", "end")
    y = d.legend(MARGIN, y + 196, [("c3", "1 arrival pending"), ("c0", "the wait waits"), ("c7", "it returns at once")])
    d.wrap(
        MARGIN,
        y + 4,
        "A wait asks: is the last phase of this parity over? In phase 0 a wait for parity 1 returns at once, as if a "
        "phase before the first were over. K tile n waits for parity n & 1: right in phase n, and still right after "
        "it.",
    )
    return (
        d,
        "Phases of an mbarrier and what a wait for parity 0 and for parity 1 does in each",
        " ".join(
            "Phase %d ends at cycle %.0f with the commit's arrival; in it a wait for parity %d waits, a wait for "
            "parity %d returns "
            "at once." % (n, end, n % 2, 1 - n % 2)
            for n, end in enumerate(ends)
        ),
    )


@figure("free-commits")
def free_commits(runs):
    c = runs.log("03_tma_multicast").clusters[0]
    told = {
        rank: sorted(e["rank"] for e in changes(c, "free", rank) if e["kind"] == ARRIVE and e["phase"] == 0)
        for rank in range(16)
    }
    senders, side, gap = told[0], 62, 26
    claim(senders == [0, 1, 2, 3, 4, 8, 12], "the CTAs of row and column of CTA 0 commit to it")
    d = Drawing(540)
    y = d.heading(
        "From whom CTA 0 learns that its tiles have been read", "arrivals at `free` of CTA 0, phase 0, in a run of step 03"
    )
    x, y = 90, y + 34
    at = lambda rank: (x + rank // 4 * (side + gap), y + rank % 4 * (side - 14 + gap))
    for i in range(4):
        d.text(x + i * (side + gap) + side / 2, y + 4 * (side - 14 + gap) - 8, "y %d" % i, 12, "f", "middle")
        d.text(x + 4 * (side + gap) - 10, y + i * (side - 14 + gap) + 28, "x %d" % i, 12, "f")
    for rank in range(16):
        left, top = at(rank)
        d.box(
            left,
            top,
            side,
            side - 14,
            "CTA %d" % rank,
            "c2" if rank == 0 else "c3" if rank in senders else None,
            13,
            "e" if rank in senders else "g",
            ink=None if rank in senders else "f",
        )
    for rank in senders:
        left, top = at(rank)
        if 0 < rank < 4:  # those of the column: along its left side
            d.line(
                [
                    (left, top + 24),
                    (left - 8 * rank, top + 24),
                    (left - 8 * rank, y + 46 - 10 * rank),
                    (x - 2, y + 46 - 10 * rank),
                ],
                arrow=True,
            )
        elif rank:  # those of the row: over its top
            n = rank // 4
            d.line(
                [
                    (left + side / 2 - 6, top),
                    (left + side / 2 - 6, y - 18 - 7 * n),
                    (x + side - 8 * n, y - 18 - 7 * n),
                    (x + side - 8 * n, y - 2),
                ],
                arrow=True,
            )
    y += 4 * (side - 14 + gap) + 22
    counts = sorted({len(v) for v in told.values()})
    d.wrap(
        MARGIN,
        y,
        "%d commits: of the CTAs of its row, which have its slice of A, of those of its column, which have its slice "
        "of B, and its own. The other %d share no tile with it and never arrive. Every CTA hears of %s."
        % (len(senders), 16 - len(senders), " or ".join(map(str, counts))),
    )
    return (
        d,
        "The commits that arrive at the barrier free of CTA 0",
        (
            "In phase 0 the commits of CTAs %s arrive at free of CTA 0: %d arrivals. Those of the other %d CTAs "
            "never do." % (", ".join(map(str, senders)), len(senders), 16 - len(senders))
        ),
    )
