/* engines/tc_alloc.c - tensor memory allocation (PTX ISA 9.7.16.1.2, 9.7.16.7.1).
 *
 * The CTAs of an SM share 512 columns. What the ISA leaves open is settled so:
 *  - The right to allocate is exclusive. The first CTA that executes tcgen05.alloc holds it until it executes
 *    relinquish_alloc_permit or exits; the others' allocations wait in the order in which they came. Two CTAs
 * that allocate piecewise can therefore never hold half each and wait for the other half, which is what the
 * permit is for (CUTLASS calls it the allocation lock).
 *  - A block of n columns starts at a multiple of n, at the lowest such place.
 *  - dealloc needs no permit.
 */
#include "engines/tc.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define SECTION "PTX ISA 9.7.16.7.1"

static const struct diag bad_columns = {
    .id = "tcgen05-alloc-columns",
    .rule = "the number of columns must be a power of 2 from 32 to 512",
    .section = SECTION,
    .hint = "round the accumulator's columns up to a power of 2, at least 32",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
static const struct diag alloc_after_relinquish = {
    .id = "tcgen05-alloc-after-relinquish",
    .rule = "a CTA must not allocate after one of its threads executed tcgen05.relinquish_alloc_permit",
    .section = SECTION,
    .hint = "relinquish after the CTA's last tcgen05.alloc",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
static const struct diag alloc_increase = {
    .id = "tcgen05-alloc-increase",
    .rule = "the number of columns allocated must not increase between two allocations of a CTA",
    .section = SECTION,
    .hint = "allocate the largest block first",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
static const struct diag bad_dealloc = {
    .id = "tcgen05-dealloc-mismatch",
    .rule = "tcgen05.dealloc takes the address and the number of columns of a previous tcgen05.alloc of the "
            "same CTA",
    .section = SECTION,
    .hint = "pass the address that tcgen05.alloc wrote to shared memory, without a lane or column offset",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
static const struct diag missing_dealloc = {
    .id = "tcgen05-dealloc-missing",
    .rule = "all tensor memory that a kernel allocates must be deallocated before it exits",
    .section = SECTION,
    .hint = "one warp must execute tcgen05.dealloc with the same address and number of columns before the "
            "CTA exits",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
static const struct diag unallocated = {
    .id = "tcgen05-tmem-unallocated",
    .rule = "tensor memory must be allocated by tcgen05.alloc before it is accessed",
    .section = "PTX ISA 9.7.16.1.2",
    .hint = "the address or the extent of the access is wrong, or tcgen05.dealloc came too early",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
static const struct diag mixed_groups = {
    .id = "tcgen05-cta-group-mixed",
    .rule = "all tcgen05 instructions of a kernel must have the same .cta_group",
    .section = SECTION,
    .hint = NULL,
    .cuda_error = DIAG_CUDA_INVALID_PTX,
};

struct tc_state *tc_state_of(struct cta *cta) {
    if (!cta->tc) {
        cta->tc = xcalloc(1, sizeof *cta->tc);
        cta->tc->cta = cta;
    }
    return cta->tc;
}

struct async_queue *tc_queue(struct cta *cta) {
    struct tc_state *tc = tc_state_of(cta);
    if (!tc->queue)
        tc->queue = async_queue_create(cta, "tensor core");
    return tc->queue;
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

void tc_cta_release(struct cta *cta) {
    if (!cta->tc)
        return;
    leave_waiters(cta->tc);
    if (cta->sm->tmem_lock == cta)
        cta->sm->tmem_lock = NULL;
    free(cta->tc->scratch);
    free(cta->tc);
    cta->tc = NULL;
}

bool tc_use_group(struct cta *cta, const struct mach_origin *origin, unsigned group) {
    struct tc_state *tc = tc_state_of(cta);
    if (tc->cta_group && tc->cta_group != group) {
        mach_fault(cta->gpu, origin, &mixed_groups,
                   "this instruction has .cta_group::%u, an earlier one .cta_group::%u", group,
                   tc->cta_group);
        return false;
    }
    tc->cta_group = group;
    return true;
}

/* Permit or columns came free: everyone who may wait for them looks again. */
static void wake_allocators(struct sm *sm) {
    if (sm->tmem_lock)
        mach_wake(sm->tmem_lock);
    for (struct tc_state *t = sm->tmem_waiters; t; t = t->next)
        mach_wake(t->cta);
}

/* Takes the permit, or queues for it. */
static bool take_permit(struct tc_state *tc) {
    struct sm *sm = tc->cta->sm;
    if (sm->tmem_lock == tc->cta)
        return true;
    if (!sm->tmem_lock && (!sm->tmem_waiters || sm->tmem_waiters == tc)) {
        leave_waiters(tc);
        sm->tmem_lock = tc->cta;
        return true;
    }
    if (!tc->waiting) {
        struct tc_state **end = &sm->tmem_waiters;
        while (*end)
            end = &(*end)->next;
        *end = tc;
        tc->waiting = true;
    }
    return false;
}

/* First granule of a free, naturally aligned block, or TC_GRANULES. */
static uint32_t find_block(const struct sm *sm, uint32_t granules) {
    for (uint32_t g = 0; g + granules <= TC_GRANULES; g += granules) {
        uint32_t i = 0;
        while (i < granules && !sm->tmem_owner[g + i])
            i++;
        if (i == granules)
            return g;
    }
    return TC_GRANULES;
}

static bool check_alloc(struct tc_state *tc, const struct mach_origin *origin, uint32_t columns) {
    struct gpu *gpu = tc->cta->gpu;
    if (columns < TMEM_GRANULE || columns > TMEM_COLUMNS || (columns & (columns - 1)))
        mach_fault(gpu, origin, &bad_columns, "tcgen05.alloc of %u columns", columns);
    else if (tc->relinquished)
        mach_fault(gpu, origin, &alloc_after_relinquish,
                   "tcgen05.alloc of %u columns in a CTA that gave up its permit to allocate", columns);
    else if (tc->last_columns && columns > tc->last_columns)
        mach_fault(gpu, origin, &alloc_increase, "tcgen05.alloc of %u columns after one of %u", columns,
                   tc->last_columns);
    return !gpu->fault;
}

enum tc_result tc_alloc(struct cta *cta, const struct mach_origin *origin, uint32_t columns,
                        uint32_t *taddr) {
    struct tc_state *tc = tc_state_of(cta);
    struct sm *sm = cta->sm;
    if (!check_alloc(tc, origin, columns))
        return TC_FAULT;
    if (!take_permit(tc))
        return TC_BLOCKED;
    uint32_t granules = columns / TMEM_GRANULE, g = find_block(sm, granules);
    if (g == TC_GRANULES)
        return TC_BLOCKED;
    if (!sm->tmem)
        sm->tmem = xcalloc(1, sizeof *sm->tmem);
    for (uint32_t i = 0; i < granules; i++)
        sm->tmem_owner[g + i] = cta;
    uint32_t column = g * TMEM_GRANULE;
    memset(sm->tmem->poison[column], 0xff, columns * sizeof sm->tmem->poison[0]);
    tc->last_columns = columns;
    struct tc_allocation *a = &tc->allocs[tc->num_allocs++];
    *a = (struct tc_allocation){.column = column, .columns = columns};
    if (origin)
        a->origin = *origin;
    *taddr = column;
    cta->gpu->progress++;
    return TC_DONE;
}

static void free_block(struct tc_state *tc, uint32_t index) {
    const struct tc_allocation *a = &tc->allocs[index];
    for (uint32_t i = 0; i < a->columns / TMEM_GRANULE; i++)
        tc->cta->sm->tmem_owner[a->column / TMEM_GRANULE + i] = NULL;
    memmove(&tc->allocs[index], &tc->allocs[index + 1], (--tc->num_allocs - index) * sizeof *a);
}

bool tc_dealloc(struct cta *cta, const struct mach_origin *origin, uint32_t taddr, uint32_t columns) {
    struct tc_state *tc = tc_state_of(cta);
    if (columns < TMEM_GRANULE || columns > TMEM_COLUMNS || (columns & (columns - 1))) {
        mach_fault(cta->gpu, origin, &bad_columns, "tcgen05.dealloc of %u columns", columns);
        return false;
    }
    for (uint32_t i = 0; i < tc->num_allocs; i++) {
        const struct tc_allocation *a = &tc->allocs[i];
        if (a->column != taddr)
            continue;
        if (a->columns != columns) {
            char where[600];
            mach_fault(cta->gpu, origin, &bad_dealloc,
                       "tcgen05.dealloc of %u columns at 0x%08x, where %u were allocated at %s", columns,
                       taddr, a->columns, diag_where(&a->origin.site, where, sizeof where));
            return false;
        }
        free_block(tc, i);
        wake_allocators(cta->sm);
        cta->gpu->progress++;
        return true;
    }
    mach_fault(cta->gpu, origin, &bad_dealloc,
               "tcgen05.dealloc of %u columns at 0x%08x, where no allocation of this CTA starts", columns,
               taddr);
    return false;
}

static void give_up_permit(struct tc_state *tc) {
    struct sm *sm = tc->cta->sm;
    leave_waiters(tc);
    if (sm->tmem_lock == tc->cta) {
        sm->tmem_lock = NULL;
        wake_allocators(sm);
    }
}

bool tc_relinquish(struct cta *cta) {
    struct tc_state *tc = tc_state_of(cta);
    tc->relinquished = true;
    give_up_permit(tc);
    return true;
}

bool tc_cta_exit(struct cta *cta) {
    struct tc_state *tc = cta->tc;
    if (!tc)
        return true;
    give_up_permit(tc);
    if (!tc->num_allocs)
        return true;
    const struct tc_allocation a = tc->allocs[0];
    mach_fault(cta->gpu, &a.origin, &missing_dealloc,
               "the CTA exited without tcgen05.dealloc of the %u columns at 0x%08x that were allocated here",
               a.columns, a.column);
    while (tc->num_allocs)
        free_block(tc, tc->num_allocs - 1);
    return false;
}

bool tc_owns(const struct cta *cta, uint32_t column, uint32_t n) {
    if (column >= TMEM_COLUMNS || n > TMEM_COLUMNS - column)
        return false;
    for (uint32_t g = column / TMEM_GRANULE; g * TMEM_GRANULE < column + n; g++)
        if (cta->sm->tmem_owner[g] != cta)
            return false;
    return true;
}

bool tc_check_columns(struct cta *cta, const struct mach_origin *origin, const char *what, uint32_t column,
                      uint32_t n) {
    if (tc_owns(cta, column, n))
        return true;
    mach_fault(cta->gpu, origin, &unallocated,
               "%s covers columns %u to %u, which are not all allocated to this CTA", what, column,
               column + n - 1);
    return false;
}
