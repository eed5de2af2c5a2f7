/* warp/parts.h - registers of which only some bits were written.
 *
 * A lane's poison (warp.h) says that something of a register was never written. As a rule that is all of it. Where it
 * is a part, as of a register that `mov.b32 r, {a, b, c, d}` packs from one byte that was written and three that were
 * not, the bits are kept here, beside the slots. A warp that has no such register keeps nothing, and no instruction on
 * registers that were written pays.
 */
#ifndef WARP_PARTS_H
#define WARP_PARTS_H

#include "warp/warp.h"

static inline uint64_t warp_low_bits(unsigned bits) { return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1; }

/* A bit for each byte of up to 8 that has one in `bits`, and all bits of the bytes that have one in `bytes`. */
uint32_t warp_bytes_of_bits(uint64_t bits);
uint64_t warp_bits_of_bytes(uint32_t bytes);

/* The bits of lane `lane` of a register, `bits` wide, that nothing has written; 0 of a constant. Of 128 bits: those of
 * its half 0 or 1, else half is 0. */
uint64_t warp_unwritten_half(const struct warp *w, warp_slot s, unsigned bits, unsigned half, uint32_t lane);
static inline uint64_t warp_unwritten(const struct warp *w, warp_slot s, unsigned bits, uint32_t lane) {
    return warp_poison(w, s) >> lane & 1 ? warp_unwritten_half(w, s, bits, 0, lane) : 0;
}
/* Sets them, and the lane's poison: all of a register of `bits` bits, the upper half of one of 128 in `high`. */
void warp_set_unwritten_wide(struct warp *w, warp_slot s, unsigned bits, uint32_t lane, uint64_t low, uint64_t high);
static inline void warp_set_unwritten(struct warp *w, warp_slot s, unsigned bits, uint32_t lane, uint64_t unwritten) {
    warp_set_unwritten_wide(w, s, bits, lane, unwritten, 0);
}
/* Lanes of `mask` of which one of the low `bytes` bytes of a register lacks something. */
uint32_t warp_poison_low(const struct warp *w, warp_slot s, unsigned bits, unsigned bytes, uint32_t mask);
/* What is kept of a slot of w->slots for lanes `mask` goes to another, beside their poison. */
void warp_copy_part(struct warp *w, uint32_t from, uint32_t to, uint32_t mask);
void warp_free_parts(struct warp *w);

#endif
