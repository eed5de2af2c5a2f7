/* ptx/init.c - initialisers of .global and .const variables (5.4.4): numbers become bytes, addresses relocations. */
#include "ptx/parser.h"

#include "base/heap.h"

#include <string.h>

struct init {
    struct ptx_var *var;
    const struct ptx_dims *dims; /* a vector's elements are one more dimension */
    uint32_t elem;               /* bytes of one element */
    unsigned char *bytes;        /* grows; offset `size` is the end of what is initialised */
    size_t cap, size;
    struct ptx_reloc *relocs;
    uint32_t num_relocs, cap_relocs;
};

/* One element as written. */
struct element {
    struct ptx_token at;
    struct ptx_value value;
    struct ptx_name *symbol; /* NULL for a number */
    bool generic;
    int64_t addend;
    uint64_t mask; /* 0 when there is no mask operator */
};

static bool room_for(struct ptx_parser *p, struct init *in, const struct ptx_token *at, uint64_t end) {
    if (end > PTX_MAX_INIT_BYTES) {
        ptx_error(p, at, "this initialiser is larger than %d MiB", PTX_MAX_INIT_BYTES >> 20);
        return false;
    }
    if (end > in->cap) {
        size_t cap = in->cap ? in->cap : 64;
        while (cap < end)
            cap *= 2;
        in->bytes = xrealloc_array(in->bytes, cap, 1);
        memset(in->bytes + in->cap, 0, cap - in->cap);
        in->cap = cap;
    }
    if (end > in->size)
        in->size = (size_t)end;
    return in->bytes != NULL;
}

/* sym, sym+4, generic(sym), generic(sym)+4 */
static void parse_symbol(struct ptx_parser *p, struct element *e) {
    if (p->tok.kind == PTX_TK_IDENT && p->tok.name == p->n_generic && ptx_lex_peek(&p->lx) == '(') {
        ptx_next(p);
        ptx_next(p);
        e->generic = true;
    }
    struct ptx_token t = p->tok;
    if (!ptx_expect(p, PTX_TK_IDENT, "the name of a variable or function"))
        return;
    e->symbol = t.name;
    if (e->generic)
        ptx_expect(p, ')', "')' after generic(name");
    e->addend = ptx_expr_offset(p);
    struct ptx_symbol_ref *r = arena_alloc(&p->tmp, sizeof *r);
    r->name = t.name;
    r->at = t;
    r->next = p->symbols;
    p->symbols = r;
}

static struct element parse_element(struct ptx_parser *p) {
    struct element e = {.at = p->tok};
    bool masked = p->tok.kind == PTX_TK_INT && ptx_lex_peek(&p->lx) == '(';
    if (masked) {
        e.mask = p->tok.value;
        if (!e.mask || e.mask != (uint64_t)0xff << (__builtin_ctzll(e.mask) & ~7))
            ptx_error(p, &e.at, "a mask selects one byte: 0xFF, 0xFF00, ... (PTX ISA 5.4.4)");
        ptx_next(p);
        ptx_next(p);
    }
    if (p->tok.kind == PTX_TK_IDENT && p->tok.name != p->warp_sz)
        parse_symbol(p, &e);
    else
        e.value = ptx_expr(p);
    if (masked)
        ptx_expect(p, ')', "')' after the masked expression");
    return e;
}

static void add_reloc(struct ptx_parser *p, struct init *in, const struct element *e, uint64_t offset) {
    uint32_t need = e->mask ? 1 : 0;
    if (need ? in->elem != 1 : in->elem != 4 && in->elem != 8)
        ptx_error(p, &e->at, "an address needs an element of 4 or 8 bytes, or of 1 byte with a mask (PTX ISA 5.4.4)");
    in->relocs = xgrow(in->relocs, in->num_relocs, &in->cap_relocs, sizeof *in->relocs);
    in->relocs[in->num_relocs++] = (struct ptx_reloc){
        .offset = offset,
        .size = in->elem,
        .generic = e->generic,
        .symbol = e->symbol->text,
        .addend = e->addend,
        .shift = e->mask ? (unsigned)__builtin_ctzll(e->mask) : 0,
    };
}

/* The bits of a number as an element of the variable's type. */
static uint64_t element_bits(struct ptx_parser *p, const struct init *in, const struct element *e) {
    enum ptx_type type = in->var->type;
    bool is_float = type == PTX_F32 || type == PTX_F64, ok;
    uint64_t bits = e->value.bits;
    double d = 0;
    if (e->value.kind == PTX_IMM_F32) {
        float f;
        uint32_t low = (uint32_t)bits;
        memcpy(&f, &low, sizeof f);
        d = f;
    } else if (e->value.kind == PTX_IMM_F64) {
        memcpy(&d, &bits, sizeof d);
    }
    if (e->value.kind == PTX_IMM_INT) {
        ok = !is_float;
        bits = e->mask ? (bits & e->mask) >> __builtin_ctzll(e->mask) : bits;
    } else {
        ok = (in->elem == 4 || in->elem == 8) && type != PTX_F16X2 && type != PTX_BF16X2 && !e->mask;
        if (in->elem == 8) {
            memcpy(&bits, &d, sizeof d);
        } else if (e->value.kind == PTX_IMM_F64) {
            float f = (float)d;
            uint32_t low;
            memcpy(&low, &f, sizeof f);
            bits = low;
        }
    }
    if (!ok)
        ptx_error(p, &e->at, "this number does not have the type of the variable (PTX ISA 5.4.4)");
    return bits;
}

static void put_element(struct ptx_parser *p, struct init *in, uint64_t offset) {
    struct element e = parse_element(p);
    if (!room_for(p, in, &e.at, offset + in->elem) || p->failed)
        return;
    if (e.symbol) {
        add_reloc(p, in, &e, offset);
        return;
    }
    uint64_t bits = element_bits(p, in, &e);
    for (uint32_t i = 0; i < in->elem; i++) /* little-endian; .b128 is zero-extended */
        in->bytes[offset + i] = i < 8 ? (unsigned char)(bits >> (8 * i)) : 0;
}

/* { a, b, ... } of dimension `dim`, which starts at `offset`; `stride` is the size of one of its elements. */
static void put_list(struct ptx_parser *p, struct init *in, uint32_t dim, uint64_t offset) {
    uint64_t extent = in->dims->extent[dim], stride = in->elem, n = 0;
    bool open = dim == 0 && in->var->incomplete, last = dim + 1 == in->dims->count;
    for (uint32_t i = dim + 1; i < in->dims->count; i++)
        stride *= in->dims->extent[i]; /* cannot overflow: the variable's size was checked */
    ptx_expect(p, '{', "'{' of the initialiser");
    for (; p->tok.kind != '}' && p->tok.kind != PTX_TK_END;) {
        if (!open && n >= extent)
            ptx_error(p, &p->tok, "more initialisers than elements");
        if (last)
            put_element(p, in, offset + n * stride);
        else
            put_list(p, in, dim + 1, offset + n * stride);
        n++;
        if (open)
            room_for(p, in, &p->tok, offset + n * stride);
        if (!ptx_accept(p, ','))
            break;
    }
    ptx_expect(p, '}', "'}' after the initialisers");
    if (open)
        in->var->size = n * stride;
}

void ptx_initialiser(struct ptx_parser *p, struct ptx_var *v, struct ptx_dims *dims) {
    struct ptx_token at = p->tok;
    struct init in = {.var = v, .dims = dims, .elem = ptx_type_bits(v->type) / 8};
    if (v->vector > 1)
        dims->extent[dims->count++] = v->vector;
    ptx_next(p);
    if (v->type == PTX_F16 || v->type == PTX_BF16 || v->type == PTX_F16X2 || v->type == PTX_BF16X2)
        ptx_error(p, &at, "variables of this type have no initialisers; use .b16 or .b32 (PTX ISA 5.4.4)");
    if (dims->count)
        put_list(p, &in, 0, 0);
    else
        put_element(p, &in, 0);
    p->init_bytes += v->size;
    if (v->size > PTX_MAX_INIT_BYTES || p->init_bytes > PTX_MAX_INIT_BYTES)
        ptx_error(p, &at, "the initialised variables of the module are larger than %d MiB", PTX_MAX_INIT_BYTES >> 20);
    if (!p->failed && v->size) {
        unsigned char *init = arena_alloc(p->keep, v->size);
        if (in.size) /* {} initialises nothing */
            memcpy(init, in.bytes, in.size < v->size ? in.size : v->size);
        v->init = init;
        struct ptx_reloc *relocs = arena_array(p->keep, in.num_relocs, sizeof *relocs);
        if (in.num_relocs)
            memcpy(relocs, in.relocs, in.num_relocs * sizeof *relocs);
        v->relocs = relocs;
        v->num_relocs = in.num_relocs;
        v->incomplete = false;
    }
    xfree(in.bytes);
    xfree(in.relocs);
}
