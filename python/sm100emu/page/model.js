/* model.js - what the log of a cluster means: how each barrier, stage of shared memory, range of tensor memory, warp
 * and engine stands after any number of events, and the tracks that show it over time.
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
const COLOR = { wait: 0, load: 1, core: 2, commit: 3, ldst: 4, even: 5, odd: 6, full: 7, bad: 8, other: 9 };
const STAGE_COLOR = [null, COLOR.load, COLOR.full, COLOR.core, null, COLOR.bad, COLOR.load];
const TMEM_COLOR = [null, COLOR.even, COLOR.core, COLOR.full, COLOR.ldst, COLOR.even, COLOR.bad];
const ENGINES = [
    ['TMA', [AGENT.TMA, AGENT.BULK, AGENT.CP_ASYNC], COLOR.load],
    ['tensor core', [AGENT.TENSOR_CORE, AGENT.TENSOR_COPY], COLOR.core],
    ['commits', [AGENT.COMMIT, AGENT.TENSOR_ALLOC, AGENT.CLC], COLOR.commit],
    ['tensor memory', [AGENT.TENSOR_LDST], COLOR.ldst],
];
const MAX_ROWS = 12;

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
        this.makeTracks();
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
            for (const [name, agents, color] of ENGINES)
                this.engines.push({ rank, name, agents, color, flying: 0, state: new Changes(0) });
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
        if (kind === SYNC.MBAR_PHASE || kind === SYNC.BAR_PHASE || kind === SYNC.CLUSTER_PHASE) {
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
                this.waits.push({ begin, end: i });
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

    /* --- tracks --------------------------------------------------------------------------------------------------- */

    /* From top to bottom, CTA by CTA: each {label, rank, rows of slices, marks}; where each event is shown. */
    makeTracks() {
        this.tracks = [];
        this.home = new Int32Array(this.c.size).fill(-1);
        for (let rank = 0; rank < this.c.ctas; rank++) {
            for (const w of this.sortedWarps().filter((w) => w.rank === rank))
                this.warpTrack(w);
            for (const g of this.engines.filter((g) => g.rank === rank))
                this.engineTrack(g);
            for (const b of this.bars.filter((b) => b.rank === rank && b.kind !== OBJECT.QUEUE && b.marks.length))
                this.barrierTrack(b);
            for (const s of this.stages.filter((s) => s.rank === rank))
                this.stateTrack('stage', s, 'SMEM ' + s.name, STAGE_STATE, STAGE_COLOR);
            for (const t of this.tmem.filter((t) => t.rank === rank))
                this.stateTrack('tmem', t, 'TMEM ' + t.name, TMEM_STATE, TMEM_COLOR);
        }
    }

    add(kind, rank, label, slices, marks, of) {
        const track = { kind, rank, label, of, rows: this.pack(slices), marks: this.points(marks || []) };
        this.tracks.push(track);
        return this.tracks.length - 1;
    }

    points(events) {
        const sorted = Uint32Array.from(events).sort((a, b) => this.time[a] - this.time[b]);
        return { event: sorted, x: Float64Array.from(sorted, (i) => this.time[i]) };
    }

    /* Slices into rows in which none covers another; the time in a queue before it does not count. */
    pack(slices) {
        const t = this.time, rows = [];
        const stop = (s) => (s.to < 0 ? this.end : t[s.to]);
        const start = (s) => (s.from < 0 ? 0 : t[s.from]);
        const sorted = slices.filter((s) => s.color !== null).sort((a, b) => start(a) - start(b));
        for (const s of sorted) {
            let row = rows.find((r) => r.last <= start(s));
            if (!row && rows.length < MAX_ROWS)
                rows.push(row = { list: [], last: 0 });
            row = row || rows[MAX_ROWS - 1];
            row.list.push(s);
            row.last = Math.max(row.last, stop(s));
        }
        return rows.map(({ list }) => ({
            x0: Float64Array.from(list, start), x1: Float64Array.from(list, stop),
            queued: Float64Array.from(list, (s) => (s.queued === undefined ? start(s) : t[s.queued])),
            event: Uint32Array.from(list, (s) => s.event), color: Uint8Array.from(list, (s) => s.color),
            label: list.map((s) => s.label || ''),
        }));
    }

    warpTrack(w) {
        const c = this.c, slices = w.slices.map((s) => ({ ...s, color: COLOR.wait, label: waitLabel(c, s.from) }));
        for (const begin of w.open.values())
            slices.push({ from: begin, to: -1, event: begin, color: COLOR.bad,
                label: waitLabel(c, begin) + ', never ended' });
        const track = this.add('warp', w.rank, c.warpName(w.rank, w.warp), slices, w.marks, w);
        for (const i of w.marks)
            this.home[i] = track;
    }

    engineTrack(g) {
        const c = this.c, w = c.w, groups = new Map(), events = [];
        for (let i = 0; i < w.agent.length; i++) {
            const led = w.rank[i] === g.rank;
            const pair = w.cta_group[i] === 2 && w.agent[i] === AGENT.TENSOR_CORE && (w.rank[i] ^ 1) === g.rank;
            if (!g.agents.includes(w.agent[i]) || (!led && !pair) || !w.issued[i])
                continue;
            const leader = w.leader[i] || i + 1, s = groups.get(leader);
            const to = w.completed[i] ? w.completed[i] - 1 : -1, begun = w.started[i] ? w.started[i] - 1 : -1;
            if (s) {
                s.to = s.to < 0 || to < 0 ? -1 : this.time[to] > this.time[s.to] ? to : s.to;
                s.from = begun >= 0 && this.time[begun] < this.time[s.from] ? begun : s.from;
            } else {
                groups.set(leader, {
                    queued: w.issued[i] - 1, from: begun < 0 ? w.issued[i] - 1 : begun, to, event: w.issued[i] - 1,
                    color: led ? g.color : COLOR.other,
                    label: operationLabel(c, i) + (led ? '' : ', led by CTA ' + w.rank[i]),
                });
            }
            if (led)
                events.push(...[w.issued[i], w.started[i], w.completed[i]].filter(Boolean).map((n) => n - 1));
        }
        if (!groups.size)
            return;
        const track = this.add('engine', g.rank, g.name, [...groups.values()], events, g);
        for (const i of events)
            this.home[i] = track;
        this.actsOf = this.actsOf || this.actsByOperation();
        for (let n = 0; n < this.actsOf.length; n += 2)
            if (w.rank[this.actsOf[n]] === g.rank && g.agents.includes(w.agent[this.actsOf[n]]))
                this.home[this.actsOf[n + 1]] = track;
    }

    /* [operation, event, ...] of what operations do to barriers. */
    actsByOperation() {
        const e = this.c.e, made = [];
        for (let i = 0; i < this.c.size; i++)
            if (e.op[i] && e.class[i] !== CLASS.OP)
                made.push(e.op[i] - 1, i);
        return made;
    }

    barrierTrack(b) {
        const slices = b.slices.map((s) => ({
            ...s, color: s.number % 2 ? COLOR.odd : COLOR.even, label: phaseLabel(b, s),
        }));
        slices.push({ from: b.since, to: -1, event: b.marks[b.marks.length - 1],
            color: b.phase % 2 ? COLOR.odd : COLOR.even, label: 'phase ' + b.phase });
        const track = this.add('barrier', b.rank, this.c.objectName(b.object), slices, b.marks, b);
        for (const s of b.slices)
            this.home[s.event] = track;
    }

    stateTrack(kind, part, label, states, colors) {
        const slices = [], { place, value } = part.state;
        for (let n = 1; n < place.length; n++)
            slices.push({
                from: this.order[place[n]], to: n + 1 < place.length ? this.order[place[n + 1]] : -1,
                event: this.order[place[n]], color: colors[value[n]], label: states[value[n]],
            });
        this.add(kind, part.rank, label, slices, [], part);
    }
}
