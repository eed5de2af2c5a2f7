/* isa/quad.h - .v4 and .v8 accesses of 32-bit registers by all 32 lanes: each 16 bytes of a lane are touched once, and
 * are its word of four registers. Any lanes may name the same bytes; of stores, the highest lane's remain. */
#ifndef ISA_QUAD_H
#define ISA_QUAD_H

#include "base/relaxed.h"
#include "isa/isa.h"

/* The bytes have been checked by warp_span; no slot is WARP_SINK, those of a load are registers. */
static inline void isa_load_quads(struct warp *w, const warp_slot *slot, unsigned quads, const struct warp_span *s) {
    for (unsigned q = 0; q < quads; q++, slot += 4) {
        uint32_t *d[4] = {warp_dst32(w, slot[0]), warp_dst32(w, slot[1]), warp_dst32(w, slot[2]),
                          warp_dst32(w, slot[3])};
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            const uint8_t *p = s->host + warp_span_at(s, l) + 16 * q;
            const uint64_t lo = relaxed_load(p, 8), hi = relaxed_load(p + 8, 8);
            d[0][l] = (uint32_t)lo;
            d[1][l] = (uint32_t)(lo >> 32);
            d[2][l] = (uint32_t)hi;
            d[3][l] = (uint32_t)(hi >> 32);
        }
    }
}

static inline void isa_store_quads(const struct warp *w, const warp_slot *slot, unsigned quads,
                                   const struct warp_span *s) {
    for (unsigned q = 0; q < quads; q++, slot += 4) {
        const uint32_t *d[4] = {warp_src32(w, slot[0]), warp_src32(w, slot[1]), warp_src32(w, slot[2]),
                                warp_src32(w, slot[3])};
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            uint8_t *p = s->host + warp_span_at(s, l) + 16 * q;
            relaxed_store(p, 8, d[0][l] | (uint64_t)d[1][l] << 32);
            relaxed_store(p + 8, 8, d[2][l] | (uint64_t)d[3][l] << 32);
        }
    }
}

#endif
