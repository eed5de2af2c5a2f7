/* isa/local.h - private to isa/memory.c: loads and stores of all lanes at one place in their local memory, elements of
 * 4 or 8 bytes. Spilled registers and a thread's own variables are so.
 */
#ifndef ISA_LOCAL_H
#define ISA_LOCAL_H

#include "isa/memory.h"
#include "warp/access.h"

static bool local_has(const struct mem_form *f) {
    return f->addr->kind == WARP_MEM && f->addr->has_base && f->addr->bits == 64 && !f->sinks && !f->strong &&
           (f->size == 4 || f->size == 8) && f->reg == 8 * f->size;
}

/* Do all lanes name the same place? Then *at is that. */
static inline bool local_place(const struct warp *w, const struct warp_opnd *o, uint32_t size, uint32_t *at) {
    const uint64_t *b = warp_src64(w, o->slot), first = b[0] + (uint64_t)o->offset;
    uint64_t apart = 0;
    for (uint32_t l = 0; l < MACH_WARP; l++)
        apart |= b[l] ^ b[0];
    *at = (uint32_t)first;
    return !apart && w->local && !(first & (size - 1)) && w->local_stride >= size && first <= w->local_stride - size;
}

/* The words of local_written that an access has: none, if they are further. */
static inline uint64_t local_words(uint32_t at, uint32_t size) {
    return at < 4 * 64 * 4 ? ((UINT64_C(1) << size / 4) - 1) << at / 4 % 64 : 0;
}

/* Is a byte of them poison in some lane? */
static inline bool local_poisoned(const struct warp *w, uint32_t at, uint32_t size) {
    uint32_t any = 0;
    for (uint32_t l = 0; l < MACH_WARP; l++)
        any |= warp_bits_get(w->local_poison, (uint64_t)l * w->local_stride + at, size);
    return any != 0;
}

/* One element, of lanes `stride` bytes apart. */
#define LOCAL_MOVES(bits)                                                                                              \
    static inline void local_get##bits(uint##bits##_t *d, const uint8_t *p, size_t stride) {                           \
        for (uint32_t l = 0; l < MACH_WARP; l += 4, p += 4 * stride) {                                                 \
            memcpy(d + l, p, sizeof *d);                                                                               \
            memcpy(d + l + 1, p + stride, sizeof *d);                                                                  \
            memcpy(d + l + 2, p + 2 * stride, sizeof *d);                                                              \
            memcpy(d + l + 3, p + 3 * stride, sizeof *d);                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static inline void local_put##bits(uint8_t *p, const uint##bits##_t *s, size_t stride) {                           \
        for (uint32_t l = 0; l < MACH_WARP; l += 4, p += 4 * stride) {                                                 \
            memcpy(p, s + l, sizeof *s);                                                                               \
            memcpy(p + stride, s + l + 1, sizeof *s);                                                                  \
            memcpy(p + 2 * stride, s + l + 2, sizeof *s);                                                              \
            memcpy(p + 3 * stride, s + l + 3, sizeof *s);                                                              \
        }                                                                                                              \
    }
LOCAL_MOVES(32)
LOCAL_MOVES(64)

/* False: not so simple, and nothing has happened. */
static inline bool local_even(struct warp *w, const struct mem_form *f, uint32_t mask, bool store) {
    const uint32_t size = (uint32_t)f->size * f->count, stride = w->local_stride;
    uint32_t at, poison = warp_poison(w, f->addr->slot);
    for (unsigned e = 0; store && e < f->count; e++)
        poison |= warp_poison(w, f->slot[e]);
    if (mask != WARP_ALL_LANES || poison || !local_place(w, f->addr, size, &at))
        return false;
    const uint64_t words = local_words(at, size);
    uint64_t *written = &w->local_written[at / 256 % 4];
    if (!words || words & ~*written) {
        const bool any = local_poisoned(w, at, size);
        if (any && !store)
            return false;
        for (uint32_t l = 0; any && l < MACH_WARP; l++)
            warp_bits_set(w->local_poison, (uint64_t)l * stride + at, size, 0);
        *written |= words;
    }
    for (unsigned e = 0; e < f->count; e++) {
        uint8_t *p = w->local + at + e * f->size;
        if (store && f->size == 4)
            local_put32(p, warp_src32(w, f->slot[e]), stride);
        else if (store)
            local_put64(p, warp_src64(w, f->slot[e]), stride);
        else if (f->size == 4)
            local_get32(warp_dst32(w, f->slot[e]), p, stride);
        else
            local_get64(warp_dst64(w, f->slot[e]), p, stride);
        if (!store)
            warp_set_poison(w, f->slot[e], WARP_ALL_LANES, 0);
    }
    return true;
}

#endif
