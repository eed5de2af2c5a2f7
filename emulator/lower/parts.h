/* lower/parts.h - what lower/'s own files share: the steps from a function of PTX to code. */
#ifndef LOWER_PARTS_H
#define LOWER_PARTS_H

#include "lower/flow.h"
#include "lower/lower.h"
#include "warp/insn.h"

/* Makes the function's frame and code. False: it is too large. lower/lower.c */
bool lower_func(struct warp_module *m, struct warp_func *f);
/* Gives registers and parameters slots, and local_offset[] (by body variable) bytes. False: it is too large.
 * lower/frame.c */
bool lower_frame(struct warp_func *f, const struct flow *flow, struct arena *a, uint32_t *local_offset);
/* Gives the registers of a kernel frame slots from *next_slot on, by ptx_reg index. False, with nothing given, where
 * each is to have its own. lower/registers.c */
bool lower_share_registers(const struct flow *flow, warp_slot *slot, uint32_t *next_slot);
static inline uint32_t lower_reg_slots(const struct ptx_reg *r) {
    const unsigned bits = ptx_type_bits(r->type);
    return bits <= 32 ? 1 : bits / 32;
}
/* Sets `join` of the function's branches: lower/joins.c */
void lower_find_joins(struct warp_func *f, const struct flow *flow);
/* Sets insn.chain, after insn.run. */
struct chain_links;
void lower_chains(struct warp_func *f, const struct chain_links *links, struct arena *a); /* chain.c */

#endif
