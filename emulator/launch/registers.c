/* launch/registers.c - which registers of a kernel share frame slots.
 *
 * A compiler gives every value a register of its own: a kernel has thousands, a few hundred of which hold something at a
 * time. Sharing slots keeps what a warp works on in the host's caches, and frames small.
 *
 * A register keeps its slot from the first to the last place at which it holds something (liveness over the flow graph,
 * then a linear scan over the text), and registers of one width take turns. What was never written stays poison: a
 * register that can be read before it is written lives from the kernel's entry on, and so do those that an instruction
 * writes in part, under a guard. Each lane follows the flow graph by itself and has its own word of a slot, so lanes that
 * have parted do not meet in one. Registers that are written by other than plain instructions (later, as by tcgen05.ld,
 * or perhaps not at all) share with none.
 */
#include "launch/state.h"

#include <stdlib.h>

/* Beyond these no register shares, so that strange code is loaded as fast as any: words of sets that one pass over the
 * flow graph looks at, and passes. */
#define MAX_PASS_WORDS (UINT64_C(1) << 22)
#define MAX_PASSES 64u

struct span { /* places in the text, inclusive; first > last: none */
    uint32_t first, last;
};

struct flow {
    const struct ptx_func *p;
    uint32_t num_blocks, words; /* of a set */
    uint64_t num_edges;
    uint32_t *first;      /* of each block; first[num_blocks] is the end of the text */
    uint32_t *block_of;   /* by instruction */
    uint64_t *in, *kills; /* live at the block's beginning; written before anything reads it */
    struct span *spans;   /* by register */
    bool *own;            /* by register: shares with none */
};

static uint64_t *set_of(const struct flow *f, uint64_t *sets, uint32_t block) {
    return sets + (size_t)block * f->words;
}

/* --- what an instruction reads and writes ---------------------------------------------------------------------------- */

/* Writes all of its first operand, in all lanes that execute it, before the next instruction. */
static bool is_plain(const struct ptx_insn *in) {
    switch (ptx_op_family(in->op)) {
    case PTX_FAMILY_arithmetic:
    case PTX_FAMILY_integer:
    case PTX_FAMILY_carry:
    case PTX_FAMILY_float:
    case PTX_FAMILY_compare:
    case PTX_FAMILY_select:
    case PTX_FAMILY_logic:
    case PTX_FAMILY_move:
    case PTX_FAMILY_permute:
        return true;
    default:
        return in->op == PTX_OP_ld || in->op == PTX_OP_cvt || in->op == PTX_OP_cvta;
    }
}

typedef void (*reg_fn)(struct flow *f, uint32_t reg, uint32_t at);

/* Calls fn for every register of an operand. */
static void each_reg(struct flow *f, const struct ptx_operand *o, uint32_t at, reg_fn fn) {
    if (o->reg && (o->kind == PTX_OPND_REG || o->kind == PTX_OPND_MEM))
        fn(f, o->reg->index, at);
    for (uint32_t i = 0; i < o->num_elems; i++)
        each_reg(f, &o->elems[i], at, fn);
}

static bool writes_first(const struct ptx_insn *in) { return in->num_operands && in->operands[0].kind != PTX_OPND_MEM; }

/* Is everything that the instruction writes new to every lane that comes here? */
static bool kills(const struct ptx_insn *in) { return is_plain(in) && !in->guard && writes_first(in); }

/* Calls `read` for what must keep its value up to here, then `write` for what is new from here on. */
static void each_use(struct flow *f, uint32_t at, reg_fn read, reg_fn write) {
    const struct ptx_insn *in = &f->p->insns[at];
    const bool kill = kills(in);
    if (in->guard)
        read(f, in->guard->index, at);
    for (unsigned i = kill; i < in->num_operands; i++)
        each_reg(f, &in->operands[i], at, read);
    if (kill)
        each_reg(f, &in->operands[0], at, write);
}

/* --- the flow graph --------------------------------------------------------------------------------------------------- */

/* Where the instruction may jump to; false when it never goes on to the next one. */
static bool ways(const struct ptx_insn *in, const uint32_t **list, uint32_t *count) {
    *count = 0;
    for (unsigned i = 0; i < in->num_operands; i++) {
        const struct ptx_operand *o = &in->operands[i];
        if (in->op == PTX_OP_bra && o->kind == PTX_OPND_LABEL) {
            *list = &o->label;
            *count = 1;
        } else if (in->op == PTX_OP_brx_idx && o->kind == PTX_OPND_TABLE && o->table->labels) {
            *list = o->table->labels;
            *count = o->table->count;
        }
    }
    const bool leaves = in->op == PTX_OP_bra || in->op == PTX_OP_brx_idx || in->op == PTX_OP_ret ||
                        in->op == PTX_OP_exit || in->op == PTX_OP_trap;
    return !leaves || in->guard;
}

static void find_blocks(struct flow *f) {
    const uint32_t n = f->p->num_insns;
    uint8_t *leads = xcalloc((size_t)n + 1, 1);
    leads[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *list;
        uint32_t count;
        bool on = ways(&f->p->insns[i], &list, &count);
        for (uint32_t k = 0; k < count; k++)
            if (list[k] < n)
                leads[list[k]] = 1;
        if (count || !on)
            leads[i + 1] = 1;
        f->num_edges += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (leads[i])
            f->first[f->num_blocks++] = i;
        f->block_of[i] = f->num_blocks - 1;
    }
    f->first[f->num_blocks] = n;
    free(leads);
}

/* --- liveness --------------------------------------------------------------------------------------------------------- */

static void first_read(struct flow *f, uint32_t reg, uint32_t at) {
    const uint32_t b = f->block_of[at];
    const uint64_t bit = UINT64_C(1) << reg % 64;
    if (!(set_of(f, f->kills, b)[reg / 64] & bit))
        set_of(f, f->in, b)[reg / 64] |= bit;
}

static void first_write(struct flow *f, uint32_t reg, uint32_t at) {
    set_of(f, f->kills, f->block_of[at])[reg / 64] |= UINT64_C(1) << reg % 64;
}

/* Takes what block `to` needs through the block; true when it did not need that before. */
static bool pull(struct flow *f, uint32_t block, uint32_t to) {
    uint64_t *in = set_of(f, f->in, block), *kill = set_of(f, f->kills, block), *want = set_of(f, f->in, to);
    uint64_t changed = 0;
    for (uint32_t i = 0; i < f->words; i++) {
        const uint64_t v = in[i] | (want[i] & ~kill[i]);
        changed |= v ^ in[i];
        in[i] = v;
    }
    return changed != 0;
}

/* Calls fn for every block that may follow `block`; true when one of the calls was. */
static bool each_next(struct flow *f, uint32_t block, bool (*fn)(struct flow *, uint32_t, uint32_t)) {
    const uint32_t last = f->first[block + 1] - 1;
    const uint32_t *list;
    uint32_t count;
    bool any = false, on = ways(&f->p->insns[last], &list, &count);
    for (uint32_t k = 0; k < count; k++)
        if (list[k] < f->p->num_insns)
            any |= fn(f, block, f->block_of[list[k]]);
    if (on && block + 1 < f->num_blocks)
        any |= fn(f, block, block + 1);
    return any;
}

/* False when MAX_PASSES are not enough. */
static bool find_liveness(struct flow *f) {
    for (uint32_t i = 0; i < f->p->num_insns; i++)
        each_use(f, i, first_read, first_write);
    bool changed = true;
    for (uint32_t pass = 0; changed && pass < MAX_PASSES; pass++) {
        changed = false;
        for (uint32_t b = f->num_blocks; b-- > 0;)
            changed |= each_next(f, b, pull);
    }
    return !changed;
}

/* --- spans ------------------------------------------------------------------------------------------------------------ */

static void extend(struct flow *f, uint32_t reg, uint32_t at) {
    struct span *s = &f->spans[reg];
    s->first = at < s->first ? at : s->first;
    s->last = at > s->last ? at : s->last;
}

static void extend_set(struct flow *f, uint32_t of, uint32_t at) {
    const uint64_t *set = set_of(f, f->in, of);
    for (uint32_t i = 0; i < f->words; i++)
        for (uint64_t v = set[i]; v; v &= v - 1)
            extend(f, 64 * i + (uint32_t)__builtin_ctzll(v), at);
}

/* What the next block needs lives to the end of this one. */
static bool extend_end(struct flow *f, uint32_t block, uint32_t to) {
    extend_set(f, to, f->first[block + 1] - 1);
    return false;
}

static void mark_own(struct flow *f, uint32_t reg, uint32_t at) {
    (void)at;
    f->own[reg] = true;
}

static void find_spans(struct flow *f) {
    for (uint32_t r = 0; r < f->p->num_regs; r++)
        f->spans[r] = (struct span){UINT32_MAX, 0};
    for (uint32_t b = 0; b < f->num_blocks; b++) {
        extend_set(f, b, f->first[b]);
        each_next(f, b, extend_end);
    }
    for (uint32_t i = 0; i < f->p->num_insns; i++) {
        const struct ptx_insn *in = &f->p->insns[i];
        each_use(f, i, extend, extend);
        const bool call = in->op == PTX_OP_call;
        for (unsigned k = 0; !is_plain(in) && k < (call ? in->num_operands : writes_first(in)); k++)
            each_reg(f, &in->operands[k], i, mark_own);
    }
}

/* --- slots ------------------------------------------------------------------------------------------------------------ */

#define NONE UINT32_MAX

/* Lists of registers: those whose span begins, and ends, at an instruction; and those whose slots are free, by width. */
struct lists {
    uint32_t *begin, *end, *next_begin, *next_end, *next_free;
    uint32_t free[PTX_PRED + 1];
};

static uint32_t slots_of(const struct ptx_reg *r) {
    const unsigned bits = ptx_type_bits(r->type);
    return bits <= 32 ? 1 : bits / 32;
}

/* A list for each width: predicates and numbers lie in slots differently. */
static uint32_t width_of(const struct ptx_reg *r) { return ptx_type_bits(r->type) / 8 % (PTX_PRED + 1); }

static void give_slots(struct flow *f, struct lists *l, warp_slot *slot, uint32_t *next_slot) {
    const struct ptx_func *p = f->p;
    for (uint32_t r = 0; r < p->num_regs; r++) {
        const struct span *s = &f->spans[r];
        if (f->own[r] || s->first > s->last) {
            slot[r] = (warp_slot)*next_slot;
            *next_slot += slots_of(&p->regs[r]);
            continue;
        }
        l->next_begin[r] = l->begin[s->first];
        l->begin[s->first] = r;
        l->next_end[r] = l->end[s->last];
        l->end[s->last] = r;
    }
    for (uint32_t i = 0; i < p->num_insns; i++) {
        for (uint32_t r = l->begin[i]; r != NONE; r = l->next_begin[r]) {
            uint32_t *head = &l->free[width_of(&p->regs[r])];
            if (*head != NONE) {
                slot[r] = slot[*head];
                *head = l->next_free[*head];
            } else {
                slot[r] = (warp_slot)*next_slot;
                *next_slot += slots_of(&p->regs[r]);
            }
        }
        for (uint32_t r = l->end[i]; r != NONE; r = l->next_end[r]) {
            uint32_t *head = &l->free[width_of(&p->regs[r])];
            l->next_free[r] = *head;
            *head = r;
        }
    }
}

static uint32_t *numbers(struct arena *a, size_t n) {
    uint32_t *p = arena_array(a, n, sizeof *p);
    memset(p, 0xff, n * sizeof *p);
    return p;
}

bool launch_share_registers(const struct ptx_func *p, warp_slot *slot, uint32_t *next_slot) {
    const uint32_t n = p->num_insns, regs = p->num_regs;
    struct arena a = {0};
    struct flow f = {.p = p, .words = (regs + 63) / 64};
    if (!p->is_entry || !n || !regs)
        return false;
    f.first = arena_array(&a, (size_t)n + 1, sizeof *f.first);
    f.block_of = arena_array(&a, n, sizeof *f.block_of);
    find_blocks(&f);
    const size_t words = (size_t)f.num_blocks * f.words;
    bool share = (f.num_blocks + f.num_edges) * f.words <= MAX_PASS_WORDS;
    if (share) {
        f.in = arena_array(&a, words, sizeof *f.in);
        f.kills = arena_array(&a, words, sizeof *f.kills);
        share = find_liveness(&f);
    }
    if (share) {
        f.spans = arena_array(&a, regs, sizeof *f.spans);
        f.own = arena_array(&a, regs, sizeof *f.own);
        find_spans(&f);
        struct lists l = {numbers(&a, n), numbers(&a, n), numbers(&a, regs), numbers(&a, regs), numbers(&a, regs), {0}};
        memset(l.free, 0xff, sizeof l.free);
        give_slots(&f, &l, slot, next_slot);
    }
    arena_free(&a);
    return share;
}
