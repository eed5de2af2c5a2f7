/* isa/memory.h - private to isa/memory.c: the form of a load or store, and those that the host's vectors do as a whole
 * (isa/reach.h). False: the access is not of those, and nothing has happened. */
#ifndef ISA_MEMORY_H
#define ISA_MEMORY_H

#include "isa/isa.h"
#include "isa/tell.h"

struct mem_form {
    enum warp_space space;
    uint8_t size;  /* bytes of an element */
    uint8_t count; /* elements: 1, 2, 4, 8 */
    uint8_t reg;   /* bits of each register: 8, 16, 32, 64, 128; stores read narrow ones as 32 */
    bool sign;     /* loads extend the sign */
    bool sinks;    /* some vector elements are `_` */
    bool wide;     /* 32 bytes: global memory only */
    uint8_t quads; /* four or eight 32-bit registers: fours of them, else 0 */
    bool strong;   /* has an order other than .weak */
    bool vectors;  /* mem_load_vectors and mem_store_vectors have it */
    const struct warp_opnd *addr;
    warp_slot slot[8];
};

/* A thread sanitizer is not to see plain accesses of bytes that other threads may touch. */
#if defined(ISA_UNIT) && !defined(__SANITIZE_THREAD__)
#include "isa/reach.h"

static bool mem_has_vectors(const struct mem_form *f, bool store) {
    if ((f->strong && !(f->wide && store)) || f->sinks || f->addr->kind != WARP_MEM)
        return false;
    const bool same = f->reg == 8 * f->size;
    if (f->size == 4 && same)
        return !f->wide || f->space == XS_GLOBAL;
    if (f->size == 8 && same)
        return f->count == 1;
    return f->count == 1 && f->size <= 2 && (f->reg == 32 || (f->reg == 16 && !store));
}

static __attribute__((noinline)) void reach_tell_lanes(const struct warp *w, const struct insn *in,
                                                       const struct reach *r, uint32_t size, uint32_t mask,
                                                       enum event_effect effect) {
    struct isa_lanes t;
    t.cta = r->shared ? w->cta : NULL;
    if (r->row) {
        isa_lanes_row(&t, r->at, size);
    } else {
        for (uint32_t l = 0; l < MACH_WARP; l++) /* those of other lanes are not used */
            t.at[l] = r->at + (uint64_t)(int64_t)r->rel[l];
        isa_lanes_halves(&t);
        t.affine &= mask == WARP_ALL_LANES;
        t.halves &= mask == WARP_ALL_LANES;
    }
    isa_tell_at(w, in, &t, size, mask, effect, NULL);
}

REACH_INLINE void reach_tell(const struct warp *w, const struct insn *in, const struct reach *r, uint32_t size,
                             uint32_t mask, enum event_effect effect) {
    if (!r->local && events_wanted(w->gpu, isa_wants(r->shared ? XS_SHARED_CTA : XS_GLOBAL, effect)) &&
        !(r->shared && r->row &&
          isa_told_halves(w, in, (uint32_t)r->at, (uint32_t)r->at + MACH_WARP / 2 * size, 3, size,
                          effect & EFFECT_WRITE)))
        reach_tell_lanes(w, in, r, size, mask, effect);
}

/* One register of lanes that follow each other: element e of `count`, 1 or 2. Here and below, INDEPENDENT is a pragma
 * for the loop after it. After `if` or `else` the pragma and its loop are the whole branch. */
REACH_INLINE void reach_load_row(uint32_t *d, const uint8_t *p, unsigned e, unsigned count) {
    const uint32_t *s = (const void *)p;
    if (count == 1)
        unit_copy(d, p, MACH_WARP * sizeof *d);
    else
        INDEPENDENT for (uint32_t l = 0; l < MACH_WARP; l++) d[l] = s[2 * l + e];
}

static void reach_load_narrow(uint32_t *d, const struct mem_form *f, const struct reach *r, uint32_t mask) {
    const uint32_t sign = f->sign ? f->size == 1 ? 0x80 : 0x8000 : 0, keep = f->reg == 16 ? 0xffff : 0xffffffff;
    const uint16_t *half = (const void *)r->host;
    uint32_t v[MACH_WARP] = {0};
    if (r->row) { /* all lanes */
        if (f->size == 1)
            INDEPENDENT
        for (uint32_t l = 0; l < MACH_WARP; l++)
            d[l] = ((r->host[l] ^ sign) - sign) & keep;
        else INDEPENDENT for (uint32_t l = 0; l < MACH_WARP; l++) d[l] = ((half[l] ^ sign) - sign) & keep;
        return;
    }
    if (f->size == 1)
        WARP_FOR_LANES(l, mask) { v[l] = r->host[r->rel[l]]; }
    else
        WARP_FOR_LANES(l, mask) { v[l] = *(const uint16_t *)(const void *)(r->host + r->rel[l]); }
    INDEPENDENT
    for (uint32_t l = 0; l < MACH_WARP; l++)
        d[l] = mask >> l & 1 ? ((v[l] ^ sign) - sign) & keep : d[l];
}

REACH_INLINE bool reach_load(struct warp *w, const struct insn *in, const struct mem_form *f, uint32_t mask,
                             unsigned element, unsigned count) {
    const uint32_t size = element * count;
    struct reach r;
    if (!f->vectors || (f->addr->has_base && warp_poison(w, f->addr->slot) & mask) ||
        !reach_open(w, f->addr, mask, f->space, size, &r) || reach_poisoned(w, &r, size, mask))
        return false;
    const unsigned registers = element == 4 && count >= 4 && mask == WARP_ALL_LANES ? 4 : 1; /* at a time */
    if (registers == 4)
        reach_spread(&r, size);
    for (unsigned e = 0; e < count; e += registers) {
        const uint8_t *p = r.host + e * element;
        if (registers == 4)
            reach_gather_quads(w, f->slot + e, p, &r);
        else if (element == 8 && r.row)
            unit_copy(warp_dst64(w, f->slot[e]), p, MACH_WARP * sizeof(uint64_t));
        else if (element == 8)
            reach_gather64(warp_dst64(w, f->slot[e]), p, &r, mask);
        else if (element < 4)
            reach_load_narrow(warp_dst32(w, f->slot[e]), f, &r, mask);
        else if (r.row)
            reach_load_row(warp_dst32(w, f->slot[e]), r.host, e, count);
        else
            reach_gather32(warp_dst32(w, f->slot[e]), p, r.room - e * element, &r, mask);
        for (unsigned i = 0; i < registers; i++)
            warp_set_poison(w, f->slot[e + i], mask, 0);
    }
    reach_tell(w, in, &r, size, mask, EFFECT_READ);
    return true;
}

static bool mem_load_vectors(struct warp *w, const struct insn *in, const struct mem_form *f, uint32_t mask) {
    if (f->size == 4 && f->count == 1 && mask == WARP_ALL_LANES)
        return reach_load(w, in, f, WARP_ALL_LANES, 4, 1);
    return reach_load(w, in, f, mask, f->size, f->count);
}

static void reach_store_narrow(const uint32_t *s, unsigned size, const struct reach *r, uint32_t mask) {
    uint16_t *half = (void *)r->host;
    if (r->row && size == 1)
        INDEPENDENT
    for (uint32_t l = 0; l < MACH_WARP; l++)
        r->host[l] = (uint8_t)s[l];
    else if (r->row) INDEPENDENT for (uint32_t l = 0; l < MACH_WARP; l++) half[l] = (uint16_t)s[l];
    else if (size == 1) WARP_FOR_LANES(l, mask) {
        r->host[r->rel[l]] = (uint8_t)s[l];
    }
    else WARP_FOR_LANES(l, mask) {
        *(uint16_t *)(void *)(r->host + r->rel[l]) = (uint16_t)s[l];
    }
}

REACH_INLINE bool reach_store(struct warp *w, const struct insn *in, const struct mem_form *f, uint32_t mask,
                              unsigned element, unsigned count) {
    const uint32_t size = element * count;
    struct reach r;
    if (!f->vectors)
        return false;
    uint32_t poison = f->addr->has_base ? warp_poison(w, f->addr->slot) : 0;
    for (unsigned e = 0; e < count; e++)
        poison |= warp_poison(w, f->slot[e]);
    if (poison & mask || f->space == XS_CONST || !reach_open(w, f->addr, mask, f->space, size, &r))
        return false;
    w->island->progress += !r.local;
    if (element == 8 && r.row)
        unit_copy(r.host, warp_src64(w, f->slot[0]), MACH_WARP * sizeof(uint64_t));
    else if (element == 8)
        WARP_FOR_LANES(l, mask) { memcpy(r.host + r.rel[l], warp_src64(w, f->slot[0]) + l, sizeof(uint64_t)); }
    else if (element < 4)
        reach_store_narrow(warp_src32(w, f->slot[0]), element, &r, mask);
    else if (r.row && count == 1)
        unit_copy(r.host, warp_src32(w, f->slot[0]), MACH_WARP * sizeof(uint32_t));
    else if (r.row && count <= 4) {
        uint32_t *d = (void *)r.host;
        const uint32_t *s[4];
        for (unsigned e = 0; e < 4; e++)
            s[e] = warp_src32(w, f->slot[e < count ? e : 0]);
        if (count == 2)
            INDEPENDENT
        for (uint32_t l = 0; l < MACH_WARP; l++)
            d[2 * l] = s[0][l], d[2 * l + 1] = s[1][l];
        else INDEPENDENT for (uint32_t l = 0; l < MACH_WARP; l++) d[4 * l] = s[0][l], d[4 * l + 1] = s[1][l],
                                                                        d[4 * l + 2] = s[2][l], d[4 * l + 3] = s[3][l];
    } else if (mask == WARP_ALL_LANES && count >= 4) {
        reach_spread(&r, size);
        for (unsigned e = 0; e < count; e += 4)
            reach_scatter_quads(w, f->slot + e, r.host + e * element, &r);
    } else
        for (unsigned e = 0; e < count; e++)
            reach_scatter32(warp_src32(w, f->slot[e]), r.host + e * element, &r, mask);
    if (reach_poisoned(w, &r, size, mask)) {
        uint8_t *map = r.local ? w->local_poison : w->cta->smem_poison;
        reach_spread(&r, size);
        if (!r.local && smem_any_filled(w->cta))
            WARP_FOR_LANES(l, mask) { smem_settle(w->cta, (uint32_t)r.at + (uint32_t)r.rel[l], size); }
        WARP_FOR_LANES(l, mask) { warp_bits_set(map, r.at + (uint64_t)(int64_t)r.rel[l], size, 0); }
    }
    if (size == 32 && f->strong) {
        reach_spread(&r, size);
        WARP_FOR_LANES(l, mask) { isa_note_writer(w, in, r.at + (uint64_t)(int64_t)r.rel[l]); }
    }
    reach_tell(w, in, &r, size, mask, EFFECT_WRITE);
    return true;
}

static bool mem_store_vectors(struct warp *w, const struct insn *in, const struct mem_form *f, uint32_t mask) {
    if (f->size == 4 && f->count == 1 && mask == WARP_ALL_LANES)
        return reach_store(w, in, f, WARP_ALL_LANES, 4, 1);
    return reach_store(w, in, f, mask, f->size, f->count);
}

/* --- a word of each lane, by halves of the warp: handlers of their own, which are soon done ----------------------- */

static bool mem_has_halves(const struct mem_form *f) {
    const bool shared = f->space == XS_SHARED_CTA || f->space == XS_SHARED_CLUSTER;
    return f->vectors && f->size == 4 && f->count == 1 && f->addr->has_base &&
           (shared ? f->addr->bits == 32 && reach_near((uint64_t)f->addr->offset)
                   : f->space == XS_GLOBAL && f->addr->bits == 64);
}

static __attribute__((noinline)) void tell_halves(const struct warp *w, const struct insn *in,
                                                  const struct reach_halves *h, bool shared, enum event_effect effect) {
    const uint32_t rows = h->row[0] | h->row[1] << 1;
    if (!shared || !isa_told_halves(w, in, (uint32_t)h->at, (uint32_t)(h->at + (uint64_t)h->apart), rows, 4,
                                    effect & EFFECT_WRITE))
        reach_tell_halves(w, in, h->at, h->apart, rows, shared, effect);
}

/* False: not so simple, and nothing has happened. */
REACH_INLINE bool mem_halves(struct warp *w, const struct insn *in, uint32_t mask, bool store) {
    const struct mem_form *f = in->data;
    const bool shared = f->space != XS_GLOBAL;
    const enum event_effect effect = store ? EFFECT_WRITE : EFFECT_READ;
    struct reach_halves h;
    if (mask != WARP_ALL_LANES || warp_poison(w, f->addr->slot) || (store && warp_poison(w, f->slot[0])) ||
        !(shared ? reach_halves_shared(w, f->addr, &h) : reach_halves_global(w, f->addr, &h)) ||
        (store && !(h.row[0] && h.row[1])))
        return false;
    if (store) {
        const uint32_t *s = warp_src32(w, f->slot[0]);
        w->island->progress++;
        for (unsigned i = 0; i < 2; i++)
            unit_copy((uint8_t *)(uintptr_t)h.host[i], s + 16 * i, 64);
    } else {
        reach_halves_load(warp_dst32(w, f->slot[0]), &h);
        warp_set_poison(w, f->slot[0], WARP_ALL_LANES, 0);
    }
    if (events_wanted(w->gpu, isa_wants(shared ? XS_SHARED_CTA : XS_GLOBAL, effect)))
        tell_halves(w, in, &h, shared, effect);
    return true;
}

#else

static bool mem_has_vectors(const struct mem_form *f, bool store) {
    (void)f, (void)store;
    return false;
}
static bool mem_has_halves(const struct mem_form *f) {
    (void)f;
    return false;
}
static bool mem_halves(struct warp *w, const struct insn *in, uint32_t mask, bool store) {
    (void)w, (void)in, (void)mask, (void)store;
    return false;
}
static bool mem_load_vectors(struct warp *w, const struct insn *in, const struct mem_form *f, uint32_t mask) {
    (void)w, (void)in, (void)f, (void)mask;
    return false;
}
static bool mem_store_vectors(struct warp *w, const struct insn *in, const struct mem_form *f, uint32_t mask) {
    (void)w, (void)in, (void)f, (void)mask;
    return false;
}

#endif
#endif
