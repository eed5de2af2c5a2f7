/* lanes.js - the tracks of a Model: from top to bottom, CTA by CTA, what a lesson is about first.
 *
 * A track has rows of slices. Colour follows the tile or the K tile that a slice works for (tiles.js), shape its kind.
 */

const SHAPE = { wait: 0, load: 1, store: 2, umma: 3, commit: 4, ldst: 5, phase: 6, filling: 7, full: 8, reading: 9, bad: 10,
    plain: 11, works: 12, lasting: 13 };
const COLOR = { wait: 0, none: 5, bad: 8 };
const KIND_COLOR = { [SHAPE.load]: 1, [SHAPE.store]: 1, [SHAPE.umma]: 2, [SHAPE.commit]: 3, [SHAPE.ldst]: 4 }; /* without tiles */
const TILE_COLORS = [1, 7, 4, 3, 9, 2]; /* as docs/figures/roles-timeline.svg has them */
const NOTHING = { tile: NO_TILE, k: NO_TILE, turn: NO_TILE };
const STAGE_SHAPE = [null, SHAPE.filling, SHAPE.full, SHAPE.reading, null, SHAPE.bad, SHAPE.filling];
const TMEM_SHAPE = [null, SHAPE.plain, SHAPE.filling, SHAPE.full, SHAPE.reading, SHAPE.plain, SHAPE.bad];
const MAX_ROWS = 8;

class Lanes {
    constructor(m) {
        this.m = m;
        this.tracks = [];
        this.home = new Int32Array(m.c.size).fill(-1);
        this.findRoles();
        for (let rank = 0; rank < m.c.ctas; rank++)
            this.cta(rank);
        this.homesOfActs();
    }

    made() {
        return { tracks: this.tracks, home: this.home, leader: this.leader, paired: this.paired };
    }

    /* Who issues UMMAs and copies, what commits and UMMAs wait for; the first CTA that issues UMMAs, and whether it does
     * so for a pair. */
    findRoles() {
        const { c, tiles } = this.m, w = c.w;
        this.order = new Map(); /* CTA * 64 + warp: 0 issues UMMAs, 1 copies for them */
        this.leader = -1;
        this.paired = false;
        this.asked = new Set(); /* objects that the warps that issue UMMAs ask */
        for (let i = 0; i < w.agent.length; i++) {
            const key = w.rank[i] * 64 + w.warp[i], core = w.agent[i] === AGENT.TENSOR_CORE;
            if (core && (this.leader < 0 || w.rank[i] < this.leader))
                this.leader = w.rank[i];
            if (core && w.cta_group[i] === 2)
                this.paired = true;
            if (core)
                this.order.set(key, 0);
            else if (tiles.k[i] >= 0 && !this.order.has(key))
                this.order.set(key, 1);
        }
        for (let i = 0; i < c.size; i++)
            if (c.e.class[i] === CLASS.SYNC && c.e.kind[i] === SYNC.MBAR_TEST &&
                this.order.get(c.e.rank[i] * 64 + c.e.warp[i]) === 0)
                this.asked.add(c.e.object[i]);
    }

    /* Barriers and stages of the K loop, warps, engines, and the rest. */
    cta(rank) {
        const m = this.m, own = (part) => part.rank === rank;
        const bars = m.bars.filter((b) => own(b) && b.kind !== OBJECT.QUEUE && b.marks.length);
        const first = bars.filter((b) => this.isOfLoop(b)), stages = this.stageGroups(rank);
        const loop = (group) => group.some((s) => s.k);
        first.forEach((b) => this.barrier(b));
        stages.filter(loop).forEach((group) => this.stage(group));
        this.warps(rank).forEach((warp) => this.warp(warp));
        m.engines.filter(own).forEach((g) => this.engine(g));
        m.tmem.filter(own).forEach((t) => this.state('tmem', t, 'TMEM ' + t.name, TMEM_STATE, TMEM_SHAPE,
            (op) => (m.tiles.tiles > 1 ? { ...m.tiles.ofOp(op), k: NO_TILE, turn: NO_TILE } : m.tiles.ofOp(op))));
        bars.filter((b) => !first.includes(b)).forEach((b) => this.barrier(b));
        stages.filter((group) => !loop(group)).forEach((group) => this.stage(group));
    }

    /* Does an operation of the K loop complete its phases, or does the warp that issues UMMAs wait for it? */
    isOfLoop(b) {
        const tiles = this.m.tiles;
        return b.kind === OBJECT.MBARRIER && (this.asked.has(b.object) ||
            b.slices.some((s) => tiles.ofPhase(b.object, s.number).k >= 0));
    }

    warps(rank) {
        const place = (w) => (this.order.has(w.rank * 64 + w.warp) ? this.order.get(w.rank * 64 + w.warp) : 2);
        return this.m.sortedWarps().filter((w) => w.rank === rank).sort((a, b) => place(a) - place(b) || a.warp - b.warp);
    }

    /* Stages of a CTA; those that the copies of the same barrier fill together are one. */
    stageGroups(rank) {
        const m = this.m, w = m.c.w, groups = new Map();
        m.stages.forEach((s) => { s.k = false; });
        for (let i = 0; i < w.agent.length; i++)
            for (const n of w.to[i] === rank + 1 ? m.touched(i).writes : []) {
                m.stages[n].signals = w.signals_off[i];
                m.stages[n].k = m.stages[n].k || m.tiles.k[i] >= 0;
            }
        for (const s of m.stages.filter((s) => s.rank === rank))
            entry(groups, s.k && s.signals ? 'full ' + s.signals : s.name, () => []).push(s);
        return [...groups.values()];
    }

    /* --- making them ---------------------------------------------------------------------------------------------- */

    add(kind, rank, label, slices, marks, of) {
        const tight = /\[[1-9]\d*\]$| [1-9]\d*$/.test(label) && kind !== 'warp'; /* of a ring, close to the one before */
        const track = { kind, rank, label, of, tight, rows: this.pack(slices), marks: this.m.points(marks || []) };
        this.tracks.push(track);
        return this.tracks.length - 1;
    }

    /* Slices into rows in which none covers another; the time in a queue before it does not count. */
    pack(slices) {
        const t = this.m.time, rows = [];
        const stop = (s) => (s.to < 0 ? this.m.end : t[s.to]), start = (s) => (s.from < 0 ? 0 : t[s.from]);
        const sorted = slices.filter((s) => s.shape !== null).sort((a, b) => start(a) - start(b));
        for (const s of sorted) {
            let row = rows.find((r) => r.last <= start(s));
            if (!row && rows.length < MAX_ROWS)
                rows.push(row = { list: [], last: 0 });
            row = row || rows[MAX_ROWS - 1];
            row.list.push(s);
            row.last = Math.max(row.last, stop(s));
        }
        return rows.map(({ list }) => this.row(list, start, stop));
    }

    row(list, start, stop) {
        const t = this.m.time, kinds = this.m.tiles.tiles ? {} : KIND_COLOR;
        const paint = (s, n) => (s.shape === SHAPE.bad ? COLOR.bad : n >= 0 ? TILE_COLORS[n % TILE_COLORS.length]
            : s.shape === SHAPE.wait ? COLOR.wait : kinds[s.shape] || COLOR.none);
        return {
            x0: Float64Array.from(list, start), x1: Float64Array.from(list, stop),
            queued: Float64Array.from(list, (s) => (s.queued === undefined ? start(s) : t[s.queued])),
            begun: Float64Array.from(list, (s) => (s.begun === undefined ? start(s) : s.begun < 0 ? Infinity : t[s.begun])),
            event: Uint32Array.from(list, (s) => s.event), shape: Uint8Array.from(list, (s) => s.shape),
            byTile: Uint8Array.from(list, (s) => paint(s, s.of.tile)),
            byK: Uint8Array.from(list, (s) => paint(s, s.of.k)),
            label: list.map((s) => s.label || ''),
        };
    }

    /* --- warps ---------------------------------------------------------------------------------------------------- */

    /* Waits, and between them what the warp issues; waits of lanes for each other are rows of their own. */
    warp(w) {
        const m = this.m, c = m.c, waits = [];
        for (const s of w.slices)
            waits.push({ ...s, shape: SHAPE.wait, of: this.awaited(s.event),
                label: plain(waitPhrase(c, s.from, s.from, m)) });
        for (const begin of w.open.values())
            waits.push({ from: begin, to: -1, event: begin, shape: SHAPE.bad, of: NOTHING,
                label: plain(waitPhrase(c, begin, begin, m)) + ', never ended' });
        waits.forEach((s) => { s.rejoins = JOINS.includes(c.e.what[s.event]); });
        const shown = waits.filter((s) => !s.rejoins || s.to < 0), hidden = waits.filter((s) => s.rejoins && s.to >= 0);
        const track = this.add('warp', w.rank, c.warpName(w.rank, w.warp), shown, w.marks, w);
        Object.assign(this.tracks[track], { more: this.pack(hidden), under: this.pack(this.works(w, shown)) });
        for (const i of w.marks)
            this.home[i] = track;
    }

    /* The tile of the phase that a wait waited for. */
    awaited(end) {
        const m = this.m, e = m.c.e;
        for (let at = end, depth = 0; depth < 3 && m.cause[at] && !e.cluster[at]; depth++) {
            at = m.cause[at] - 1;
            if (e.class[at] === CLASS.SYNC && e.kind[at] === SYNC.MBAR_PHASE)
                return m.tiles.ofPhase(e.object[at], e.phase[at]);
        }
        return NOTHING;
    }

    /* From the first operation that a warp issues for a tile to the last; a wait at a barrier of any sort ends it. */
    works(w, waits) {
        const m = this.m, c = m.c, found = [], cuts = [WAIT.MBARRIER, WAIT.BARRIER, WAIT.CLUSTER];
        const ends = m.points(waits.filter((s) => s.to >= 0 && cuts.includes(c.e.what[s.event])).map((s) => s.event));
        for (const i of this.issuedBy(w)) {
            const of = m.tiles.ofOp(c.e.op[i] - 1), last = found[found.length - 1], turn = upper(ends.x, m.time[i]);
            if (of.tile < 0)
                continue;
            if (last && last.turn === turn && last.of.tile === of.tile && last.of.k === of.k) {
                last.to = i;
                continue;
            }
            const first = turn && (!last || last.turn !== turn); /* the wait before it let it begin */
            found.push({ from: first ? ends.event[turn - 1] : i, to: i, event: i, shape: SHAPE.works, of, turn,
                label: m.tiles.text(of) });
        }
        return found;
    }

    issuedBy(w) {
        if (!this.issues) {
            const e = this.m.c.e;
            this.issues = new Map();
            for (const i of this.m.order)
                if (e.class[i] === CLASS.OP && e.kind[i] === STAGE.ISSUED && e.op[i] && e.warp[i] !== NOBODY)
                    entry(this.issues, e.rank[i] * 64 + e.warp[i], () => []).push(i);
        }
        return this.issues.get(w.rank * 64 + w.warp) || [];
    }

    /* --- engines -------------------------------------------------------------------------------------------------- */

    /* A slice for each operation, for all copies of a multicast, and for the UMMAs, or copies, of a warp for a K tile. */
    engine(g) {
        const m = this.m, c = m.c, w = c.w, groups = new Map(), events = [];
        for (let i = 0; i < w.agent.length; i++) {
            const led = w.rank[i] === g.rank;
            const pair = w.cta_group[i] === 2 && w.agent[i] === AGENT.TENSOR_CORE && (w.rank[i] ^ 1) === g.rank;
            if (!g.agents.includes(w.agent[i]) || (!led && !pair) || !w.issued[i])
                continue;
            this.group(groups, i, led);
            if (led)
                events.push(...[w.issued[i], w.started[i], w.completed[i]].filter(Boolean).map((n) => n - 1));
        }
        if (!groups.size)
            return;
        for (const s of groups.values())
            s.label = this.groupLabel(s);
        const track = this.add('engine', g.rank, g.name, [...groups.values()], events, g);
        for (const i of events)
            this.home[i] = track;
        g.track = track;
    }

    group(groups, i, led) {
        const m = this.m, w = m.c.w, t = m.time, of = m.tiles.ofOp(i), leader = w.leader[i] || i + 1;
        const joins = of.k >= 0 && w.agent[i] !== AGENT.COMMIT;
        const key = joins ? [w.agent[i], w.rank[i], w.warp[i], of.k].join(':') : leader;
        const to = w.completed[i] ? w.completed[i] - 1 : -1, from = (w.started[i] || w.issued[i]) - 1;
        const s = groups.get(key);
        if (!s) {
            groups.set(key, { queued: w.issued[i] - 1, from, to, event: w.issued[i] - 1, of, led, first: i,
                shape: this.shapeOf(i), leaders: new Set([leader]) });
            return;
        }
        s.to = s.to < 0 || to < 0 ? -1 : t[to] > t[s.to] ? to : s.to;
        s.from = t[from] < t[s.from] ? from : s.from;
        if (t[w.issued[i] - 1] < t[s.queued])
            s.queued = s.event = w.issued[i] - 1;
        s.leaders.add(leader);
    }

    groupLabel(s) {
        const m = this.m, c = m.c, w = c.w, many = s.leaders.size, tile = m.tiles.text(s.of);
        const all = [...s.leaders].flatMap((n) => m.touched(n - 1).writes.map((at) => m.stages[at].name));
        const what = SHAPE.load === s.shape && all.length ? 'load ' + [...new Set(all)].join(', ')
            : (many > 1 ? many + ' x ' : '') + operationLabel(c, s.first);
        const at = w.agent[s.first] === AGENT.COMMIT && w.signals_off[s.first]
            ? c.mbarrierAt(w.rank[s.first], w.signals_off[s.first], s.event) : 0;
        return (tile ? tile + ': ' : '') + what + (at ? ' to ' + c.objectName(at) : '') +
            (s.led ? '' : ', led by CTA ' + w.rank[s.first]);
    }

    shapeOf(i) {
        const w = this.m.c.w, agent = w.agent[i];
        if (ENGINES[0][1].includes(agent))
            return w.to[i] ? SHAPE.load : SHAPE.store;
        if (ENGINES[1][1].includes(agent))
            return SHAPE.umma;
        return agent === AGENT.TENSOR_LDST ? SHAPE.ldst : agent === AGENT.COMMIT ? SHAPE.commit : SHAPE.plain;
    }

    /* What operations do to barriers is shown where they are. */
    homesOfActs() {
        const { c, engines } = this.m, e = c.e, w = c.w, place = new Map();
        for (const g of engines.filter((g) => g.track !== undefined))
            for (const agent of g.agents)
                place.set(g.rank * 64 + agent, g.track);
        for (let i = 0; i < c.size; i++)
            if (e.op[i] && e.class[i] !== CLASS.OP && (e.class[i] !== CLASS.SYNC || !PHASES.includes(e.kind[i]))) {
                const at = place.get(w.rank[e.op[i] - 1] * 64 + w.agent[e.op[i] - 1]);
                if (at !== undefined)
                    this.home[i] = at;
            }
    }

    /* --- barriers and memory -------------------------------------------------------------------------------------- */

    barrier(b) {
        const m = this.m, tiles = m.tiles, t = m.time, e = m.c.e, begun = new Map();
        for (const i of b.marks)
            if (e.kind[i] !== SYNC.MBAR_TEST && !(t[begun.get(e.phase[i])] <= t[i]))
                begun.set(e.phase[i], i);
        const slice = (from, to, event, number, label) => {
            const shape = to < 0 ? SHAPE.lasting : SHAPE.phase;
            const of = tiles.ofPhase(b.object, number), tile = tiles.text(of), first = begun.get(number);
            return { from, to, event, shape, of, begun: first === undefined ? -1 : first,
                label: (tile ? tile + ', ' : '') + label };
        };
        const slices = b.slices.map((s) => slice(s.from, s.to, s.event, s.number, phaseLabel(b, s)));
        slices.push(slice(b.since, -1, b.marks[b.marks.length - 1], b.phase, 'phase ' + b.phase));
        const track = this.add('barrier', b.rank, m.c.objectName(b.object), slices, b.marks, b);
        for (const s of b.slices)
            this.home[s.event] = track;
    }

    stage(group) {
        const m = this.m, part = group.length > 1 ? { rank: group[0].rank, ...together(group) } : group[0];
        this.state('stage', part, 'SMEM ' + groupName(group.map((s) => s.name)), STAGE_STATE, STAGE_SHAPE,
            (op) => m.tiles.ofOp(op));
    }

    /* Neighbours that look the same are one slice. */
    state(kind, part, label, states, shapes, ofOp) {
        const m = this.m, slices = [], { place, value } = part.state;
        for (let n = 1; n < place.length; n++) {
            const by = part.by.at(place[n] + 1), of = by ? ofOp(by - 1) : NOTHING, shape = shapes[value[n]];
            const last = slices[slices.length - 1], to = n + 1 < place.length ? m.order[place[n + 1]] : -1;
            const tile = m.tiles.text(of);
            if (last && last.shape === shape && last.of.k === of.k && last.of.tile === of.tile)
                last.to = to;
            else
                slices.push({ from: m.order[place[n]], to, event: m.order[place[n]], shape, of,
                    label: (tile && shape !== SHAPE.plain ? tile + ', ' : '') +
                        states[value[n] === 6 && kind === 'stage' ? 1 : value[n]] });
        }
        this.add(kind, part.rank, label, slices, [], part);
    }
}

/* 'stage 0 (A, B)' of 'A stage 0' and 'B stage 0'; else all names. */
function groupName(names) {
    const ends = new Set(names.map((name) => name.replace(/^\S+ /, '')));
    if (names.length > 1 && ends.size === 1 && names.every((name) => name.includes(' ')))
        return [...ends][0] + ' (' + names.map((name) => name.split(' ')[0]).join(', ') + ')';
    return names.join(', ');
}

/* The states of stages that are filled together, as of one: it is full when all are. */
function together(stages) {
    const state = new Changes(0), by = new Changes(0);
    const places = [...new Set(stages.flatMap((s) => s.state.place))].filter((p) => p >= 0).sort((a, b) => a - b);
    for (const p of places) {
        const all = stages.map((s) => s.state.at(p + 1)), has = (n) => all.includes(n), filled = has(1) || has(6);
        state.add(p, has(5) || (filled && has(3)) ? 5 : filled || (has(2) && (has(0) || has(4))) ? 6 : has(3) ? 3
            : has(2) ? 2 : all[0]);
        const latest = stages.reduce((a, b) => (lastPlace(b.by, p) > lastPlace(a.by, p) ? b : a));
        by.add(p, latest.by.at(p + 1));
    }
    return { state, by };
}

const lastPlace = (changes, p) => changes.place[upper(changes.place, p) - 1];
