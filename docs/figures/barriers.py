"""barriers.py - figures of mbarriers: phases, parities, pending arrivals, transaction counts."""

from book import figure
from runs import ARRIVE, COMPLETE_TX, EXPECT_TX, PHASE, SYNC
from svg import MARGIN, Drawing
from timelines import Axis, waits


def changes(c, name, rank):
    """The events that change an mbarrier: arrivals, expectations, bytes, completed phases."""
    return [e for e in c.about(name, rank) if e["class"] == SYNC and e["kind"] in (ARRIVE, EXPECT_TX, COMPLETE_TX, PHASE)]


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
    y = d.heading("The life of an mbarrier: two phases of `full`", "CTA 0 in a run of step 03; cycles of the model's clock")
    axis = Axis(d, 104, 420, first, last)
    axis.ticks(y + 10, 1000, y + 268)
    y += 22
    names = (("phase", "its parity"), ("pending", "arrivals"), ("tx-count", "bytes to come"), ("", ""), ("wait", "of the CTA's"), )
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
    d.wrap(MARGIN, y + 4, "arrive.expect_tx adds %s to the tx-count and arrives: 0 arrivals pending. Each copy takes its bytes off. "
           "At 0 and 0 the phase is complete: the next one begins by itself, with 1 arrival pending and the other parity."
           % "{:,}".format(most))
    return d, "Phases, parity, pending arrivals and transaction count of an mbarrier over time", (
        "The barrier full of CTA 0. " + " ".join(
            "Phase %d: at cycle %.0f expect_tx of %d bytes and the one arrival; %d copies take their bytes off; complete at "
            "cycle %.0f." % (n, next(e for e in events if e["phase"] == n and e["kind"] == EXPECT_TX)["cycle"], most,
                             sum(e["phase"] == n and e["kind"] == COMPLETE_TX for e in events), ends[n]) for n in (0, 1)))


def early(c):
    """(rank, events of one phase) of `full` where most bytes came before they were announced."""
    best = None
    for rank in range(16):
        for phase in range(1, 4):
            mine = [e for e in changes(c, "full", rank) if e["phase"] == phase]
            low = min((e["tx"] for e in mine), default=0)
            if mine and (best is None or low < best[0]):
                best = low, rank, mine
    return best[1:]


@figure("mbarrier-early-bytes", timed=True)
def early_bytes(runs):
    c = runs.log("03_tma_multicast", schedule="lazy").clusters[0]
    rank, events = early(c)
    most = max(abs(e["tx"]) for e in events)
    d = Drawing(540)
    y = d.heading("Bytes may come before they are announced", "phase %d of `full` of CTA %d, step 03 with --schedule=lazy, event by event" % (
        events[0]["phase"], rank))
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
    d.wrap(MARGIN, y + 20, "The tx-count may be negative for a while. The phase cannot complete then: one arrival, the CTA's own "
           "with its expect_tx, is still pending.")
    return d, "Bytes that come before their expect_tx make the transaction count negative", "; ".join(said) + "."
