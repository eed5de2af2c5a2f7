/* warp/unwritten.c - where a value that nothing has written came from, for the report of its use.
 *
 * Registers carry a bit of poison a lane and nothing else. So that a report can name the memory, instructions that find
 * poison there leave a note (warp_found_unwritten): that is rare, and arithmetic pays nothing. The report walks back
 * from the use over the ways through the function, from registers to the sources of the instructions that may have
 * written them, until it meets instructions with a note, of which the latest counts, or comes to the function's start:
 * then the register was never written. A value that lay in memory is followed on from the store that brought it there,
 * one that came by a call or a parameter is not.
 */
#include "warp/unwritten.h"

#include "base/heap.h"

#include <stdio.h>

#define NOTES 64u     /* a power of two; instructions that meet at a place push out one another */
#define MAX_REGS 256u /* followed in one report */
#define MAX_STORES 4u /* that a value is followed through */
#define NONE UINT32_MAX

/* What is known of a wait behind which shared memory is unwritten. */
enum lack {
    LACK_ANY,
    LACK_ALL,
    LACK_BARRIER,
    LACK_YES,
    LACK_PHASE,
    LACK_COPY,
    LACK_COMMIT,
    LACK_GROUP,
    LACK_ARRIVAL,
    LACK_EARLY
};

struct note {
    const struct ptx_insn *in; /* NULL: none */
    uint64_t when;
    uint32_t lanes;
    enum warp_origin_of from;
    bool stored;                  /* not read: there, by `in` */
    const struct cta *cta;        /* shared memory: whose, */
    const struct ptx_func *func;  /* a store: that `in` is of, */
    const struct ptx_reg *reg;    /*  and which register it stored */
    uint32_t off, high;           /*  where, and of a store how far */
    const char *copy;             /* that was writing it, or a tcgen05.mma under way, and where that was issued */
    const struct diag_site *site; /* in the module, as `copy` is a constant */
    struct warp_waited waited;    /* of shared memory: what the warp had waited for last, */
    enum lack lack;               /*  and what that wait lacks */
};
struct warp_notes {
    struct note at[NOTES];
};

static uint32_t place_of(const struct ptx_insn *in) { return (uint32_t)((uintptr_t)in / sizeof *in) % NOTES; }

static struct note *note_of(struct warp *w, const struct ptx_insn *in) {
    if (!w->notes)
        w->notes = xcalloc(1, sizeof *w->notes);
    return &w->notes->at[place_of(in)];
}

/* A tcgen05.mma under way that may write the CTA's tensor memory, or NULL: the oldest of its own, or of its pair's. */
static const struct async_op *multiplying(struct cta *cta) {
    struct cta *const pair[] = {cta, cta_peer(cta)};
    for (unsigned i = 0; i < 2 && pair[i]; i++)
        for (const struct async_queue *q = pair[i]->queues; q; q = q->next)
            for (const struct async_op *op = q->head; op; op = op->next)
                if (op->kind->agent == AGENT_TENSOR_CORE)
                    return op;
    return NULL;
}

/* `op`: a copy under way to what was read, or NULL. */
static enum lack lack_of(const struct warp_waited *waited, const struct async_op *op) {
    const bool polled = waited->in && waited->kind == WAIT_MBARRIER;
    if (polled && (waited->no || waited->again))
        return waited->no ? LACK_YES : LACK_PHASE;
    if (op && op->kind->agent == AGENT_CP_ASYNC)
        return polled ? LACK_ARRIVAL : op->committed && *op->committed ? LACK_GROUP : LACK_COMMIT;
    if (op)
        return LACK_COPY;
    return !waited->in ? LACK_ALL : polled || waited->kind == WAIT_ASYNC ? LACK_ANY : LACK_BARRIER;
}

void warp_found_unwritten(struct warp *w, const struct insn *in, uint32_t lanes, enum warp_origin_of from,
                          struct cta *cta, uint32_t off, uint32_t size) {
    struct note *n = note_of(w, in->src);
    *n = (struct note){.in = in->src, .when = w->island->clock, .lanes = lanes, .from = from, .cta = cta, .off = off};
    const struct async_op *op = NULL;
    if (w->island->async_pending && from == WARP_FROM_SHARED)
        op = async_landing(cta, off, size);
    else if (w->island->async_pending && from == WARP_FROM_TENSOR)
        op = multiplying(w->cta);
    if (op) {
        n->copy = op->name;
        n->site = op->origin.site;
    }
    if (from == WARP_FROM_SHARED || from == WARP_FROM_TENSOR) {
        n->waited = w->waited;
        n->lack = lack_of(&w->waited, op);
    }
}

/* The first register that `in` stores and that is poison for `lanes`; NULL: none. */
static const struct ptx_reg *stored_register(const struct warp *w, const struct ptx_insn *in, uint32_t lanes) {
    for (uint32_t i = 0; i < in->num_operands; i++) {
        const struct ptx_operand *o = &in->operands[i];
        const uint32_t n = o->kind == PTX_OPND_VEC ? o->num_elems : o->kind == PTX_OPND_REG;
        for (uint32_t k = 0; k < n; k++) {
            const struct ptx_reg *reg = o->kind == PTX_OPND_VEC ? o->elems[k].reg : o->reg;
            if (reg && warp_poison(w, w->func->reg_slot[reg->index]) & lanes)
                return reg;
        }
    }
    return NULL;
}

void warp_stored_unwritten(struct warp *w, const struct insn *in, uint32_t lanes, enum warp_origin_of to,
                           const struct cta *cta, uint32_t low, uint32_t high) {
    struct note *n = note_of(w, in->src);
    const bool again = n->in == in->src && n->cta == cta;
    *n = (struct note){.in = in->src,
                       .when = w->island->clock,
                       .lanes = lanes,
                       .from = to,
                       .stored = true,
                       .cta = cta,
                       .func = w->func->src,
                       .reg = stored_register(w, in->src, lanes),
                       .off = again && n->off < low ? n->off : low,
                       .high = again && n->high > high ? n->high : high};
}

/* A store of a value that nothing had written, and who executed it. */
struct store {
    const struct note *note; /* NULL: there was none */
    const struct warp *w;
};

/* The latest one by a warp of the CTA's cluster to shared memory [off, off + bytes) of `cta`, or by `own` to its local,
 * by its CTA to tensor memory; up to `when`. */
static struct store stored_there(const struct warp *own, enum warp_origin_of to, const struct cta *cta, uint32_t off,
                                 uint32_t bytes, uint64_t when) {
    const struct cluster *cl = cta->cluster;
    struct store best = {0};
    for (uint32_t i = 0; i < cl->num_ctas * MACH_MAX_WARPS; i++) {
        const struct cta *of = &cl->cta[i / MACH_MAX_WARPS];
        const struct warp *w = of->warps && i % MACH_MAX_WARPS < of->num_warps ? &of->warps[i % MACH_MAX_WARPS] : NULL;
        for (uint32_t k = 0; w && w->notes && k < NOTES; k++) {
            const struct note *n = &w->notes->at[k];
            const bool there = to == WARP_FROM_SHARED  ? n->cta == cta && n->off < off + bytes && off <= n->high
                               : to == WARP_FROM_LOCAL ? w == own
                                                       : of == cta;
            if (n->in && n->stored && n->from == to && n->when <= when && there &&
                (!best.note || n->when > best.note->when))
                best = (struct store){n, w};
        }
    }
    return best;
}

void warp_forget_unwritten(struct warp *w) { xfree(w->notes); }

/* --- the walk ----------------------------------------------------------------------------------------------------- */

struct way {
    uint32_t from, next; /* instruction; the next way to the same one */
};
struct walk {
    const struct warp *w;
    const struct ptx_func *func;
    uint32_t lanes;
    uint32_t *first; /* by instruction: the ways to it */
    struct way *ways;
    uint32_t num_ways;
    uint8_t *seen; /* instructions, by the walk for one register */
    uint32_t *stack;
    struct use {
        const struct ptx_reg *reg;
        uint32_t at; /* what it held there, before the instruction */
    } uses[MAX_REGS];
    uint32_t num_uses;
    const struct note *note;      /* found: the latest, */
    const struct ptx_reg *virgin; /* or else a register that nothing wrote */
    bool answer; /* perhaps what clusterlaunchcontrol.query_cancel left of an answer that took nothing */
};

static void add_way(struct walk *k, uint32_t from, uint32_t to) {
    if (to >= k->func->num_insns)
        return;
    k->ways[k->num_ways] = (struct way){from, k->first[to]};
    k->first[to] = k->num_ways++;
}

static uint32_t num_targets(const struct ptx_insn *in) {
    const struct ptx_operand *o = in->operands;
    if (in->op == PTX_OP_bra)
        return 1;
    const bool table = in->op == PTX_OP_brx_idx && in->num_operands > 1 && o[1].kind == PTX_OPND_TABLE;
    return table && o[1].table->labels ? o[1].table->count : 0;
}

static bool falls_through(const struct ptx_insn *in) {
    return in->guard || (in->op != PTX_OP_bra && in->op != PTX_OP_brx_idx && in->op != PTX_OP_ret &&
                         in->op != PTX_OP_exit && in->op != PTX_OP_trap);
}

static void find_ways(struct walk *k) {
    const uint32_t n = k->func->num_insns;
    size_t most = n;
    for (uint32_t i = 0; i < n; i++)
        most += num_targets(&k->func->insns[i]);
    k->first = xcalloc(n, sizeof *k->first);
    k->seen = xcalloc(n, sizeof *k->seen);
    k->stack = xcalloc(n + 1, sizeof *k->stack);
    k->ways = xcalloc(most, sizeof *k->ways);
    memset(k->first, 0xff, n * sizeof *k->first);
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_insn *in = &k->func->insns[i];
        const uint32_t count = num_targets(in);
        for (uint32_t t = 0; t < count; t++)
            add_way(k, i, in->op == PTX_OP_bra ? in->operands[0].label : in->operands[1].table->labels[t]);
        if (falls_through(in))
            add_way(k, i, i + 1);
    }
}

static bool names(const struct ptx_operand *o, const struct ptx_reg *reg) {
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_PAIR) && i < o->num_elems; i++)
        if (names(&o->elems[i], reg))
            return true;
    return o->kind == PTX_OPND_REG && o->reg == reg;
}

static void add_use(struct walk *k, const struct ptx_reg *reg, uint32_t at) {
    for (uint32_t i = 0; i < k->num_uses; i++)
        if (k->uses[i].reg == reg && k->uses[i].at == at)
            return;
    if (k->num_uses < MAX_REGS)
        k->uses[k->num_uses++] = (struct use){reg, at};
}

/* The registers of an operand that holds values; those of addresses too where `bases`. */
static void add_registers(struct walk *k, const struct ptx_operand *o, uint32_t at, bool bases) {
    if (o->kind == PTX_OPND_REG || (o->kind == PTX_OPND_MEM && bases && o->reg))
        add_use(k, o->reg, at);
    for (uint32_t i = 0; o->kind == PTX_OPND_VEC && i < o->num_elems; i++)
        add_registers(k, &o->elems[i], at, bases);
}

/* An instruction may have written the register: it left a note, or its sources are followed. */
static void follow(struct walk *k, uint32_t at) {
    const struct ptx_insn *in = &k->func->insns[at];
    k->answer |= in->op == PTX_OP_clusterlaunchcontrol_query_cancel;
    const struct note *n = k->w->notes ? &k->w->notes->at[place_of(in)] : NULL;
    if (n && n->in == in && !n->stored) {
        const bool here = n->lanes & k->lanes, better = k->note && k->note->lanes & k->lanes;
        if (!k->note || here > better || (here == better && n->when > k->note->when))
            k->note = n;
        return;
    }
    for (uint32_t i = 1; i < in->num_operands && in->op != PTX_OP_call; i++)
        add_registers(k, &in->operands[i], at, false);
}

/* Everything that may have written a register before instruction `u.at`. */
static void find_writers(struct walk *k, struct use u) {
    uint32_t depth = 0;
    memset(k->seen, 0, k->func->num_insns);
    for (uint32_t at = u.at;;) {
        if (at == 0 && !k->virgin)
            k->virgin = u.reg;
        for (uint32_t i = k->first[at]; i != NONE; i = k->ways[i].next) {
            const uint32_t from = k->ways[i].from;
            const struct ptx_insn *in = &k->func->insns[from];
            if (k->seen[from])
                continue;
            k->seen[from] = 1;
            const bool writes = ptx_has_destination(in) && names(&in->operands[0], u.reg);
            if (writes)
                follow(k, from);
            if (!writes || in->guard)
                k->stack[depth++] = from;
        }
        if (!depth)
            return;
        at = k->stack[--depth];
    }
}

static bool is_unwritten(const struct walk *k, const struct ptx_reg *reg) {
    return reg && warp_poison(k->w, k->w->func->reg_slot[reg->index]) & k->lanes;
}

/* The registers of the use itself that are poison; what it writes does not count. */
static void begin(struct walk *k, const struct warp *w, const struct ptx_insn *in, uint32_t lanes) {
    const uint32_t at = (uint32_t)(in - w->func->src->insns);
    k->w = w;
    k->lanes = lanes;
    if (is_unwritten(k, in->guard))
        add_use(k, in->guard, at);
    for (uint32_t i = ptx_has_destination(in); i < in->num_operands; i++)
        add_registers(k, &in->operands[i], at, true);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->num_uses; i++)
        if (is_unwritten(k, k->uses[i].reg))
            k->uses[kept++] = k->uses[i];
    k->num_uses = kept;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static const char *const hints[] = {
    [WARP_FROM_LOCAL] = "Assign each element of the local array before it is read",
    [WARP_FROM_TENSOR] =
        "Check the columns and lanes, and wait for the operation: no tcgen05.mma, .cp or .st has written these cells",
    [WARP_FROM_ANSWER] = "Check is_canceled first: a request that failed names no CTA",
};
static const char *const lacks[] = {
    [LACK_ANY] = "Add the store or copy that writes these bytes, correct its address, or add a barrier so that it "
                 "comes before the read",
    [LACK_ALL] = "Add __syncthreads() before the read if other threads write these bytes: the reader's warp has waited "
                 "for nothing so far. If not, the store or copy is missing, or goes to another address",
    [LACK_BARRIER] =
        "Compare the last barrier before the read with that of the writers: its number, its thread count, and how "
        "often each role comes to it. If they are the same, the store or copy is missing, or goes to another address",
    [LACK_YES] = "Repeat the poll until its answer is yes, before the bytes are read: a test_wait or try_wait may come "
                 "back before the phase is over",
    [LACK_PHASE] = "Wait for the next phase: flip the parity once for each phase, or use the state of the latest "
                   "arrival. The last wait asked for a phase that was over before",
    [LACK_COPY] = "Wait for the mbarrier of the copy, with the parity of its phase, before its bytes are read",
    [LACK_COMMIT] = "Add cp.async.commit_group after the copy, and cp.async.wait_group 0 after that. The copy is in no "
                    "group yet, and wait_group waits only for committed groups",
    [LACK_GROUP] = "Let cp.async.wait_group N name a smaller N before the read: the group of this copy is committed, "
                   "but still in flight. The wait covers copies of its own thread; for others add __syncthreads()",
    [LACK_ARRIVAL] = "Let cp.async.mbarrier.arrive.noinc come after the thread's last copy, and let mbarrier.init "
                     "count it together with the other arrivals. The phase ended while the copy was in flight",
    [LACK_EARLY] = "Move the read after the write of these bytes, or after the wait for the threads that write them: "
                   "they have been written since",
};
static const char mma_hint[] =
    "Wait for the mbarrier that tcgen05.commit names, with the parity of its phase, before the accumulator is read";
static const char stored_hint[] =
    "Assign every part of the structure or array before it is copied as a whole, or its source";
static const char register_hint[] = "Assign the variable on every path before it is read";

/* ", after bar.sync at x.cu:9", cut to `size`. */
static const char *last_wait(const struct note *n, char *text, size_t size) {
    char where[300];
    text[0] = '\0';
    if (n->waited.in && n->lack != LACK_COPY)
        snprintf(text, size, ", after %s at %s%s",
                 n->waited.kind == WAIT_BARRIER ? "the barrier" : ptx_op_text(n->waited.in->op),
                 diag_where(&n->waited.in->site, where, sizeof where), n->lack == LACK_YES ? " had said no" : "");
    return text;
}

static const char *describe_shared(const struct note *n, char *text, size_t size) {
    char where[300], wait[360];
    const char *op = ptx_op_text(n->in->op);
    last_wait(n, wait, sizeof wait);
    if (n->copy)
        snprintf(text, size, "%s read shared offset 0x%x while %s, issued at %s, was writing it%s", op, n->off, n->copy,
                 diag_where(n->site, where, sizeof where), wait);
    else
        snprintf(text, size, "%s read shared memory that nothing had written, offset 0x%x%s", op, n->off, wait);
    const bool early = !n->copy && n->lack != LACK_YES && n->lack != LACK_PHASE && n->cta->smem &&
                       !smem_poisoned((struct cta *)(uintptr_t)n->cta, n->off, 1);
    return lacks[early ? LACK_EARLY : n->lack];
}

static const char *describe(const struct note *n, char *text, size_t size) {
    static const char *const names[] = {"shared memory", "local memory", "tensor memory", "an answer"};
    char where[600];
    const char *op = ptx_op_text(n->in->op);
    if (n->stored) {
        snprintf(text, size, "%s stored a value that nothing had written to %s", op, names[n->from]);
        return stored_hint;
    }
    if (n->copy && n->from == WARP_FROM_TENSOR) {
        char wait[360] = "";
        if (n->lack == LACK_PHASE)
            last_wait(n, wait, sizeof wait);
        snprintf(text, size,
                 "%s read tensor memory that nothing had written yet, while %s, issued at %s, was under way%s", op,
                 n->copy, diag_where(n->site, where, sizeof where), wait);
        return n->lack == LACK_PHASE ? lacks[LACK_PHASE] : mma_hint;
    }
    if (n->from == WARP_FROM_SHARED)
        return describe_shared(n, text, size);
    if (n->from == WARP_FROM_ANSWER)
        snprintf(text, size, "%s gave no CTA, because the request has failed", op);
    else
        snprintf(text, size, "%s read %s that nothing had written", op, names[n->from]);
    return hints[n->from];
}

/* Walks back from the uses that are in *k, of a warp's function. */
static void walk(struct walk *k, const struct warp *w, const struct ptx_func *func, uint32_t lanes) {
    k->w = w;
    k->func = func;
    k->lanes = lanes;
    k->note = NULL;
    k->virgin = NULL;
    k->num_ways = 0;
    find_ways(k);
    for (uint32_t i = 0; i < k->num_uses; i++)
        find_writers(k, k->uses[i]);
    k->num_uses = 0;
    xfree(k->first);
    xfree(k->seen);
    xfree(k->stack);
    xfree(k->ways);
}

/* Follows a value through the stores that brought it where it was read. The note of what was found last is left in *k,
 * or the register that nothing wrote. */
static void follow_stores(struct walk *k, struct store s) {
    for (unsigned i = 0; s.note && i < MAX_STORES; i++) {
        if (s.note->reg) {
            add_use(k, s.note->reg, (uint32_t)(s.note->in - s.note->func->insns));
            walk(k, s.w, s.note->func, s.note->lanes);
        }
        if (!s.note->reg || (!k->note && !k->virgin)) {
            k->note = s.note;
            return;
        }
        s.note = NULL;
        const struct note *n = k->note;
        if (n && !n->copy && n->from != WARP_FROM_ANSWER)
            s = stored_there(k->w, n->from, n->from == WARP_FROM_SHARED ? n->cta : k->w->cta, n->off, 1, n->when);
    }
}

/* What *k has found, in words; false where that is nothing. */
static bool tell_story(const struct walk *k, struct mach_story *story) {
    story->party = (struct diag_party){.what = story->text};
    if (k->note) {
        story->hint = describe(k->note, story->text, sizeof story->text);
        story->party.site = &k->note->in->site;
        return true;
    }
    if (!k->virgin)
        return false;
    story->hint = register_hint;
    snprintf(story->text, sizeof story->text, "nothing has written the register %s", k->virgin->name);
    return true;
}

bool warp_explain_unwritten(const struct cta *cta, uint32_t off, uint32_t bytes, struct mach_story *story) {
    const struct store s = stored_there(NULL, WARP_FROM_SHARED, cta, off, bytes, UINT64_MAX);
    struct walk *k = xcalloc(1, sizeof *k);
    follow_stores(k, s);
    const bool known = tell_story(k, story);
    xfree(k);
    return known;
}

/* 9.7.13.18: of an answer that took no cluster the coordinates are undefined. CUTLASS's scheduler makes a tile of them
 * all the same, with branches, and throws it away. */
DIAG(answer_branch) = {
    DIAG_HEAD(STRICT, "uninitialised-answer", "9.7.13.18"),
    .rule = "a value that was never written must not decide anything",
    .hint = "Check is_canceled before you use the coordinates in an answer of clusterlaunchcontrol.try_cancel: this "
            "answer took no cluster",
    .reason =
        "CUTLASS's scheduler computes a tile from such coordinates, with branches, and throws it away: chips run it.",
};

enum warp_status warp_fault_unwritten(struct warp *w, const struct insn *in, uint32_t lanes, const struct diag *proto,
                                      const char *fmt, ...) {
    struct mach_origin origin = warp_origin(w, in, lanes);
    struct diag d = *proto;
    struct mach_story story;
    struct walk *k = xcalloc(1, sizeof *k);
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    begin(k, w, in->src, lanes);
    walk(k, w, w->func->src, lanes);
    const struct note *n = k->note;
    if (n && !n->copy && n->from != WARP_FROM_ANSWER)
        follow_stores(k, stored_there(w, n->from, n->from == WARP_FROM_SHARED ? n->cta : w->cta, n->off, 1, n->when));
    const bool answer = k->answer || (k->note && k->note->from == WARP_FROM_ANSWER);
    if (answer && d.class == DIAG_WARNING) {
        d = answer_branch;
    } else if (tell_story(k, &story)) {
        d.hint = story.hint;
        d.other = &story.party;
    }
    if (d.class == DIAG_ERROR)
        mach_fault(w->island, &origin, &d, "%s", text);
    else
        mach_warn(w->island, &origin, &d, "%s", text);
    xfree(k);
    return w->island->fault ? WARP_FAULT : WARP_NEXT;
}
