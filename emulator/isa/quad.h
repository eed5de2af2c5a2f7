/* isa/quad.h - .v4 accesses of 32-bit registers by all 32 lanes: each lane's 16 bytes are touched once, and are its
 * word of four registers. Any lanes may name the same bytes; of stores, the highest lane's remain. */
#ifndef ISA_QUAD_H
#define ISA_QUAD_H

#include "isa/isa.h"

/* The bytes have been checked by warp_span; no slot is WARP_SINK, those of a load are registers. */
static inline void isa_load_quads(struct warp *w, const warp_slot slot[4], const struct warp_span *s) {
    uint32_t *d[4] = {warp_dst32(w, slot[0]), warp_dst32(w, slot[1]), warp_dst32(w, slot[2]), warp_dst32(w, slot[3])};
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        uint32_t v[4];
        memcpy(v, s->host + warp_span_at(s, l), sizeof v);
        for (unsigned e = 0; e < 4; e++)
            d[e][l] = v[e];
    }
}

static inline void isa_store_quads(const struct warp *w, const warp_slot slot[4], const struct warp_span *s) {
    const uint32_t *d[4] = {warp_src32(w, slot[0]), warp_src32(w, slot[1]), warp_src32(w, slot[2]),
                            warp_src32(w, slot[3])};
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        const uint32_t v[4] = {d[0][l], d[1][l], d[2][l], d[3][l]};
        memcpy(s->host + warp_span_at(s, l), v, sizeof v);
    }
}

#endif
