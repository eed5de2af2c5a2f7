/* isa/misc.c - nanosleep and pmevent (PTX ISA 9.7.19). */
#include "isa/isa.h"

/* 9.7.19.2: suspends for about t nanoseconds; here the thread gives way once. */
static enum warp_status do_nanosleep(struct warp *w, const struct insn *in, uint32_t mask) {
    (void)w, (void)in, (void)mask;
    return WARP_YIELD;
}

/* 9.7.19.3: triggers performance monitor events, which no program can observe. */
static enum warp_status do_pmevent(struct warp *w, const struct insn *in, uint32_t mask) {
    (void)w, (void)in, (void)mask;
    return WARP_NEXT;
}

bool isa_bind_misc(struct isa_binder *b, struct insn *in) {
    (void)b;
    switch (in->src->op) {
    case PTX_OP_nanosleep:
        in->fn = do_nanosleep;
        return true;
    case PTX_OP_pmevent:
        in->fn = do_pmevent;
        return true;
    default:
        return false;
    }
}
