/* isa/mbarrier_init.c - mbarrier.init (PTX ISA 9.7.13.15.9); contract in mbarrier.h.
 *
 * Lanes that name one object and one count initialise it together. An object that is there already is no error where
 * the chip takes the new one: mbar_again() says which case it is.
 */
#include "isa/mbarrier.h"

DIAG(init_again) = {
    DIAG_HEAD(STRICT, "mbarrier-init-again", "9.7.13.15.3, 9.7.13.15.9"),
    .rule = "a valid mbarrier object must be invalidated before its memory is initialised again",
    .hint = "Remove one of the two initialisations, or add mbarrier.inval between them. Usual causes are two "
            "constructors of one pipeline, or a loop over overlapping arrays",
    .reason = "the second initialisation replaces the first one and its count, on an H200, too. "
              "CUTLASS's example 112 initialises like this.",
};

DIAG(init_used) = {
    DIAG_HEAD(WARNING, "mbarrier-init-used", "9.7.13.15.3, 9.7.13.15.9"),
    .rule = "a valid mbarrier object must be invalidated before its memory is initialised again",
    .hint = "Remove this initialisation if no thread uses the mbarrier any more. Otherwise add mbarrier.inval, after a "
            "barrier with all threads that use it",
    .reason = "the ISA leaves it undefined. ptxas makes one exchange of 64 bits of it, so a new object begins at phase "
              "0. A thread that counts the old phases waits for the wrong one. CuTe DSL up to 4.4 ends a kernel of "
              "pairs like this, when no thread waits any more.",
};

DIAG(init_together) = {
    DIAG_HEAD(STRICT, "mbarrier-init-together", "9.7.13.15.3, 9.7.13.15.9"),
    .rule = "a valid mbarrier object must be invalidated before its memory is initialised again",
    .hint = "Let one thread initialise it: chosen by its %tid, or by elect.sync in only one warp",
    .reason = "all threads write the same object, so their order does not matter. A use before the last of them is "
              "reported as mbarrier-race. ptxas makes one operation of the 32 of a warp, and an H200 shows no "
              "difference. CuTe DSL up to 4.5.3 initialises like this.",
};

/* Who initialised the object that is there. */
static struct mach_origin first_init(const struct cta *cta, uint32_t off) {
    const struct mach_mbar *m = &cta->mbars[mbar_index(cta, off)];
    struct mach_origin first = {.site = m->init};
    first.thread = (struct diag_thread){.cta = cta->id,
                                        .cluster_rank = cta->rank,
                                        .cluster_size = cta->cluster->num_ctas,
                                        .warp = m->init_warp,
                                        .lanes = 1u << m->init_lane,
                                        .tid = warp_tid(&cta->warps[m->init_warp], m->init_lane)};
    return first;
}

/* These lanes are not the only ones, nor the first. False after a fault. */
static bool tell_together(struct warp *w, const struct insn *in, uint32_t lanes, const struct cta *cta, uint32_t off) {
    const struct mach_origin origin = warp_origin(w, in, lanes), first = first_init(cta, off);
    return mach_warn_pair(w->island, &origin, &first, "the first of them", &init_together,
                          "several threads initialise the mbarrier at shared offset 0x%x by one instruction, with one "
                          "count",
                          off);
}

/* An object is there already. False after a fault. */
static bool init_live(struct warp *w, const struct insn *in, const struct event_by *by, struct cta *cta, uint32_t off,
                      uint32_t count) {
    static const char what[] = "the mbarrier.init before it";
    const struct mach_origin origin = warp_origin(w, in, by->lanes), first = first_init(cta, off);
    const struct diag_party party = {what, first.site, &first.thread};
    switch (mbar_again(by, cta, off, count)) {
    case MBAR_AGAIN_OWN:
        return mach_warn_pair(w->island, &origin, &first, what, &init_again,
                              "the thread initialises the mbarrier at shared offset 0x%x again, before any use", off) &&
               mbar_init_again(by, cta, off, count) == MBAR_OK;
    case MBAR_AGAIN_SAME:
        return tell_together(w, in, by->lanes, cta, off) && mbar_init_again(by, cta, off, count) == MBAR_OK;
    case MBAR_AGAIN_USED:
        return mach_warn_pair(w->island, &origin, &first, what, &init_used,
                              "the mbarrier at shared offset 0x%x, which has been used, is initialised again", off) &&
               mbar_init_again(by, cta, off, count) == MBAR_OK;
    case MBAR_AGAIN_NOT:
        break;
    }
    struct diag d = *mbar_error_diag(MBAR_LIVE);
    d.other = &party;
    return mach_fails(w->island, &origin, &d, "the mbarrier at shared offset 0x%x was initialised before", off);
}

/* Lanes of `lanes` that initialise the object of the lowest of them, with its count; 0 after a fault. */
static uint32_t init_lanes(struct warp *w, const struct insn *in, uint32_t lanes, struct cta **cta, uint32_t *off,
                           uint32_t *count) {
    const struct mbar_form *f = in->data;
    const uint32_t first = warp_lowest(lanes);
    uint32_t same = 0;
    *count = warp_u32(w, f->value, first);
    if (!isa_mbar_locate(w, in, f, first, cta, off))
        return 0;
    WARP_FOR_LANES(l, lanes) {
        struct cta *owner;
        uint32_t at;
        if (!isa_mbar_locate(w, in, f, l, &owner, &at))
            return 0;
        if (owner == *cta && at == *off && warp_u32(w, f->value, l) == *count)
            same |= 1u << l;
    }
    return same;
}

enum warp_status isa_do_mbar_init(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mbar_form *f = in->data;
    if (!warp_known(w, in, mask, f->value, "the count"))
        return WARP_FAULT;
    for (uint32_t left = mask, same; left; left &= ~same) {
        struct cta *cta;
        uint32_t off, count;
        same = init_lanes(w, in, left, &cta, &off, &count);
        if (!same)
            return WARP_FAULT;
        const struct event_by by = isa_mbar_actor(w, in, same);
        const enum mbar_error e = mbar_init(&by, cta, off, count);
        if (e == MBAR_LIVE ? !init_live(w, in, &by, cta, off, count) : e != MBAR_OK)
            return e == MBAR_LIVE ? WARP_FAULT : isa_mbar_fault(w, in, warp_lowest(same), cta, off, e, count, 1);
        if (e == MBAR_OK && same & (same - 1) && !tell_together(w, in, same & (same - 1), cta, off))
            return WARP_FAULT;
    }
    return WARP_NEXT;
}
