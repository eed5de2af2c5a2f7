/* deadlock/ahead.c - what lanes that are held up would do once they went on; contract in ahead.h.
 *
 * The copy runs a copy of the function's code, in which every instruction that others could notice has do_pass for its
 * handler. It has an island of its own, which keeps its reports to itself, and no listener is told.
 */
#include "deadlock/ahead.h"

#include "base/heap.h"
#include "machine/memory.h"
#include "warp/access.h"
#include "warp/meet.h"

#define CHUNK 4096u      /* instructions, after which it is asked whether anything has come up */
#define QUIET 4u         /* so often nothing: there will be no more */
#define MAX_STEPS 65536u /* for one group */
#define MAX_USES 256u

struct look {
    struct island isl; /* first: do_pass finds the rest by it */
    struct warp w;
    struct warp_func func;
    const struct insn *code; /* that of the function itself */
    struct ahead *out;
    const struct ahead_poll *poll; /* the loop that is to be left, or NULL */
    const uint64_t *words;
    uint32_t num_words;
    bool cut;
};

/* --- what is noted ------------------------------------------------------------------------------------------------ */

/* By opcode; the mbarrier is the last address among the operands. */
static const struct {
    enum ptx_op op;
    uint32_t what;
} uses[] = {
    {PTX_OP_mbarrier_arrive, AHEAD_ARRIVES},
    {PTX_OP_mbarrier_arrive_drop, AHEAD_ARRIVES},
    {PTX_OP_mbarrier_expect_tx, AHEAD_EXPECTS},
    {PTX_OP_mbarrier_complete_tx, AHEAD_BYTES},
    {PTX_OP_mbarrier_test_wait, AHEAD_WAITS},
    {PTX_OP_mbarrier_try_wait, AHEAD_WAITS},
    {PTX_OP_cp_async_mbarrier_arrive, AHEAD_ARRIVES},
    {PTX_OP_cp_async_bulk, AHEAD_BYTES},
    {PTX_OP_cp_reduce_async_bulk, AHEAD_BYTES},
    {PTX_OP_cp_async_bulk_tensor, AHEAD_BYTES},
    {PTX_OP_clusterlaunchcontrol_try_cancel, AHEAD_BYTES},
    {PTX_OP_tcgen05_commit, AHEAD_COMMITS},
};

static uint32_t what_of(const struct ptx_insn *in) {
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].op == in->op && !ptx_has(in, PTX_MOD_bulk_group))
            return uses[i].what | (ptx_has(in, PTX_MOD_expect_tx) ? AHEAD_EXPECTS : 0);
    return 0;
}

static void note(struct ahead *a, const struct cta *cta, uint64_t off, uint32_t what) {
    for (uint32_t i = 0; i < a->num; i++)
        if (a->uses[i].cta == cta && a->uses[i].off == off) {
            a->uses[i].what |= what;
            return;
        }
    if (a->num == MAX_USES)
        return;
    a->uses = xgrow(a->uses, a->num, &a->cap, sizeof *a->uses);
    a->uses[a->num++] = (struct ahead_use){cta, off, what};
}

uint32_t ahead_what(const struct ahead *a, const struct cta *cta, uint64_t off) {
    for (uint32_t i = 0; i < a->num; i++)
        if (a->uses[i].cta == cta && a->uses[i].off == off)
            return a->uses[i].what;
    return 0;
}

static void note_met(struct ahead *a, const struct ptx_insn *in) {
    if (ahead_meets(a, in) || a->num_met == MAX_USES)
        return;
    a->met = xgrow(a->met, a->num_met, &a->cap_met, sizeof *a->met);
    a->met[a->num_met++] = in;
}

bool ahead_meets(const struct ahead *a, const struct ptx_insn *in) {
    for (uint32_t i = 0; i < a->num_met; i++)
        if (a->met[i] == in)
            return true;
    return false;
}

void ahead_free(struct ahead *a) {
    xfree(a->uses);
    xfree(a->met);
}

/* The CTAs whose mbarriers hear of it: those of its mask, which is the only 16-bit source, or all, or the one that the
 * address names. With .cta_group::2 they are those of each pair that have the address's parity (9.7.9.27.1.2). */
static uint32_t ctas_of(const struct warp *w, const struct insn *in, uint32_t lane, const struct cta *named) {
    const bool pairs = ptx_has(in->src, PTX_MOD_cta_group__2) && in->src->op != PTX_OP_tcgen05_commit;
    const uint32_t all = (1u << named->cluster->num_ctas) - 1;
    uint32_t mask = 1u << named->rank, ctas = 0;
    if (ptx_has(in->src, PTX_MOD_multicast__cluster__all))
        return all;
    for (unsigned i = 0; i < in->num_opnds && ptx_has(in->src, PTX_MOD_multicast__cluster); i++)
        if (in->o[i].kind == WARP_SLOT && in->o[i].bits == 16)
            mask = warp_u32(w, &in->o[i], lane) & all;
    for (uint32_t r = 0; r < named->cluster->num_ctas; r++)
        if (mask >> r & 1)
            ctas |= 1u << (pairs ? (r & ~1u) | (named->rank & 1) : r);
    return ctas;
}

/* The last address among the operands, or NULL. */
static const struct warp_opnd *address_of(const struct insn *in) {
    const struct warp_opnd *o = NULL;
    for (unsigned i = 0; i < in->num_opnds; i++)
        o = in->o[i].kind == WARP_MEM ? &in->o[i] : o;
    return o;
}

static void note_mbarrier(struct look *k, const struct insn *in, uint32_t mask, uint32_t what) {
    struct warp *w = &k->w;
    const struct warp_opnd *o = address_of(in);
    WARP_FOR_LANES(l, o ? mask : 0) {
        struct cta *cta;
        uint32_t off;
        const bool generic = warp_address(w, o, l) > UINT32_MAX;
        if (!warp_smem_operand(w, in, l, o, true, generic, 8, &cta, &off))
            return;
        const uint32_t ctas = ctas_of(w, in, l, cta);
        for (uint32_t r = 0; r < cta->cluster->num_ctas; r++)
            if (ctas >> r & 1)
                note(k->out, &cta->cluster->cta[r], off, what);
    }
}

static unsigned bytes_of(const struct ptx_insn *in) {
    const unsigned count = ptx_has(in, PTX_MOD_v2) ? 2 : ptx_has(in, PTX_MOD_v4) ? 4 : ptx_has(in, PTX_MOD_v8) ? 8 : 1;
    return count * ptx_type_bits(ptx_insn_type(in, 0)) / 8;
}

static void note_stores(struct look *k, const struct insn *in, uint32_t mask) {
    const struct warp_opnd *o = address_of(in);
    WARP_FOR_LANES(l, o && k->num_words ? mask : 0) {
        const uint64_t at = warp_address(&k->w, o, l);
        for (uint32_t i = 0; i < k->num_words; i++)
            if (k->words[i] - at < bytes_of(in->src))
                note(k->out, NULL, k->words[i], AHEAD_STORES);
    }
}

/* --- how it goes on ----------------------------------------------------------------------------------------------- */

static bool is_store(const struct ptx_insn *in) {
    return in->op == PTX_OP_st || ptx_op_family(in->op) == PTX_FAMILY_atomic;
}

/* Lanes `mask` have come to the end. */
static enum warp_status leave(struct warp *w, const struct insn *in, uint32_t mask) {
    if (warp_isolate(w, in, mask))
        return WARP_JUMP;
    w->live &= ~mask;
    w->g->mask = 0;
    w->g->state = GROUP_FREE;
    return WARP_GONE;
}

static enum warp_status do_pass(struct warp *w, const struct insn *in, uint32_t mask) {
    struct look *k = (struct look *)w->island;
    const uint32_t what = what_of(in->src);
    if (what)
        note_mbarrier(k, in, mask, what);
    if (is_store(in->src))
        note_stores(k, in, mask);
    if (k->code[in - k->func.code].aligned)
        note_met(k->out, in->src);
    if (what & AHEAD_WAITS) {
        warp_set_pred(w, in->o[0].slot, mask, mask);
        if (in->o[0].slot != WARP_SINK)
            warp_set_poison(w, in->o[0].slot, mask, 0);
    }
    switch (in->src->op) {
    case PTX_OP_exit:
        return leave(w, in, mask);
    case PTX_OP_ret:
        if (w->g->frame == 0)
            return leave(w, in, mask);
        break;
    case PTX_OP_bar:
    case PTX_OP_barrier:
        k->out->bars |= 1u << warp_u32(w, &in->o[ptx_has_destination(in->src)], warp_lowest(mask)) % MACH_BARRIERS;
        return WARP_NEXT;
    case PTX_OP_barrier_cluster_arrive:
        k->out->cluster = true;
        return WARP_NEXT;
    case PTX_OP_call:
        if (in->o[1].kind == WARP_FUNC && in->o[1].func->src->is_extern) /* printf and its like */
            return WARP_NEXT;
        break;
    case PTX_OP_trap:
    case PTX_OP_brkpt:
        break;
    default:
        return WARP_NEXT;
    }
    k->cut = true;
    k->isl.fault = 1;
    return WARP_FAULT;
}

/* The branch of a loop that is to be left. */
static enum warp_status do_leave_loop(struct warp *w, const struct insn *in, uint32_t mask) {
    (void)mask;
    if (((struct look *)w->island)->poll->taken)
        return WARP_NEXT;
    w->g->pc = in->o[0].target;
    return WARP_JUMP;
}

/* One that the warp's lanes execute together. */
static enum warp_status do_meet(struct warp *w, const struct insn *in, uint32_t mask) {
    struct look *k = (struct look *)w->island;
    note_met(k->out, in->src);
    return k->code[in - k->func.code].fn(w, in, mask);
}

/* Is it all the same to others whether the instruction is executed? */
static bool is_own(const struct ptx_insn *in) {
    switch (ptx_op_family(in->op)) {
    case PTX_FAMILY_cache_policy:
    case PTX_FAMILY_warp:
    case PTX_FAMILY_cancel_query:
    case PTX_FAMILY_misc:
    case PTX_FAMILY_address:
    case PTX_FAMILY_convert:
        return true;
    case PTX_FAMILY_memory:
        return in->op != PTX_OP_st || ptx_has(in, PTX_MOD_local) || ptx_has(in, PTX_MOD_param);
    case PTX_FAMILY_control:
        return in->op == PTX_OP_bra || in->op == PTX_OP_brx_idx;
    default:
        return ptx_op_computes(in->op);
    }
}

/* --- the copy ----------------------------------------------------------------------------------------------------- */

static void *copy_of(struct worker *worker, const void *from, size_t size) {
    void *p = from ? worker_alloc(worker, size) : NULL;
    if (p)
        memcpy(p, from, size);
    return p;
}

static void copy_code(struct look *k, const struct warp_func *from) {
    k->func = *from;
    k->code = from->code;
    k->func.code = xcalloc(from->num_insns, sizeof *from->code);
    for (uint32_t i = 0; i < from->num_insns; i++) {
        struct insn *in = &k->func.code[i];
        *in = from->code[i];
        in->run = 0;
        if (k->poll && k->poll->branch == &from->code[i]) {
            in->fn = do_leave_loop;
            in->guard = WARP_SINK;
            continue;
        }
        if (is_own(in->src)) {
            in->fn = ptx_op_family(in->src->op) == PTX_FAMILY_warp ? do_meet : in->fn;
            continue;
        }
        in->fn = do_pass;
        in->aligned = false;
    }
}

static void copy_warp(struct look *k, const struct warp *from, const struct group *g) {
    struct worker *worker = k->isl.worker;
    struct warp *w = &k->w;
    *w = *from;
    w->island = &k->isl;
    w->lanes = w->live = g->mask;
    w->riding = 0;
    w->before = NULL;
    w->tmem_pending = NULL;
    w->async_groups = NULL;
    w->notes = NULL;
    w->parts = NULL;
    w->loads = NULL;
    w->slots = copy_of(worker, from->slots, (size_t)from->num_slots * MACH_WARP * sizeof *w->slots);
    w->poison = copy_of(worker, from->poison, from->num_slots * sizeof *w->poison);
    w->frames = copy_of(worker, from->frames, from->num_frames * sizeof *w->frames);
    w->local = copy_of(worker, from->local, (size_t)from->local_stride * MACH_WARP);
    w->local_poison = copy_of(worker, from->local_poison, (size_t)(from->local_stride / 8) * MACH_WARP);
    for (unsigned i = 0; i < MACH_WARP; i++)
        if (&from->groups[i] != g)
            w->groups[i].state = GROUP_FREE;
    w->g = &w->groups[g - from->groups];
    w->g->state = GROUP_READY;
    copy_code(k, from->frames[g->frame].func);
    w->frames[g->frame].func = &k->func;
}

/* Nothing in it can run: lanes that wait where branches meet, for some that will not come, go on alone. */
static bool release(struct warp *w) {
    for (unsigned i = 0; i < MACH_WARP; i++)
        if (w->groups[i].state == GROUP_WAITING && w->groups[i].wait.kind == WAIT_JOIN) {
            warp_release_parked(w, &w->groups[i]);
            return true;
        }
    return false;
}

static void follow(struct look *k, uint64_t *budget) {
    const uint64_t most = *budget < MAX_STEPS ? *budget : MAX_STEPS;
    struct warp *w = &k->w;
    uint32_t quiet = 0, before = 0;
    uint64_t steps = 0;
    while (w->live && !k->isl.fault && steps < most && quiet < QUIET) {
        const uint64_t ran = warp_run(w, CHUNK);
        steps += ran + 1;
        if (!ran && !release(w))
            break;
        quiet = k->out->num != before ? 0 : ran == CHUNK ? quiet + 1 : quiet;
        before = k->out->num;
    }
    *budget -= steps < *budget ? steps : *budget;
    k->out->whole = !w->live && !k->cut;
}

/* A copy of the warp, of which nobody hears. */
static struct look *begin(const struct warp *w, const struct group *g, const struct ahead_poll *poll,
                          struct ahead *out) {
    struct look *k = xcalloc(1, sizeof *k);
    k->out = out;
    k->poll = poll && poll->branch ? poll : NULL;
    island_init(&k->isl, w->gpu, 0);
    copy_warp(k, w, g);
    return k;
}

static void end(struct look *k) {
    warp_destroy(&k->w);
    island_close(&k->isl);
    xfree(k->func.code);
    xfree(k);
}

void ahead_look(const struct warp *w, const struct group *g, const struct ahead_poll *poll, const uint64_t *words,
                uint32_t num_words, uint64_t *budget, struct ahead *out) {
    struct gpu *gpu = w->gpu;
    const uint32_t wanted = gpu->wanted;
    *out = (struct ahead){0};
    gpu->wanted = 0;
    struct look *k = begin(w, g, poll, out);
    k->words = words;
    k->num_words = num_words;
    follow(k, budget);
    end(k);
    gpu->wanted = wanted;
}

/* --- polls -------------------------------------------------------------------------------------------------------- */

#define POLL_STEPS 4096u /* instructions of a loop that is taken for a poll, twice */

static uint64_t source(const struct warp *w, const struct warp_opnd *o, uint32_t l) {
    if (o->is_imm)
        return o->more->imm;
    return o->bits == 64 ? warp_src64(w, o->slot)[l] : warp_src32(w, o->slot)[l];
}

/* What a comparison says when it does not hold, and with its sides exchanged. */
static const struct {
    enum ptx_mod op, inverse, mirror;
} comparisons[] = {
    {PTX_MOD_eq, PTX_MOD_ne, PTX_MOD_eq}, {PTX_MOD_ne, PTX_MOD_eq, PTX_MOD_ne}, {PTX_MOD_lt, PTX_MOD_ge, PTX_MOD_gt},
    {PTX_MOD_le, PTX_MOD_gt, PTX_MOD_ge}, {PTX_MOD_gt, PTX_MOD_le, PTX_MOD_lt}, {PTX_MOD_ge, PTX_MOD_lt, PTX_MOD_le},
};

/* A setp that has just compared what the poll read: what has to hold for the answer to be another one. */
static void note_comparison(const struct warp *w, const struct insn *in, uint32_t l, struct ahead_poll *p) {
    const struct warp_opnd *word = &p->in->o[0], *a = &in->o[in->num_opnds - 2], *b = &in->o[in->num_opnds - 1];
    const bool first = a->kind == WARP_SLOT && !a->is_imm && a->slot == word->slot,
               second = b->kind == WARP_SLOT && !b->is_imm && b->slot == word->slot;
    if (in->src->op != PTX_OP_setp || in->num_opnds < 3 || in->o[0].kind != WARP_SLOT || first == second)
        return;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (!ptx_has(in->src, comparisons[i].op))
            continue;
        const bool holds = warp_src32(w, in->o[0].slot)[0] >> l & 1;
        enum ptx_mod op = comparisons[i].op;
        op = first ? op : comparisons[i].mirror;
        for (size_t j = 0; j < sizeof comparisons / sizeof *comparisons && holds; j++)
            if (comparisons[j].op == op) {
                op = comparisons[j].inverse;
                break;
            }
        p->until = op;
        p->wanted = source(w, first ? b : a, l) & (word->bits == 64 ? UINT64_MAX : UINT32_MAX);
        p->known = true;
    }
}

static bool reads_global(const struct warp *w, const struct insn *in, uint32_t l, uint64_t *addr) {
    const struct warp_opnd *o = address_of(in);
    if (!o || (in->src->op != PTX_OP_ld && in->src->op != PTX_OP_atom) || in->o[0].kind != WARP_SLOT)
        return false;
    *addr = warp_address(w, o, l);
    return mem_at(w->gpu->mem, *addr, bytes_of(in->src)) != NULL;
}

/* What follows the poll in its loop: the comparison, and the branch that stays or leaves. `pc`: of `in`. */
static void note_loop(const struct look *k, const struct insn *in, uint32_t pc, uint32_t l, struct ahead_poll *p) {
    if (!p->known)
        note_comparison(&k->w, in, l, p);
    if (!p->branch && in->src->op == PTX_OP_bra && in->guard != WARP_SINK) {
        p->branch = &k->code[pc];
        p->taken = k->w.g->pc != pc + 1;
    }
}

/* Follows a group until it comes to its poll again with the registers that it had there before. True when it did. */
static bool find_poll(struct look *k, struct ahead_poll *p) {
    struct warp *w = &k->w;
    const size_t bytes = (size_t)w->num_slots * MACH_WARP * sizeof *w->slots;
    uint32_t *slots = xcalloc(bytes + 1, 1);
    bool found = false;
    for (uint32_t step = 0; step < 2 * POLL_STEPS && !found && w->live && !k->isl.fault; step++) {
        const struct group *g = w->g;
        const struct insn *in = g->state == GROUP_READY ? warp_next(w, g) : NULL;
        const uint32_t l = g->mask ? warp_lowest(g->mask) : 0, pc = g->pc;
        uint64_t addr;
        if (!in || w->frames[g->frame].func != &k->func) {
            if (!warp_run(w, 1) && !release(w))
                break;
            continue;
        }
        warp_load_frame(w);
        const bool reads = reads_global(w, in, l, &addr) && (!p->known || p->in == &k->code[pc]);
        found = reads && p->branch && p->in == &k->code[pc] && p->addr == addr && memcmp(slots, w->slots, bytes) == 0;
        if (reads && !found)
            memcpy(slots, w->slots, bytes);
        if (found || (!warp_run(w, 1) && !release(w)))
            break;
        if (reads)
            *p = (struct ahead_poll){.in = &k->code[pc], .addr = addr, .value = source(w, &in->o[0], l)};
        else if (p->in)
            note_loop(k, in, pc, l, p);
    }
    xfree(slots);
    return found;
}

void ahead_find_poll(const struct warp *w, const struct group *g, struct ahead_poll *out) {
    struct gpu *gpu = w->gpu;
    const uint32_t wanted = gpu->wanted;
    struct ahead none = {0};
    *out = (struct ahead_poll){0};
    gpu->wanted = 0;
    struct look *k = begin(w, g, NULL, &none);
    if (!find_poll(k, out))
        *out = (struct ahead_poll){0};
    end(k);
    ahead_free(&none);
    gpu->wanted = wanted;
}
