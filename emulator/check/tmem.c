/* check/tmem.c - tensor memory that a pair gives back too early.
 *
 * The CTAs of a pair deallocate together (PTX ISA 9.7.16.7.1): from when one of them has executed its tcgen05.dealloc,
 * nothing may use the columns.
 */
#include "check/check.h"

struct watch {                                              /* one CTA */
    struct event_life closing[TMEM_COLUMNS / TMEM_GRANULE]; /* a pair's half done deallocations */
    uint32_t num_closing;
};

static const struct diag closing = {
    .id = "tcgen05-pair-dealloc-early",
    .rule = "the CTAs of a pair must synchronise their accesses to tensor memory before either of them "
            "attempts to deallocate it",
    .section = "PTX ISA 9.7.16.7.1",
    .hint = "barrier.cluster.arrive and .wait by both CTAs after their last access, then tcgen05.dealloc",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

static void access(const struct listener *self, const struct event_access *e) {
    const struct watch *w = *event_watch(self, e->owner);
    const uint32_t column = (uint32_t)e->at[0];
    for (uint32_t i = 0; e->doubt == DOUBT_CLOSING && w && i < w->num_closing; i++) {
        const struct event_life *c = &w->closing[i];
        if (column >= c->column + c->columns || c->column >= column + e->columns)
            continue;
        const struct mach_origin origin = event_origin(&e->by);
        char where[600];
        mach_warn(e->owner->island, &origin, &closing,
                  "%s uses columns %u to %u of cluster CTA %u; CTA %u has already executed the pair's "
                  "tcgen05.dealloc, at %s",
                  e->what, column, column + e->columns - 1, e->owner->rank, c->by.cta->rank,
                  diag_where(c->by.site, where, sizeof where));
        return;
    }
}

static void forget(struct watch *w, uint32_t column) {
    for (uint32_t i = 0; w && i < w->num_closing; i++)
        if (w->closing[i].column == column)
            w->closing[i--] = w->closing[--w->num_closing];
}

static void life(const struct listener *self, const struct event_life *e) {
    struct watch *w;
    switch (e->kind) {
    case LIFE_TMEM_CLOSING:
        w = check_watch(self, e->owner, sizeof *w);
        w->closing[w->num_closing++] = *e;
        break;
    case LIFE_TMEM_DEALLOC:
        forget(*event_watch(self, e->owner), e->column);
        break;
    case LIFE_CTA_END:
        check_forget(self, e->owner);
        break;
    default:
        break;
    }
}

struct listener check_tmem(void) {
    return (struct listener){.name = "tensor memory", .wants = WANT_DOUBT | WANT_LIFE, .access = access, .life = life};
}
