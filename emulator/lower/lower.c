/* lower/lower.c - from typed PTX to instructions on slots: contract in parts.h.
 *
 * Every operand becomes a slot: registers get frame slots (lower/registers.c), immediates and load-time addresses
 * become constants, and what is fixed for a thread (special registers, addresses of shared and local variables) becomes
 * a hidden slot that is filled once when a frame is made.
 */
#include "isa/isa.h"
#include "lower/parts.h"
#include "warp/loads.h"

#include <string.h>

/* A constant occupies three slots: the 32-bit view, then the 64-bit view in the next two. warp_opnd.slot names the view
 * that fits the operand's width. */
#define CONST_SLOTS 3u

struct lowering {
    struct warp_module *m;
    struct warp_func *f;
    uint64_t *consts; /* distinct values, in order of first use */
    uint32_t num_consts, cap_consts;
    uint32_t *buckets; /* hash of values -> index + 1 */
    uint32_t num_buckets;
    struct warp_init *inits;
    uint32_t num_inits, cap_inits;
    uint32_t *local_offset; /* by body variable */
};

/* Where the value is in the hash, or would be: an empty bucket. */
static uint32_t *bucket_of(const struct lowering *lo, uint64_t value) {
    uint32_t h = (uint32_t)(value * 0x9E3779B97F4A7C15ull >> 32) & (lo->num_buckets - 1);
    while (lo->buckets[h] && lo->consts[lo->buckets[h] - 1] != value)
        h = (h + 1) & (lo->num_buckets - 1);
    return &lo->buckets[h];
}

static void rehash(struct lowering *lo, uint32_t buckets) {
    lo->buckets = arena_array(&lo->m->arena, buckets, sizeof *lo->buckets);
    lo->num_buckets = buckets;
    for (uint32_t i = 0; i < lo->num_consts; i++)
        *bucket_of(lo, lo->consts[i]) = i + 1;
}

/* The constant slot of a value, in the view for `bits`. */
static warp_slot const_slot(struct lowering *lo, uint64_t value, unsigned bits) {
    if (2 * lo->num_consts >= lo->num_buckets)
        rehash(lo, lo->num_buckets ? 2 * lo->num_buckets : 128);
    uint32_t *bucket = bucket_of(lo, value);
    if (!*bucket) {
        lo->consts = arena_grow(&lo->m->arena, lo->consts, lo->num_consts, &lo->cap_consts, sizeof *lo->consts);
        lo->consts[lo->num_consts++] = value;
        *bucket = lo->num_consts;
    }
    uint32_t first = (*bucket - 1) * CONST_SLOTS;
    return ~(warp_slot)(bits == 64 ? first + 1 : first);
}

static void finish_consts(struct lowering *lo) {
    uint32_t *all = arena_array(&lo->m->arena, (size_t)lo->num_consts * CONST_SLOTS * MACH_WARP, sizeof *all);
    for (uint32_t i = 0; i < lo->num_consts; i++) {
        uint32_t *p = all + (size_t)i * CONST_SLOTS * MACH_WARP;
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            p[l] = (uint32_t)lo->consts[i];
            memcpy(p + MACH_WARP + 2 * l, &lo->consts[i], sizeof(uint64_t));
        }
    }
    lo->f->consts = all;
    lo->f->num_consts = lo->num_consts * CONST_SLOTS;
}

/* A hidden slot with these contents, shared by all uses in the function. */
static warp_slot init_slot(struct lowering *lo, const struct warp_init *want) {
    for (uint32_t i = 0; i < lo->num_inits; i++) {
        const struct warp_init *k = &lo->inits[i];
        if (k->kind == want->kind && k->bits == want->bits && k->sreg == want->sreg && k->var == want->var &&
            k->offset == want->offset)
            return k->slot;
    }
    lo->inits = arena_grow(&lo->m->arena, lo->inits, lo->num_inits, &lo->cap_inits, sizeof *lo->inits);
    struct warp_init *k = &lo->inits[lo->num_inits++];
    *k = *want;
    k->slot = (warp_slot)lo->f->frame_slots;
    lo->f->frame_slots += want->bits == 64 ? 2 : 1;
    return k->slot;
}

/* --- widths of immediates ----------------------------------------------------------------------------------------- */

/* Is operand `i` a predicate in an instruction of other types? A constant in its place is false or true (4.5.3). */
static bool is_predicate(const struct ptx_insn *in, unsigned i) {
    const bool last = i + 1u == in->num_operands;
    switch (in->op) {
    case PTX_OP_selp: /* 9.7.6.3 */
    case PTX_OP_set:  /* 9.7.6.1, 9.7.6.2: d, a, b, c */
    case PTX_OP_setp:
        return i == 3;
    case PTX_OP_lop3: /* 9.7.8.6: behind the table */
        return i == 5;
    case PTX_OP_bar: /* 9.7.13.1 */
    case PTX_OP_barrier:
        return last && ptx_has(in, PTX_MOD_red);
    case PTX_OP_vote_sync: /* 9.7.13.9: predicate, membermask */
        return i == 1;
    case PTX_OP_tcgen05_mma: { /* 9.7.16.10.9.1: enable-input-d, perhaps with scale-input-d behind it */
        const enum ptx_operand_kind fifth = in->num_operands > 4 ? in->operands[4].kind : PTX_OPND_NONE;
        const unsigned scaled = fifth == PTX_OPND_MEM, masked = fifth == PTX_OPND_VEC;
        return i == 4 + 2 * scaled + masked;
    }
    default:
        return false;
    }
}

/* Type whose width operand `i` (as written) has. Most instructions use their first type for all operands; the
 * exceptions are listed with their sections. */
static enum ptx_type operand_type(const struct ptx_insn *in, unsigned i) {
    enum ptx_type t0 = ptx_insn_type(in, 0), t1 = ptx_insn_type(in, 1);
    if (i > 1 && i + 1u == in->num_operands && ptx_has(in, PTX_MOD_L2__cache_hint))
        return PTX_B64; /* the cache policy */
    if (is_predicate(in, i))
        return PTX_PRED;
    switch (in->op) {
    case PTX_OP_shl: /* 9.7.8.8, 9.7.8.9: the shift amount is .u32 */
    case PTX_OP_shr:
    case PTX_OP_bfe: /* 9.7.1.19 */
        return i >= 2 ? PTX_U32 : t0;
    case PTX_OP_bfi: /* 9.7.1.20 */
        return i >= 3 ? PTX_U32 : t0;
    case PTX_OP_mul: /* 9.7.1.3, 9.7.1.4: .wide doubles d and c */
    case PTX_OP_mad:
        if (ptx_has(in, PTX_MOD_wide) && (i == 0 || i == 3))
            return ptx_type_bits(t0) == 32 ? PTX_U64 : PTX_U32;
        return t0;
    case PTX_OP_cvt: /* 9.7.9.21: d type, a type */
    case PTX_OP_set: /* 9.7.6.1 */
        return i == 0 || t1 == PTX_NOTYPE ? t0 : t1;
    case PTX_OP_slct: /* 9.7.6.4: c has the second type */
        return i == 3 ? t1 : t0;
    case PTX_OP_mapa:       /* 9.7.9.23: the rank is 32 bits */
    case PTX_OP_match_sync: /* 9.7.13.10: so is the membermask */
    case PTX_OP_vote_sync:  /* 9.7.13.9: so is this one */
        return i == 2 ? PTX_U32 : t0;
    case PTX_OP_cvt_pack: /* 9.7.9.22: all are 32 bits */
        return PTX_B32;
    default:
        return t0;
    }
}

static unsigned imm_bits(const struct ptx_insn *in, unsigned i) {
    const unsigned bits = ptx_type_bits(operand_type(in, i));
    return bits == 64 || bits == 1 ? bits : 32;
}

static uint64_t imm_value(const struct ptx_insn *in, unsigned i, const struct ptx_operand *o) {
    enum ptx_type t = operand_type(in, i);
    if (t == PTX_PRED) /* lane mask */
        return o->imm ? WARP_ALL_LANES : 0;
    if (o->imm_kind == PTX_IMM_F64 && ptx_type_bits(t) <= 32) { /* a decimal constant has the type of its use (4.5.2) */
        double d;
        memcpy(&d, &o->imm, sizeof d);
        float s = (float)d;
        uint32_t bits;
        memcpy(&bits, &s, sizeof bits);
        return bits;
    }
    if (o->imm_kind == PTX_IMM_F32 && t == PTX_F64) {
        uint32_t bits = (uint32_t)o->imm;
        float s;
        memcpy(&s, &bits, sizeof s);
        double d = s;
        uint64_t wide;
        memcpy(&wide, &d, sizeof wide);
        return wide;
    }
    return ptx_type_bits(t) == 16 ? o->imm & 0xffff : o->imm;
}

/* --- addresses of variables --------------------------------------------------------------------------------------- */

/* The variable's number in the module (warp_module.num_dense_vars). */
static uint32_t dense_var(const struct warp_module *m, const struct ptx_var *v) {
    return v->owner ? m->var_base[v->owner->index] + v->index : v->index;
}

/* Is v a formal or call parameter that lives in slots (as opposed to a kernel parameter)? */
static bool param_in_slots(const struct ptx_var *v) {
    return v->space == PTX_SPACE_PARAM &&
           !(v->owner && v->owner->is_entry && v >= v->owner->params && v < v->owner->params + v->owner->num_params);
}

static warp_slot param_slot(const struct lowering *lo, const struct ptx_var *v) {
    const struct ptx_func *p = lo->f->src;
    if (v >= p->params && v < p->params + p->num_params)
        return lo->f->param_slot[v - p->params];
    if (v >= p->rets && v < p->rets + p->num_rets)
        return lo->f->ret_slot[v - p->rets];
    return lo->f->var_slot[v->index];
}

/* Puts the address v + offset into *o as a slot of `bits`. False when the variable has no address. */
static bool var_address(struct lowering *lo, const struct ptx_var *v, int64_t offset, unsigned bits,
                        struct warp_opnd *o) {
    struct warp_init init = {.bits = (uint8_t)bits, .offset = offset};
    switch (v->space) {
    case PTX_SPACE_SHARED:
        init.kind = INIT_SHARED;
        init.var = dense_var(lo->m, v);
        o->slot = init_slot(lo, &init);
        return true;
    case PTX_SPACE_LOCAL:
        if (!v->owner)
            return false;
        init.kind = INIT_LOCAL;
        init.offset += lo->local_offset[v->index];
        o->slot = init_slot(lo, &init);
        return true;
    case PTX_SPACE_PARAM: {
        if (param_in_slots(v))
            return false;
        uint64_t at = ptx_param_offset(v->owner, (uint32_t)(v - v->owner->params), NULL);
        o->slot = const_slot(lo, at + (uint64_t)offset, bits);
        return true;
    }
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        if (v->owner || !lo->m->var_addr[v->index])
            return false;
        o->slot = const_slot(lo, lo->m->var_addr[v->index] + (uint64_t)offset, bits);
        return true;
    case PTX_SPACE_REG:
        break;
    }
    return false;
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static bool lower_operand(struct lowering *lo, const struct ptx_insn *in, unsigned i, const struct ptx_operand *p,
                          struct warp_opnd *o);

static bool lower_mem(struct lowering *lo, const struct ptx_insn *in, unsigned i, const struct ptx_operand *p,
                      struct warp_opnd *o, struct warp_opnd_more *more) {
    o->kind = WARP_MEM;
    if (p->reg) {
        o->has_base = true;
        o->bits = (uint8_t)ptx_type_bits(p->reg->type);
        o->slot = lo->f->reg_slot[p->reg->index];
    } else if (p->var && param_in_slots(p->var)) {
        o->kind = WARP_PARAM;
        o->slot = param_slot(lo, p->var);
        more->imm = p->var->size;
    } else if (p->var) {
        o->has_base = true;
        o->bits = 64;
        if (!var_address(lo, p->var, 0, 64, o))
            return false;
    }
    if (p->num_elems) {
        struct warp_opnd *sub = arena_array(&lo->m->arena, p->num_elems, sizeof *sub);
        for (uint32_t k = 0; k < p->num_elems; k++)
            if (!lower_operand(lo, in, i, &p->elems[k], &sub[k]))
                return false;
        more->sub = sub;
        o->num_sub = p->num_elems;
    }
    o->offset = p->offset;
    return true;
}

static bool lower_vec(struct lowering *lo, const struct ptx_insn *in, unsigned i, const struct ptx_operand *p,
                      struct warp_opnd *o, struct warp_opnd_more *more) {
    warp_slot *list = arena_array(&lo->m->arena, p->num_elems ? p->num_elems : 1, sizeof *list);
    o->kind = WARP_VEC;
    o->list = list;
    struct warp_opnd *sub = arena_array(&lo->m->arena, p->num_elems ? p->num_elems : 1, sizeof *sub);
    for (uint32_t k = 0; k < p->num_elems; k++) {
        if (!lower_operand(lo, in, i, &p->elems[k], &sub[k]))
            return false;
        if (sub[k].kind == WARP_DISCARD)
            list[k] = WARP_SINK;
        else if (sub[k].kind == WARP_SLOT)
            list[k] = sub[k].slot;
        else if (sub[k].kind != WARP_PARAM)
            return false;
        if (sub[k].bits > o->bits)
            o->bits = sub[k].bits;
    }
    more->sub = sub;
    o->num_sub = p->num_elems;
    return true;
}

static bool lower_var(struct lowering *lo, const struct ptx_insn *in, unsigned i, const struct ptx_operand *p,
                      struct warp_opnd *o, struct warp_opnd_more *more) {
    if (param_in_slots(p->var)) { /* argument of a call */
        o->kind = WARP_PARAM;
        o->slot = param_slot(lo, p->var);
        more->imm = p->var->size;
        o->offset = p->offset;
        return true;
    }
    o->kind = WARP_SLOT;
    o->bits = (uint8_t)imm_bits(in, i);
    return var_address(lo, p->var, p->offset, o->bits, o);
}

static bool lower_operand(struct lowering *lo, const struct ptx_insn *in, unsigned i, const struct ptx_operand *p,
                          struct warp_opnd *o) {
    struct warp_opnd_more *more = arena_array(&lo->m->arena, 1, sizeof *more);
    more->src = p;
    memset(o, 0, sizeof *o);
    o->more = more;
    o->neg = p->neg;
    switch (p->kind) {
    case PTX_OPND_REG:
        o->kind = WARP_SLOT;
        o->bits = (uint8_t)ptx_type_bits(p->reg->type);
        o->slot = lo->f->reg_slot[p->reg->index];
        return true;
    case PTX_OPND_IMM:
        o->kind = WARP_SLOT;
        o->is_imm = true;
        o->imm_float = p->imm_kind != PTX_IMM_INT;
        more->imm = imm_value(in, i, p);
        o->bits = (uint8_t)imm_bits(in, i);
        o->slot = const_slot(lo, more->imm, o->bits);
        return true;
    case PTX_OPND_SREG:
        o->bits = (uint8_t)imm_bits(in, i);
        if (!ptx_sreg_is_fixed((enum ptx_sreg)p->sreg))
            return true; /* WARP_NONE: the handler reads it */
        o->kind = WARP_SLOT;
        o->slot =
            init_slot(lo, &(struct warp_init){.kind = INIT_SREG, .bits = o->bits, .sreg = (enum ptx_sreg)p->sreg});
        return true;
    case PTX_OPND_VAR:
        return lower_var(lo, in, i, p, o, more);
    case PTX_OPND_FUNC:
        o->kind = WARP_FUNC;
        o->func = &lo->m->funcs[p->func->index];
        o->bits = 64;
        o->slot = const_slot(lo, WARP_CODE_ADDRESS(p->func->index), 64);
        return true;
    case PTX_OPND_LABEL:
        o->kind = WARP_LABEL;
        o->target = p->label;
        return true;
    case PTX_OPND_TABLE:
        o->kind = WARP_TABLE;
        o->table = p->table;
        return true;
    case PTX_OPND_VEC:
        return lower_vec(lo, in, i, p, o, more);
    case PTX_OPND_MEM:
        return lower_mem(lo, in, i, p, o, more);
    case PTX_OPND_SINK:
        o->kind = WARP_DISCARD;
        o->slot = WARP_SINK;
        return true;
    case PTX_OPND_NONE:
    case PTX_OPND_PAIR:
        break;
    }
    return false;
}

static bool lower_insn(struct lowering *lo, const struct ptx_insn *p, struct insn *in) {
    in->src = p;
    in->guard = p->guard ? lo->f->reg_slot[p->guard->index] : WARP_SINK;
    in->guard_neg = p->guard_neg;
    in->join = UINT32_MAX;
    in->aligned = ptx_has(p, PTX_MOD_aligned);
    for (unsigned i = 0; i < p->num_operands; i++) {
        const struct ptx_operand *op = &p->operands[i];
        uint32_t n = op->kind == PTX_OPND_PAIR ? op->num_elems : 1;
        for (uint32_t k = 0; k < n; k++) {
            if (in->num_opnds == WARP_MAX_OPNDS)
                return false;
            if (!lower_operand(lo, p, i, op->kind == PTX_OPND_PAIR ? &op->elems[k] : op, &in->o[in->num_opnds++]))
                return false;
        }
    }
    return true;
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

/* As many as lower_insn may make, and WARP_MAX_OPNDS that stay empty. */
static size_t count_operands(const struct ptx_func *p) {
    size_t n = WARP_MAX_OPNDS;
    for (uint32_t i = 0; i < p->num_insns; i++)
        for (unsigned k = 0; k < p->insns[i].num_operands; k++) {
            const struct ptx_operand *o = &p->insns[i].operands[k];
            n += o->kind == PTX_OPND_PAIR ? o->num_elems : 1;
        }
    return n;
}

static void lower_code(struct lowering *lo) {
    struct warp_func *f = lo->f;
    const struct ptx_func *p = f->src;
    struct arena *a = &lo->m->arena;
    f->num_insns = p->num_insns + 1;
    f->code = arena_array(a, f->num_insns, sizeof *f->code);
    f->clean = init_slot(lo, &(struct warp_init){.kind = INIT_SREG, .bits = 32, .sreg = PTX_SREG_laneid});
    struct ptx_insn *end = arena_array(a, 1, sizeof *end);
    end->op = PTX_OP_ret; /* every `ret` jumps here, so that lanes that return apart can meet first */
    end->site.func = p->name;
    end->site.ptx_text = "ret;";
    struct warp_opnd *o = arena_array(a, count_operands(p), sizeof *o);
    for (uint32_t i = 0; i < f->num_insns; i++) {
        struct insn *in = &f->code[i];
        in->o = o;
        if (lower_insn(lo, i < p->num_insns ? &p->insns[i] : end, in))
            isa_bind(lo->m, f, in);
        else
            isa_bind_refused(in);
        in->loads = warp_loads_kind(in);
        o += in->num_opnds;
    }
    f->inits = lo->inits;
    f->num_inits = lo->num_inits;
    finish_consts(lo);
}

/* Sets `run`: lanes part and meet at the ends of blocks alone, and behind calls, which are not straight. */
static void find_runs(struct warp_func *f, const struct flow *flow) {
    for (uint32_t b = 0; b + 1 < flow->num_blocks; b++) {
        const struct flow_block *k = &flow->blocks[b];
        for (uint32_t i = k->last + 1, run = 0; i-- > k->first;)
            f->code[i].run = run = f->code[i].straight ? run + 1 : 0;
    }
}

bool lower_func(struct warp_module *m, struct warp_func *f) {
    struct lowering lo = {
        .m = m, .f = f, .local_offset = arena_array(&m->arena, f->src->num_vars + 1, sizeof *lo.local_offset)};
    struct flow flow = lower_flow(f->src);
    const bool fits = lower_frame(f, &flow, &m->arena, lo.local_offset);
    if (fits) {
        lower_code(&lo);
        lower_find_joins(f, &flow);
        find_runs(f, &flow);
        lower_chains(f, isa_chain_links(m->simd), &m->arena);
    }
    arena_free(&flow.arena);
    return fits;
}
