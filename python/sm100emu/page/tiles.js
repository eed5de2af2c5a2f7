/* tiles.js - which tile of D, and which K tile of it, each operation and each phase of an mbarrier works for.
 *
 * A tile of D begins with an UMMA that does not accumulate, behind one of the same CTA that does (emulator/view/tiles.h).
 * A K tile is the UMMAs between two commits; a copy belongs to the K tile whose UMMAs read what it wrote, a commit to the
 * UMMAs before it, a phase to what completes it. What the epilogue does belongs to the tile that it last loaded from
 * tensor memory. All of that is so under any clock: the events are taken as the emulator ran them.
 */

const NO_TILE = -1;

/* Changes by key: a small record that is made when it is asked for. */
function entry(map, key, make) {
    if (!map.has(key))
        map.set(key, make());
    return map.get(key);
}

class Tiles {
    /* m: a Model that has found its parts */
    constructor(m) {
        const n = m.c.w.agent.length;
        this.m = m;
        this.tile = new Int32Array(n).fill(NO_TILE); /* by operation, from 0 */
        this.k = new Int32Array(n).fill(NO_TILE);    /* K tiles of an issuing CTA, through all tiles */
        this.turn = new Int32Array(n).fill(NO_TILE); /* K tile of its tile */
        this.phases = new Map();                     /* object * 2^20 + phase: {tile, k, turn, ops} */
        this.issuers = new Map();                    /* CTA: its latest tile and K tile */
        this.ofWarp = new Map();                     /* CTA * 64 + warp: the tile that it last loaded */
        this.toRead = m.stages.map(() => []);        /* copies that no UMMA has read */
        this.written = m.tmem.map(() => NO_TILE);
        for (let i = 0; i < m.c.size; i++)
            this.take(i);
        this.settle();
        this.tiles = 1 + this.tile.reduce((most, t) => Math.max(most, t), NO_TILE);
        this.kTiles = 1 + this.k.reduce((most, k) => Math.max(most, k), NO_TILE);
    }

    take(i) {
        const e = this.m.c.e;
        if (e.class[i] === CLASS.OP && e.kind[i] === STAGE.ISSUED && e.op[i])
            this.takeIssue(e.op[i] - 1);
        else if (e.class[i] === CLASS.SYNC && e.object[i])
            this.takeSync(i);
    }

    takeIssue(op) {
        const w = this.m.c.w, agent = w.agent[op], touched = this.m.touched(op);
        if (agent === AGENT.TENSOR_CORE)
            this.takeUmma(op, touched);
        else if (agent === AGENT.COMMIT)
            this.takeCommit(op);
        else if (agent === AGENT.TENSOR_LDST)
            this.takeLoad(op, touched);
        else if (!w.to[op])
            this.tile[op] = this.warpTile(w.rank[op], w.warp[op]);
        for (const s of touched.writes)
            this.toRead[s].push(op);
    }

    takeUmma(op, { reads, fills }) {
        const w = this.m.c.w;
        const at = entry(this.issuers, w.rank[op], () => ({ tile: NO_TILE, k: NO_TILE, turn: NO_TILE, adds: false,
            begins: true }));
        if (!w.accumulate[op] && (at.adds || at.tile < 0)) {
            at.tile++;
            at.turn = NO_TILE;
            at.begins = true;
        }
        if (at.begins) {
            at.k++;
            at.turn++;
            at.begins = false;
        }
        at.adds = !!w.accumulate[op];
        this.put(op, at);
        for (const s of reads) {
            for (const copy of this.toRead[s])
                this.put(copy, at);
            this.toRead[s].length = 0;
        }
        for (const t of fills)
            this.written[t] = at.tile;
    }

    takeCommit(op) {
        const at = this.issuers.get(this.m.c.w.rank[op]);
        if (!at)
            return;
        at.begins = true;
        this.put(op, at);
    }

    takeLoad(op, { drains }) {
        const w = this.m.c.w;
        if (!drains.length)
            return;
        this.tile[op] = this.written[drains[0]];
        this.ofWarp.set(w.rank[op] * 64 + w.warp[op], this.tile[op]);
    }

    takeSync(i) {
        const e = this.m.c.e, kind = e.kind[i], op = e.op[i] - 1;
        const at = (phase) => entry(this.phases, e.object[i] * 1048576 + phase, () => ({ tile: NO_TILE, k: NO_TILE,
            turn: NO_TILE, ops: [], heard: NO_TILE }));
        if (kind > SYNC.MBAR_TEST)
            return;
        if (op >= 0 && (kind === SYNC.MBAR_COMPLETE_TX || kind === SYNC.MBAR_ARRIVE))
            at(e.phase[i]).ops.push(op);
        else if (this.warpTile(e.rank[i], e.warp[i]) >= 0 &&
            (kind === SYNC.MBAR_ARRIVE || (kind === SYNC.MBAR_TEST && e.count[i] && e.phase[i])))
            at(e.phase[i] - (kind === SYNC.MBAR_TEST ? 1 : 0)).heard = this.warpTile(e.rank[i], e.warp[i]);
    }

    warpTile(rank, warp) {
        const known = this.ofWarp.get(rank * 64 + warp);
        return known === undefined ? NO_TILE : known;
    }

    put(op, { tile, k, turn }) {
        this.tile[op] = tile;
        this.k[op] = k;
        this.turn[op] = turn;
    }

    /* Of phases: what completed them, or else whose warps arrived or waited; of copies that threads read: their phase. */
    settle() {
        for (const phase of this.phases.values()) {
            const op = phase.ops.find((n) => this.k[n] >= 0);
            if (op !== undefined)
                Object.assign(phase, { tile: this.tile[op], k: this.k[op], turn: this.turn[op] });
            else
                phase.tile = phase.heard;
            for (const n of phase.ops)
                if (this.tile[n] < 0)
                    this.tile[n] = phase.tile;
        }
    }

    /* {tile, k, turn} of an operation, or of a phase of an object. */
    ofOp(op) {
        return { tile: this.tile[op], k: this.k[op], turn: this.turn[op] };
    }

    ofPhase(object, phase) {
        return this.phases.get(object * 1048576 + phase) || { tile: NO_TILE, k: NO_TILE, turn: NO_TILE };
    }

    /* 'K 3', 'tile 1, K 3', 'tile 1', or nothing. */
    text({ tile, turn }) {
        return [this.tiles > 1 && tile >= 0 ? 'tile ' + tile : '', turn >= 0 ? 'K ' + turn : ''].filter(Boolean)
            .join(', ');
    }
}
