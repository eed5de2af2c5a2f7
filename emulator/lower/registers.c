/* lower/registers.c - which registers of a kernel share frame slots.
 *
 * A compiler gives every value a register of its own: a kernel has thousands, a few hundred of which hold something at
 * a time. Sharing slots keeps what a warp works on in the host's caches, and frames small.
 *
 * A register keeps its slot from the first to the last place at which it holds something (liveness over the flow graph,
 * then a linear scan over the text), and registers of one width take turns. What was never written stays poison: a
 * register that can be read before it is written lives from the kernel's entry on, and so do those that an instruction
 * writes in part, under a guard. Each lane follows the flow graph by itself and has its own word of a slot, so lanes
 * that have parted do not meet in one. Registers that are written by other than plain instructions (later, as by
 * tcgen05.ld, or perhaps not at all) share with none.
 */
#include "lower/parts.h"

#include <string.h>

/* Beyond these no register shares, so that strange code is loaded as fast as any: words of sets that one pass over the
 * flow graph looks at, and passes. */
#define MAX_PASS_WORDS (UINT64_C(1) << 22)
#define MAX_PASSES 64u

struct span { /* places in the text, inclusive; first > last: none */
    uint32_t first, last;
};

struct liveness {
    const struct flow *flow;
    uint32_t words;       /* of a set of registers */
    uint64_t *in, *kills; /* by block: live at its beginning; written before anything reads it */
    struct span *spans;   /* by register */
    bool *own;            /* by register: shares with none */
};

static uint64_t *set_of(const struct liveness *l, uint64_t *sets, uint32_t block) {
    return sets + (size_t)block * l->words;
}

/* --- what an instruction reads and writes ------------------------------------------------------------------------- */

/* Writes all of its first operand, in all lanes that execute it, before the next instruction. */
static bool is_plain(const struct ptx_insn *in) {
    return ptx_op_computes(in->op) || in->op == PTX_OP_ld || in->op == PTX_OP_cvt || in->op == PTX_OP_cvta;
}

typedef void (*reg_fn)(struct liveness *l, uint32_t reg, uint32_t at);

/* Calls fn for every register of an operand. */
static void each_reg(struct liveness *l, const struct ptx_operand *o, uint32_t at, reg_fn fn) {
    if (o->reg && (o->kind == PTX_OPND_REG || o->kind == PTX_OPND_MEM))
        fn(l, o->reg->index, at);
    for (uint32_t i = 0; i < o->num_elems; i++)
        each_reg(l, &o->elems[i], at, fn);
}

static bool writes_first(const struct ptx_insn *in) { return in->num_operands && in->operands[0].kind != PTX_OPND_MEM; }

/* Is everything that the instruction writes new to every lane that comes here? */
static bool kills(const struct ptx_insn *in) { return is_plain(in) && !in->guard && writes_first(in); }

/* Calls `read` for what must keep its value up to here, then `write` for what is new from here on. */
static void each_use(struct liveness *l, uint32_t at, reg_fn read, reg_fn write) {
    const struct ptx_insn *in = &l->flow->func->insns[at];
    const bool kill = kills(in);
    if (in->guard)
        read(l, in->guard->index, at);
    for (unsigned i = kill; i < in->num_operands; i++)
        each_reg(l, &in->operands[i], at, read);
    if (kill)
        each_reg(l, &in->operands[0], at, write);
}

/* --- liveness ----------------------------------------------------------------------------------------------------- */

static void first_read(struct liveness *l, uint32_t reg, uint32_t at) {
    const uint32_t b = l->flow->block_of[at];
    const uint64_t bit = UINT64_C(1) << reg % 64;
    if (!(set_of(l, l->kills, b)[reg / 64] & bit))
        set_of(l, l->in, b)[reg / 64] |= bit;
}

static void first_write(struct liveness *l, uint32_t reg, uint32_t at) {
    set_of(l, l->kills, l->flow->block_of[at])[reg / 64] |= UINT64_C(1) << reg % 64;
}

/* Takes what block `to` needs through the block; true when it did not need that before. */
static bool pull(struct liveness *l, uint32_t block, uint32_t to) {
    uint64_t *in = set_of(l, l->in, block), *kill = set_of(l, l->kills, block), *want = set_of(l, l->in, to);
    uint64_t changed = 0;
    for (uint32_t i = 0; i < l->words; i++) {
        const uint64_t v = in[i] | (want[i] & ~kill[i]);
        changed |= v ^ in[i];
        in[i] = v;
    }
    return changed != 0;
}

/* False when MAX_PASSES are not enough. */
static bool find_liveness(struct liveness *l) {
    const struct flow *g = l->flow;
    for (uint32_t i = 0; i < g->func->num_insns; i++)
        each_use(l, i, first_read, first_write);
    bool changed = true;
    for (uint32_t pass = 0; changed && pass < MAX_PASSES; pass++) {
        changed = false;
        for (uint32_t b = g->num_blocks; b-- > 0;)
            for (uint32_t k = 0; k < g->blocks[b].num_succ; k++)
                changed |= pull(l, b, g->blocks[b].succ[k]);
    }
    return !changed;
}

/* --- spans -------------------------------------------------------------------------------------------------------- */

static void extend(struct liveness *l, uint32_t reg, uint32_t at) {
    struct span *s = &l->spans[reg];
    s->first = at < s->first ? at : s->first;
    s->last = at > s->last ? at : s->last;
}

static void extend_set(struct liveness *l, uint32_t of, uint32_t at) {
    const uint64_t *set = set_of(l, l->in, of);
    for (uint32_t i = 0; i < l->words; i++)
        for (uint64_t v = set[i]; v; v &= v - 1)
            extend(l, 64 * i + (uint32_t)__builtin_ctzll(v), at);
}

static void mark_own(struct liveness *l, uint32_t reg, uint32_t at) {
    (void)at;
    l->own[reg] = true;
}

static void find_spans(struct liveness *l) {
    for (uint32_t r = 0; r < l->flow->func->num_regs; r++)
        l->spans[r] = (struct span){UINT32_MAX, 0};
    for (uint32_t b = 0; b < l->flow->num_blocks; b++) {
        const struct flow_block *block = &l->flow->blocks[b];
        extend_set(l, b, block->first);
        for (uint32_t k = 0; k < block->num_succ; k++) /* what the next block needs lives to the end of this one */
            extend_set(l, block->succ[k], block->last);
    }
    for (uint32_t i = 0; i < l->flow->func->num_insns; i++) {
        const struct ptx_insn *in = &l->flow->func->insns[i];
        each_use(l, i, extend, extend);
        const bool call = in->op == PTX_OP_call;
        for (unsigned k = 0; !is_plain(in) && k < (call ? in->num_operands : writes_first(in)); k++)
            each_reg(l, &in->operands[k], i, mark_own);
    }
}

/* --- slots -------------------------------------------------------------------------------------------------------- */

#define NONE UINT32_MAX

/* Lists of registers: those whose span begins, and ends, at an instruction; and those whose slots are free, by
 * width. */
struct lists {
    uint32_t *begin, *end, *next_begin, *next_end, *next_free;
    uint32_t free[PTX_PRED + 1];
};

/* A list for each width: predicates and numbers lie in slots differently. */
static uint32_t width_of(const struct ptx_reg *r) { return ptx_type_bits(r->type) / 8 % (PTX_PRED + 1); }

static void give_slots(const struct liveness *l, struct lists *lists, warp_slot *slot, uint32_t *next_slot) {
    const struct ptx_func *p = l->flow->func;
    for (uint32_t r = 0; r < p->num_regs; r++) {
        const struct span *s = &l->spans[r];
        if (l->own[r] || s->first > s->last) {
            slot[r] = (warp_slot)*next_slot;
            *next_slot += lower_reg_slots(&p->regs[r]);
            continue;
        }
        lists->next_begin[r] = lists->begin[s->first];
        lists->begin[s->first] = r;
        lists->next_end[r] = lists->end[s->last];
        lists->end[s->last] = r;
    }
    for (uint32_t i = 0; i < p->num_insns; i++) {
        for (uint32_t r = lists->begin[i]; r != NONE; r = lists->next_begin[r]) {
            uint32_t *head = &lists->free[width_of(&p->regs[r])];
            if (*head != NONE) {
                slot[r] = slot[*head];
                *head = lists->next_free[*head];
            } else {
                slot[r] = (warp_slot)*next_slot;
                *next_slot += lower_reg_slots(&p->regs[r]);
            }
        }
        for (uint32_t r = lists->end[i]; r != NONE; r = lists->next_end[r]) {
            uint32_t *head = &lists->free[width_of(&p->regs[r])];
            lists->next_free[r] = *head;
            *head = r;
        }
    }
}

static uint32_t *numbers(struct arena *a, size_t n) {
    uint32_t *p = arena_array(a, n, sizeof *p);
    memset(p, 0xff, n * sizeof *p);
    return p;
}

bool lower_share_registers(const struct flow *flow, warp_slot *slot, uint32_t *next_slot) {
    const uint32_t n = flow->func->num_insns, regs = flow->func->num_regs;
    struct arena a = {0};
    struct liveness l = {.flow = flow, .words = (regs + 63) / 64};
    const uint64_t sets = flow->num_edges > flow->num_blocks ? flow->num_edges : flow->num_blocks;
    if (!flow->func->is_entry || !n || !regs || sets * l.words > MAX_PASS_WORDS)
        return false;
    l.in = arena_array(&a, (size_t)flow->num_blocks * l.words, sizeof *l.in);
    l.kills = arena_array(&a, (size_t)flow->num_blocks * l.words, sizeof *l.kills);
    const bool share = find_liveness(&l);
    if (share) {
        l.spans = arena_array(&a, regs, sizeof *l.spans);
        l.own = arena_array(&a, regs, sizeof *l.own);
        find_spans(&l);
        struct lists lists = {numbers(&a, n),    numbers(&a, n),    numbers(&a, regs),
                              numbers(&a, regs), numbers(&a, regs), {0}};
        memset(lists.free, 0xff, sizeof lists.free);
        give_slots(&l, &lists, slot, next_slot);
    }
    arena_free(&a);
    return share;
}
