/* engines/tc_alloc.c - tensor memory allocation (PTX ISA 9.7.16.1.2, 9.7.16.7.1).
 *
 * The CTAs of an SM share 512 columns. What the ISA leaves open is settled so:
 *  - The right to allocate is exclusive. The first CTA that executes tcgen05.alloc holds it until it executes
 *    relinquish_alloc_permit or exits; the others' allocations wait in the order in which they came. Two CTAs that
 *    allocate piecewise can therefore never hold half each and wait for the other half, which is what the permit is for
 *    (CUTLASS calls it the allocation lock).
 *  - A block of n columns starts at a multiple of n, at the lowest such place.
 *  - dealloc needs no permit.
 *  - A pair allocates the same columns in both CTAs, and takes both SMs' permits at once. Its allocation and
 *    deallocation happen when the second CTA's warp executes them; the first waits. Deallocation may or may not block
 *    on the chip (Table 48); here it always does, so a kernel that depends on the other choice deadlocks every time.
 *    From the first CTA's tcgen05.dealloc on, nobody may use the columns any more, because the pair must have
 *    synchronised before: a warning, for the columns are still there (and CUTLASS's tutorial programs break this rule).
 */
#include "engines/tc.h"

#include <string.h>

DIAG(bad_columns) = {
    DIAG_HEAD(ERROR, "tcgen05-alloc-columns", "9.7.16.7.1"),
    .rule = "the number of columns must be a power of 2 from 32 to 512",
    .hint = "Round the accumulator's columns up to a power of 2, at least 32",
    .reason = "the chip traps.",
};
DIAG(alloc_after_relinquish) = {
    DIAG_HEAD(ERROR, "tcgen05-alloc-after-relinquish", "9.7.16.7.1"),
    .rule = "a CTA must not allocate after one of its threads has executed tcgen05.relinquish_alloc_permit",
    .hint = "Relinquish after the CTA's last tcgen05.alloc",
    .reason = "the ISA leaves it undefined: another CTA may allocate at the same time.",
};
DIAG(alloc_increase) = {
    DIAG_HEAD(ERROR, "tcgen05-alloc-increase", "9.7.16.7.1"),
    .rule = "the number of columns must not increase from one allocation of a CTA to the next",
    .hint = "Allocate the largest block first",
    .reason = "the ISA forbids it: the blocks of an SM's CTAs may never fit together again.",
};
DIAG(bad_dealloc) = {
    DIAG_HEAD(ERROR, "tcgen05-dealloc-mismatch", "9.7.16.7.1"),
    .rule = "tcgen05.dealloc takes the address and the number of columns of an earlier tcgen05.alloc of the same CTA",
    .hint = "Pass the address that tcgen05.alloc wrote to shared memory, without a lane or column offset",
    .reason = "the CTA has no such allocation to give back.",
};
DIAG(bad_count) = {
    DIAG_HEAD(ERROR, "tcgen05-dealloc-mismatch", "9.7.16.7.1"),
    .rule = "tcgen05.dealloc takes the address and the number of columns of an earlier tcgen05.alloc of the same CTA",
    .hint = "Pass the number of columns that tcgen05.alloc was given: the address is that of an allocation, and no "
            "part of one can be freed alone",
};
DIAG(unallocated) = {
    DIAG_HEAD(ERROR, "tcgen05-tmem-unallocated", "9.7.16.1.2"),
    .rule = "tensor memory must be allocated by tcgen05.alloc before it is accessed",
    .hint = "Check the address and the extent of the access, and whether tcgen05.dealloc comes too early",
    .reason = "the columns belong to no CTA, or to another one.",
};
DIAG(pair_differs) = {
    DIAG_HEAD(ERROR, "tcgen05-pair-mismatch", "9.7.16.7.1"),
    .rule =
        "both CTAs of a pair allocate and deallocate tensor memory together: one warp of each, with the same operands",
    .reason = "the two halves are not one operation.",
};
/* For those who watch: `by` executed an instruction that does `kind` to columns of tc's CTA. */
static void tell(const struct tc_state *tc, struct cta *by, const struct mach_origin *origin, enum event_life_kind kind,
                 uint32_t column, uint32_t columns) {
    const char *what = kind == LIFE_TMEM_ALLOC        ? "tcgen05.alloc"
                       : kind == LIFE_TMEM_RELINQUISH ? "tcgen05.relinquish_alloc_permit"
                                                      : "tcgen05.dealloc";
    tell_life(by->gpu, &(struct event_life){.by = event_by_origin(by, origin, what, ORDER_WEAK, SCOPE_NONE),
                                            .kind = kind,
                                            .owner = tc->cta,
                                            .column = column,
                                            .columns = columns});
}

/* --- the permit --------------------------------------------------------------------------------------------------- */

/* Permit or columns came free: everyone who may wait for them looks again. */
static void wake_allocators(struct sm *sm) {
    if (sm->tmem_lock)
        mach_wake(sm->tmem_lock);
    for (struct tc_state *t = sm->tmem_waiters; t; t = t->next)
        mach_wake(t->cta);
}

static bool may_take(const struct tc_state *tc) {
    const struct sm *sm = tc->cta->sm;
    return sm->tmem_lock == tc->cta || (!sm->tmem_lock && (!sm->tmem_waiters || sm->tmem_waiters == tc));
}

static void leave_waiters(struct tc_state *tc) {
    struct tc_state **p = &tc->cta->sm->tmem_waiters;
    while (*p && *p != tc)
        p = &(*p)->next;
    if (*p)
        *p = tc->next;
    tc->next = NULL;
    tc->waiting = false;
}

static void queue_for_permit(struct tc_state *tc) {
    struct tc_state **end = &tc->cta->sm->tmem_waiters;
    if (tc->waiting)
        return;
    while (*end)
        end = &(*end)->next;
    *end = tc;
    tc->waiting = true;
}

/* Takes the permit of every CTA of `tcs`, or queues for it. */
static bool take_permits(struct tc_state *const *tcs, unsigned count) {
    bool all = true;
    for (unsigned i = 0; i < count; i++)
        all &= may_take(tcs[i]);
    for (unsigned i = 0; i < count; i++) {
        if (!all) {
            queue_for_permit(tcs[i]);
            continue;
        }
        leave_waiters(tcs[i]);
        tcs[i]->cta->sm->tmem_lock = tcs[i]->cta;
    }
    return all;
}

void tc_give_up_permit(struct tc_state *tc) {
    struct sm *sm = tc->cta->sm;
    leave_waiters(tc);
    if (sm->tmem_lock == tc->cta) {
        sm->tmem_lock = NULL;
        wake_allocators(sm);
    }
}

bool tc_relinquish(struct cta *cta, const struct mach_origin *origin) {
    struct tc_state *tc = tc_state_of(cta);
    tc->relinquished = true;
    tell(tc, cta, origin, LIFE_TMEM_RELINQUISH, 0, 0);
    tc_give_up_permit(tc);
    return true;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* First granule of a block, naturally aligned and free in all CTAs of `tcs`, or TC_GRANULES. */
static uint32_t find_block(struct tc_state *const *tcs, unsigned count, uint32_t granules) {
    for (uint32_t g = 0; g + granules <= TC_GRANULES; g += granules) {
        uint32_t i = 0;
        while (i < granules * count && !tcs[i / granules]->cta->sm->tmem_owner[g + i % granules])
            i++;
        if (i == granules * count)
            return g;
    }
    return TC_GRANULES;
}

static bool check_alloc(struct tc_state *tc, const struct mach_origin *origin, uint32_t columns) {
    struct island *isl = tc->cta->island;
    if (columns < TMEM_GRANULE || columns > TMEM_COLUMNS || (columns & (columns - 1)))
        mach_fault(isl, origin, &bad_columns, "tcgen05.alloc of %u columns", columns);
    else if (tc->relinquished)
        mach_fault(isl, origin, &alloc_after_relinquish,
                   "tcgen05.alloc of %u columns in a CTA that gave up its permit to allocate", columns);
    else if (tc->last_columns && columns > tc->last_columns)
        mach_fault(isl, origin, &alloc_increase, "tcgen05.alloc of %u columns after one of %u", columns,
                   tc->last_columns);
    return !isl->fault;
}

static void grant(struct tc_state *tc, const struct mach_origin *origin, uint32_t column, uint32_t columns) {
    struct sm *sm = tc->cta->sm;
    if (!sm->tmem)
        sm->tmem = worker_alloc(tc->cta->island->worker, sizeof *sm->tmem);
    for (uint32_t i = 0; i < columns / TMEM_GRANULE; i++)
        sm->tmem_owner[column / TMEM_GRANULE + i] = tc->cta;
    sm->tmem->clean_end = sm->tmem->clean = 0;
    memset(sm->tmem->poison[column], 0xff, columns * sizeof sm->tmem->poison[0]);
    tc->last_columns = columns;
    struct tc_allocation *a = &tc->allocs[tc->num_allocs++];
    *a = (struct tc_allocation){.column = column, .columns = columns};
    if (origin)
        a->origin = *origin;
    tc->cta->island->progress++;
    tell(tc, tc->cta, origin, LIFE_TMEM_ALLOC, column, columns);
}

enum tc_result tc_alloc(struct cta *cta, const struct mach_origin *origin, uint32_t columns, uint32_t *taddr) {
    struct tc_state *tc = tc_state_of(cta);
    if (!check_alloc(tc, origin, columns))
        return TC_FAULT;
    if (!take_permits(&tc, 1))
        return TC_BLOCKED;
    uint32_t g = find_block(&tc, 1, columns / TMEM_GRANULE);
    if (g == TC_GRANULES)
        return TC_BLOCKED;
    grant(tc, origin, g * TMEM_GRANULE, columns);
    *taddr = g * TMEM_GRANULE;
    return TC_DONE;
}

/* The allocation that a tcgen05.dealloc names, or NULL after a fault. */
static struct tc_allocation *find_alloc(struct tc_state *tc, const struct mach_origin *origin, uint32_t taddr,
                                        uint32_t columns) {
    struct island *isl = tc->cta->island;
    if (columns < TMEM_GRANULE || columns > TMEM_COLUMNS || (columns & (columns - 1))) {
        mach_fault(isl, origin, &bad_columns, "tcgen05.dealloc of %u columns", columns);
        return NULL;
    }
    for (uint32_t i = 0; i < tc->num_allocs; i++) {
        struct tc_allocation *a = &tc->allocs[i];
        if (a->column != taddr)
            continue;
        if (a->columns == columns)
            return a;
        char where[600];
        mach_fault(isl, origin, &bad_count, "tcgen05.dealloc of %u columns at 0x%08x, where %u were allocated at %s",
                   columns, taddr, a->columns, diag_where(a->origin.site, where, sizeof where));
        return NULL;
    }
    mach_fault(isl, origin, &bad_dealloc,
               "tcgen05.dealloc of %u columns at 0x%08x, where no allocation of this CTA starts", columns, taddr);
    return NULL;
}

static void free_block(struct tc_state *tc, uint32_t index) {
    const struct tc_allocation *a = &tc->allocs[index];
    tc_sync(tc->cta, a->column, a->columns);
    for (uint32_t i = 0; i < a->columns / TMEM_GRANULE; i++)
        tc->cta->sm->tmem_owner[a->column / TMEM_GRANULE + i] = NULL;
    memmove(&tc->allocs[index], &tc->allocs[index + 1], (--tc->num_allocs - index) * sizeof *a);
    struct sm *sm = tc->cta->sm;
    for (uint32_t g = 0; g < TC_GRANULES; g++)
        if (sm->tmem_owner[g])
            return;
    worker_free(tc->cta->island->worker, sm->tmem);
    sm->tmem = NULL;
}

void tc_free_blocks(struct tc_state *tc) {
    while (tc->num_allocs)
        free_block(tc, tc->num_allocs - 1);
}

static void release(struct tc_state *tc, const struct mach_origin *origin, const struct tc_allocation *a) {
    tell(tc, tc->cta, origin, LIFE_TMEM_DEALLOC, a->column, a->columns);
    free_block(tc, (uint32_t)(a - tc->allocs));
    wake_allocators(tc->cta->sm);
    tc->cta->island->progress++;
}

bool tc_dealloc(struct cta *cta, const struct mach_origin *origin, uint32_t taddr, uint32_t columns) {
    struct tc_state *tc = tc_state_of(cta);
    const struct tc_allocation *a = find_alloc(tc, origin, taddr, columns);
    if (a)
        release(tc, origin, a);
    return a != NULL;
}

/* --- pairs -------------------------------------------------------------------------------------------------------- */

/* Notes that a warp executes a collective instruction. TC_DONE: its result is there, and the request over. TC_BLOCKED:
 * it stands. */
static enum tc_result request(struct tc_request *r, uint32_t warp, uint32_t columns, uint32_t taddr,
                              const struct mach_origin *origin) {
    if (r->state != TC_IDLE && r->warp != warp)
        return TC_BLOCKED; /* another warp of the CTA comes first */
    if (r->state == TC_GRANTED) {
        r->state = TC_IDLE;
        return TC_DONE;
    }
    *r = (struct tc_request){.state = TC_ASKED, .warp = warp, .columns = columns, .taddr = taddr};
    if (origin)
        r->origin = *origin;
    return TC_BLOCKED;
}

/* Operands of the two CTAs' instructions, which must be equal. */
static bool check_equal(struct island *isl, struct cta *const pair[2], const struct tc_request *even,
                        const struct tc_request *odd, const char *name) {
    if (even->columns == odd->columns && even->taddr == odd->taddr)
        return true;
    char where[600];
    return mach_fails(isl, &even->origin, &pair_differs,
                      "%s.cta_group::2 of %u columns at 0x%08x in cluster CTA %u, and of %u columns at 0x%08x in "
                      "CTA %u, at %s",
                      name, even->columns, even->taddr, pair[0]->rank, odd->columns, odd->taddr, pair[1]->rank,
                      diag_where(odd->origin.site, where, sizeof where));
}

enum tc_result tc_pair_alloc(struct cta *cta, const struct mach_origin *origin, uint32_t warp, uint32_t columns,
                             uint32_t *taddr) {
    struct cta *pair[2];
    struct tc_state *tc = tc_state_of(cta);
    if (tc->alloc.state != TC_GRANTED &&
        (!check_alloc(tc, origin, columns) || !tc_pair(cta, origin, 2, "tcgen05.alloc", pair)))
        return TC_FAULT;
    *taddr = tc->alloc.taddr;
    if (request(&tc->alloc, warp, columns, 0, origin) == TC_DONE) {
        mach_wake(cta); /* another warp may be waiting for its turn */
        return TC_DONE;
    }
    if (tc->alloc.warp != warp)
        return TC_BLOCKED;
    struct tc_state *tcs[2] = {tc_state_of(pair[0]), tc_state_of(pair[1])};
    if (tcs[0]->alloc.state != TC_ASKED || tcs[1]->alloc.state != TC_ASKED)
        return TC_BLOCKED;
    if (!check_equal(cta->island, pair, &tcs[0]->alloc, &tcs[1]->alloc, "tcgen05.alloc"))
        return TC_FAULT;
    uint32_t g;
    if (!take_permits(tcs, 2) || (g = find_block(tcs, 2, columns / TMEM_GRANULE)) == TC_GRANULES)
        return TC_BLOCKED;
    for (unsigned i = 0; i < 2; i++) {
        grant(tcs[i], &tcs[i]->alloc.origin, g * TMEM_GRANULE, columns);
        tcs[i]->alloc.state = TC_GRANTED;
        tcs[i]->alloc.taddr = g * TMEM_GRANULE;
        mach_wake(pair[i]);
    }
    *taddr = g * TMEM_GRANULE;
    tc->alloc.state = TC_IDLE;
    return TC_DONE;
}

/* One CTA of a pair, `by`, has executed the dealloc of a block. */
static void close_block(struct tc_state *tc, struct cta *by, const struct mach_origin *origin, uint32_t column) {
    for (uint32_t k = 0; k < tc->num_allocs; k++) {
        struct tc_allocation *a = &tc->allocs[k];
        if (a->column != column || a->closing)
            continue;
        a->closing = true;
        tell(tc, by, origin, LIFE_TMEM_CLOSING, a->column, a->columns);
    }
}

enum tc_result tc_pair_dealloc(struct cta *cta, const struct mach_origin *origin, uint32_t warp, uint32_t taddr,
                               uint32_t columns) {
    struct cta *pair[2];
    struct tc_state *tc = tc_state_of(cta);
    if (tc->dealloc.state != TC_GRANTED &&
        (!find_alloc(tc, origin, taddr, columns) || !tc_pair(cta, origin, 2, "tcgen05.dealloc", pair)))
        return TC_FAULT;
    if (request(&tc->dealloc, warp, columns, taddr, origin) == TC_DONE) {
        mach_wake(cta);
        return TC_DONE;
    }
    if (tc->dealloc.warp != warp)
        return TC_BLOCKED;
    struct tc_state *tcs[2] = {tc_state_of(pair[0]), tc_state_of(pair[1])};
    for (unsigned i = 0; i < 2; i++)
        close_block(tcs[i], cta, origin, taddr);
    if (tcs[0]->dealloc.state != TC_ASKED || tcs[1]->dealloc.state != TC_ASKED)
        return TC_BLOCKED;
    if (!check_equal(cta->island, pair, &tcs[0]->dealloc, &tcs[1]->dealloc, "tcgen05.dealloc"))
        return TC_FAULT;
    for (unsigned i = 0; i < 2; i++) {
        const struct tc_allocation *a = find_alloc(tcs[i], &tcs[i]->dealloc.origin, taddr, columns);
        if (!a)
            return TC_FAULT;
        release(tcs[i], &tcs[i]->dealloc.origin, a);
        tcs[i]->dealloc.state = TC_GRANTED;
        mach_wake(pair[i]);
    }
    tc->dealloc.state = TC_IDLE;
    return TC_DONE;
}

bool tc_owns(const struct cta *cta, uint32_t column, uint32_t n) {
    if (column >= TMEM_COLUMNS || n > TMEM_COLUMNS - column)
        return false;
    for (uint32_t g = column / TMEM_GRANULE; g * TMEM_GRANULE < column + n; g++)
        if (cta->sm->tmem_owner[g] != cta)
            return false;
    return true;
}

bool tc_use_cells(struct cta *cta, const struct mach_origin *origin, const struct tc_cells *c) {
    if (!tc_owns(cta, c->column, c->columns))
        return mach_fails(cta->island, origin, &unallocated,
                          "%s covers columns %u to %u, which are not all allocated to %s", c->what, c->column,
                          c->column + c->columns - 1,
                          !cta->tc || cta->tc->cta_group != 2 ? "this CTA"
                          : cta->rank & 1                     ? "the pair's odd CTA"
                                                              : "the pair's even CTA");
    if (events_wanted(cta->gpu, WANT_TENSOR))
        events_send_access(cta->gpu,
                           &(struct event_access){.by = event_by_origin(cta, origin, c->what, ORDER_WEAK, SCOPE_NONE),
                                                  .agent = c->agent,
                                                  .space = SPACE_TENSOR,
                                                  .effect = c->effect,
                                                  .owner = cta,
                                                  .what = c->what,
                                                  .at = &(uint64_t){c->column},
                                                  .columns = c->columns,
                                                  .tmem_lanes = c->lanes});
    return !cta->island->fault;
}
