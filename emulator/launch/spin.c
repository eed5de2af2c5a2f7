/* launch/spin.c - does an island run in circles?
 *
 * A kernel that polls global memory which no one writes runs for ever. One that computes for long does not, and the
 * state of its warps shows which it is. If no warp has changed anything that others can see, and each comes back to the
 * same registers and local memory, they will do so for ever. Two things can end that: the clock, but it is in a
 * register; and memory that the host writes, so polls of that do not count as circles.
 */
#include "base/heap.h"
#include "launch/state.h"

#define MAX_STEPS 65536u /* limit of a warp's steps to come back */

/* The earlier state of a warp; during one check. */
struct before {
    uint32_t live, num_groups;
    struct group groups[MACH_WARP];
    uint32_t *slots, *poison;
    uint8_t *local;
    size_t num_slots, local_bytes;
};

/* Register slots in use, of all frames of the warp. */
static size_t slots_of(const struct warp *w) {
    return w->end_frame ? w->frames[w->end_frame - 1].base + w->frames[w->end_frame - 1].slots : 0;
}

static void forget(struct before *b) {
    xfree(b->slots);
    xfree(b->poison);
    xfree(b->local);
}

static void remember(struct before *b, const struct warp *w) {
    const size_t slots = slots_of(w), local = (size_t)w->local_stride * MACH_WARP;
    if (slots != b->num_slots || local != b->local_bytes) {
        forget(b);
        b->slots = xcalloc(slots * MACH_WARP + 1, sizeof *b->slots);
        b->poison = xcalloc(slots + 1, sizeof *b->poison);
        b->local = xcalloc(local + 1, 1);
        b->num_slots = slots;
        b->local_bytes = local;
    }
    b->live = w->live;
    b->num_groups = w->num_groups;
    memcpy(b->groups, w->groups, sizeof b->groups);
    if (slots) {
        memcpy(b->slots, w->slots, slots * MACH_WARP * sizeof *b->slots);
        memcpy(b->poison, w->poison, slots * sizeof *b->poison);
    }
    if (local)
        memcpy(b->local, w->local, local);
}

static bool same_groups(const struct before *b, const struct warp *w) {
    for (uint32_t i = 0; i < w->num_groups; i++) {
        const struct group *x = &b->groups[i], *y = &w->groups[i];
        if (x->state != y->state || (x->state != GROUP_FREE && (x->mask != y->mask || x->pc != y->pc ||
                                                                x->frame != y->frame || x->join != y->join)))
            return false;
    }
    return true;
}

/* Is the warp in that state again? */
static bool same(const struct before *b, const struct warp *w) {
    if (b->live != w->live || b->num_groups != w->num_groups || slots_of(w) != b->num_slots || !same_groups(b, w))
        return false;
    return !b->num_slots || (memcmp(b->slots, w->slots, b->num_slots * MACH_WARP * sizeof *b->slots) == 0 &&
                             memcmp(b->poison, w->poison, b->num_slots * sizeof *b->poison) == 0 &&
                             (!b->local_bytes || memcmp(b->local, w->local, b->local_bytes) == 0));
}

/* What the next instruction of a group reads. */
enum next {
    NEXT_OTHER,
    NEXT_POLL, /* global memory of the device */
    NEXT_OPEN, /* memory that the host may write, or an mbarrier, whose polls become waits (isa/mbarrier.c) */
};

static enum next next_of(const struct warp *w, const struct group *g) {
    const struct insn *in = warp_next(w, g);
    const enum ptx_family f = in ? ptx_op_family(in->src->op) : PTX_FAMILY_control;
    struct mem_block block;
    if (f == PTX_FAMILY_mbarrier)
        return NEXT_OPEN;
    if (in == NULL || (in->src->op != PTX_OP_ld && f != PTX_FAMILY_atomic))
        return NEXT_OTHER;
    const struct warp_frame *frame = &w->frames[g->frame];
    uint32_t *const base = w->slots + (size_t)frame->base * MACH_WARP;
    const struct warp at = {.base = base, .func = frame->func, .read = {base, frame->func->consts}};
    for (unsigned k = 0; k < in->num_opnds; k++) {
        if (in->o[k].kind != WARP_MEM)
            continue;
        const uint64_t addr = warp_address(&at, &in->o[k], warp_lowest(g->mask));
        if (!mem_nearest(w->gpu->mem, addr, &block) || addr - block.addr >= block.size)
            return NEXT_OTHER;
        return block.kind == MEM_DEVICE || block.kind == MEM_MODULE || block.kind == MEM_HEAP ? NEXT_POLL : NEXT_OPEN;
    }
    return NEXT_OTHER;
}

/* Does the warp wait, or poll and come back to an earlier state, with nothing changed? Each check point is twice as far
 * as the one before. A loop that reads nothing is left to --watchdog and --timeout. */
static bool circles(struct launch_island *isl, struct warp *w, struct before *b) {
    const uint64_t progress = isl->m.progress;
    uint32_t since = 0, look = 1;
    bool polls = false;
    remember(b, w);
    for (uint32_t step = 0; step < MAX_STEPS; step++) {
        if (!warp_runnable(w))
            return true;
        for (uint32_t i = 0; i < w->num_groups; i++) {
            const enum next next = w->groups[i].state == GROUP_READY ? next_of(w, &w->groups[i]) : NEXT_OTHER;
            if (next == NEXT_OPEN)
                return false;
            polls |= next == NEXT_POLL;
        }
        warp_run(w, 1);
        launch_note_exit(w);
        if (launch_turn_over(isl) || isl->m.progress != progress)
            return false;
        if (same(b, w))
            return polls;
        if (++since == look) {
            remember(b, w);
            look *= 2;
            since = 0;
            polls = false;
        }
    }
    return false;
}

bool launch_circles(struct launch_island *isl) {
    struct before b = {0};
    bool all = !isl->m.async_pending;
    for (const struct cluster *cl = isl->resident; cl && all; cl = cl->next) {
        all = launch_started(cl);
        for (uint32_t r = 0; r < cl->num_ctas && all; r++)
            for (uint32_t i = 0; i < isl->st->grid.warps && all; i++)
                all = circles(isl, &cl->cta[r].warps[i], &b);
    }
    forget(&b);
    return all;
}
