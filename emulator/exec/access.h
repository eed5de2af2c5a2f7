/* exec/access.h - what the memory and synchronisation families share. */
#ifndef EXEC_ACCESS_H
#define EXEC_ACCESS_H

#include "exec/exec.h"
#include "machine/observer.h"

/* The lanes of one access inside one object. Lane l's bytes start at host[at[l]]; where the object tracks poison, bit
 * at[l] of `poison` is its first byte's, else `poison` is NULL (global memory, kernel parameters). When `affine` (all
 * 32 lanes, evenly spaced), only at[0] is set, and lane l is at at[0] + l * stride. */
struct exec_span {
    uint8_t *host;
    uint8_t *poison;
    struct cta *cta;       /* XS_SHARED_CTA: at[l] is the offset in its shared memory */
    enum exec_space space; /* XS_GLOBAL, XS_SHARED_CTA, XS_LOCAL or XS_PARAM */
    bool affine;
    bool clean; /* shared memory without poison, known without a look at the bitmap */
    int64_t stride;
    uint64_t at[MACH_WARP];
};
static inline uint64_t exec_span_at(const struct exec_span *s, uint32_t lane) {
    return s->affine ? s->at[0] + (uint64_t)(lane * s->stride) : s->at[lane];
}

/* State space of ld, st, atom and the like from the words of the instruction; XS_GENERIC when none is
 * written. */
enum exec_space exec_space_of(const struct ptx_insn *in);

/* Reports that lanes `bad` take their address from a poisoned register; returns false. */
bool exec_address_unknown(struct warp *w, const struct insn *in, uint32_t bad);
/* False, after reporting, when a lane of `mask` does. */
static inline bool exec_address_known(struct warp *w, const struct insn *in, const struct exec_opnd *o, uint32_t mask) {
    uint32_t bad = o->has_base ? exec_poison(w, o->slot) & mask : 0;
    return !bad || exec_address_unknown(w, in, bad);
}

/* Resolves `size` bytes (alignment `align`, a power of two) for all lanes of `mask` at once, by one bounds
 * check. False, without a report, when the lanes do not all lie inside one object or an address is bad: the
 * caller then goes lane by lane through exec_span_lane, which reports. */
bool exec_span(const struct warp *w, const struct exec_opnd *o, uint32_t mask, enum exec_space space, uint32_t size,
               uint32_t align, bool write, struct exec_span *s);
/* The same for one lane at `addr`, through exec_resolve. */
bool exec_span_lane(struct warp *w, const struct insn *in, uint32_t lane, uint64_t addr, enum exec_space space,
                    uint32_t size, uint32_t align, bool write, struct exec_span *s);

/* Lanes read poison from [at, at + size): warns where an asynchronous copy into shared memory is under way to it. False
 * when the warning is a fault. */
bool exec_check_landing(struct warp *w, const struct insn *in, const struct exec_span *s, uint32_t size, uint32_t mask);

/* A register of `bits` that may be written: neither a constant nor a special register. */
static inline bool exec_is_dst(const struct exec_opnd *o, unsigned bits) {
    return o->kind == EXEC_SLOT && o->more->src->kind == PTX_OPND_REG && o->bits == bits;
}
/* The same, or `_`. */
static inline bool exec_is_dst_or_sink(const struct exec_opnd *o, unsigned bits) {
    return o->kind == EXEC_DISCARD || exec_is_dst(o, bits);
}
/* A source of 32 bits that exec_u32 reads. */
static inline bool exec_is_u32(const struct exec_opnd *o) {
    return o->kind == EXEC_SLOT && (o->is_imm || o->bits == 32);
}
/* A 32-bit source (count, mask, size) of lane l; immediates are taken as written, whatever type the instruction has. */
static inline uint32_t exec_u32(const struct warp *w, const struct exec_opnd *o, uint32_t l) {
    if (o->is_imm)
        return (uint32_t)o->more->src->imm;
    return o->bits == 64 ? (uint32_t)exec_src64(w, o->slot)[l] : exec_src32(w, o->slot)[l];
}

/* Poison of n <= 32 bytes from bit `at` of a bitmap; sets the same bits to `value`. */
static inline uint32_t exec_bits_get(const uint8_t *p, uint64_t at, uint32_t n) {
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
static inline void exec_bits_set(uint8_t *p, uint64_t at, uint32_t n, uint32_t value) {
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

/* Tells the observer, if there is one, that lane l wrote n bytes of shared memory. */
static inline void exec_saw_write(const struct warp *w, const struct insn *in, struct cta *cta, uint64_t off,
                                  uint32_t n, uint32_t l) {
    const struct observer *o = w->gpu->observer;
    uint32_t at[MACH_WARP];
    at[l] = (uint32_t)off;
    if (o && o->generic_write && n)
        o->generic_write(o->ctx, cta, at, n, w->index, 1u << l, &in->src->site);
}

/* For instructions that may suspend their group: where a guard excludes lanes of the group, those go on behind the
 * instruction as a group of their own. True when it split them off: return EXEC_JUMP, and the instruction runs again. */
bool exec_isolate(struct warp *w, const struct insn *in, uint32_t mask); /* exec/barrier.c */

/* Parts of exec_bind_memory in files of their own. */
bool exec_bind_cache(struct exec_binder *b, struct insn *in);  /* exec/cache.c: prefetch, createpolicy, st.bulk, ... */
bool exec_bind_matrix(struct exec_binder *b, struct insn *in); /* exec/ldmatrix.c: ldmatrix, stmatrix, movmatrix */

#endif
