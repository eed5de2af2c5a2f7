/* words.js - events in sentences. In a phrase the name of an mbarrier is between backticks, as it is code; a sentence is
 * the same without them. */

const number = (n) => Number(n).toLocaleString('en');
const ctas = (ranks) => (ranks.length === 1 ? 'CTA ' : 'CTAs ') + ranks.join(', ');
const plural = (n, one, many = one + 's') => number(n) + ' ' + (Number(n) === 1 ? one : many);

/* Bits of a mask, ascending. */
function bits(mask) {
    const found = [];
    for (let i = 0; i < 32; i++)
        if (mask >>> i & 1)
            found.push(i);
    return found;
}

function laneText(lanes) {
    const list = bits(lanes);
    if (list.length === 32 || !list.length)
        return '';
    return list.length === 1 ? 'lane ' + list[0] : list.length + ' lanes';
}

/* An mbarrier's name as code; others are called by words. */
function nameText(c, object) {
    const name = c.objectName(object);
    return c.o.kind[object - 1] === OBJECT.MBARRIER ? '`' + plain(name) + '`' : name;
}

const plain = (phrase) => phrase.replaceAll('`', '');

/* '`full[0]` of CTA 0', or to somebody of that CTA '`full[0]`' */
function objectText(c, object, rank = -1) {
    if (!object)
        return 'a barrier';
    const kind = c.o.kind[object - 1], own = kind === OBJECT.CLUSTER_BARRIER || c.o.rank[object - 1] === rank;
    return (kind === OBJECT.CLUSTER_BARRIER ? 'the ' : '') + nameText(c, object) +
        (own ? '' : ' of CTA ' + c.o.rank[object - 1]);
}

/* 'warp 5 (load, lane 0) of CTA 1' */
function warpText(c, rank, warp, lanes = 0) {
    const role = c.roleOf(rank, warp), more = [role, laneText(lanes)].filter(Boolean).join(', ');
    return 'warp ' + warp + (more ? ' (' + more + ')' : '') + ' of CTA ' + rank;
}

/* Who does event i: threads of a warp, or an operation. */
function whoText(c, i) {
    const e = c.e;
    if (e.op[i])
        return 'the ' + operationName(c, e.op[i] - 1) + stageText(c, e.op[i] - 1) + ' that CTA ' + e.rank[i] + ' issued';
    if (e.warp[i] === NOBODY)
        return 'CTA ' + e.rank[i];
    return warpText(c, e.rank[i], e.warp[i], e.lanes[i]);
}

/* ' of B stage 0' of a copy into that stage of shared memory, if it has a name. */
function stageText(c, i) {
    const w = c.w, to = w.to_off[i], copies = [AGENT.TMA, AGENT.BULK].includes(w.agent[i]) && w.to[i];
    const stage = copies && c.stages.find(([rank, low, high]) => rank === w.to[i] - 1 && low <= to && to < high);
    return stage && !stage[3].startsWith('bytes ') ? ' of ' + stage[3] : '';
}

function operationName(c, i) {
    const w = c.w, agent = w.agent[i], name = c.text(w.name[i]);
    if (agent === AGENT.TMA)
        return w.to[i] ? 'TMA load' : 'TMA store';
    if (agent === AGENT.BULK)
        return 'bulk copy';
    if (agent === AGENT.TENSOR_CORE)
        return 'UMMA';
    return agent === AGENT.COMMIT && name === 'tcgen05.commit' ? 'commit' : name || 'operation';
}

/* 'UMMA 256x256x16', 'TMA load of 4,096 bytes' */
function operationLabel(c, i) {
    const w = c.w, name = operationName(c, i), agent = w.agent[i];
    if (agent === AGENT.TENSOR_CORE)
        return name + ' ' + w.m[i] + 'x' + w.n[i] + 'x' + w.k[i];
    if (agent === AGENT.TENSOR_LDST || agent === AGENT.TENSOR_COPY)
        return name + ' of ' + plural(w.n[i], 'column');
    return Number(w.bytes[i]) ? name + ' of ' + plural(w.bytes[i], 'byte') : name;
}

/* Ranks that the instruction of operation i reaches: of a multicast all receivers, of a commit those that hear it. */
function receivers(c, i) {
    const w = c.w;
    if (w.ctas[i])
        return bits(w.ctas[i]);
    const found = new Set(c.siblings(i + 1).map((n) => w.to[n - 1] - 1).filter((r) => r >= 0));
    return [...found].sort((a, b) => a - b);
}

/* Ranks whose mbarriers the instruction of operation i signals. */
function listeners(c, i) {
    const w = c.w;
    if (w.ctas[i])
        return bits(w.ctas[i]);
    const found = new Set(c.siblings(i + 1).map((n) => w.signals[n - 1] - 1).filter((r) => r >= 0));
    return [...found].sort((a, b) => a - b);
}

/* What the instruction of operation i does, to whom, and who hears of it. */
function operationText(c, i, event, m) {
    const w = c.w, agent = w.agent[i], part = (list, all) => [...new Set(list.map((n) => all[n].name))].join(', ');
    const touched = m.touched(i);
    let text = operationLabel(c, i), hears = '';
    if (agent === AGENT.TMA || agent === AGENT.BULK || agent === AGENT.CP_ASYNC) {
        if (touched.writes.length)
            text += ' into ' + part(touched.writes, m.stages);
        else if (touched.reads.length)
            text += ' from ' + part(touched.reads, m.stages);
        const to = receivers(c, i);
        if (to.length)
            text += (to.length > 1 ? ', multicast to ' : ' of ') + ctas(to);
        if (Number(w.dims[i]) && w.coord[i])
            text += ', box at (' + w.coord[i].slice(0, w.dims[i]).join(', ') + ')';
    } else if (agent === AGENT.TENSOR_CORE) {
        text += (w.cta_group[i] === 2 ? ' for the pair' : '') +
            (w.accumulate[i] ? ' that adds to D' : ' that overwrites D') + ' in columns ' +
            (w.to_off[i] & 0xffff) + '-' + ((w.to_off[i] & 0xffff) + columnsOf(w, i) - 1);
        if (touched.reads.length)
            text += ' and reads ' + part(touched.reads, m.stages);
    }
    const at = c.mbarrierAt(w.ctas[i] ? w.rank[i] : w.signals[i] - 1, w.signals_off[i], event);
    const heard = listeners(c, i);
    if (at && heard.length)
        hears = '; it reports to ' + nameText(c, at) + ' of ' + ctas(heard);
    const from = warpText(c, w.rank[i], w.warp[i]), article = /^[aeio]/i.test(text) ? 'an ' : 'a ';
    switch (c.e.kind[event]) {
    case STAGE.STARTED: return 'The ' + text + ', issued by ' + from + ', begins' + hears;
    case STAGE.COMPLETED: return 'The ' + text + ', issued by ' + from + ', is complete' + hears;
    default: return capital(from) + ' issues ' + article + text + hears;
    }
}

/* 'phase 2: 1 arrival, 65,536 bytes' */
function phaseLabel(b, slice) {
    const parts = b.kind === OBJECT.MBARRIER && slice.came ? [plural(slice.came, 'arrival')] : [];
    if (slice.bytes)
        parts.push(plural(slice.bytes, 'byte'));
    return 'phase ' + slice.number + (parts.length ? ': ' + parts.join(', ') : '');
}

/* Of an mbarrier: 'phase 2, 1 of 1 arrivals and 32,768 bytes pending' */
function barrierText(s) {
    return 'phase ' + s.phase + ', ' + s.pending + ' of ' + plural(s.expected, 'arrival') + ' and ' + plural(s.tx,
        'byte') + ' to come';
}

function waitLabel(c, i) {
    const e = c.e, what = e.what[i], value = e.value[i];
    switch (what) {
    case WAIT.MBARRIER: return 'waits for ' + (e.object[i] ? objectText(c, e.object[i], e.rank[i]) : 'an mbarrier') +
        ', parity ' + value;
    case WAIT.BARRIER: return 'waits at ' + (e.object[i] ? objectText(c, e.object[i], e.rank[i]) : 'a barrier of the CTA');
    case WAIT.CLUSTER: return 'waits at the cluster barrier';
    case WAIT.WARP_SYNC: return 'waits for the other lanes of its warp';
    case WAIT.TMEM_ALLOC: return 'waits for ' + plural(value, 'column') + ' of tensor memory';
    case WAIT.PAIR: return "waits for the pair's other CTA";
    case WAIT.REGISTERS: return 'waits for registers';
    case WAIT.TMEM_LDST: return 'waits for its own tcgen05.ld or .st';
    case WAIT.ASYNC: return 'waits for its own copies';
    case WAIT.JOIN: return 'waits where the lanes of its warp join again';
    case WAIT.ALIGNED: return 'waits at an .aligned instruction for the other lanes of its warp';
    case WAIT.RIDING: return "waits for its warp's instruction";
    case WAIT.ROOM: return 'waits for room in a queue';
    default: return 'waits';
    }
}

/* What the phase lacks after event i, in the model's order of events. */
function missing(c, i, m) {
    const s = m.bars[c.e.object[i] - 1].state.at(m.place[i] + 1);
    return !s || s.phase !== c.e.phase[i] ? 'the phase is complete' : lacking(s);
}

function lacking(s) {
    const parts = [];
    if (s.pending)
        parts.push(plural(s.pending, 'arrival'));
    if (s.tx > 0)
        parts.push(plural(s.tx, 'byte'));
    const more = s.tx < 0 ? plural(-s.tx, 'byte') + ' came that nobody has expected yet' : '';
    const one = parts.length === 1 && /^1 /.test(parts[0]);
    return [parts.length ? parts.join(' and ') + (one ? ' is' : ' are') + ' still to come'
        : more ? '' : 'nothing is missing', more].filter(Boolean).join('; ');
}

/* What came last to the phase that event i completes. */
function lastText(c, i, m) {
    const cause = m.cause[i], last = cause && !c.e.cluster[i] && c.e.class[cause - 1] === CLASS.SYNC ? cause - 1 : i;
    const bytes = c.e.class[last] === CLASS.SYNC && c.e.kind[last] === SYNC.MBAR_COMPLETE_TX;
    return (bytes ? 'the last bytes came by ' : 'the last arrival was by ') + whoText(c, last);
}

function syncText(c, i, m) {
    const e = c.e, who = whoText(c, i), own = e.op[i] ? -1 : e.rank[i];
    const at = objectText(c, e.object[i], own), phase = ' in phase ' + e.phase[i];
    switch (e.kind[i]) {
    case SYNC.MBAR_ARRIVE: return who + ' arrives at ' + at + phase +
        (e.count[i] > 1 ? ', ' + number(e.count[i]) + ' times' : '') + '; ' + missing(c, i, m);
    case SYNC.MBAR_DROP: return who + ' arrives at ' + at + phase + ' and drops out; ' + missing(c, i, m);
    case SYNC.MBAR_EXPECT_TX: return who + ' tells ' + at + ' to expect ' + plural(e.value[i], 'byte') + phase + '; ' +
        missing(c, i, m);
    case SYNC.MBAR_COMPLETE_TX: return who + ' brings ' + plural(e.value[i], 'byte') + ' to ' + at + phase + '; ' +
        missing(c, i, m);
    case SYNC.MBAR_PENDING: return who + ' lets ' + at + ' await one more arrival' + phase;
    case SYNC.MBAR_PHASE: return 'Phase ' + e.phase[i] + ' of ' + objectText(c, e.object[i]) +
        ' is complete: ' + lastText(c, i, m);
    case SYNC.MBAR_TEST: return who + askText(c, i, at);
    case SYNC.BAR_ARRIVE: case SYNC.CLUSTER_ARRIVE: return who + ' arrives at ' + at;
    case SYNC.BAR_PHASE: case SYNC.CLUSTER_PHASE: return 'All have arrived at ' +
        objectText(c, e.object[i]) + '; ' + lastText(c, i, m);
    case SYNC.BAR_PASS: case SYNC.CLUSTER_PASS: return who + ' passes ' + at;
    case SYNC.WARP: return who + ' meets the other lanes of its warp';
    case SYNC.FENCE: return who + ' passes a fence: ' + ['memory', 'sync_restrict', 'mbarrier_init', 'proxy.alias',
        'proxy.async', 'proxy.async::generic', 'proxy.tensormap'][e.what[i]];
    case SYNC.GROUP_COMMIT: return who + ' closes its group of ' + (e.what[i] & 1 ? 'bulk operations' : 'cp.async');
    case SYNC.GROUP_WAIT: return who + ': all but its latest ' + plural(e.what[i] >> 2, 'group') +
        (e.what[i] & 2 ? ' have read their sources' : ' are complete');
    case SYNC.TCGEN05_LD: return who + ' issues a tcgen05.ld';
    case SYNC.TCGEN05_WAIT_LD: return who + ' has the values of all its tcgen05.ld';
    case SYNC.TCGEN05_WAIT_ST: return who + ' knows that all its tcgen05.st are done';
    case SYNC.TCGEN05_USE: return who + ' uses a register that a tcgen05.ld loads';
    case SYNC.TCGEN05_FENCE_BEFORE: return who + ': tcgen05.fence::before_thread_sync';
    case SYNC.TCGEN05_FENCE_AFTER: return who + ': tcgen05.fence::after_thread_sync';
    case SYNC.GRID_WAIT: return who + ' has waited for the grids before this one';
    case SYNC.GRID_LAUNCH_DEPENDENTS: return who + ' lets dependent grids begin';
    default: return who + ' synchronises';
    }
}

function lifeText(c, i) {
    const e = c.e, who = whoText(c, i), value = Number(e.value[i]), owner = e.pending[i];
    const where = owner === e.rank[i] ? '' : ' of CTA ' + owner;
    const columns = ' columns ' + value + '-' + (value + e.count[i] - 1);
    switch (e.kind[i]) {
    case LIFE.CLUSTER_START: return 'The cluster starts';
    case LIFE.CLUSTER_END: return 'The cluster ends';
    case LIFE.CTA_START: return 'CTA ' + owner + ' starts';
    case LIFE.CTA_EXIT: return 'CTA ' + owner + ' has exited';
    case LIFE.CTA_END: return 'CTA ' + owner + ' is gone';
    case LIFE.LANES_EXIT: return who + ' exits';
    case LIFE.TMEM_ALLOC: return who + ' gets' + columns + ' of tensor memory' + where;
    case LIFE.TMEM_CLOSING: return who + " gives back the pair's" + columns + ' of tensor memory' + where +
        ', its peer has yet to';
    case LIFE.TMEM_DEALLOC: return who + ' gives back' + columns + ' of tensor memory' + where;
    case LIFE.TMEM_RELINQUISH: return who + ' will allocate no more tensor memory';
    case LIFE.MBAR_INIT: return who + ' initialises ' + objectText(c, e.object[i], e.rank[i]) + ': a phase takes ' +
        plural(e.object[i] ? c.o.count[e.object[i] - 1] : e.count[i], 'arrival');
    case LIFE.MBAR_INVAL: return who + ' invalidates ' + objectText(c, e.object[i]);
    case LIFE.HEAP_ALLOC: return who + ' allocates from the heap';
    case LIFE.HEAP_FREE: return who + ' frees memory of the heap';
    case LIFE.REGISTERS: return who + ' has ' + plural(e.count[i], 'register') + ' a thread from now on';
    default: return who + ' changes its state';
    }
}

/* What ended a wait: the event that decided, in a clause. */
function becauseText(c, cause, m) {
    const e = c.e, i = cause - 1;
    if (!cause)
        return '';
    if (e.class[i] === CLASS.SYNC && e.kind[i] === SYNC.MBAR_PHASE)
        return lastText(c, i, m);
    if (e.class[i] === CLASS.SYNC && (e.kind[i] === SYNC.BAR_PHASE || e.kind[i] === SYNC.CLUSTER_PHASE))
        return 'all have arrived, and ' + lastText(c, i, m);
    if (e.class[i] === CLASS.OP && e.op[i])
        return 'the ' + operationLabel(c, e.op[i] - 1) + ' ' + ['was issued', 'has begun', 'is complete'][e.kind[i]];
    const text = phrase(c, i, m);
    return text.startsWith('CTA') ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

/* The phase that event i asks for: a success asked for the one before (PTX ISA 9.7.13.15.16). */
function askText(c, i, at) {
    const e = c.e, asked = e.phase[i] - (e.count[i] ? 1 : 0), times = e.times[i];
    if (asked < 0)
        return ' asks ' + at + ' for the phase before phase 0: yes, a new mbarrier counts that one as complete';
    return ' asks whether phase ' + asked + ' of ' + at + ' is complete: ' + (e.count[i] ? 'yes' : 'not yet' +
        (times > 1 ? ', ' + number(times) + ' times in a row' : ''));
}

/* The phase of an mbarrier that a wait waits for, by the parity and the state as the wait begins; -2 if unknown. */
function awaitedPhase(c, begin, m) {
    const b = begin >= 0 && c.e.what[begin] === WAIT.MBARRIER && m.bars[c.e.object[begin] - 1];
    const s = b && b.state.at(m.place[begin] + 1);
    return s ? s.phase - (s.phase % 2 === Number(c.e.value[begin]) ? 0 : 1) : -2;
}

/* 'waits for `full`, phase 0' */
function waitPhrase(c, i, begin, m) {
    const phase = awaitedPhase(c, begin, m), name = c.e.object[i] && objectText(c, c.e.object[i], c.e.rank[i]);
    return phase < 0 || !name ? waitLabel(c, i) : 'waits for ' + name + ', phase ' + phase;
}

/* Why threads waited for an mbarrier, if the log knows: the UMMAs that their warp issues next read what the barrier's copies
 * fill, or a commit ended the wait and the warp's next copy writes to shared memory. */
function nextText(c, end, m) {
    const op = c.e.what[end] === WAIT.MBARRIER ? m.nextOp(end) : -1;
    if (op < 0)
        return '';
    const { reads, writes } = m.touched(op), copy = [AGENT.TMA, AGENT.BULK].includes(c.w.agent[op]);
    const last = m.why(end) && !c.e.cluster[end] ? m.why(m.why(end) - 1) : 0, by = last ? c.e.op[last - 1] : 0;
    const names = (list) => [...new Set(list.map((n) => m.stages[n].name))].join(' and ');
    const brought = reads.filter((n) => m.filledBy(c.e.object[end]).has(n));
    if (c.w.agent[op] === AGENT.TENSOR_CORE && brought.length)
        return ', because the UMMAs that it issues next read ' + names(brought);
    return copy && writes.length && by && c.w.agent[by - 1] === AGENT.COMMIT
        ? ', because the ' + operationName(c, op) + ' that it issues next writes ' + names(writes) : '';
}

/* Of a wait for an mbarrier that begins: what the phase lacks. */
function lacksText(c, i, m) {
    const b = m.bars[c.e.object[i] - 1], s = b && c.e.what[i] === WAIT.MBARRIER ? b.state.at(m.place[i] + 1) : null;
    return s && s.phase % 2 === Number(c.e.value[i]) ? ': ' + lacking(s) : '';
}

function waitText(c, i, m) {
    const e = c.e, who = capital(whoText(c, i)), begin = m.beginOf(i);
    const label = waitPhrase(c, i, e.kind[i] === WAIT_END.BEGINS ? i : begin, m);
    const waited = label.replace(/^waits/, 'waited');
    if (e.kind[i] === WAIT_END.BEGINS)
        return who + ' ' + label + lacksText(c, i, m);
    if (e.kind[i] === WAIT_END.TIMED_OUT)
        return who + ' ' + waited + ': not yet, and the time limit of try_wait has passed';
    if (e.kind[i] === WAIT_END.RELEASED)
        return who + ' ' + waited + ' and gives up: the others do not come';
    const cause = m.why(i), own = cause === begin + 1 && !e.cluster[i]; /* it came last itself */
    const why = cause && !own ? becauseOf(c, i, cause, m) : '';
    const long = m.clocked && begin >= 0 ? ', for ' + plural(Math.round(m.time[i] - m.time[begin]), 'cycle') : '';
    const next = nextText(c, i, m);
    return who + ' ' + waited + long + next + (why ? (next ? '. ' + capital(why) : ': ' + why) : '');
}

/* The cause may be in another cluster. */
function becauseOf(c, i, cause, m) {
    const other = c.e.cluster[i];
    return other ? 'event ' + cause + ' of cluster ' + (other - 1) : becauseText(c, cause, m);
}

/* Event i in a sentence, without its full stop. */
const sentence = (c, i, m) => plain(phrase(c, i, m));

function phrase(c, i, m) {
    const e = c.e;
    switch (e.class[i]) {
    case CLASS.SYNC: return capital(syncText(c, i, m));
    case CLASS.OP: {
        const op = e.op[i] - 1;
        if (op < 0)
            return 'An operation';
        return operationText(c, op, i, m);
    }
    case CLASS.WAIT: return waitText(c, i, m);
    case CLASS.LIFE: return capital(lifeText(c, i));
    case CLASS.GLOBAL: return capital(whoText(c, i)) + [' touches', ' reads', ' writes', ' reads and writes'][e.kind[i] & 3] +
        ' global memory, ' + plural(e.value[i], 'sector') + ' of 32 bytes';
    default: return capital(whoText(c, i)) + (e.kind[i] === 1 ? ' executes what depends on time or on other clusters'
        : ' goes on');
    }
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
