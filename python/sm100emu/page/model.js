/* model.js - what the log of a cluster means: how each barrier, stage of shared memory, range of tensor memory, warp
 * and engine stands after any number of events; lanes.js makes the tracks that show it over time.
 *
 * Events are taken in one of two orders: as the emulator ran them, or by the cycles of the model clock, equal ones as
 * they ran. `order` lists events, `place` is where each stands in it. A state is a Changes: columns of values and the
 * place from which each holds; the state after k events is the last change at a place below k.
 *
 * mbarriers are counted by phase, from what arrives, not copied from the log's `pending` and `tx`, which tell of the
 * emulator's order alone.
 */

const STAGE_STATE = ['empty', 'being filled', 'filled', 'being read', 'read', 'filled while being read',
    'partly filled'];
const TMEM_STATE = ['not allocated', 'allocated', 'being written', 'written', 'being read', 'read',
    'written while being read'];
const ENGINES = [
    ['TMA', [AGENT.TMA, AGENT.BULK, AGENT.CP_ASYNC]],
    ['tensor core', [AGENT.TENSOR_CORE, AGENT.TENSOR_COPY]],
    ['commits', [AGENT.COMMIT, AGENT.TENSOR_ALLOC, AGENT.CLC]],
    ['tensor memory', [AGENT.TENSOR_LDST]],
];
const PHASES = [SYNC.MBAR_PHASE, SYNC.BAR_PHASE, SYNC.CLUSTER_PHASE];
const JOINS = [WAIT.JOIN, WAIT.ALIGNED, WAIT.RIDING, WAIT.WARP_SYNC]; /* lanes of a warp wait for each other */

/* Values by place: add() in the order of places, at(k) after k events. */
class Changes {
    constructor(first) {
        this.place = [-1];
        this.value = [first];
    }

    add(place, value) {
        const last = this.place.length - 1;
        if (this.place[last] === place)
            this.value[last] = value;
        else if (this.value[last] !== value) {
            this.place.push(place);
            this.value.push(value);
        }
    }

    at(k) {
        return this.value[upper(this.place, k - 1) - 1];
    }
}

/* How many of the sorted numbers are at most x. */
function upper(sorted, x) {
    let low = 0, high = sorted.length;
    while (low < high) {
        const mid = (low + high) >> 1;
        if (sorted[mid] <= x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Columns of D that an UMMA writes: a pair's with M 128 fold the right half under the left one (9.7.16.10.5.2). */
function columnsOf(w, i) {
    return w.agent[i] === AGENT.TENSOR_CORE && w.cta_group[i] === 2 && w.m[i] === 128 ? w.n[i] / 2 : w.n[i];
}

class Model {
    constructor(cluster, clocked) {
        this.c = cluster;
        this.clocked = clocked && cluster.clocked;
        this.cause = this.clocked ? cluster.blame : cluster.e.cause;
        this.makeOrder();
        this.findParts();
        for (let k = 0; k < cluster.size; k++)
            this.take(this.order[k], k);
        this.hasMbarriers = this.waits.some((w) => w.what === WAIT.MBARRIER);
        this.tiles = new Tiles(this);
        Object.assign(this, new Lanes(this).made());
    }

    makeOrder() {
        const n = this.c.size;
        this.order = Uint32Array.from({ length: n }, (_, i) => i);
        if (this.clocked) {
            const t = this.c.cycle;
            this.order.sort((a, b) => t[a] - t[b] || a - b);
        }
        this.place = new Uint32Array(n);
        this.order.forEach((event, k) => { this.place[event] = k; });
        this.time = this.clocked ? this.c.cycle : Float64Array.from(this.place);
        this.end = n ? this.time[this.order[n - 1]] + (this.clocked ? 0 : 1) : 1;
    }

    /* The things that have states. */
    findParts() {
        const c = this.c;
        this.bars = Array.from(c.o.kind, (kind, i) => ({
            object: i + 1, kind, rank: c.o.rank[i], at: c.o.at[i], expected: c.o.count[i], drops: 0, phase: 0,
            most: 0, alive: false,
            sums: new Map(), state: new Changes(null), slices: [], since: -1, marks: [],
        }));
        this.stages = c.stages.map(([rank, from, to, name]) => ({
            rank, from, to, name, writing: 0, reading: 0, bytes: 0, seen: 0, state: new Changes(0), by: new Changes(0),
        }));
        this.tmem = this.tmemRanges().map(([rank, from, to]) => ({
            rank, from, to, name: this.tmemName(rank, from, to), owned: false, writing: 0, reading: 0, seen: 1,
            state: new Changes(0), by: new Changes(0),
        }));
        this.warps = new Map();
        this.engines = [];
        for (let rank = 0; rank < c.ctas; rank++)
            for (const [name, agents] of ENGINES)
                this.engines.push({ rank, name, agents, flying: 0, state: new Changes(0) });
        this.waits = [];
        this.phases = [];
    }

    /* [rank, from, to) of tensor memory: accumulators, then what else is allocated or used. */
    tmemRanges() {
        const found = [], c = this.c, w = c.w;
        const add = (rank, from, n) => {
            if (n && !found.some(([r, a, b]) => r === rank && a < from + n && from < b))
                found.push([rank, from, from + n]);
        };
        const each = (wanted) => {
            for (let i = 0; i < w.agent.length; i++)
                if (wanted(w.agent[i]))
                    for (const [rank, from, n] of this.tmemOf(i))
                        add(rank, from, n);
        };
        each((agent) => agent === AGENT.TENSOR_CORE);
        for (let i = 0; i < c.size; i++)
            if (c.e.class[i] === CLASS.LIFE && c.e.kind[i] === LIFE.TMEM_ALLOC)
                add(c.e.pending[i], Number(c.e.value[i]), c.e.count[i]);
        each((agent) => agent === AGENT.TENSOR_LDST || agent === AGENT.TENSOR_COPY);
        return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    }

    tmemName(rank, from, to) {
        const known = (this.c.names.tmem || []).find(([r, a, b]) => r === rank && a <= from && to <= b);
        return (known ? known[3] + ' ' : '') + 'columns ' + from + '-' + (to - 1);
    }

    /* [[rank, first column, columns]] of tensor memory that operation i writes or reads. */
    tmemOf(i) {
        const w = this.c.w, agent = w.agent[i], n = columnsOf(w, i);
        const both = w.cta_group[i] === 2 && agent !== AGENT.TENSOR_LDST;
        if (![AGENT.TENSOR_CORE, AGENT.TENSOR_COPY, AGENT.TENSOR_LDST].includes(agent))
            return [];
        const rank = (w.to[i] || w.from[i] || w.rank[i] + 1) - 1;
        const column = (agent === AGENT.TENSOR_LDST && w.from[i] ? w.from_off[i] : w.to_off[i]) & 0xffff;
        return both ? [[rank, column, n], [rank ^ 1, column, n]] : [[rank, column, n]];
    }

    stageIndex(rank, from, bytes) {
        const found = [];
        this.stages.forEach((s, i) => {
            if (s.rank === rank && s.from < from + bytes && from < s.to)
                found.push(i);
        });
        return found;
    }

    /* What operation i touches: indices of stages and tensor memory ranges that it writes and reads. */
    touched(i) {
        this.touches = this.touches || [];
        if (this.touches[i])
            return this.touches[i];
        const w = this.c.w, agent = w.agent[i], made = { writes: [], reads: [], fills: [], drains: [] };
        if (agent === AGENT.TENSOR_CORE || agent === AGENT.TENSOR_COPY) {
            for (const rank of w.cta_group[i] === 2 ? [w.rank[i], w.rank[i] ^ 1] : [w.rank[i]]) {
                if (!w.a_in_tmem[i])
                    made.reads.push(...this.stageIndex(rank, w.a_at[i], 1));
                if (agent === AGENT.TENSOR_CORE)
                    made.reads.push(...this.stageIndex(rank, w.b_at[i], 1));
            }
        } else if ([AGENT.TMA, AGENT.BULK, AGENT.CP_ASYNC].includes(agent)) {
            if (w.to[i])
                made.writes = this.stageIndex(w.to[i] - 1, w.to_off[i], Number(w.bytes[i]) || 1);
            if (w.from[i])
                made.reads = this.stageIndex(w.from[i] - 1, w.from_off[i], Number(w.bytes[i]) || 1);
        }
        const written = agent !== AGENT.TENSOR_LDST || !w.from[i];
        for (const [rank, from, n] of this.tmemOf(i))
            this.tmem.forEach((t, j) => {
                if (t.rank === rank && t.from < from + n && from < t.to)
                    (written ? made.fills : made.drains).push(j);
            });
        return (this.touches[i] = made);
    }

    /* Event i is the k-th. */
    take(i, k) {
        const e = this.c.e, kind = e.kind[i];
        if (e.class[i] === CLASS.SYNC && kind <= SYNC.CLUSTER_PASS && kind !== SYNC.MBAR_TEST)
            this.takeBarrier(i, k);
        else if (e.class[i] === CLASS.OP)
            this.takeOperation(i, k);
        else if (e.class[i] === CLASS.LIFE)
            this.takeLife(i, k);
        if (e.warp[i] !== NOBODY && e.class[i] !== CLASS.OP && !e.op[i])
            this.takeWarp(i, k);
    }

    takeBarrier(i, k) {
        const e = this.c.e, kind = e.kind[i], b = this.bars[e.object[i] - 1], of = e.phase[i];
        if (!b)
            return;
        b.alive = true;
        if (!b.sums.has(of))
            b.sums.set(of, { came: 0, tx: 0, bytes: 0 });
        const sum = b.sums.get(of), value = Number(e.value[i]);
        if (kind === SYNC.MBAR_ARRIVE || kind === SYNC.MBAR_DROP || kind === SYNC.BAR_ARRIVE ||
            kind === SYNC.CLUSTER_ARRIVE)
            sum.came += e.count[i];
        if (kind === SYNC.MBAR_DROP)
            b.drops += e.count[i];
        if (kind === SYNC.MBAR_PENDING)
            sum.came -= 1;
        if (kind === SYNC.MBAR_EXPECT_TX)
            sum.tx += value;
        if (kind === SYNC.MBAR_COMPLETE_TX) {
            sum.tx -= value;
            sum.bytes += value;
        }
        if (PHASES.includes(kind)) {
            b.slices.push({ from: b.since, to: i, event: i, number: of, came: sum.came, bytes: sum.bytes });
            b.since = i;
            b.sums.delete(of);
            b.phase = of + 1;
            b.expected -= b.drops;
            b.drops = 0;
            this.phases.push(k);
        }
        b.marks.push(i);
        this.noteBarrier(b, k);
    }

    noteBarrier(b, k) {
        const sum = b.sums.get(b.phase) || { came: 0, tx: 0 };
        b.most = Math.max(b.most, sum.tx);
        b.state.add(k, { phase: b.phase, pending: b.expected - sum.came, expected: b.expected, tx: sum.tx });
    }

    takeOperation(i, k) {
        const e = this.c.e, op = e.op[i] - 1, stage = e.kind[i];
        if (op < 0)
            return;
        const { writes, reads, fills, drains } = this.touched(op);
        const step = stage === STAGE.ISSUED ? 1 : stage === STAGE.COMPLETED ? -1 : 0;
        const engine = this.engines.find((g) => g.rank === this.c.w.rank[op] && g.agents.includes(this.c.w.agent[op]));
        if (!step)
            return;
        if (engine)
            engine.state.add(k, engine.flying += step);
        for (const s of writes)
            this.fill(this.stages[s], step, op, k);
        for (const s of reads)
            this.readStage(this.stages[s], step, op, k);
        for (const t of fills)
            this.useTmem(this.tmem[t], 'writing', step, op, k);
        for (const t of drains)
            this.useTmem(this.tmem[t], 'reading', step, op, k);
    }

    fill(s, step, op, k) {
        const w = this.c.w, low = Math.max(s.from, w.to_off[op]);
        if (step > 0 && s.seen === 4)
            s.bytes = 0;
        s.writing += step;
        if (step < 0)
            s.bytes += Math.min(s.to, w.to_off[op] + Number(w.bytes[op])) - low;
        s.seen = 2;
        this.noteStage(s, op, k);
    }

    readStage(s, step, op, k) {
        s.reading += step;
        if (step < 0)
            s.seen = 4;
        this.noteStage(s, op, k);
    }

    noteStage(s, op, k) {
        let state = s.seen;
        if (s.writing > 0)
            state = s.reading > 0 ? 5 : 1;
        else if (s.reading > 0)
            state = 3;
        else if (state === 2 && s.bytes < s.to - s.from)
            state = 6;
        s.state.add(k, state);
        s.by.add(k, op + 1);
    }

    useTmem(t, how, step, op, k) {
        t[how] += step;
        if (step < 0)
            t.seen = how === 'writing' ? 3 : 5;
        t.state.add(k, this.tmemState(t));
        t.by.add(k, op + 1);
    }

    tmemState(t) {
        if (t.writing > 0)
            return t.reading > 0 ? 6 : 2;
        if (t.reading > 0)
            return 4;
        return t.owned ? t.seen : 0;
    }

    /* Of LIFE `pending` is the rank of the CTA that it is about. */
    takeLife(i, k) {
        const e = this.c.e, kind = e.kind[i];
        if (kind === LIFE.TMEM_ALLOC || kind === LIFE.TMEM_DEALLOC) {
            const from = Number(e.value[i]), to = from + e.count[i];
            for (const t of this.tmem)
                if (t.rank === e.pending[i] && t.from >= from && t.to <= to) {
                    t.owned = kind === LIFE.TMEM_ALLOC;
                    t.seen = 1;
                    t.state.add(k, this.tmemState(t));
                }
        }
        const b = this.bars[e.object[i] - 1];
        if (b && (kind === LIFE.MBAR_INIT || kind === LIFE.MBAR_INVAL)) {
            b.alive = kind === LIFE.MBAR_INIT;
            b.since = i;
            if (b.alive)
                this.noteBarrier(b, k);
            else
                b.state.add(k, null);
        }
    }

    takeWarp(i, k) {
        const e = this.c.e, key = e.rank[i] * 64 + e.warp[i];
        if (!this.warps.has(key))
            this.warps.set(key, { rank: e.rank[i], warp: e.warp[i], open: new Map(), state: new Changes([]), marks: [],
                slices: [] });
        const warp = this.warps.get(key);
        warp.marks.push(i);
        if (e.class[i] !== CLASS.WAIT)
            return;
        if (e.kind[i] === WAIT_END.BEGINS)
            warp.open.set(e.lanes[i], i);
        else {
            const begin = warp.open.get(e.lanes[i]);
            warp.open.delete(e.lanes[i]);
            if (begin !== undefined) {
                warp.slices.push({ from: begin, to: i, event: i });
                this.waits.push({ begin, end: i, what: e.what[i], rank: e.rank[i] });
            }
        }
        warp.state.add(k, [...warp.open.values()]);
    }

    /* --- states --------------------------------------------------------------------------------------------------- */

    sortedWarps() {
        return [...this.warps.values()].sort((a, b) => a.rank - b.rank || a.warp - b.warp);
    }

    /* How everything stands after k events, in words and numbers alone. */
    stateAt(k) {
        const c = this.c;
        return {
            barriers: this.bars.filter((b) => b.kind === OBJECT.MBARRIER).map((b) => {
                const s = b.state.at(k);
                return s && [c.objectName(b.object), b.rank, s.phase, s.pending, s.tx];
            }),
            stages: this.stages.map((s) => [s.name, s.rank, STAGE_STATE[s.state.at(k)]]),
            tmem: this.tmem.map((t) => [t.from, t.to, t.rank, TMEM_STATE[t.state.at(k)]]),
            warps: this.sortedWarps().map((w) => [w.rank, w.warp, w.state.at(k)]),
            flying: this.engines.map((g) => g.state.at(k)),
        };
    }

    /* Is a wait one that a lesson is about: for an mbarrier, or where there is none for whatever but lanes; a real one. */
    isLesson({ begin, end, what }) {
        const any = this.hasMbarriers ? what === WAIT.MBARRIER : !JOINS.includes(what);
        return any && this.time[end] > this.time[begin];
    }

    /* When the wait began that event i ends, or -1. */
    beginOf(i) {
        this.begins = this.begins || new Map(this.waits.map((w) => [w.end, w.begin]));
        return this.begins.has(i) ? this.begins.get(i) : -1;
    }

    /* The cause of event i, from 1, or 0: of a wait what let its own threads ask, or pass, with success. */
    why(i) {
        const e = this.c.e, cause = this.cause[i], at = cause - 1;
        const own = cause && !e.cluster[i] && !e.cluster[at] && e.class[i] === CLASS.WAIT &&
            e.class[at] === CLASS.SYNC && !e.op[at] && !PHASES.includes(e.kind[at]) &&
            e.rank[at] === e.rank[i] && e.warp[at] === e.warp[i];
        return own && this.cause[at] ? this.cause[at] : cause;
    }

    /* The operation that the warp of a wait issues after its end and before its next wait for an mbarrier, or -1. */
    nextOp(end) {
        if (!this.next) {
            const e = this.c.e, ahead = new Map();
            this.next = new Map();
            for (let i = this.c.size - 1; i >= 0; i--) {
                const key = e.rank[i] * 64 + e.warp[i], wait = e.class[i] === CLASS.WAIT && e.what[i] === WAIT.MBARRIER;
                if (e.class[i] === CLASS.OP && e.kind[i] === STAGE.ISSUED && e.op[i])
                    ahead.set(key, e.op[i] - 1);
                else if (wait && e.kind[i] === WAIT_END.BEGINS)
                    ahead.delete(key);
                else if (wait && ahead.has(key))
                    this.next.set(i, ahead.get(key));
            }
        }
        return this.next.has(end) ? this.next.get(end) : -1;
    }

    /* The stages that copies fill which report to a barrier. */
    filledBy(object) {
        this.filled = this.filled || new Map();
        if (!this.filled.has(object)) {
            const e = this.c.e, made = new Set();
            for (const i of this.bars[object - 1].marks)
                if (e.kind[i] === SYNC.MBAR_COMPLETE_TX && e.op[i])
                    this.touched(e.op[i] - 1).writes.forEach((n) => made.add(n));
            this.filled.set(object, made);
        }
        return this.filled.get(object);
    }

    /* Events by their time. */
    points(events) {
        const sorted = Uint32Array.from(events).sort((a, b) => this.time[a] - this.time[b]);
        return { event: sorted, x: Float64Array.from(sorted, (i) => this.time[i]) };
    }
}
