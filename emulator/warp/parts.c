/* warp/parts.c - registers of which only some bits were written; contract in parts.h. */
#include "warp/parts.h"

#define SLOT_BYTES (MACH_WARP * sizeof(uint32_t))

/* As many slots as the warp had when one was last written in part. What is kept of a lane counts while it is poison and
 * its bit of `lanes` is set. */
struct warp_parts {
    uint32_t num_slots;
    uint32_t *lanes; /* by slot, the register's first */
    uint32_t *bits;  /* laid out as w->slots */
};

uint32_t warp_bytes_of_bits(uint64_t bits) {
    uint32_t bytes = 0;
    for (unsigned i = 0; bits; i++, bits >>= 8)
        bytes |= bits & 0xff ? 1u << i : 0;
    return bytes;
}

uint64_t warp_bits_of_bytes(uint32_t bytes) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; i++)
        bits |= bytes >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
    return bits;
}

static uint32_t index_of(const struct warp *w, warp_slot s) { return (uint32_t)(w->pz - w->poison) + (uint32_t)s; }

/* Has lane `lane` of a register at that slot a part that is written? */
static bool is_part(const struct warp *w, uint32_t slot, uint32_t lane) {
    return w->parts && slot < w->parts->num_slots && w->parts->lanes[slot] >> lane & 1;
}

static void *widen(struct warp *w, void *old, size_t have, size_t need) {
    uint8_t *p = worker_alloc(w->island->worker, need);
    if (old)
        memcpy(p, old, have);
    memset(p + have, 0, need - have);
    worker_free(w->island->worker, old);
    return p;
}

static struct warp_parts *parts_of(struct warp *w, uint32_t slots) {
    if (!w->parts)
        *(w->parts = worker_alloc(w->island->worker, sizeof *w->parts)) = (struct warp_parts){0};
    struct warp_parts *p = w->parts;
    if (!p->lanes || p->num_slots < slots) {
        const uint32_t n = w->num_slots;
        p->lanes = widen(w, p->lanes, p->num_slots * sizeof *p->lanes, n * sizeof *p->lanes);
        p->bits = widen(w, p->bits, p->num_slots * SLOT_BYTES, n * SLOT_BYTES);
        p->num_slots = n;
    }
    return p;
}

void warp_forget_parts(struct warp *w, uint32_t slot, uint32_t slots, uint32_t mask) {
    for (uint32_t s = slot; s < slot + slots && s < w->parts->num_slots; s++)
        w->parts->lanes[s] &= ~mask;
}

uint64_t warp_unwritten_half(const struct warp *w, warp_slot s, unsigned bits, unsigned half, uint32_t lane) {
    if (!(warp_poison(w, s) >> lane & 1))
        return 0;
    const uint32_t slot = index_of(w, s);
    if (!is_part(w, slot, lane))
        return warp_low_bits(bits);
    const uint32_t *at = w->parts->bits + (size_t)slot * MACH_WARP;
    return bits <= 32 ? at[lane] : ((const uint64_t *)(const void *)at)[half * MACH_WARP + lane];
}

void warp_set_unwritten_wide(struct warp *w, warp_slot s, unsigned bits, uint32_t lane, uint64_t low, uint64_t high) {
    const uint64_t all = warp_low_bits(bits);
    const uint32_t slot = index_of(w, s);
    const bool whole = (low & all) == all && (bits < 128 || high == all);
    warp_set_poison(w, s, 1u << lane, (low & all) || high ? 1u << lane : 0);
    if (whole || !((low & all) || high))
        return;
    struct warp_parts *p = parts_of(w, slot + (bits + 31) / 32);
    uint32_t *at = p->bits + (size_t)slot * MACH_WARP;
    p->lanes[slot] |= 1u << lane;
    if (bits <= 32) {
        at[lane] = (uint32_t)(low & all);
        return;
    }
    ((uint64_t *)(void *)at)[lane] = low;
    if (bits == 128)
        ((uint64_t *)(void *)at)[MACH_WARP + lane] = high;
}

uint32_t warp_poison_low(const struct warp *w, warp_slot s, unsigned bits, unsigned bytes, uint32_t mask) {
    uint32_t lanes = warp_poison(w, s) & mask;
    if (lanes && w->parts && bytes * 8 < bits)
        WARP_FOR_LANES(l, lanes) {
            if (!(warp_unwritten(w, s, bits, l) & warp_low_bits(8 * bytes)))
                lanes &= ~(1u << l);
        }
    return lanes;
}

void warp_copy_part(struct warp *w, uint32_t from, uint32_t to, uint32_t mask) {
    if (!w->parts)
        return;
    warp_forget_parts(w, to, 1, mask);
    WARP_FOR_LANES(l, mask & w->poison[to]) {
        if (is_part(w, from, l)) {
            struct warp_parts *p = parts_of(w, to + 1);
            p->lanes[to] |= 1u << l;
            p->bits[(size_t)to * MACH_WARP + l] = p->bits[(size_t)from * MACH_WARP + l];
        }
    }
}

void warp_free_parts(struct warp *w) {
    if (!w->parts)
        return;
    worker_free(w->island->worker, w->parts->lanes);
    worker_free(w->island->worker, w->parts->bits);
    worker_free(w->island->worker, w->parts);
    w->parts = NULL;
}
