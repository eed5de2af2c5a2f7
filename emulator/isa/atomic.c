/* isa/atomic.c - atom and red (PTX ISA 9.7.13.5, 9.7.13.6).
 *
 * The lanes of a warp act one after another in ascending order, and no other cluster runs meanwhile (launch/shares.c):
 * every scope and every memory order is met. Threads of the host may, on memory that they share with the device; they
 * do not come between an operation of up to 8 bytes. f32 additions in global memory flush subnormals, in shared memory
 * they do not. A vector or packed operation is one scalar operation per element.
 */
#include "base/relaxed.h"
#include "isa/approx.h"
#include "isa/form.h"
#include "isa/tell.h"
#include "num/num.h"
#include "warp/unwritten.h"

enum { AT_EXCH = NUM_OP_XOR + 1, AT_CAS }; /* beside the reductions, num_op */

struct atom_form {
    enum warp_space space;
    unsigned op;
    enum ptx_type type;
    uint8_t size;  /* bytes of a register: 2, 4, 8, 16 */
    uint8_t count; /* registers of a vector, else 1 */
    const struct warp_opnd *addr;
    warp_slot d[8], b[8], c; /* d: WARP_SINK for red and for `_` */
};

DIAG(vector_space) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "atomic-vector-space", "9.7.13.5"),
    .rule = "only global memory has vector atomics",
    .hint = "Use one atomic for each element",
    .reason = "the chip has no such operation for shared memory.",
};
DIAG(atom_space) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "atomic-space", "9.7.13.5"),
    .rule = "atomics act on global and shared memory",
    .hint =
        "Use a pointer to global or shared memory: this generic pointer is to a local variable or a kernel parameter",
    .reason = "the ISA leaves an atomic on another space undefined.",
};
DIAG(atom_poison) = {
    DIAG_HEAD(ERROR, "uninitialised-atomic", "9.7.13.5"),
    .rule = "an atomic operation needs initialised memory and operands, if its result can be seen",
    .hint = "Initialise the word before the first atomic: usually it is a counter in shared memory",
    .reason = "the sum is garbage in every order.",
};

/* --- values ------------------------------------------------------------------------------------------------------- */

static uint64_t atom_value(const struct atom_form *f, bool global, uint64_t a, uint64_t b) {
    switch (f->type) {
    case PTX_F32:
        return num_add_f32((uint32_t)a, (uint32_t)b, NUM_RN, global ? NUM_FTZ : 0);
    case PTX_F64:
        return num_add_f64(a, b, NUM_RN);
    case PTX_F16:
        return num_reduce_h((num_op)f->op, NUM_F16, (uint16_t)a, (uint16_t)b);
    case PTX_BF16:
        return num_reduce_h((num_op)f->op, NUM_BF16, (uint16_t)a, (uint16_t)b);
    case PTX_F16X2:
    case PTX_BF16X2: {
        num_type t = f->type == PTX_F16X2 ? NUM_F16 : NUM_BF16;
        uint32_t lo = num_reduce_h((num_op)f->op, t, (uint16_t)a, (uint16_t)b);
        uint32_t hi = num_reduce_h((num_op)f->op, t, (uint16_t)(a >> 16), (uint16_t)(b >> 16));
        return hi << 16 | lo;
    }
    default:
        return num_reduce((num_op)f->op, f->type == PTX_S32 || f->type == PTX_S64, f->size == 8, a, b);
    }
}

/* --- one lane ----------------------------------------------------------------------------------------------------- */

struct value {
    uint64_t lo, hi;
    bool poison;
};

static struct value reg_value(const struct warp *w, warp_slot s, unsigned size, uint32_t l) {
    struct value v = {0, 0, false};
    v.lo = size >= 8 ? warp_src64(w, s)[l] : warp_src32(w, s)[l];
    if (size == 2)
        v.lo &= 0xffff;
    if (size == 16)
        v.hi = warp_src64(w, s)[MACH_WARP + l];
    return v;
}

static void set_reg(struct warp *w, warp_slot s, unsigned size, uint32_t l, struct value v) {
    if (s == WARP_SINK)
        return;
    if (size >= 8)
        warp_dst64(w, s)[l] = v.lo;
    else
        warp_dst32(w, s)[l] = (uint32_t)v.lo;
    if (size == 16)
        warp_dst64(w, s)[MACH_WARP + l] = v.hi;
    warp_set_poison(w, s, 1u << l, v.poison ? 1u << l : 0);
}

static struct value found(const struct warp_span *s, uint64_t at, unsigned size) {
    struct value v = {relaxed_load(s->host + at, size < 8 ? size : 8), 0, false};
    if (size == 16)
        v.hi = relaxed_load(s->host + at + 8, 8);
    v.poison = s->poison && warp_bits_get(s->poison, at, size);
    return v;
}

/* What element e becomes where *old is. False after a fault. */
static bool becomes(struct warp *w, const struct insn *in, const struct atom_form *f, const struct warp_span *s,
                    unsigned e, uint32_t l, const struct value *old, struct value *now) {
    const struct value b = reg_value(w, f->b[e], f->size, l);
    const bool b_bad = warp_poison(w, f->b[e]) >> l & 1;
    *now = b;
    now->poison = b_bad || (old->poison && f->op != AT_EXCH);
    if (f->op == AT_CAS) {
        if (old->poison || b_bad) {
            warp_fault_unwritten(w, in, 1u << l, &atom_poison, "lane %u compares a value that was never written", l);
            return false;
        }
        const bool equal = old->lo == b.lo && old->hi == b.hi;
        *now = equal ? reg_value(w, f->c, f->size, l) : *old;
        now->poison = equal && (warp_poison(w, f->c) >> l & 1);
    } else if (f->op != AT_EXCH)
        now->lo = atom_value(f, s->space == XS_GLOBAL, old->lo, b.lo);
    if (!now->poison || s->poison)
        return true;
    warp_fault_unwritten(w, in, 1u << l, &atom_poison, "lane %u brings a value never written to global memory", l);
    return false;
}

/* Puts `now` in the place of *old; false, with what is there instead, where another thread of the host came between. */
static bool replace(uint8_t *p, unsigned size, struct value *old, const struct value *now) {
    if (size < 16)
        return relaxed_replace(p, size, &old->lo, now->lo);
    relaxed_store(p, 8, now->lo); /* C has no such operation of 16 bytes on every host */
    relaxed_store(p + 8, 8, now->hi);
    return true;
}

/* Element e at byte `at` of the object; *result gets what was there. False after a fault. */
static bool atom_element(struct warp *w, const struct insn *in, const struct atom_form *f, const struct warp_span *s,
                         uint64_t at, unsigned e, uint32_t l, struct value *result) {
    struct value old = found(s, at, f->size), now;
    do {
        if (!becomes(w, in, f, s, e, l, &old, &now))
            return false;
    } while (!replace(s->host + at, f->size, &old, &now));
    if (old.lo != now.lo || old.hi != now.hi || old.poison != now.poison) {
        w->island->progress++;
        if (s->space == XS_GLOBAL)
            isa_note_writer(w, in, s->base + at);
    }
    if (s->poison)
        warp_bits_set(s->poison, at, f->size, now.poison ? 0xffffffffu : 0);
    if (now.poison && s->space == XS_SHARED_CTA)
        smem_doubt(s->cta, (uint32_t)at, f->size);
    *result = old;
    return true;
}

static void saw_atomic(const struct warp *w, const struct insn *in, const struct warp_span *s, uint32_t size,
                       uint32_t mask, const uint64_t *got) {
    if (events_wanted(w->gpu, isa_wants(s->space, EFFECT_ATOMIC)))
        isa_tell_span(w, in, s, size, mask, EFFECT_ATOMIC, got);
}

/* --- a warp, one word a lane, all in one object, and nothing poisoned --------------------------------------------- */

/* What lane l's word becomes. */
static inline __attribute__((always_inline)) uint64_t lane_value(const struct warp *w, const struct atom_form *f,
                                                                 bool global, uint32_t l, uint64_t old) {
    uint32_t exact = 0;
    const uint64_t b = f->size == 8 ? warp_src64(w, f->b[0])[l] : warp_src32(w, f->b[0])[l];
    if (f->op == AT_CAS)
        return old != b ? old : f->size == 8 ? warp_src64(w, f->c)[l] : warp_src32(w, f->c)[l];
    if (f->op == AT_EXCH)
        return b;
    if (f->type == PTX_F32)
        return approx_add((uint32_t)old, (uint32_t)b, global ? NUM_FTZ : 0, &exact);
    if (f->op == NUM_OP_ADD && f->type == PTX_U32)
        return (uint32_t)(old + b);
    const uint64_t v = atom_value(f, global, old, b);
    return f->size == 8 ? v : (uint32_t)v;
}

/* False: nothing has happened. */
static bool atom_words(struct warp *w, const struct insn *in, const struct atom_form *f, const struct warp_span *s,
                       uint32_t mask, uint64_t got[MACH_WARP]) {
    const bool global = s->space == XS_GLOBAL, wide = f->size == 8;
    uint32_t poison = (warp_poison(w, f->b[0]) | (f->op == AT_CAS ? warp_poison(w, f->c) : 0)) & mask;
    if (f->count != 1 || (f->size != 4 && !wide) || poison || (!global && s->space != XS_SHARED_CTA))
        return false;
    if (s->poison && !s->clean) {
        WARP_FOR_LANES(l, mask) { poison |= warp_bits_get(s->poison, warp_span_at(s, l), f->size); }
        if (poison)
            return false;
    }
    uint64_t noted = UINT64_MAX; /* whose last writer is known to be this instruction */
    WARP_FOR_LANES(l, mask) {
        const uint64_t at = warp_span_at(s, l);
        uint8_t *p = s->host + at;
        uint64_t old = relaxed_load(p, f->size), now = lane_value(w, f, global, l, old);
        if (global)
            while (!relaxed_replace(p, f->size, &old, now))
                now = lane_value(w, f, global, l, old);
        else
            relaxed_store(p, f->size, now); /* no other thread of the host has it */
        got[l] = old;
        if (old == now)
            continue;
        w->island->progress++;
        if (global && at != noted)
            isa_note_writer(w, in, s->base + at);
        noted = at;
    }
    if (f->d[0] == WARP_SINK)
        return true;
    if (wide)
        WARP_FOR_LANES(l, mask) { warp_dst64(w, f->d[0])[l] = got[l]; }
    else
        WARP_FOR_LANES(l, mask) { warp_dst32(w, f->d[0])[l] = (uint32_t)got[l]; }
    warp_set_poison(w, f->d[0], mask, 0);
    return true;
}

/* --- any ---------------------------------------------------------------------------------------------------------- */

static enum warp_status do_atom(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct atom_form *f = in->data;
    uint32_t size = (uint32_t)f->size * f->count;
    if (!warp_address_known(w, in, f->addr, mask))
        return WARP_FAULT;
    struct warp_span s;
    uint64_t addr[MACH_WARP]; /* the destination may be the address register */
    uint64_t got[MACH_WARP];
    uint32_t done = 0;
    bool together = warp_span(w, f->addr, mask, f->space, size, size, true, &s);
    if (together && atom_words(w, in, f, &s, mask, got)) {
        saw_atomic(w, in, &s, size, mask, got);
        return WARP_NEXT;
    }
    if (!together)
        WARP_FOR_LANES(l, mask) { addr[l] = warp_address(w, f->addr, l); }
    WARP_FOR_LANES(l, mask) {
        if (!together && !warp_span_lane(w, in, l, addr[l], f->space, size, size, true, &s))
            return WARP_FAULT;
        if (s.space == XS_LOCAL)
            return warp_fault(w, in, 1u << l, &atom_space, "lane %u's atomic acts on local memory", l);
        if (f->count > 1 && s.space != XS_GLOBAL)
            return warp_fault(w, in, 1u << l, &vector_space, "lane %u's vector atomic acts on shared memory", l);
        struct value old[8] = {0};
        uint64_t at = warp_span_at(&s, l);
        for (unsigned e = 0; e < f->count; e++)
            if (!atom_element(w, in, f, &s, at + e * f->size, e, l, &old[e]))
                return WARP_FAULT;
        for (unsigned e = 0; e < f->count; e++) /* destinations may be sources of other elements */
            set_reg(w, f->d[e], f->size, l, old[e]);
        got[l] = old[0].lo;
        done |= 1u << l;
        if (!together)
            saw_atomic(w, in, &s, size, 1u << l, got);
    }
    if (together)
        saw_atomic(w, in, &s, size, done, got);
    return WARP_NEXT;
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

/* The operations of a type as bits: those of atom and red, those of atom alone, those of vectors alone. */
#define OP(name) (1u << NUM_OP_##name)
#define LOGIC (OP(AND) | OP(OR) | OP(XOR))
#define CAS (1u << AT_CAS)
#define SWAP (CAS | 1u << AT_EXCH)
#define ORDER (OP(MIN) | OP(MAX))
static const struct atom_type {
    enum ptx_type type;
    unsigned both, atom, vector;
    unsigned max_count; /* of a vector */
} types[] = {
    {PTX_B16, 0, CAS, 0, 1},
    {PTX_B32, LOGIC, SWAP, 0, 1},
    {PTX_B64, LOGIC, SWAP, 0, 1},
    {PTX_B128, 0, SWAP, 0, 1},
    {PTX_U32, OP(ADD) | ORDER | OP(INC) | OP(DEC), 0, 0, 1},
    {PTX_S32, OP(ADD) | ORDER, 0, 0, 1},
    {PTX_U64, OP(ADD) | ORDER, 0, 0, 1},
    {PTX_S64, OP(ADD) | ORDER, 0, 0, 1},
    {PTX_F32, OP(ADD), 0, 0, 4},
    {PTX_F64, OP(ADD), 0, 0, 1},
    {PTX_F16, OP(ADD), 0, ORDER, 8},
    {PTX_BF16, OP(ADD), 0, ORDER, 8},
    {PTX_F16X2, OP(ADD), 0, ORDER, 4},
    {PTX_BF16X2, OP(ADD), 0, ORDER, 4},
};

static const char *form_refused(const struct ptx_insn *src, const struct isa_words *k, const struct atom_form *f) {
    const bool atom = src->op == PTX_OP_atom, global = f->space == XS_GLOBAL || f->space == XS_GENERIC;
    const bool half = f->type == PTX_F16 || f->type == PTX_BF16 || f->type == PTX_F16X2 || f->type == PTX_BF16X2;
    const unsigned order = k->of[PTX_KIND_order];
    const struct atom_type *t = types;
    while (t < types + sizeof types / sizeof *types && t->type != f->type)
        t++;
    if (!atom && (order == PTX_MOD_acquire || order == PTX_MOD_acq_rel))
        return "red does not acquire";
    if (t == types + sizeof types / sizeof *types ||
        !((t->both | (atom ? t->atom : 0) | (f->count > 1 ? t->vector : 0)) >> f->op & 1))
        return "the operation does not exist for this type";
    if (half != ptx_has(src, PTX_MOD_noftz))
        return ".noftz is required for half precision and for nothing else";
    if (ptx_has(src, PTX_MOD_L2__cache_hint) && !global)
        return "cache hints are for global memory";
    if (f->count > t->max_count || (f->count > 1 && !global))
        return "this vector does not exist, or not in this state space";
    return NULL;
}

static bool take_vector(warp_slot *out, unsigned count, const struct warp_opnd *o) {
    if (o->kind == WARP_VEC ? count == 1 || o->num_sub != count : count != 1 && o->kind != WARP_DISCARD)
        return false;
    for (unsigned e = 0; e < count; e++)
        out[e] = o->kind == WARP_VEC ? o->list[e] : o->slot;
    return true;
}

static bool take_operands(struct insn *in, struct atom_form *f) {
    const unsigned at = in->src->op == PTX_OP_atom ? 1 : 0;
    const struct warp_opnd none = {.kind = WARP_DISCARD, .slot = WARP_SINK};
    f->addr = &in->o[at];
    f->c = f->op == AT_CAS ? in->o[at + 2].slot : WARP_SINK;
    return take_vector(f->d, f->count, at ? &in->o[0] : &none) && take_vector(f->b, f->count, &in->o[at + 1]);
}

bool isa_bind_atomic(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *src = in->src;
    const unsigned at = src->op == PTX_OP_atom ? 1 : 0;
    struct isa_words k;
    if (!isa_sort(b, src,
                  ISA_WORDS(PTX_MOD_relaxed, PTX_MOD_acquire, PTX_MOD_release, PTX_MOD_acq_rel, ISA_ANY(scope),
                            PTX_MOD_global, PTX_MOD_shared, PTX_MOD_shared__cta, PTX_MOD_shared__cluster, PTX_MOD_noftz,
                            PTX_MOD_L2__cache_hint, ISA_ANY(vector), ISA_ANY(operation), ISA_ANY(type)),
                  &k))
        return false;
    const enum ptx_mod op = k.of[PTX_KIND_operation];
    struct atom_form *f = arena_alloc(b->arena, sizeof *f);
    f->space = isa_space(k.of[PTX_KIND_space]);
    f->op = op == PTX_MOD_exch ? AT_EXCH : op == PTX_MOD_cas ? AT_CAS : isa_reduction(op);
    f->type = ptx_mod_type(k.of[PTX_KIND_type]);
    f->size = (uint8_t)(ptx_type_bits(f->type) / 8);
    f->count = (uint8_t)isa_elements(&k);
    if (f->op == NUM_OP_NONE)
        return isa_refuse(b, "the operation is missing, or is not atomic");
    if ((b->why = form_refused(src, &k, f)))
        return false;
    const unsigned need = at + 2 + (f->op == AT_CAS) + ptx_has(src, PTX_MOD_L2__cache_hint);
    if (in->num_opnds != need || !take_operands(in, f))
        return isa_refuse(b, "operands do not suit the operation, or a list is not as long as the vector");
    in->data = f;
    in->fn = do_atom;
    return true;
}
