/* warp/core.c - the loop that runs a warp's instructions, and which of its groups runs next; contract in core.h. */
#include "warp/core.h"

#include "machine/async.h"
#include "machine/mbarrier.h"
#include "warp/chain.h"
#include "warp/loads.h"
#include "warp/meet.h"

/* --- turns -------------------------------------------------------------------------------------------------------- */

/* Does the group still lack what it waits for, so that running would only suspend it again? */
static bool still_waits(const struct warp *w, const struct group *g) {
    const struct warp_wait *wait = &g->wait;
    const struct cta *cta = w->cta;
    switch (wait->kind) {
    case WAIT_MBARRIER:
        return wait->one_mbar && mbar_waits(cta, wait->mbar, wait->addr & ((1u << MACH_SMEM_RANK_SHIFT) - 1),
                                            w->polled[warp_lowest(g->mask)]);
    case WAIT_BARRIER:
        return cta->bar[wait->addr].phase == wait->value && cta->cluster->exits == wait->exits;
    case WAIT_CLUSTER:
        return cta->cluster->bar_phase == wait->value && cta->cluster->exits == wait->exits;
    case WAIT_GRID:
        return w->grid->held;
    default:
        return false;
    }
}

/* Asked of every warp in every round. A group that waits runs again after a change of its CTA. */
static bool group_runnable(const struct warp *w, struct group *g) {
    const struct cta *cta = w->cta;
    if (g->state == GROUP_READY)
        return true;
    if (g->state != GROUP_WAITING || g->epoch == cta->epoch || g->wait.kind == WAIT_JOIN || g->wait.kind == WAIT_RIDING)
        return false;
    if (!still_waits(w, g))
        return true;
    g->epoch = cta->epoch;
    return false;
}

bool warp_runnable(struct warp *w) {
    for (unsigned i = 0; w->live && i < w->num_groups; i++)
        if (group_runnable(w, &w->groups[i]))
            return true;
    return false;
}

bool warp_resume(struct warp *w, double now) {
    bool any = false;
    for (unsigned i = 0; w->live && i < w->num_groups; i++) {
        struct group *g = &w->groups[i];
        if (g->state != GROUP_WAITING || !group_runnable(w, g))
            continue;
        g->state = GROUP_READY;
        if (g->time.at + g->time.cycles < now) {
            g->time.at = now;
            g->time.cycles = 0;
        }
        any = true;
    }
    return any;
}

/* The next group after the one that ran last. */
static struct group *next_group(struct warp *w) {
    unsigned start = w->g ? (unsigned)(w->g - w->groups) : 0;
    for (unsigned i = 1; i <= w->num_groups; i++) {
        struct group *g = &w->groups[(start + i) % w->num_groups];
        if (group_runnable(w, g))
            return g;
    }
    return NULL;
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* The current group comes to an instruction, or to the one that it waited in. Returns why it does no more wait. */
static enum event_wait_end tell_executes(struct warp *w, const struct insn *in, uint32_t mask) {
    struct group *g = w->g;
    const bool scored = !g->again && events_wanted(w->gpu, WANT_LOADS);
    const uint32_t uses = scored ? warp_loads_execute(w, g, in) : 0;
    if (!g->again)
        tell_step(w->gpu, &(struct event_step){.by = warp_by(w, in, mask),
                                               .uses = uses,
                                               .family = (uint32_t)ptx_op_family(in->src->op),
                                               .live = w->live,
                                               .group = g->mask});
    g->again = false;
    return g->timed_out ? WAIT_TIMED_OUT : WAIT_MET;
}

/* The lanes whose guard is true, whatever lanes do not know it. */
static inline uint32_t guard_lanes(const struct warp *w, const struct insn *in) {
    const uint32_t p = warp_src32(w, in->guard)[0];
    return in->guard_neg ? ~p : p;
}

/* Guard applied; 0: no lane executes. A poisoned guard is what its register holds, unless *status is set. */
static inline uint32_t guarded(struct warp *w, const struct insn *in, enum warp_status *status) {
    uint32_t mask = w->g->mask;
    if (in->guard == WARP_SINK)
        return mask;
    uint32_t bad = warp_poison(w, in->guard) & mask;
    if (bad && !warp_guard_unknown(w, in, bad))
        *status = WARP_FAULT;
    return mask & guard_lanes(w, in);
}

/* Is the instruction's guard known and the same for all lanes of the current group? *mask: those where it is true. */
static inline bool guard_agrees(const struct warp *w, const struct insn *in, uint32_t *mask) {
    const uint32_t lanes = w->g->mask;
    *mask = in->guard == WARP_SINK ? lanes : lanes & guard_lanes(w, in);
    return in->guard == WARP_SINK || ((!*mask || *mask == lanes) && !(warp_poison(w, in->guard) & lanes));
}

/* A branch that all lanes of the group take, or none does. False: it parts them, or needs a look at its guard. */
static inline bool branch_together(struct warp *w, const struct insn *in) {
    uint32_t taken;
    if (!guard_agrees(w, in, &taken))
        return false;
    w->g->pc = taken ? in->o[0].target : w->g->pc + 1;
    return true;
}

static uint32_t join_pc(const struct warp *w, const struct group *g) {
    if (g->join < 0 || w->joins[g->join].frame != g->frame)
        return UINT32_MAX;
    return w->joins[g->join].pc;
}

/* Runs the chain that *in is in and moves *in on, as chain_run: how many were done. */
static inline uint64_t run_chain(struct warp *w, const struct insn **in, uint32_t most, uint64_t budget,
                                 enum warp_status *status) {
    if (w->g->mask != WARP_ALL_LANES || (most < CHAIN_PART && most < (*in)->chain->num - (*in)->chain_at))
        return 0;
    return chain_run(w, in, most, budget, status);
}

/* Runs `n` straight instructions, or those up to one that needs a look at its guard or ends the launch, for which
 * *status is WARP_FAULT; it is counted then, and not passed. A loop of one chain goes on for up to `budget`
 * instructions: no lanes meet at its first one, as those that run it would have stopped before it. */
static uint64_t run_straight(struct warp *w, const struct insn *in, uint32_t n, uint64_t budget,
                             enum warp_status *status) {
    struct island *isl = w->island;
    const struct insn *const end = in + n;
    const uint32_t lanes = w->g->mask;
    uint64_t ran = 0;
    while (in != end) {
        uint32_t mask = lanes;
        const uint64_t done = in->chain ? run_chain(w, &in, (uint32_t)(end - in), budget - ran, status) : 0;
        ran += done;
        if (*status != WARP_NEXT) {
            in--;
            break;
        }
        if (done)
            continue;
        if (in->guard != WARP_SINK) {
            if (warp_poison(w, in->guard) & lanes)
                break;
            mask &= guard_lanes(w, in);
        }
        ran++;
        isl->clock++;
        const enum warp_status s = mask ? in->fn(w, in, mask) : WARP_NEXT;
        if (isl->crowded)
            async_make_room(w->cta);
        if (s != WARP_NEXT || isl->fault) {
            *status = WARP_FAULT;
            break;
        }
        in++;
    }
    w->g->pc = (uint32_t)(in - w->func->code);
    return ran;
}

/* Runs straight code, and branches that all lanes take or none does, until another instruction comes, pc `stop` or the
 * end of the budget; nobody is told of steps. How many instructions were done; *status as run_straight. */
static uint64_t run_ahead(struct warp *w, const struct insn *code, uint32_t stop, uint64_t budget,
                          enum warp_status *status) {
    struct group *g = w->g;
    uint64_t ran = 0;
    while (ran < budget && g->pc != stop) {
        const struct insn *in = &code[g->pc];
        if (in->run) {
            const uint64_t left = budget - ran;
            const uint64_t n = run_straight(w, in, in->run < left ? in->run : (uint32_t)left, left, status);
            ran += n;
            if (!n || *status != WARP_NEXT)
                break;
        } else if (in->branch && branch_together(w, in)) {
            ran++;
            w->island->clock++;
        } else
            break;
    }
    return ran;
}

/* Runs an instruction of lanes `mask`, with what comes before it: the warp's others, for .aligned. */
static inline enum warp_status execute(struct warp *w, const struct insn *in, uint32_t mask) {
    enum warp_status s = WARP_NEXT;
    if (in->aligned && mask != w->live) {
        s = warp_wait_aligned(w, in, mask);
        mask = w->g->mask; /* with those that came */
    }
    if (in->aligned && w->live != w->lanes && s == WARP_NEXT)
        s = warp_pass_exited(w, in);
    if (w->before && s == WARP_NEXT)
        s = w->before(w, in, mask);
    if (s == WARP_NEXT)
        s = in->fn(w, in, mask);
    if (w->riding)
        warp_unride(w, s != WARP_WAIT);
    return s;
}

/* Runs the current group until it waits, parks, exits, faults or has used its budget. */
static uint64_t run_group(struct warp *w, uint64_t budget) {
    struct island *isl = w->island;
    struct group *g = w->g;
    const bool watched = events_wanted(w->gpu, WANT_STEP | WANT_WAIT);
    uint64_t ran = 0;
reload:
    warp_load_frame(w);
    const struct insn *code = w->func->code;
    const uint32_t stop = join_pc(w, g);
    while (ran < budget) {
        enum warp_status s = WARP_NEXT;
        ran += watched || w->before ? 0 : run_ahead(w, code, stop, budget - ran, &s);
        if (s != WARP_NEXT || ran == budget)
            return ran;
        if (g->pc == stop) {
            warp_park(w, g);
            return ran;
        }
        const struct insn *in = &code[g->pc];
        const uint32_t mask = guarded(w, in, &s);
        ran++;
        isl->clock++;
        enum event_wait_end end = WAIT_MET;
        if (watched)
            end = tell_executes(w, in, mask);
        if (mask && s == WARP_NEXT)
            s = execute(w, in, mask);
        if (watched && s != WARP_WAIT)
            warp_tell_goes_on(w, g, end);
        if (isl->crowded)
            async_make_room(w->cta);
        if (isl->fault)
            return ran;
        switch (s) {
        case WARP_NEXT:
            g->pc++;
            break;
        case WARP_JUMP:
            goto reload;
        case WARP_YIELD:
            g->pc++;
            w->yielded = true;
            return ran;
        case WARP_WAIT:
        case WARP_GONE:
        case WARP_FAULT:
            return ran;
        }
    }
    return ran;
}

const struct insn *warp_next(const struct warp *w, const struct group *g) {
    return g->pc == join_pc(w, g) ? NULL : &w->frames[g->frame].func->code[g->pc];
}

bool warp_goes_one_way(struct warp *w, struct group *g, const struct insn *in) {
    uint32_t taken;
    w->g = g;
    warp_load_frame(w);
    return guard_agrees(w, in, &taken);
}

void warp_step(struct warp *w, struct group *g) {
    w->yielded = false;
    w->g = g;
    g->state = GROUP_READY;
    run_group(w, 1);
}

uint32_t warp_step_straight(struct warp *w, struct group *g, uint32_t n) {
    enum warp_status s = WARP_NEXT;
    w->yielded = false;
    w->g = g;
    warp_load_frame(w);
    return (uint32_t)run_straight(w, &w->func->code[g->pc], n, n, &s);
}

bool warp_waits_on(struct warp *w) {
    struct group *g = w->groups;
    if (w->num_groups != 1 || g->state != GROUP_WAITING || !g->wait.left || !*g->wait.left || w->before ||
        w->island->crowded)
        return false;
    w->yielded = false;
    w->g = g;
    g->epoch = w->cta->epoch;
    w->island->clock++;
    return true;
}

uint64_t warp_run(struct warp *w, uint64_t budget) {
    uint64_t ran = 0;
    w->yielded = false;
    while (ran < budget && w->live && !w->island->fault && !w->yielded) {
        const bool goes_on = w->paused;
        struct group *g = goes_on ? w->g : next_group(w);
        if (!g)
            break;
        w->paused = false;
        w->g = g;
        g->state = GROUP_READY;
        uint64_t n = run_group(w, budget - ran);
        ran += n || goes_on ? n : 1; /* parking costs nothing but must not spin */
    }
    return ran;
}
