/* exec/misc.c - nanosleep and pmevent (PTX ISA 9.7.19). */
#include "exec/exec.h"

/* 9.7.19.2: suspends for about t nanoseconds; here the thread gives way once. */
static enum exec_status do_nanosleep(struct warp *w, const struct insn *in, uint32_t mask) {
    (void)w, (void)in, (void)mask;
    return EXEC_YIELD;
}

/* 9.7.19.3: triggers performance monitor events, which no program can observe. */
static enum exec_status do_pmevent(struct warp *w, const struct insn *in, uint32_t mask) {
    (void)w, (void)in, (void)mask;
    return EXEC_NEXT;
}

bool exec_bind_misc(struct exec_binder *b, struct insn *in) {
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
