/* isa/misc.c - nanosleep and pmevent (PTX ISA 9.7.19). */
#include "isa/isa.h"

/* 9.7.19.2: suspends for about t nanoseconds, a millisecond at most; here the thread gives way once, and under
 * MACH_SCHED_MODEL as long as the lane with the largest t. */
static enum warp_status do_nanosleep(struct warp *w, const struct insn *in, uint32_t mask) {
    struct mach_timing *t = w->gpu->timing;
    uint32_t longest = 0;
    if (!w->island->timed)
        return WARP_YIELD;
    WARP_FOR_LANES(l, mask) {
        const uint32_t ns = warp_u32(w, &in->o[0], l);
        longest = ns > longest ? ns : longest;
    }
    timing_raise(t, t->now + t->cycles(t->ctx, longest < 1000000 ? longest : 1000000));
    return WARP_YIELD;
}

/* 9.7.19.3: triggers performance monitor events, which no program can observe. */
static enum warp_status do_pmevent(struct warp *w, const struct insn *in, uint32_t mask) {
    (void)w, (void)in, (void)mask;
    return WARP_NEXT;
}

bool isa_bind_misc(struct isa_binder *b, struct insn *in) {
    (void)b;
    in->fn = in->src->op == PTX_OP_nanosleep ? do_nanosleep : do_pmevent;
    return true;
}
