"""sample.py - a log made by hand: a ring of stages in a cluster of two CTAs that are a pair, as `sm100emu-log --json`.

    python3 tests/page/sample.py [--tiles N] [--stages N] [--seed N] [--broken] [--no-clock] [--launches N] [-o FILE]

Each CTA loads half of a tile of A and of B into a stage; the even CTA multiplies for both, a commit frees the stage in
both, and a third warp of each reads the accumulator. Warps and queues are coroutines that a seed interleaves. With
--broken the even CTA expects half of the bytes that come, and the log ends in a fault.
"""

import argparse
import json
import random

# enum trace_class, event_sync_kind, event_op_stage, event_wait_end, event_life_kind: trace/log.h, machine/events.h
SYNC, OP, WAIT, LIFE = 0, 1, 2, 3
ARRIVE, EXPECT, COMPLETE, PHASE, TEST = 0, 2, 3, 5, 6
CL_ARRIVE, CL_PHASE, CL_PASS, TC_WAIT_LD = 10, 11, 12, 18
ISSUED, STARTED, COMPLETED = 0, 1, 2
BEGINS, MET = 0, 1
CLUSTER_START, CLUSTER_END, CTA_START, CTA_EXIT, TMEM_ALLOC, TMEM_DEALLOC, MBAR_INIT = 0, 1, 2, 3, 6, 8, 10
WAIT_MBARRIER, WAIT_CLUSTER = 1, 3
TMA, CORE, LDST, COMMIT = 2, 4, 6, 8
NOBODY = 255

EVENT = [
    "class",
    "kind",
    "rank",
    "warp",
    "lanes",
    "site",
    "cause",
    "object",
    "op",
    "phase",
    "count",
    "pending",
    "tx",
    "value",
    "what",
    "times",
    "cluster",
    "ran_alu",
    "ran_control",
    "ran_shared",
    "ran_global",
    "ran_async",
]
OBJECT = ["kind", "rank", "at", "count", "site", "name"]
WORK = [
    "name",
    "agent",
    "rank",
    "warp",
    "site",
    "queue",
    "leader",
    "follows",
    "issued",
    "started",
    "completed",
    "m",
    "n",
    "k",
    "cta_group",
    "kind",
    "from",
    "from_off",
    "to",
    "to_off",
    "signals",
    "signals_off",
    "ctas",
    "accumulate",
    "a_in_tmem",
    "taken",
    "sfa",
    "sfb",
    "dims",
    "coord",
    "bytes",
    "a",
    "b",
    "global",
    "map",
    "first",
]
HALF, STAGE, BARS = 16384, 32768, 0x400


class Texts:
    """Unique strings, and the sites that name them."""

    def __init__(self):
        self.list, self.sites, self.known = [""], [], {}

    def __call__(self, text):
        if text not in self.list:
            self.list.append(text)
        return self.list.index(text)

    def site(self, line, text):
        """The number of the instruction `text` at a line of sample.cu."""
        key = (line, text)
        if key not in self.known:
            self.sites.append(
                [self("sample.cu"), line, 5, self("sample.ptx"), 100 + len(self.sites), self(text), self("ring"), 0]
            )
            self.known[key] = len(self.sites)
        return self.known[key]


class Cluster:
    """The log of one cluster while it is made; references count from 1."""

    def __init__(self, texts):
        self.texts, self.events, self.objects, self.ops, self.bars, self.queues = texts, [], [], [], {}, {}
        self.allocated = [0, 0]

    def event(self, cls, kind, rank, warp, site=0, **more):
        row = dict.fromkeys(EVENT, 0)
        row.update(
            {
                "class": cls,
                "kind": kind,
                "rank": rank,
                "warp": warp,
                "site": site,
                "times": 1,
                "lanes": 1 if warp != NOBODY else 0,
            },
            **more
        )
        if warp != NOBODY:
            row.update(ran_alu=7, ran_async=1)
        self.events.append(row)
        return len(self.events)

    def object(self, **row):
        self.objects.append({**dict.fromkeys(OBJECT, 0), **row})
        return len(self.objects)

    def bar(self, rank, at, count, site):
        number = self.object(kind=0, rank=rank, at=at, count=count, site=site)
        self.bars[rank, at] = {"number": number, "count": count, "pending": count, "tx": 0, "phase": 0, "done": []}
        self.event(LIFE, MBAR_INIT, rank, 0, site, object=number, count=count, pending=rank)

    def on_bar(self, kind, where, rank, warp, site, op=0, count=0, value=0, cause=0):
        """An arrival, an expectation or bytes at the mbarrier `where`, and the phase that it completes."""
        b = self.bars[where]
        b["pending"] -= count
        b["tx"] += {EXPECT: value, COMPLETE: -value}.get(kind, 0)
        at = self.event(
            SYNC,
            kind,
            rank,
            warp,
            site,
            object=b["number"],
            op=op,
            phase=b["phase"],
            count=count,
            value=value,
            pending=b["pending"],
            tx=b["tx"],
            cause=cause,
        )
        if b["pending"] == 0 and b["tx"] == 0:
            b["done"].append(
                self.event(SYNC, PHASE, rank, warp, site, object=b["number"], op=op, phase=b["phase"], cause=at)
            )
            b["pending"], b["phase"] = b["count"], b["phase"] + 1
        return at

    def issue(self, name, agent, rank, warp, site, queue, **row):
        if (rank, queue) not in self.queues:
            self.queues[rank, queue] = (self.object(kind=3, rank=rank, name=self.texts(queue)), [])
        q, waiting = self.queues[rank, queue]
        self.ops.append(
            {
                **dict.fromkeys(WORK, 0),
                "coord": [0] * 5,
                "first": [0, 0, 0],
                **row,
                "name": self.texts(name),
                "agent": agent,
                "rank": rank,
                "warp": warp,
                "site": site,
                "queue": q,
            }
        )
        number = len(self.ops)
        self.ops[-1]["leader"] = row.get("leader") or number
        self.ops[-1]["issued"] = self.event(OP, ISSUED, rank, warp, site, op=number, object=q)
        waiting.append(number)
        return number

    def step_queue(self, queue):
        """A coroutine that starts and completes the operations of a queue, one behind the other."""
        _, waiting = self.queues[queue]
        last = 0
        while waiting:
            n = waiting[0]
            op = self.ops[n - 1]
            who = (op["rank"], NOBODY, op["site"])
            op["started"] = self.event(OP, STARTED, *who, op=n, object=op["queue"], cause=max(op["issued"], last))
            yield
            if op["agent"] == TMA:
                self.on_bar(
                    COMPLETE, (op["signals"] - 1, op["signals_off"]), *who, op=n, value=op["bytes"], cause=op["started"]
                )
            for rank in range(2):
                if op["agent"] == COMMIT and op["ctas"] >> rank & 1:
                    self.on_bar(ARRIVE, (rank, op["signals_off"]), *who, op=n, count=1, cause=op["started"])
            last = op["completed"] = self.event(OP, COMPLETED, *who, op=n, object=op["queue"], cause=op["started"])
            waiting.pop(0)
            yield

    def wait(self, where, parity, rank, warp, site):
        """A coroutine: try_wait until the phase of `parity` is over."""
        b, wanted = self.bars[where], None
        while wanted is None:
            done = b["phase"] and (b["phase"] - 1) % 2 == parity
            if done:
                wanted = b["done"][b["phase"] - 1]
                break
            begin = self.event(WAIT, BEGINS, rank, warp, site, object=b["number"], what=WAIT_MBARRIER, value=parity)
            before = b["phase"]
            while b["phase"] == before:
                yield
            wanted = b["done"][before]
            self.event(
                SYNC,
                TEST,
                rank,
                warp,
                site,
                object=b["number"],
                what=parity,
                count=1,
                phase=b["phase"],
                pending=b["pending"],
                tx=b["tx"],
                cause=wanted,
            )
            self.event(WAIT, MET, rank, warp, site, object=b["number"], what=WAIT_MBARRIER, value=parity, cause=wanted)
            assert begin
            return
        self.event(
            SYNC,
            TEST,
            rank,
            warp,
            site,
            object=b["number"],
            what=parity,
            count=1,
            phase=b["phase"],
            pending=b["pending"],
            tx=b["tx"],
            cause=wanted,
        )


class Ring:
    """The kernel: its warps as coroutines."""

    def __init__(self, c, tiles, stages, broken):
        self.c, self.tiles, self.stages, self.broken, self.t = c, tiles, stages, broken, c.texts
        self.meeting = c.object(kind=2, name=0)
        self.met, self.arrived = 0, 0

    def full(self, stage):
        return BARS + 8 * stage

    def empty(self, stage):
        return BARS + 8 * (self.stages + stage)

    def done(self):
        return BARS + 16 * self.stages

    def start(self):
        c = self.c
        c.event(LIFE, CLUSTER_START, 0, NOBODY)
        for rank in range(2):
            c.event(LIFE, CTA_START, rank, NOBODY, pending=rank)
        init = self.t.site(10, "mbarrier.init.shared::cta.b64 [%r1], %r2;")
        for rank in range(2):
            for s in range(self.stages):
                c.bar(rank, self.full(s), 1, init)
                c.bar(rank, self.empty(s), 1, init)
            c.bar(rank, self.done(), 1, init)
            c.event(
                LIFE,
                TMEM_ALLOC,
                rank,
                2,
                self.t.site(12, "tcgen05.alloc.cta_group::2.b32 [%r3], %r4;"),
                value=0,
                count=256,
                pending=rank,
            )

    def cluster_sync(self, rank, warp):
        c, site = self.c, self.t.site(14, "barrier.cluster.arrive.aligned;")
        c.event(SYNC, CL_ARRIVE, rank, warp, site, object=self.meeting, lanes=0xFFFFFFFF, count=32)
        self.arrived += 1
        if self.arrived == 6:
            self.met = c.event(SYNC, CL_PHASE, rank, warp, site, object=self.meeting, cause=len(c.events))
        else:
            c.event(WAIT, BEGINS, rank, warp, site, object=self.meeting, what=WAIT_CLUSTER, lanes=0xFFFFFFFF)
            while not self.met:
                yield
            c.event(
                WAIT, MET, rank, warp, site, object=self.meeting, what=WAIT_CLUSTER, lanes=0xFFFFFFFF, cause=self.met
            )
        c.event(SYNC, CL_PASS, rank, warp, site, object=self.meeting, lanes=0xFFFFFFFF, cause=self.met)

    def load(self, rank):
        c, t = self.c, self.t
        yield from self.cluster_sync(rank, 0)
        for tile in range(self.tiles):
            s, turn = tile % self.stages, tile // self.stages
            if turn:
                yield from c.wait(
                    (rank, self.empty(s)),
                    (turn - 1) % 2,
                    rank,
                    0,
                    t.site(20, "mbarrier.try_wait.parity.shared::cta.b64 p, [%r5], %r6;"),
                )
            if rank == 0:
                site = t.site(21, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], %r8;")
                c.on_bar(EXPECT, (0, self.full(s)), 0, 0, site, value=2 * HALF if self.broken else 4 * HALF)
                c.on_bar(ARRIVE, (0, self.full(s)), 0, 0, site, count=1)
            for half, line in ((0, 22), (1, 23)):
                c.issue(
                    "cp.async.bulk.tensor to shared memory",
                    TMA,
                    rank,
                    0,
                    t.site(
                        line, "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global [%%r%d], [%%rd1];" % line
                    ),
                    "bulk copy to shared memory",
                    to=rank + 1,
                    to_off=4096 + s * STAGE + half * HALF,
                    bytes=HALF,
                    signals=1,
                    signals_off=self.full(s),
                    dims=2,
                    coord=[64 * tile, 128 * rank, 0, 0, 0],
                    map=0x1000,
                    **{"global": 0x7F0000000000 + tile * 128}
                )
            yield

    def multiply(self):
        c, t = self.c, self.t
        yield from self.cluster_sync(0, 1)
        for tile in range(self.tiles):
            s, turn = tile % self.stages, tile // self.stages
            yield from c.wait(
                (0, self.full(s)),
                turn % 2,
                0,
                1,
                t.site(30, "mbarrier.try_wait.parity.shared::cta.b64 p, [%r9], %r10;"),
            )
            for k in range(4):
                a = 4096 + s * STAGE + 32 * k
                c.issue(
                    "tcgen05.mma",
                    CORE,
                    0,
                    1,
                    t.site(31, "tcgen05.mma.cta_group::2.kind::f16 [%r11], %rd2, %rd3, %r12, p;"),
                    "tensor core",
                    m=256,
                    n=256,
                    k=16,
                    cta_group=2,
                    to=1,
                    accumulate=int(tile + k > 0),
                    a=str(0x4000404000010000 | a >> 4),
                    b=str(0x4000404000010000 | (a + HALF) >> 4),
                )
            commit = t.site(
                32, "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster.b64 [%r13], %rs1;"
            )
            c.issue(
                "tcgen05.commit", COMMIT, 0, 1, commit, "tensor core", cta_group=2, ctas=3, signals_off=self.empty(s)
            )
            if tile == self.tiles - 1:
                c.issue(
                    "tcgen05.commit", COMMIT, 0, 1, commit, "tensor core", cta_group=2, ctas=3, signals_off=self.done()
                )
            yield

    def idle(self):
        yield from self.cluster_sync(1, 1)

    def epilogue(self, rank):
        c, t = self.c, self.t
        yield from self.cluster_sync(rank, 2)
        yield from c.wait(
            (rank, self.done()), 0, rank, 2, t.site(40, "mbarrier.try_wait.parity.shared::cta.b64 p, [%r14], 0;")
        )
        for column in range(0, 256, 32):
            n = c.issue(
                "tcgen05.ld",
                LDST,
                rank,
                2,
                t.site(41, "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%r20}, [%r15];"),
                "tensor memory loads",
                m=32,
                n=32,
                **{"from": rank + 1, "from_off": column}
            )
            while not c.ops[n - 1]["completed"]:
                yield
            c.event(SYNC, TC_WAIT_LD, rank, 2, t.site(42, "tcgen05.wait::ld.sync.aligned;"), lanes=0xFFFFFFFF)
        c.event(
            LIFE,
            TMEM_DEALLOC,
            rank,
            2,
            t.site(43, "tcgen05.dealloc.cta_group::2.b32 %r3, %r4;"),
            value=0,
            count=256,
            pending=rank,
        )

    def warps(self):
        return [self.load(0), self.load(1), self.multiply(), self.idle(), self.epilogue(0), self.epilogue(1)]


def run(c, ring, seed, limit):
    """Interleaves warps and queues until nothing moves, or until there are `limit` events."""
    rng, warps, queues = random.Random(seed), ring.warps(), {}
    quiet = 0
    while quiet < 64 and (not limit or len(c.events) < limit):
        before = len(c.events)
        chosen = rng.randrange(len(warps) + 4)
        if chosen < len(warps):
            next(warps[chosen], None)
        else:
            for key in sorted(c.queues):
                if c.queues[key][1] and key not in queues:
                    queues[key] = c.step_queue(key)
            if queues:
                key = rng.choice(sorted(queues))
                if next(queues[key], "end") == "end":
                    del queues[key]
        quiet = quiet + 1 if len(c.events) == before else 0
    return limit and len(c.events) >= limit


def clock(c):
    """Cycles that obey the causes, so not in the order of the events: cost by kind after cause and own last event."""
    cycle, blame, last, came = [], [], {}, {}
    for i, e in enumerate(c.events):
        who = (e["rank"], e["warp"]) if e["warp"] != NOBODY else ("op", e["op"])
        queue = ("queue", e["object"]) if e["class"] == OP and e["kind"] in (STARTED, COMPLETED) else None
        issued = c.ops[e["op"] - 1]["issued"] if queue else 0
        before = [n for n in (e["cause"], last.get(who, 0), last.get(queue, 0), issued) if n]
        phase = (e["object"], e["phase"])
        if e["class"] == SYNC and e["kind"] in (ARRIVE, EXPECT, COMPLETE, CL_ARRIVE):
            came.setdefault(phase, []).append(i + 1)
        if e["class"] == SYNC and e["kind"] in (PHASE, CL_PHASE):  # whoever came last by the clock
            before = came[phase]
        decided = max(before, key=lambda n: cycle[n - 1], default=0)
        cost = 0 if e["class"] == WAIT or e["kind"] == PHASE and e["class"] == SYNC else 4.5
        agent = c.ops[e["op"] - 1]["agent"] if e["op"] else 0
        if e["class"] == OP and e["kind"] == COMPLETED:
            cost = {CORE: 128, LDST: 30}.get(agent, 0)
        elif e["class"] == SYNC and e["kind"] == COMPLETE:
            cost = 400
        cycle.append((cycle[decided - 1] if decided else 0) + cost)
        blame.append(decided)
        last[who] = i + 1
        if queue and e["kind"] == COMPLETED:
            last[queue] = i + 1
    return cycle, blame


def columns(rows, names):
    return {name: [row[name] for row in rows] for name in names}


def make(tiles=6, stages=2, seed=1, broken=False, with_clock=True, clusters=1, limit=0):
    """The log of one launch, with `sites` and `text` of its own."""
    texts, made = Texts(), []
    texts("ring")
    for number in range(clusters):
        c = Cluster(texts)
        ring = Ring(c, tiles, stages, broken)
        ring.start()
        stopped = run(c, ring, seed + number, limit)
        if not stopped and not broken:
            for rank in range(2):
                c.event(LIFE, CTA_EXIT, rank, NOBODY, cause=len(c.events), pending=rank)
            c.event(LIFE, CLUSTER_END, 0, NOBODY, cause=len(c.events))
        names = [n for r in range(2) for s in range(stages) for n in ("full[%d]" % s, "empty[%d]" % s)]
        per = len(names) // 2
        bars = names[:per] + ["done"] + names[per:] + ["done"]
        of = iter(bars)
        row = {
            "number": number,
            "id": [number * 2, 0, 0],
            "sm": [2 * number, 2 * number + 1],
            "complete": int(not stopped and not broken),
            "objects": columns(c.objects, OBJECT),
            "ops": columns(c.ops, WORK),
            "events": columns(c.events, EVENT),
            "names": {
                "objects": [next(of) if o["kind"] == 0 else "" for o in c.objects],
                "warps": [["load", "mma", "epilogue"]] * 2,
                "smem": [
                    [r, 4096 + s * STAGE + h * HALF, 4096 + s * STAGE + (h + 1) * HALF, "%s[%d]" % (n, s)]
                    for r in range(2)
                    for s in range(stages)
                    for h, n in ((0, "a"), (1, "b"))
                ],
            },
        }
        if with_clock:
            row["cycle"], row["blame"] = clock(c)
        made.append(row)
    sites = dict(
        zip(["file", "line", "column", "ptx", "ptx_line", "text", "func", "inlined"], map(list, zip(*texts.sites)))
    )
    return {
        "kernel": "ring",
        "schedule": "random:%d" % seed,
        "fault": 719 if broken else 0,
        "cut": 0,
        "grid": [2 * clusters, 1, 1],
        "block": [96, 1, 1],
        "cluster": [2, 1, 1],
        "smem": 1 << 17,
        "resident": 66,
        "instructions": 1000,
        "text": texts.list,
        "sites": sites,
        "calls": {"file": [], "line": [], "outer": []},
        "clusters": made,
    }


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--tiles", type=int, default=6)
    p.add_argument("--stages", type=int, default=2)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--clusters", type=int, default=1)
    p.add_argument("--launches", type=int, default=1)
    p.add_argument("--events", type=int, default=0, help="stop at so many")
    p.add_argument("--broken", action="store_true")
    p.add_argument("--no-clock", action="store_true")
    p.add_argument("-o", required=True)
    a = p.parse_args()
    logs = [
        make(a.tiles, a.stages, a.seed + i, a.broken, not a.no_clock, a.clusters, a.events) for i in range(a.launches)
    ]
    with open(a.o, "w") as f:
        json.dump({"version": 2, "logs": logs}, f)


if __name__ == "__main__":
    main()
