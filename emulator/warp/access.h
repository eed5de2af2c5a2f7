/* warp/access.h - what the memory and synchronisation families share. */
#ifndef WARP_ACCESS_H
#define WARP_ACCESS_H

#include "warp/warp.h"

/* The lanes of one access inside one object. Lane l's bytes start at host[at[l]]; where the object tracks poison, bit
 * at[l] of `poison` is its first byte's, else `poison` is NULL (global memory, kernel parameters). When `affine` (all
 * 32 lanes, evenly spaced), only at[0] is set, and lane l is at at[0] + l * stride. */
struct warp_span {
    uint8_t *host;
    uint64_t base; /* what at[] counts from: the device address of `host` in global memory, else 0 */
    uint8_t *poison;
    struct cta *cta;       /* XS_SHARED_CTA: at[l] is the offset in its shared memory */
    enum warp_space space; /* XS_GLOBAL, XS_SHARED_CTA, XS_LOCAL or XS_PARAM */
    bool affine;
    bool clean; /* shared memory without poison, known without a look at the bitmap */
    int64_t stride;
    uint64_t at[MACH_WARP];
};
static inline uint64_t warp_span_at(const struct warp_span *s, uint32_t lane) {
    return s->affine ? s->at[0] + (uint64_t)(lane * s->stride) : s->at[lane];
}

/* Reports that lanes `bad` take their address from a poisoned register; returns false. */
bool warp_address_unknown(struct warp *w, const struct insn *in, uint32_t bad);
/* False, after reporting, when a lane of `mask` does. */
static inline bool warp_address_known(struct warp *w, const struct insn *in, const struct warp_opnd *o, uint32_t mask) {
    uint32_t bad = o->has_base ? warp_poison(w, o->slot) & mask : 0;
    return !bad || warp_address_unknown(w, in, bad);
}

/* A register or address that decides something for lanes `mask`: false, after a fault, where it is poison. `what`: "the
 * size". */
static inline bool warp_known(struct warp *w, const struct insn *in, uint32_t mask, const struct warp_opnd *o,
                              const char *what) {
    const bool fixed = o->kind == WARP_MEM ? !o->has_base : o->is_imm;
    const uint32_t bad = fixed ? 0 : warp_poison(w, o->slot) & mask;
    if (bad)
        warp_fault_poison(w, in, bad, what);
    return !bad;
}

/* Resolves `size` bytes (alignment `align`, a power of two) for all lanes of `mask` at once, by one bounds
 * check. False, without a report, when the lanes do not all lie inside one object or an address is bad: the
 * caller then goes lane by lane through warp_span_lane, which reports. */
bool warp_span(const struct warp *w, const struct warp_opnd *o, uint32_t mask, enum warp_space space, uint32_t size,
               uint32_t align, bool write, struct warp_span *s);
/* The same for one lane at `addr`, through warp_resolve. */
bool warp_span_lane(struct warp *w, const struct insn *in, uint32_t lane, uint64_t addr, enum warp_space space,
                    uint32_t size, uint32_t align, bool write, struct warp_span *s);

/* A 32-bit source (count, mask, size) of lane l; immediates are taken as written, whatever type the instruction has. */
static inline uint32_t warp_u32(const struct warp *w, const struct warp_opnd *o, uint32_t l) {
    if (o->is_imm)
        return (uint32_t)o->more->src->imm;
    return o->bits == 64 ? (uint32_t)warp_src64(w, o->slot)[l] : warp_src32(w, o->slot)[l];
}

/* Poison of n <= 32 bytes from bit `at` of a bitmap; sets the same bits to `value`. */
static inline uint32_t warp_bits_get(const uint8_t *p, uint64_t at, uint32_t n) {
    uint32_t r = 0;
    if (n <= 8 && (at & 7) + n <= 8)
        return (uint32_t)p[at >> 3] >> (at & 7) & ((1u << n) - 1);
    if ((at & 7) == 0 && n == 16) {
        memcpy(&r, p + (at >> 3), 2);
        return r;
    }
    if ((at & 7) == 0 && n == 32) {
        memcpy(&r, p + (at >> 3), 4);
        return r;
    }
    for (uint32_t i = 0; i < n; i++)
        r |= (uint32_t)(p[(at + i) >> 3] >> ((at + i) & 7) & 1) << i;
    return r;
}
static inline void warp_bits_set(uint8_t *p, uint64_t at, uint32_t n, uint32_t value) {
    if (n <= 8 && (at & 7) + n <= 8) {
        uint32_t m = ((1u << n) - 1) << (at & 7);
        p[at >> 3] = (uint8_t)((p[at >> 3] & ~m) | (value << (at & 7) & m));
        return;
    }
    if ((at & 7) == 0 && n == 16) {
        memcpy(p + (at >> 3), &value, 2);
        return;
    }
    if ((at & 7) == 0 && n == 32) {
        memcpy(p + (at >> 3), &value, 4);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint8_t bit = (uint8_t)(1u << ((at + i) & 7));
        p[(at + i) >> 3] = (uint8_t)(value >> i & 1 ? p[(at + i) >> 3] | bit : p[(at + i) >> 3] & ~bit);
    }
}

#endif
