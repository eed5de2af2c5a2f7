/* log.js - what the page was given, as arrays: one Cluster is the log of one cluster.
 *
 * Columns carry the names of emulator/trace/log.h, enumerators the values of emulator/machine/events.h. References
 * count from 1, 0 is none. A column that the log has nothing to say in is not there, and reads as zeros.
 */

const CLASS = { SYNC: 0, OP: 1, WAIT: 2, LIFE: 3, GLOBAL: 4, STEP: 5 };
const SYNC = {
    MBAR_ARRIVE: 0, MBAR_DROP: 1, MBAR_EXPECT_TX: 2, MBAR_COMPLETE_TX: 3, MBAR_PENDING: 4, MBAR_PHASE: 5, MBAR_TEST: 6,
    BAR_ARRIVE: 7, BAR_PHASE: 8, BAR_PASS: 9, CLUSTER_ARRIVE: 10, CLUSTER_PHASE: 11, CLUSTER_PASS: 12, WARP: 13,
    FENCE: 14,
    GROUP_COMMIT: 15, GROUP_WAIT: 16, TCGEN05_LD: 17, TCGEN05_WAIT_LD: 18, TCGEN05_WAIT_ST: 19, TCGEN05_USE: 20,
    TCGEN05_FENCE_BEFORE: 21, TCGEN05_FENCE_AFTER: 22, GRID_WAIT: 23, GRID_LAUNCH_DEPENDENTS: 24,
};
const STAGE = { ISSUED: 0, STARTED: 1, COMPLETED: 2 };
const WAIT_END = { BEGINS: 0, MET: 1, TIMED_OUT: 2, RELEASED: 3 };
const LIFE = {
    CLUSTER_START: 0, CLUSTER_END: 1, CTA_START: 2, CTA_EXIT: 3, CTA_END: 4, LANES_EXIT: 5, TMEM_ALLOC: 6,
    TMEM_CLOSING: 7,
    TMEM_DEALLOC: 8, TMEM_RELINQUISH: 9, MBAR_INIT: 10, MBAR_INVAL: 11, HEAP_ALLOC: 12, HEAP_FREE: 13, REGISTERS: 14,
};
const AGENT = {
    THREAD: 0, CP_ASYNC: 1, TMA: 2, BULK: 3, TENSOR_CORE: 4, TENSOR_COPY: 5, TENSOR_LDST: 6, TENSOR_ALLOC: 7, COMMIT: 8,
    CLC: 9,
};
const OBJECT = { MBARRIER: 0, BARRIER: 1, CLUSTER_BARRIER: 2, QUEUE: 3 };
const WAIT = {
    NONE: 0, MBARRIER: 1, BARRIER: 2, CLUSTER: 3, WARP_SYNC: 4, TMEM_ALLOC: 5, PAIR: 6, REGISTERS: 7, TMEM_LDST: 8,
    ASYNC: 9,
    JOIN: 10, ALIGNED: 11, RIDING: 12, ROOM: 13,
};
const NOBODY = 255;

/* The data of the page: base64 of zlib of JSON. */
async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return JSON.parse(await new Response(stream).text());
}

/* References from distances: the inverse of relative() in watch.py. */
function absolute(distances, n) {
    const made = new Uint32Array(n);
    if (distances)
        for (let i = 0; i < n; i++)
            made[i] = distances[i] > 0 ? i + 1 - distances[i] : distances[i] < 0 ? i - distances[i] : 0;
    return made;
}

/* The columns that the page knows, as typed arrays where their values fit; others as they are, or zeros. */
function typed(table, n, kinds) {
    const made = {};
    for (const [kind, names] of kinds)
        for (const name of names)
            made[name] = table[name] && kind ? kind.from(table[name]) : table[name] || new (kind || Uint8Array)(n);
    return made;
}

class Cluster {
    constructor(log, data) {
        this.log = log;
        this.number = data.number;
        this.id = data.id;
        this.complete = data.complete;
        this.sm = data.sm;
        this.stages = data.stages;
        this.names = data.names;
        this.size = data.num.events;
        this.e = typed(data.events, this.size, [
            [Uint8Array, ['class', 'kind', 'rank', 'warp']],
            [Uint32Array, ['lanes', 'site', 'object', 'op', 'phase', 'count', 'pending', 'what', 'times', 'cluster']],
            [Int32Array, ['tx']], [null, ['value']],
        ]);
        this.e.cause = absolute(data.events.cause, this.size);
        this.o = typed(data.objects, data.num.objects, [
            [Uint32Array, ['kind', 'rank', 'at', 'count', 'site', 'name']],
        ]);
        this.w = typed(data.ops, data.num.ops, [
            [Uint32Array, ['name', 'agent', 'rank', 'warp', 'site', 'queue', 'leader', 'follows', 'issued', 'started',
                'completed', 'm', 'n', 'k', 'cta_group', 'kind', 'from', 'from_off', 'to', 'to_off', 'signals',
                'signals_off',
                'ctas', 'accumulate', 'a_in_tmem', 'taken', 'dims', 'a_at', 'b_at']],
            [null, ['bytes', 'coord', 'a', 'b', 'global', 'map', 'first']],
        ]);
        this.ctas = log.cluster[0] * log.cluster[1] * log.cluster[2];
        this.clocked = !!data.cycle;
        if (this.clocked) {
            this.cycle = new Float64Array(this.size);
            for (let i = 0, sum = 0; i < this.size; i++)
                this.cycle[i] = (sum += data.cycle[i]) / 10;
            this.blame = absolute(data.blame, this.size);
        }
    }

    text(number) {
        return this.log.text[number] || '';
    }

    /* What people call the object of that number. */
    objectName(number) {
        const i = number - 1, kind = this.o.kind[i];
        if (this.names.objects[i])
            return this.names.objects[i];
        if (kind === OBJECT.MBARRIER)
            return 'mbarrier 0x' + this.o.at[i].toString(16);
        if (kind === OBJECT.BARRIER)
            return 'barrier ' + this.o.at[i];
        return kind === OBJECT.QUEUE ? this.text(this.o.name[i]) : 'cluster barrier';
    }

    /* 'warp 0' or 'warp 0 (load)' */
    warpName(rank, warp) {
        const role = this.roleOf(rank, warp);
        return 'warp ' + warp + (role ? ' (' + role + ')' : '');
    }

    /* 'load', or nothing */
    roleOf(rank, warp) {
        const role = (this.names.warps[rank] || [])[warp];
        return role && role !== 'warp ' + warp ? role : '';
    }

    /* The instruction of a site: {file, line, column, ptx, ptx_line, text, func, from: [[file, line]]}, or null. */
    site(number) {
        const s = this.log.sites, i = number - 1;
        if (!number || s.line[i] === undefined)
            return null;
        const from = [], calls = this.log.calls;
        for (let call = s.inlined[i], depth = 0; call && depth < 32; call = calls.outer[call - 1], depth++)
            from.push([this.text(calls.file[call - 1]), calls.line[call - 1]]);
        return {
            file: this.text(s.file[i]), line: s.line[i], column: s.column[i], ptx: this.text(s.ptx[i]),
            ptx_line: s.ptx_line[i], text: this.text(s.text[i]), func: this.text(s.func[i]), from,
        };
    }

    /* The operations of the same instruction as op, itself among them: a multicast copy is one for each receiver. */
    siblings(op) {
        if (!this.byLeader) {
            this.byLeader = new Map();
            for (let i = 0; i < this.w.leader.length; i++) {
                const leader = this.w.leader[i] || i + 1;
                if (!this.byLeader.has(leader))
                    this.byLeader.set(leader, []);
                this.byLeader.get(leader).push(i + 1);
            }
        }
        return this.byLeader.get(this.w.leader[op - 1] || op);
    }

    /* The object that is the mbarrier at an offset of a CTA's shared memory when event i happens, or 0. */
    mbarrierAt(rank, at, i) {
        if (!this.byPlace) {
            this.byPlace = new Map();
            for (let n = this.o.kind.length; n >= 1; n--)
                if (this.o.kind[n - 1] === OBJECT.MBARRIER) {
                    const key = this.o.rank[n - 1] + ':' + this.o.at[n - 1];
                    this.byPlace.set(key, [n, ...(this.byPlace.get(key) || [])]);
                }
            this.born = new Uint32Array(this.o.kind.length + 1);
            for (let k = 0; k < this.size; k++)
                if (this.e.class[k] === CLASS.LIFE && this.e.kind[k] === LIFE.MBAR_INIT)
                    this.born[this.e.object[k]] = k;
        }
        const all = this.byPlace.get(rank + ':' + at) || [];
        return all.filter((n) => this.born[n] <= i).pop() || all[0] || 0;
    }
}
