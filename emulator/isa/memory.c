/* isa/memory.c - ld, ldu and st (PTX ISA 9.7.9.8 - 9.7.9.11).
 *
 * One access of a warp is resolved as a whole where its lanes stay inside one object (warp_span), and lane by
 * lane otherwise. Memory is sequentially consistent inside an island, and a kernel that orders more than that
 * is one (launch/shares.c), so that .relaxed, .acquire, .release and the scopes ask for no more than a plain
 * access does; cache operators and eviction priorities are hints by definition (9.7.9.1, 9.7.9.2). Both are
 * still checked for legality when the instruction is bound. Islands may race through weak accesses: an element
 * of up to 8 bytes comes whole, a larger one in two halves, a vector by elements (8.2.4).
 *
 * Of a register those bytes are poison that were loaded and never written. Stores to shared and local memory
 * carry poison along, byte by byte; a store of poison to global memory is a fault, since the host could see it.
 *
 * Call parameters (WARP_PARAM): byte k of a parameter is byte k % 4 of the lane's word in slot first + k / 4. A word of
 * several elements is poison while all of them are: what pads a structure may be.
 */
#include "isa/memory.h"
#include "base/relaxed.h"
#include "isa/form.h"
#include "isa/local.h"
#include "isa/memory_words.h"
#include "isa/quad.h"
#include "isa/tell.h"
#include "warp/chain.h"
#include "warp/parts.h"
#include "warp/unwritten.h"

DIAG(wide_space) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "wide-access-space", "9.7.9.8"),
    .rule = "only global memory has accesses of .v8 with 32-bit and .v4 with 64-bit elements",
    .hint = "Use a pointer to global memory, or narrower accesses: this generic pointer is to shared or local memory",
    .reason = "the chip has no such access.",
};
DIAG(poison_store) = {
    DIAG_HEAD(ERROR, "uninitialised-global-store", "5.1"),
    .rule = "results in global memory must be computed from initialised values",
    .hint = "Initialise the memory or register that this value comes from, or wait until it is written",
    .reason = "the host finds garbage in every order.",
};

#define INLINE static inline __attribute__((always_inline))

/* --- one element of one lane -------------------------------------------------------------------------------------- */

INLINE uint64_t fetch(const uint8_t *p, unsigned size, bool sign) {
    uint64_t v = relaxed_load(p, size);
    if (sign && size < 8) {
        uint64_t top = size == 1 ? 0x80 : size == 2 ? 0x8000 : 0x80000000;
        v = (v ^ top) - top;
    }
    return v;
}

INLINE void put_reg(struct warp *w, warp_slot slot, unsigned reg, uint32_t l, uint64_t lo, uint64_t hi) {
    if (reg == 32)
        warp_dst32(w, slot)[l] = (uint32_t)lo;
    else if (reg == 16)
        warp_dst32(w, slot)[l] = (uint16_t)lo;
    else if (reg == 8)
        warp_dst32(w, slot)[l] = (uint8_t)lo;
    else {
        warp_dst64(w, slot)[l] = lo;
        if (reg == 128)
            warp_dst64(w, slot)[MACH_WARP + l] = hi;
    }
}

INLINE uint64_t get_reg(const struct warp *w, warp_slot slot, unsigned reg, uint32_t l) {
    return reg >= 64 ? warp_src64(w, slot)[l] : warp_src32(w, slot)[l];
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

INLINE void load_one(struct warp *w, warp_slot slot, const uint8_t *p, uint32_t l, unsigned size, unsigned reg,
                     bool sign) {
    if (size == 16) {
        put_reg(w, slot, reg, l, fetch(p, 8, false), fetch(p + 8, 8, false));
        return;
    }
    uint64_t v = fetch(p, size, sign);
    put_reg(w, slot, reg, l, v, sign ? (uint64_t)((int64_t)v >> 63) : 0);
}

INLINE void load_lanes(struct warp *w, const struct mem_form *f, const struct warp_span *s, uint32_t mask,
                       unsigned size, unsigned reg, bool sign) {
    for (unsigned e = 0; e < f->count; e++) {
        warp_slot slot = f->slot[e];
        if (slot == WARP_SINK)
            continue;
        const uint8_t *p = s->host + e * size;
        if (!s->affine) {
            WARP_FOR_LANES(l, mask) { load_one(w, slot, p + s->at[l], l, size, reg, sign); }
            continue;
        }
        p += s->at[0];
        if (s->stride == size && reg == 8 * size && reg >= 32 && reg <= 64)
            relaxed_read(warp_dst32(w, slot), p, MACH_WARP * (size_t)size);
        else
            for (uint32_t l = 0; l < MACH_WARP; l++)
                load_one(w, slot, p + (int64_t)l * s->stride, l, size, reg, sign);
    }
}

/* The lanes' bytes follow each other without gaps, and their poison starts at a byte of the bitmap. */
static bool contiguous(const struct warp_span *s, uint32_t n) {
    return s->affine && s->stride == n && (s->at[0] & 7) == 0;
}

/* Lane l has loaded `size` bytes, of which `bytes` were never written, into a register. */
static void loaded_unwritten(struct warp *w, const struct mem_form *f, warp_slot slot, uint32_t l, uint32_t bytes) {
    uint64_t low = warp_bits_of_bytes(bytes & 0xff);
    if (f->sign && f->size < 8 && bytes >> (f->size - 1) & 1)
        low |= ~warp_low_bits(8u * f->size);
    warp_set_unwritten_wide(w, slot, f->reg, l, low, f->reg == 128 ? warp_bits_of_bytes(bytes >> 8) : 0);
}

/* True when a lane read poison. */
static bool load_poison(struct warp *w, const struct mem_form *f, const struct warp_span *s, uint32_t mask) {
    uint32_t bits[MACH_WARP], any = 0, n = (uint32_t)f->size * f->count;
    bool clean = !s->poison || s->clean;
    if (!clean && contiguous(s, n)) {
        const uint8_t *p = s->poison + (s->at[0] >> 3);
        for (uint32_t i = 0; i < MACH_WARP / 8 * n; i++)
            any |= p[i];
        clean = !any;
    }
    if (!clean)
        WARP_FOR_LANES(l, mask) { any |= bits[l] = warp_bits_get(s->poison, warp_span_at(s, l), n); }
    for (unsigned e = 0; e < f->count; e++) {
        if (f->slot[e] == WARP_SINK)
            continue;
        const uint32_t part = (1u << f->size) - 1, first = e * f->size;
        warp_set_poison(w, f->slot[e], mask, 0);
        if (any)
            WARP_FOR_LANES(l, mask) {
                if (bits[l] >> first & part)
                    loaded_unwritten(w, f, f->slot[e], l, bits[l] >> first & part);
            }
    }
    return any != 0;
}

/* True when a lane read poison. */
static bool load_span(struct warp *w, const struct mem_form *f, const struct warp_span *s, uint32_t mask) {
    if (f->quads && mask == WARP_ALL_LANES)
        isa_load_quads(w, f->slot, f->quads, s);
    else if (f->size == 4 && f->reg == 32)
        load_lanes(w, f, s, mask, 4, 32, false);
    else if (f->size == 8 && f->reg == 64)
        load_lanes(w, f, s, mask, 8, 64, false);
    else if (f->size == 2 && f->reg == 16)
        load_lanes(w, f, s, mask, 2, 16, false);
    else
        load_lanes(w, f, s, mask, f->size, f->reg, f->sign);
    return load_poison(w, f, s, mask);
}

/* Lanes of `mask` have read something that nothing has written. */
static void note_poison(struct warp *w, const struct insn *in, const struct warp_span *s, uint32_t mask) {
    const struct mem_form *f = in->data;
    const bool local = s->space == XS_LOCAL;
    uint32_t lanes = 0;
    for (unsigned e = 0; e < f->count; e++)
        lanes |= f->slot[e] == WARP_SINK ? 0 : warp_poison(w, f->slot[e]) & mask;
    if (!lanes)
        return;
    const uint32_t off = (uint32_t)warp_span_at(s, warp_lowest(lanes)), size = (uint32_t)f->size * f->count;
    warp_found_unwritten(w, in, lanes, local ? WARP_FROM_LOCAL : WARP_FROM_SHARED, local ? NULL : s->cta, off, size);
}

/* The first 8 bytes that lane l has loaded, 0 for `_`. They are taken from its registers: memory may hold others by
 * now. */
static uint64_t loaded(const struct warp *w, const struct mem_form *f, uint32_t l) {
    const uint64_t element = f->size < 8 ? (UINT64_C(1) << 8 * f->size) - 1 : UINT64_MAX;
    uint64_t v = 0;
    for (unsigned e = 0; e < f->count && e * f->size < 8; e++)
        if (f->slot[e] != WARP_SINK)
            v |= (get_reg(w, f->slot[e], f->reg, l) & element) << 8 * e * f->size;
    return v;
}

static void saw_load(struct warp *w, const struct insn *in, const struct warp_span *s, uint32_t mask, bool poison) {
    const struct mem_form *f = in->data;
    if (poison)
        note_poison(w, in, s, mask);
    uint64_t found[MACH_WARP];
    if (!events_wanted(w->gpu, isa_wants(s->space, EFFECT_READ)))
        return;
    WARP_FOR_LANES(l, f->strong ? mask : 0) { found[l] = loaded(w, f, l); }
    isa_tell_span(w, in, s, (uint32_t)f->size * f->count, mask, EFFECT_READ, f->strong ? found : NULL);
}

static enum warp_status do_ld(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mem_form *f = in->data;
    if (mem_load_vectors(w, in, f, mask))
        return WARP_NEXT;
    uint32_t size = (uint32_t)f->size * f->count;
    struct warp_span s;
    if (!warp_address_known(w, in, f->addr, mask))
        return WARP_FAULT;
    if (warp_span(w, f->addr, mask, f->space, size, size, false, &s) && !(f->wide && s.space != XS_GLOBAL)) {
        saw_load(w, in, &s, mask, load_span(w, f, &s, mask));
        return WARP_NEXT;
    }
    uint64_t addr[MACH_WARP]; /* the destination may be the address register */
    WARP_FOR_LANES(l, mask) addr[l] = warp_address(w, f->addr, l);
    WARP_FOR_LANES(l, mask) {
        if (!warp_span_lane(w, in, l, addr[l], f->space, size, size, false, &s))
            return WARP_FAULT;
        if (f->wide && s.space != XS_GLOBAL)
            return warp_fault(w, in, 1u << l, &wide_space, "lane %u loads 32 bytes from outside global memory", l);
        saw_load(w, in, &s, 1u << l, load_span(w, f, &s, 1u << l));
    }
    return WARP_NEXT;
}

/* A kernel parameter at a fixed offset: the same bytes for every lane. */
static enum warp_status do_ld_param(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mem_form *f = in->data;
    uint32_t size = (uint32_t)f->size * f->count;
    struct warp_span s;
    uint32_t first = warp_lowest(mask);
    if (!warp_span_lane(w, in, first, warp_address(w, f->addr, first), XS_PARAM, size, size, false, &s))
        return WARP_FAULT;
    const uint8_t *p = s.host + s.at[first];
    const bool wide = f->reg == 64;
    if (mask == WARP_ALL_LANES && f->size <= 8 && f->reg <= 64 && !f->sinks) {
        for (unsigned e = 0; e < f->count; e++, p += f->size) {
            uint64_t v = fetch(p, f->size, f->sign), *d = warp_dst64(w, f->slot[e]);
            const uint64_t narrow = v & (f->reg < 32 ? (UINT64_C(1) << f->reg) - 1 : UINT32_MAX);
            v = wide ? v : narrow << 32 | narrow;
            for (uint32_t l = 0; l < (wide ? MACH_WARP : MACH_WARP / 2); l++)
                d[l] = v;
            warp_set_poison(w, f->slot[e], mask, 0);
        }
        return WARP_NEXT;
    }
    WARP_FOR_LANES(l, mask) { s.at[l] = s.at[first]; }
    load_span(w, f, &s, mask);
    return WARP_NEXT;
}

/* --- stores ------------------------------------------------------------------------------------------------------- */

INLINE void store_one(const struct warp *w, warp_slot slot, uint8_t *p, uint32_t l, unsigned size, unsigned reg) {
    relaxed_store(p, size < 8 ? size : 8, get_reg(w, slot, reg, l));
    if (size == 16)
        relaxed_store(p + 8, 8, warp_src64(w, slot)[MACH_WARP + l]);
}

INLINE void store_lanes(const struct warp *w, const struct mem_form *f, const struct warp_span *s, uint32_t mask,
                        unsigned size, unsigned reg) {
    for (unsigned e = 0; e < f->count; e++) {
        warp_slot slot = f->slot[e];
        if (slot == WARP_SINK)
            continue;
        uint8_t *p = s->host + e * size;
        if (!s->affine) {
            WARP_FOR_LANES(l, mask) { store_one(w, slot, p + s->at[l], l, size, reg); }
            continue;
        }
        p += s->at[0];
        if (s->stride == size && reg == 8 * size && reg >= 32 && reg <= 64)
            relaxed_write(p, warp_src32(w, slot), MACH_WARP * (size_t)size);
        else
            for (uint32_t l = 0; l < MACH_WARP; l++)
                store_one(w, slot, p + (int64_t)l * s->stride, l, size, reg);
    }
}

/* Lanes that store something poisoned. */
static uint32_t store_poisoned(const struct warp *w, const struct mem_form *f, uint32_t mask) {
    uint32_t p = 0;
    for (unsigned e = 0; e < f->count; e++)
        if (f->slot[e] != WARP_SINK)
            p |= warp_poison_low(w, f->slot[e], f->reg, f->size, mask);
    return p;
}

/* The bytes of the element that lane l stores and nothing has written. */
static uint32_t stored_unwritten(const struct warp *w, const struct mem_form *f, warp_slot slot, uint32_t l) {
    uint32_t bytes = warp_bytes_of_bits(warp_unwritten(w, slot, f->reg, l));
    if (f->reg == 128)
        bytes |= warp_bytes_of_bits(warp_unwritten_half(w, slot, 128, 1, l)) << 8;
    return bytes;
}

static void store_poison(struct warp *w, const struct mem_form *f, const struct warp_span *s, uint32_t mask,
                         uint32_t poisoned) {
    if (!s->poison || (s->clean && !poisoned))
        return;
    if (!poisoned && !f->sinks) {
        uint32_t n = (uint32_t)f->size * f->count;
        if (contiguous(s, n))
            memset(s->poison + (s->at[0] >> 3), 0, MACH_WARP / 8 * n);
        else
            WARP_FOR_LANES(l, mask) { warp_bits_set(s->poison, warp_span_at(s, l), n, 0); }
        return;
    }
    for (unsigned e = 0; e < f->count; e++) {
        if (f->slot[e] == WARP_SINK)
            continue;
        WARP_FOR_LANES(l, mask) {
            warp_bits_set(s->poison, warp_span_at(s, l) + e * f->size, f->size, stored_unwritten(w, f, f->slot[e], l));
        }
    }
    if (s->space == XS_LOCAL)
        memset(w->local_written, 0, sizeof w->local_written);
    if (s->space == XS_SHARED_CTA)
        WARP_FOR_LANES(l, mask) { smem_doubt(s->cta, (uint32_t)warp_span_at(s, l), (uint32_t)f->size * f->count); }
}

/* What a store with `_` writes are the other elements of its vector. */
static void saw_store(const struct warp *w, const struct insn *in, const struct mem_form *f, const struct warp_span *s,
                      uint32_t mask) {
    struct warp_span part = *s;
    for (unsigned e = 0; e < f->count; e++, part.base += f->size)
        if (f->slot[e] != WARP_SINK)
            isa_saw_write(w, in, &part, f->size, mask);
}

/* Lanes store something that nothing has written, to shared or local memory. */
static void note_store(struct warp *w, const struct insn *in, const struct warp_span *s, uint32_t lanes) {
    const struct mem_form *f = in->data;
    const bool local = s->space == XS_LOCAL;
    uint64_t low = UINT64_MAX, high = 0;
    WARP_FOR_LANES(l, lanes) {
        const uint64_t at = warp_span_at(s, l);
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    warp_stored_unwritten(w, in, lanes, local ? WARP_FROM_LOCAL : WARP_FROM_SHARED, local ? NULL : s->cta,
                          (uint32_t)low, (uint32_t)high + (uint32_t)f->size * f->count - 1);
}

static bool store_span(struct warp *w, const struct insn *in, const struct mem_form *f, const struct warp_span *s,
                       uint32_t mask, uint32_t poisoned) {
    if (s->space == XS_GLOBAL && (poisoned & mask)) {
        warp_fault_unwritten(w, in, poisoned & mask, &poison_store,
                             "%d of %d lanes store a value to global memory that was never written",
                             __builtin_popcount(poisoned & mask), __builtin_popcount(mask));
        return false;
    }
    if (poisoned & mask)
        note_store(w, in, s, poisoned & mask);
    if (f->quads && mask == WARP_ALL_LANES)
        isa_store_quads(w, f->slot, f->quads, s);
    else if (f->size == 4 && f->reg == 32)
        store_lanes(w, f, s, mask, 4, 32);
    else if (f->size == 8 && f->reg == 64)
        store_lanes(w, f, s, mask, 8, 64);
    else if (f->size == 2 && f->reg <= 32)
        store_lanes(w, f, s, mask, 2, 32);
    else
        store_lanes(w, f, s, mask, f->size, f->reg);
    store_poison(w, f, s, mask, poisoned);
    if (f->strong && s->space == XS_GLOBAL)
        WARP_FOR_LANES(l, mask) { isa_note_writer(w, in, s->base + warp_span_at(s, l)); }
    if (f->sinks)
        saw_store(w, in, f, s, mask);
    else
        isa_saw_write(w, in, s, (uint32_t)f->size * f->count, mask);
    return true;
}

static enum warp_status do_st(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mem_form *f = in->data;
    if (mem_store_vectors(w, in, f, mask))
        return WARP_NEXT;
    uint32_t size = (uint32_t)f->size * f->count;
    struct warp_span s;
    if (!warp_address_known(w, in, f->addr, mask))
        return WARP_FAULT;
    uint32_t poisoned = store_poisoned(w, f, mask);
    w->island->progress += f->space != XS_LOCAL;
    if (warp_span(w, f->addr, mask, f->space, size, size, true, &s) && !(f->wide && s.space != XS_GLOBAL))
        return store_span(w, in, f, &s, mask, poisoned) ? WARP_NEXT : WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        if (!warp_span_lane(w, in, l, warp_address(w, f->addr, l), f->space, size, size, true, &s))
            return WARP_FAULT;
        if (f->wide && s.space != XS_GLOBAL)
            return warp_fault(w, in, 1u << l, &wide_space, "lane %u stores 32 bytes outside global memory", l);
        if (!store_span(w, in, f, &s, 1u << l, poisoned))
            return WARP_FAULT;
    }
    return WARP_NEXT;
}

/* A word of each lane, mostly in rows. */
static enum warp_status do_ld_word(struct warp *w, const struct insn *in, uint32_t mask) {
    return mem_halves(w, in, mask, false) ? WARP_NEXT : do_ld(w, in, mask);
}

static enum warp_status do_st_word(struct warp *w, const struct insn *in, uint32_t mask) {
    return mem_halves(w, in, mask, true) ? WARP_NEXT : do_st(w, in, mask);
}

/* Local memory: mostly each lane's own variable at one place. */
static enum warp_status do_ld_local(struct warp *w, const struct insn *in, uint32_t mask) {
    return local_even(w, in->data, mask, false) ? WARP_NEXT : do_ld(w, in, mask);
}

static enum warp_status do_st_local(struct warp *w, const struct insn *in, uint32_t mask) {
    return local_even(w, in->data, mask, true) ? WARP_NEXT : do_st(w, in, mask);
}

/* --- call parameters in slots ------------------------------------------------------------------------------------- */

static uint64_t slot_bytes(const struct warp *w, warp_slot first, uint64_t k, unsigned size, uint32_t l) {
    const uint32_t *word = warp_src32(w, first + (warp_slot)(k / 4));
    if (size >= 8)
        return (uint64_t)word[MACH_WARP + l] << 32 | word[l];
    return word[l] >> (8 * (k & 3)) & (size == 4 ? 0xffffffffu : (1u << (8 * size)) - 1);
}

/* The bytes of the same that nothing has written. */
static uint32_t slots_unwritten(const struct warp *w, warp_slot first, uint64_t k, unsigned size, uint32_t l) {
    uint32_t bytes = 0;
    for (unsigned b = 0; b < size; b += 4)
        bytes |= warp_bytes_of_bits(warp_unwritten(w, first + (warp_slot)((k + b) / 4), 32, l)) << b;
    return size < 4 ? bytes >> (k & 3) & ((1u << size) - 1) : bytes;
}

static enum warp_status do_ld_slots(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mem_form *f = in->data;
    for (unsigned e = 0; e < f->count; e++) {
        if (f->slot[e] == WARP_SINK)
            continue;
        uint64_t k = (uint64_t)f->addr->offset + e * f->size;
        uint32_t p = 0, bytes[MACH_WARP];
        for (unsigned b = 0; b < f->size; b += 4)
            p |= warp_poison(w, f->addr->slot + (warp_slot)((k + b) / 4)) & mask;
        WARP_FOR_LANES(l, p) { bytes[l] = slots_unwritten(w, f->addr->slot, k, f->size, l); }
        WARP_FOR_LANES(l, mask) {
            uint64_t v = slot_bytes(w, f->addr->slot, k, f->size, l), hi = 0;
            if (f->size == 16)
                hi = slot_bytes(w, f->addr->slot, k + 8, 8, l);
            if (f->sign && f->size < 8)
                v = fetch((const uint8_t *)&v, f->size, true);
            put_reg(w, f->slot[e], f->reg, l, v, hi);
        }
        warp_set_poison(w, f->slot[e], mask, 0);
        WARP_FOR_LANES(l, p) { loaded_unwritten(w, f, f->slot[e], l, bytes[l]); }
    }
    return WARP_NEXT;
}

static void slot_store(struct warp *w, warp_slot first, uint64_t k, unsigned size, uint32_t l, uint64_t v) {
    uint32_t *word = warp_dst32(w, first + (warp_slot)(k / 4));
    if (size >= 4) {
        word[l] = (uint32_t)v;
        if (size >= 8)
            word[MACH_WARP + l] = (uint32_t)(v >> 32);
        return;
    }
    uint32_t shift = 8 * (k & 3), m = ((1u << (8 * size)) - 1) << shift;
    word[l] = (word[l] & ~m) | ((uint32_t)v << shift & m);
}

static enum warp_status do_st_slots(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mem_form *f = in->data;
    for (unsigned e = 0; e < f->count; e++) {
        uint64_t k = (uint64_t)f->addr->offset + e * f->size;
        const uint32_t p = warp_poison_low(w, f->slot[e], f->reg, f->size, mask);
        WARP_FOR_LANES(l, mask) {
            slot_store(w, f->addr->slot, k, f->size, l, get_reg(w, f->slot[e], f->reg, l));
            if (f->size == 16)
                slot_store(w, f->addr->slot, k + 8, 8, l, warp_src64(w, f->slot[e])[MACH_WARP + l]);
        }
        for (unsigned b = 0; b < f->size; b += 4)
            warp_set_poison(w, f->addr->slot + (warp_slot)((k + b) / 4), mask & ~p, 0);
        WARP_FOR_LANES(l, f->size < 4 ? 0 : p) {
            const uint32_t bytes = stored_unwritten(w, f, f->slot[e], l);
            for (unsigned b = 0; b < f->size; b += 4)
                warp_set_unwritten(w, f->addr->slot + (warp_slot)((k + b) / 4), 32, l,
                                   warp_bits_of_bytes(bytes >> b & 0xf));
        }
    }
    return WARP_NEXT;
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

static bool is_signed(enum ptx_type t) { return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64; }

/* One register of the access. All of a vector are as wide as the first; in a store, narrow ones count as 32 bits. */
static bool take_register(struct mem_form *f, const struct warp_opnd *o, bool store) {
    const unsigned bits = store && o->bits < 32 ? 32 : o->bits;
    const bool alike = !f->reg || f->reg == bits;
    f->reg = (uint8_t)bits;
    return alike;
}

static bool take_registers(struct mem_form *f, const struct warp_opnd *o, bool store) {
    const bool list =
        isa_is_list(o, f->count); /* of one register, too, as Triton writes scalars and ptxas takes them */
    if (f->count == 1 && !list) {
        f->slot[0] = o->slot;
        return o->kind == WARP_SLOT && take_register(f, o, store);
    }
    if (!list)
        return false;
    for (unsigned e = 0; e < f->count; e++) {
        f->slot[e] = o->list[e];
        if (f->slot[e] == WARP_SINK)
            f->sinks = true;
        else if (!take_register(f, &o->more->sub[e], store))
            return false;
    }
    return f->reg && !(f->sinks && !f->wide);
}

static warp_fn choose(const struct mem_form *f, bool store) {
    if (f->addr->kind == WARP_PARAM)
        return store ? do_st_slots : do_ld_slots;
    if (f->space == XS_LOCAL && local_has(f))
        return store ? do_st_local : do_ld_local;
    if (mem_has_halves(f))
        return store ? do_st_word : do_ld_word;
    if (store)
        return do_st;
    bool fixed = !f->addr->has_base || f->addr->slot < 0;
    return f->space == XS_PARAM && fixed ? do_ld_param : do_ld;
}

/* Parameters in slots have fixed addresses: bounds and alignment are known here. */
static bool address_fits(const struct mem_form *f, bool store) {
    uint64_t size = (uint64_t)f->size * f->count, at = (uint64_t)f->addr->offset;
    if (f->addr->kind != WARP_PARAM)
        return !(store && f->space == XS_PARAM); /* what a kernel was given is not stored to */
    return f->space == XS_PARAM && (at & (f->size - 1u)) == 0 && at <= f->addr->more->imm &&
           size <= f->addr->more->imm - at;
}

bool isa_bind_memory(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *src = in->src;
    const bool store = src->op == PTX_OP_st;
    struct isa_words k;
    if (!isa_sort(b, src, MEM_WORDS, &k))
        return false;
    const enum warp_space space = isa_space(k.of[PTX_KIND_space]);
    const enum ptx_type type = ptx_mod_type(k.of[PTX_KIND_type]);
    const unsigned count = isa_elements(&k);
    const unsigned size = is_access_type(type) ? ptx_type_bits(type) / 8 : 0;
    if ((b->why = order_refused(src, &k, space)) || (b->why = access_refused(src, &k, space, size * count, count)))
        return false;
    if (in->num_opnds != 2 + ptx_has(src, PTX_MOD_L2__cache_hint))
        return isa_refuse(b, "a cache policy needs .L2::cache_hint, and the reverse");
    struct mem_form *f = arena_alloc(b->arena, sizeof *f);
    f->space = space;
    f->size = (uint8_t)size;
    f->count = (uint8_t)count;
    f->sign = is_signed(type);
    f->wide = size * count == 32;
    f->strong = k.of[PTX_KIND_order] && k.of[PTX_KIND_order] != PTX_MOD_weak;
    f->addr = &in->o[store ? 0 : 1];
    if (!take_registers(f, &in->o[store ? 1 : 0], store))
        return isa_refuse(b, "the vector has another length, or registers of several widths");
    if (!address_fits(f, store))
        return isa_refuse(b, "the access is outside the parameter");
    f->vectors = mem_has_vectors(f, store);
    f->quads = f->size == 4 && f->reg == 32 && !f->sinks ? f->count / 4 : 0;
    in->data = f;
    in->fn = choose(f, store);
    if (in->num_opnds == 2 && mem_has_halves(f))
        in->link = f->space == XS_GLOBAL ? (store ? CHAIN_st : CHAIN_ld) : (store ? CHAIN_st_s : CHAIN_ld_s);
    return true;
}
