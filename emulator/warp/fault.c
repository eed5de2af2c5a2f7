/* warp/fault.c - who executes an instruction, and faults of it. */
#include "warp/unwritten.h"

#include <stdio.h>

void warp_set_origin(const struct warp *w, const struct insn *in, uint32_t lanes, struct mach_origin *o) {
    struct diag_thread *t = &o->thread; /* word by word: a copy of what was just written has to wait for it */
    o->site = &in->src->site;
    t->cta.x = w->cta->id.x;
    t->cta.y = w->cta->id.y;
    t->cta.z = w->cta->id.z;
    t->cluster_rank = w->cta->rank;
    t->cluster_size = w->cta->cluster->num_ctas;
    t->warp = w->index;
    t->lanes = lanes;
    if (lanes)
        warp_set_tid(w, warp_lowest(lanes), &t->tid);
}

struct mach_origin warp_origin(const struct warp *w, const struct insn *in, uint32_t lanes) {
    struct mach_origin o = {0};
    warp_set_origin(w, in, lanes, &o);
    return o;
}

enum warp_status warp_fault(struct warp *w, const struct insn *in, uint32_t lanes, const struct diag *proto,
                            const char *fmt, ...) {
    struct mach_origin o = warp_origin(w, in, lanes);
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mach_fault(w->island, &o, proto, "%s", text);
    return WARP_FAULT;
}

DIAG(poison) = {
    .id = "uninitialised",
    .rule = "a value that was never written must not decide anything",
    .hint =
        "Write the value first: shared memory, tensor memory and registers hold garbage until something writes them",
    .reason = "an address, a descriptor or a count from garbage is wrong in every order.",
};
enum warp_status warp_fault_poison(struct warp *w, const struct insn *in, uint32_t lanes, const char *what) {
    return warp_fault_unwritten(w, in, lanes, &poison, "%s comes from a value that was never written", what);
}

DIAG(guard) = {
    .id = "uninitialised-branch",
    .rule = "a value that was never written must not decide anything",
    .hint = "Set the register on every path: only some paths write it, and on the chip it may hold anything",
    .class = DIAG_WARNING,
    .reason = "the garbage matters only if the two paths give different results. CUTLASS's scheduler branches on "
              "coordinates from an answer that took no cluster, and throws the result away.",
};
bool warp_guard_unknown(struct warp *w, const struct insn *in, uint32_t bad) {
    const char *text = "the guard predicate comes from a value that was never written";
    return warp_fault_unwritten(w, in, bad, &guard, "%s", text) == WARP_NEXT;
}
