/* warp/unwritten.h - faults of values that nothing has written, which name the memory or register they come from.
 */
#ifndef WARP_UNWRITTEN_H
#define WARP_UNWRITTEN_H

#include "warp/warp.h"

enum warp_origin_of { WARP_FROM_SHARED, WARP_FROM_LOCAL, WARP_FROM_TENSOR, WARP_FROM_ANSWER };

/* `in` has read something that nothing had written, for `lanes`: of shared memory `size` bytes at `off` of `cta`. */
void warp_found_unwritten(struct warp *w, const struct insn *in, uint32_t lanes, enum warp_origin_of from,
                          struct cta *cta, uint32_t off, uint32_t size);
/* `in` has stored such a value for `lanes`, into shared memory at offsets `low` to `high` of `cta`, or elsewhere. */
void warp_stored_unwritten(struct warp *w, const struct insn *in, uint32_t lanes, enum warp_origin_of to,
                           const struct cta *cta, uint32_t low, uint32_t high);
/* Frees what is kept of these. */
void warp_forget_unwritten(struct warp *w);

/* gpu.explain: where a value that nothing wrote came from, which a store of a thread brought to [off, off + bytes) of
 * the CTA's shared memory. False: nothing is known. */
bool warp_explain_unwritten(const struct cta *cta, uint32_t off, uint32_t bytes, struct mach_story *story);

/* As warp_fault, where `in` uses a poisoned register of `lanes`: the report says where its value came from, and gives
 * the hint for that in place of proto's. WARP_NEXT where it is a warning. */
enum warp_status warp_fault_unwritten(struct warp *w, const struct insn *in, uint32_t lanes, const struct diag *proto,
                                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
