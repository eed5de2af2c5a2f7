"""reference.py - how barriers, stages, tensor memory, warps and engines of a logged cluster stand after every event.

Told from the JSON of `sm100emu-log` alone, to be compared with what the page shows.

In the order of the events an mbarrier's counts are those that the log records; by the clock they are counted.
"""

SYNC, OP, WAIT, LIFE = 0, 1, 2, 3
ARRIVE, DROP, EXPECT, COMPLETE, PENDING, PHASE, TEST = range(7)
ALLOC, DEALLOC, INIT, INVAL = 6, 8, 10, 11
COPIES, CORE, CP, LDST = (1, 2, 3), 4, 5, 6
ENGINES = [(2, 3, 1), (4, 5), (8, 7, 9), (6,)]
NOBODY = 255


class Replay:
    """The state of one cluster, event by event."""

    def __init__(self, log, cluster, stages, by_clock):
        self.c, self.e, self.w, self.o = cluster, cluster["events"], cluster["ops"], cluster["objects"]
        self.ctas = log["cluster"][0] * log["cluster"][1] * log["cluster"][2]
        self.by_clock, self.stages = by_clock, stages
        n = len(self.e["kind"])
        self.order = sorted(range(n), key=lambda i: cluster["cycle"][i]) if by_clock else list(range(n))
        self.bar = [None] * len(self.o["kind"])
        self.left = {}
        self.stage = [{"in": 0, "out": 0, "bytes": 0, "last": "empty"} for _ in stages]
        self.ranges = self.accumulators()
        self.tmem = [{"owned": False, "in": 0, "out": 0, "last": "allocated"} for _ in self.ranges]
        self.waits = {}
        self.flying = [[0] * len(ENGINES) for _ in range(self.ctas)]

    # ---- what an operation touches

    def cells(self, i):
        w = self.w
        agent, n, pair = w["agent"][i], w["n"][i], w["cta_group"][i] == 2
        if agent not in (CORE, CP, LDST):
            return []
        if agent == CORE and pair and w["m"][i] == 128:
            n //= 2
        rank = (w["to"][i] or w["from"][i] or w["rank"][i] + 1) - 1
        at = w["from_off"][i] if agent == LDST and w["from"][i] else w["to_off"][i]
        ranks = [rank, rank ^ 1] if pair and agent != LDST else [rank]
        return [(r, at & 0xFFFF, (at & 0xFFFF) + n) for r in ranks]

    def accumulators(self):
        found = []

        def add(rank, low, high):
            if high > low and not any(r == rank and a < high and low < b for r, a, b in found):
                found.append((rank, low, high))

        for i in range(len(self.w["agent"])):
            if self.w["agent"][i] == CORE:
                for cell in self.cells(i):
                    add(*cell)
        e = self.e
        for i in range(len(e["kind"])):
            if e["class"][i] == LIFE and e["kind"][i] == ALLOC:
                add(e["pending"][i], e["value"][i], e["value"][i] + e["count"][i])
        for i in range(len(self.w["agent"])):
            if self.w["agent"][i] in (CP, LDST):
                for cell in self.cells(i):
                    add(*cell)
        return sorted(found)

    def shared(self, rank, low, high):
        return [n for n, (r, a, b, _) in enumerate(self.stages) if r == rank and a < high and low < b]

    def operands(self, i):
        """(written, read) stages, each as often as it is touched."""
        w, agent = self.w, self.w["agent"][i]
        if agent in COPIES:
            size = int(w["bytes"][i]) or 1
            return (
                self.shared(w["to"][i] - 1, w["to_off"][i], w["to_off"][i] + size) if w["to"][i] else [],
                self.shared(w["from"][i] - 1, w["from_off"][i], w["from_off"][i] + size) if w["from"][i] else [],
            )
        read = []
        if agent in (CORE, CP):
            for rank in [w["rank"][i], w["rank"][i] ^ 1] if w["cta_group"][i] == 2 else [w["rank"][i]]:
                if not w["a_in_tmem"][i]:
                    at = (int(w["a"][i]) & 0x3FFF) * 16
                    read += self.shared(rank, at, at + 1)
                if agent == CORE:
                    at = (int(w["b"][i]) & 0x3FFF) * 16
                    read += self.shared(rank, at, at + 1)
        return [], read

    # ---- one event

    def barrier(self, i):
        e, n = self.e, self.e["object"][i] - 1
        if n < 0 or self.o["kind"][n] != 0 or e["kind"][i] == TEST:
            return
        kind, of, value = e["kind"][i], e["phase"][i], int(e["value"][i])
        if not self.by_clock:
            self.bar[n] = (of + 1, self.o["count"][n], 0) if kind == PHASE else (of, e["pending"][i], e["tx"][i])
            return
        left = self.left.setdefault((n, of), [self.o["count"][n], 0])
        left[0] -= e["count"][i] if kind in (ARRIVE, DROP) else -1 if kind == PENDING else 0
        left[1] += value if kind == EXPECT else -value if kind == COMPLETE else 0
        phase = max(of + (kind == PHASE), self.bar[n][0])
        self.bar[n] = (phase, *self.left.setdefault((n, phase), [self.o["count"][n], 0]))

    def operation(self, i):
        e, op = self.e, self.e["op"][i] - 1
        step = {0: 1, 2: -1}.get(e["kind"][i])
        if op < 0 or not step:
            return
        w = self.w
        for n, agents in enumerate(ENGINES):
            if w["agent"][op] in agents:
                self.flying[w["rank"][op]][n] += step
        written, read = self.operands(op)
        for n in written:
            s, (_, low, high, _) = self.stage[n], self.stages[n]
            if step > 0 and s["last"] == "read":
                s["bytes"] = 0
            s["in"] += step
            s["last"] = "filled"
            if step < 0:
                s["bytes"] += min(high, w["to_off"][op] + int(w["bytes"][op])) - max(low, w["to_off"][op])
        for n in read:
            self.stage[n]["out"] += step
            if step < 0:
                self.stage[n]["last"] = "read"
        reads = w["agent"][op] == LDST and w["from"][op]
        for rank, low, high in self.cells(op):
            for n, (r, a, b) in enumerate(self.ranges):
                if r == rank and a < high and low < b:
                    self.tmem[n]["out" if reads else "in"] += step
                    if step < 0:
                        self.tmem[n]["last"] = "read" if reads else "written"

    def life(self, i):
        e, kind = self.e, self.e["kind"][i]
        if kind in (ALLOC, DEALLOC):
            low, high = e["value"][i], e["value"][i] + e["count"][i]
            for n, (r, a, b) in enumerate(self.ranges):
                if r == e["pending"][i] and low <= a and b <= high:
                    self.tmem[n].update(owned=kind == ALLOC, last="allocated")
        if kind == INIT:
            self.bar[e["object"][i] - 1] = (0, self.o["count"][e["object"][i] - 1], 0)
        if kind == INVAL:
            self.bar[e["object"][i] - 1] = None

    def take(self, i):
        e = self.e
        {SYNC: self.barrier, OP: self.operation, LIFE: self.life}.get(e["class"][i], lambda i: None)(i)
        if e["warp"][i] != NOBODY and e["class"][i] != OP and not e["op"][i]:
            waiting = self.waits.setdefault((e["rank"][i], e["warp"][i]), {})
            if e["class"][i] == WAIT:
                if e["kind"][i] == 0:
                    waiting.pop(e["lanes"][i], None)
                    waiting[e["lanes"][i]] = i
                else:
                    waiting.pop(e["lanes"][i], None)

    # ---- what the page tells

    def stage_word(self, n):
        s, (_, low, high, _) = self.stage[n], self.stages[n]
        if s["in"]:
            return "filled while being read" if s["out"] else "being filled"
        if s["out"]:
            return "being read"
        return "partly filled" if s["last"] == "filled" and s["bytes"] < high - low else s["last"]

    def tmem_word(self, n):
        t = self.tmem[n]
        if t["in"]:
            return "written while being read" if t["out"] else "being written"
        return "being read" if t["out"] else t["last"] if t["owned"] else "not allocated"

    def state(self, everyone):
        return {
            "barriers": [
                [self.o["rank"][n], *self.bar[n]] if self.bar[n] else None
                for n in range(len(self.bar))
                if self.o["kind"][n] == 0
            ],
            "stages": [[name, rank, self.stage_word(n)] for n, (rank, _, _, name) in enumerate(self.stages)],
            "tmem": [[a, b, r, self.tmem_word(n)] for n, (r, a, b) in enumerate(self.ranges)],
            "warps": [[*key, list(self.waits.get(key, {}).values())] for key in everyone],
            "flying": [n for rank in self.flying for n in rank],
        }


def states(log, cluster, stages, by_clock=False, every=1):
    """The state after 0, every, 2 every ... events, and after all."""
    r, e = Replay(log, cluster, stages, by_clock), cluster["events"]
    everyone = sorted(
        {
            (e["rank"][i], e["warp"][i])
            for i in range(len(e["kind"]))
            if e["warp"][i] != NOBODY and e["class"][i] != OP and not e["op"][i]
        }
    )
    made = [r.state(everyone)]
    for k, i in enumerate(r.order, 1):
        r.take(i)
        if k % every == 0 or k == len(r.order):
            made.append(r.state(everyone))
    return made
