/* warp/core.c - a warp's groups of lanes: how they part, meet again and wait, and the loop that runs instructions.
 *
 * Threads are independent (PTX ISA 3.1, 9.5): lanes that part at a branch become two groups that are scheduled apart.
 * They meet at the branch's post-dominator (lower/joins.c), where the first to arrive is parked until the others come
 * or exit. An instruction with `.aligned` needs all live lanes of the warp at once (9.7.13.1 and others).
 */
#include "warp/core.h"
#include "base/fatal.h"
#include "machine/async.h"
#include "machine/mbarrier.h"
#include "warp/chain.h"
#include "warp/loads.h"

/* --- who watches -------------------------------------------------------------------------------------------------- */

static void send_wait(const struct warp *w, const struct group *g, enum event_wait_end end) {
    const struct insn *in = g->wait.in ? g->wait.in : &w->frames[g->frame].func->code[g->pc];
    uint32_t off = g->wait.addr;
    struct cta *owner = g->wait.kind == WAIT_MBARRIER ? smem_resolve(w->cta, off, 8, &off) : NULL;
    events_send_wait(w->gpu, &(struct event_wait){.by = warp_by(w, in, g->mask),
                                                  .end = end,
                                                  .kind = g->wait.kind,
                                                  .owner = owner,
                                                  .off = off,
                                                  .value = g->wait.value});
}

static void tell_waits(const struct warp *w, struct group *g) {
    if (g->told || !events_wanted(w->gpu, WANT_WAIT))
        return;
    g->told = true;
    send_wait(w, g, WAIT_BEGINS);
}

static void tell_goes_on(const struct warp *w, struct group *g, enum event_wait_end end) {
    if (g->told)
        send_wait(w, g, end);
    g->told = false;
}

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

/* --- groups ------------------------------------------------------------------------------------------------------- */

static struct group *new_group(struct warp *w, uint32_t mask, uint32_t pc, uint32_t frame, int32_t join) {
    for (unsigned i = 0; i < MACH_WARP; i++) {
        struct group *g = &w->groups[i];
        if (g->state != GROUP_FREE)
            continue;
        const struct warp_time time = {.at = w->g->time.at, .cycles = w->g->time.cycles};
        *g = (struct group){.mask = mask, .pc = pc, .frame = frame, .join = join, .state = GROUP_READY, .time = time};
        if (i >= w->num_groups)
            w->num_groups = i + 1;
        return g;
    }
    fatal_broken("a warp has more than 32 groups of lanes");
}

/* A free entry, or `parent` where there is none: the lanes then meet one level further out. With those that join_of()
 * gives back there are never more entries than lanes that can still part. */
static int32_t new_join(struct warp *w, uint32_t mask, uint32_t pc, uint32_t frame, int32_t parent) {
    for (int32_t i = 0; i < (int32_t)MACH_WARP; i++) {
        struct warp_join *j = &w->joins[i];
        if (j->used)
            continue;
        *j = (struct warp_join){.mask = mask, .pc = pc, .frame = frame, .parent = parent, .used = true};
        return i;
    }
    return parent;
}

/* The group's innermost reconvergence point at which it would wait for others. Those where it would not (all lanes met
 * early, at an instruction that gathers them, or the others have exited) are given back. */
static int32_t join_of(struct warp *w, struct group *g) {
    while (g->join >= 0 && w->joins[g->join].mask == g->mask) {
        w->joins[g->join].used = false;
        g->join = w->joins[g->join].parent;
    }
    return g->join;
}

static double later(double a, double b) { return a > b ? a : b; }

/* All lanes that take part have arrived or exited: they go on together. */
static void join_complete(struct warp *w, int32_t index) {
    struct warp_join *j = &w->joins[index];
    uint32_t mask = j->arrived;
    struct warp_time last = {.at = w->g->time.at};
    for (unsigned i = 0; i < MACH_WARP; i++) {
        struct group *g = &w->groups[i];
        if (g->state != GROUP_WAITING || g->wait.kind != WAIT_JOIN || g->join != index)
            continue;
        tell_goes_on(w, g, WAIT_MET);
        g->state = GROUP_FREE;
        last.slots += g->time.slots;
        last.at = later(last.at, g->time.at + g->time.cycles);
    }
    j->used = false;
    if (mask)
        new_group(w, mask, j->pc, j->frame, j->parent)->time = last;
}

/* Parks the group at its reconvergence point; it is gone from the caller's view. */
static void park(struct warp *w, struct group *g) {
    struct warp_join *j = &w->joins[g->join];
    j->arrived |= g->mask;
    g->state = GROUP_WAITING;
    g->wait = (struct warp_wait){.kind = WAIT_JOIN};
    tell_waits(w, g);
    if (j->arrived == j->mask)
        join_complete(w, g->join);
}

void warp_release_parked(struct warp *w, struct group *g) {
    struct warp_join *j = &w->joins[g->join];
    uint32_t lanes = g->mask;
    int32_t index = g->join;
    tell_goes_on(w, g, WAIT_RELEASED);
    g->join = j->parent;
    g->state = GROUP_READY;
    j->mask &= ~lanes;
    j->arrived &= ~lanes;
    if (j->mask == j->arrived)
        join_complete(w, index);
}

void warp_split(struct warp *w, const struct insn *in, uint32_t taken, uint32_t target, uint32_t fall) {
    struct group *g = w->g;
    uint32_t rest = g->mask & ~taken;
    int32_t join = join_of(w, g);
    bool same = join >= 0 && w->joins[join].pc == in->join && w->joins[join].frame == g->frame;
    if (in->join != UINT32_MAX && !same)
        join = new_join(w, g->mask, in->join, g->frame, join);
    new_group(w, rest, fall, g->frame, join);
    g->mask = taken;
    g->pc = target;
    g->join = join;
}

bool warp_isolate(struct warp *w, const struct insn *in, uint32_t mask) {
    if (mask == w->g->mask)
        return false;
    warp_split(w, in, mask, w->g->pc, w->g->pc + 1);
    w->g->again = true;
    return true;
}

enum warp_status warp_lanes_exit(struct warp *w, uint32_t lanes) {
    struct group *g = w->g;
    tell_life(w->gpu, &(struct event_life){
                          .by = warp_by(w, &w->func->code[g->pc], lanes), .kind = LIFE_LANES_EXIT, .owner = w->cta});
    w->live &= ~lanes;
    g->mask &= ~lanes;
    warp_leave_frames(w, g->frame, lanes);
    bool gone = g->mask == 0;
    if (gone)
        g->state = GROUP_FREE;
    for (int32_t i = 0; i < (int32_t)MACH_WARP; i++) {
        struct warp_join *j = &w->joins[i];
        if (!j->used || !(j->mask & lanes))
            continue;
        j->mask &= ~lanes;
        if (j->mask == j->arrived)
            join_complete(w, i);
    }
    /* Barriers, the cluster's too, wait only for threads that have not exited. */
    w->cta->cluster->exits++;
    for (uint32_t r = 0; r < w->cta->cluster->num_ctas; r++)
        mach_wake(&w->cta->cluster->cta[r]);
    return gone ? WARP_GONE : WARP_NEXT;
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

enum warp_status warp_wait(struct warp *w, const struct insn *in, const struct warp_wait *wait) {
    struct group *g = w->g;
    g->wait = *wait;
    g->wait.in = in;
    g->wait.exits = w->cta->cluster->exits;
    g->state = GROUP_WAITING;
    g->epoch = w->cta->epoch;
    g->again = true;
    tell_waits(w, g);
    return WARP_WAIT;
}

enum warp_status warp_give_way(struct warp *w) {
    w->yielded = true;
    w->g->again = true;
    return WARP_WAIT;
}

bool warp_timed_out(struct warp *w) {
    bool t = w->g->timed_out;
    w->g->timed_out = false;
    return t;
}

static bool waits_for_lanes(const struct group *g) {
    return g->state == GROUP_WAITING && (g->wait.kind == WAIT_WARP_SYNC || g->wait.kind == WAIT_ALIGNED);
}

/* Takes the lanes of `o`, which is at the same instruction, into the current group: for good when both go on to the
 * same reconvergence point, else for this instruction only ("riding"). */
static void absorb(struct warp *w, struct group *o) {
    struct group *g = w->g;
    g->mask |= o->mask;
    g->time.at = later(g->time.at, o->time.at);
    tell_goes_on(w, o, WAIT_MET);
    if (o->join == g->join && o->frame == g->frame && o->pc == g->pc) {
        o->state = GROUP_FREE;
        return;
    }
    o->state = GROUP_WAITING;
    o->wait = (struct warp_wait){.kind = WAIT_RIDING};
    w->riding |= o->mask;
}

/* After the shared instruction the riders go on by themselves; where it waits (`done` false) they come to it again. */
static void unride(struct warp *w, bool done) {
    w->g->mask &= ~w->riding;
    w->riding = 0;
    for (unsigned i = 0; i < MACH_WARP; i++) {
        struct group *o = &w->groups[i];
        if (o->state == GROUP_WAITING && o->wait.kind == WAIT_RIDING) {
            o->state = GROUP_READY;
            o->pc += done;
            o->time = (struct warp_time){.at = w->g->time.at, .issued = !done};
        }
    }
}

/* Instructions that exchange data need all their lanes in one place; others synchronise from different ones. */
static bool same_place(const struct warp *w, const struct group *g, const struct group *o, const struct insn *in) {
    if (o->frame == g->frame && o->pc == g->pc)
        return true;
    return in->meets && o->state == GROUP_WAITING && o->wait.kind == WAIT_WARP_SYNC && o->wait.in->meets == in->meets &&
           (in->meets == MEETS_WARP ? w->frames[o->frame].used : o->frame == g->frame);
}

bool warp_next_part(const struct warp *w, const struct insn *in, struct warp_part *p) {
    if (!p->in) {
        *p = (struct warp_part){.in = in, .lanes = w->g->mask & ~w->riding};
        return true;
    }
    while (w->riding && p->next < MACH_WARP) {
        const struct group *o = &w->groups[p->next++];
        if (o->state == GROUP_WAITING && o->wait.kind == WAIT_RIDING) {
            p->in = &w->func->code[o->pc];
            p->lanes = o->mask;
            return true;
        }
    }
    return false;
}

bool warp_sync_lanes(struct warp *w, const struct insn *in, uint32_t membermask, enum warp_status *status) {
    struct group *g = w->g;
    uint32_t need = membermask & w->live, have = g->mask;
    for (unsigned i = 0; i < MACH_WARP && (need & ~have); i++) {
        const struct group *o = &w->groups[i];
        if (o != g && waits_for_lanes(o) && same_place(w, g, o, in) && o->wait.value == membermask)
            have |= o->mask;
    }
    if (need & ~have) {
        *status = warp_wait(w, in, &(struct warp_wait){.kind = WAIT_WARP_SYNC, .value = membermask});
        return false;
    }
    for (unsigned i = 0; i < MACH_WARP && (need & ~g->mask); i++) {
        struct group *o = &w->groups[i];
        if (o != g && waits_for_lanes(o) && same_place(w, g, o, in) && o->wait.value == membermask)
            absorb(w, o);
    }
    return true;
}

DIAG(aligned_diverged) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "aligned-diverged", "9.7.13.1"),
    .rule = "all threads of the warp must execute an .aligned instruction together",
    .hint = "Move the instruction out of the condition, which is not the same for all 32 threads. Let all of them "
            "execute it, and one of them use the result",
    .reason = "on the chip the warp hangs, or the barrier counts wrong. The ISA does not define what happens if only "
              "some lanes execute the instruction.",
};

DIAG(aligned_exited) = {
    DIAG_HEAD(WARNING, "aligned-exited", "9.7.16.7.1, 9.7.16.8.3"),
    .rule = "a tcgen05 instruction with .sync.aligned waits until all threads of the warp execute it",
    .hint = "Let all 32 lanes execute the instruction, and return after it. Here the other lanes had exited early",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
    .reason = "by the ISA the instruction waits for threads that never come. No chip is known to hang.",
};

/* Barriers leave out threads that have exited (9.7.13.1, 9.7.13.3); these instructions do not. */
static bool waits_for_exited(const struct insn *in) {
    const enum ptx_family f = ptx_op_family(in->src->op);
    return f == PTX_FAMILY_tcgen05_alloc || f == PTX_FAMILY_tcgen05_ldst || f == PTX_FAMILY_tcgen05_wait;
}

/* All live lanes stand at an .aligned instruction, and some have exited. */
static enum warp_status pass_exited(struct warp *w, const struct insn *in) {
    if (!waits_for_exited(in))
        return WARP_NEXT;
    const struct mach_origin origin = warp_origin(w, in, w->live);
    return mach_warn(
               w->island, &origin, &aligned_exited, "%u of the warp's %u threads execute %s; the others have exited",
               (unsigned)__builtin_popcount(w->live), (unsigned)__builtin_popcount(w->lanes), in->src->site.ptx_text)
               ? WARP_NEXT
               : WARP_FAULT;
}

/* Called with an .aligned instruction at which not all live lanes stand. Waits for groups that may still come; those
 * parked at a reconvergence point wait for this group in turn and never will. */
static enum warp_status wait_aligned(struct warp *w, const struct insn *in, uint32_t mask) {
    struct group *g = w->g;
    bool may_come = mask == g->mask; /* lanes that a guard excludes never come */
    uint32_t others = 0, guard = in->guard == WARP_SINK ? 0 : warp_src32(w, in->guard)[0];
    guard = in->guard == WARP_SINK || in->guard_neg ? ~guard : guard;
    for (unsigned i = 0; i < MACH_WARP && may_come; i++) {
        struct group *o = &w->groups[i];
        if (o == g || o->state == GROUP_FREE)
            continue;
        bool here = o->frame == g->frame && o->pc == g->pc && (o->state == GROUP_READY || waits_for_lanes(o));
        if (here && !(o->mask & ~guard))
            absorb(w, o);
        else if (here)
            may_come = false;
        else if (o->state == GROUP_WAITING && (o->wait.kind == WAIT_JOIN || o->wait.kind == WAIT_ALIGNED))
            may_come = false;
        else
            others |= o->mask;
    }
    if (may_come && g->mask == w->live)
        return WARP_NEXT;
    if (!may_come || !others) {
        unride(w, false);
        return warp_fault(w, in, mask, &aligned_diverged, "%u of the warp's %u live threads execute %s",
                          (unsigned)__builtin_popcount(mask), (unsigned)__builtin_popcount(w->live),
                          in->src->site.ptx_text);
    }
    if (w->riding)
        unride(w, false);
    return warp_wait(w, in, &(struct warp_wait){.kind = WAIT_ALIGNED});
}

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

/* Guard applied; 0: no lane executes. A poisoned guard is what its register holds, unless *status is set. */
static inline uint32_t guarded(struct warp *w, const struct insn *in, enum warp_status *status) {
    uint32_t mask = w->g->mask;
    if (in->guard == WARP_SINK)
        return mask;
    uint32_t bad = warp_poison(w, in->guard) & mask;
    if (bad && !warp_guard_unknown(w, in, bad))
        *status = WARP_FAULT;
    uint32_t p = warp_src32(w, in->guard)[0];
    return mask & (in->guard_neg ? ~p : p);
}

static uint32_t join_pc(const struct warp *w, const struct group *g) {
    if (g->join < 0 || w->joins[g->join].frame != g->frame)
        return UINT32_MAX;
    return w->joins[g->join].pc;
}

/* Runs chains from `in` on that follow each other, until `end`: how many instructions were done. */
static uint32_t run_chains(struct warp *w, const struct insn *in, const struct insn *end, uint64_t *clock,
                           enum warp_status *status) {
    const struct insn *const first = in;
    while (in != end && in->chain && *status == WARP_NEXT) {
        const uint32_t left = (uint32_t)(end - in);
        if (left < CHAIN_PART && left < in->chain->num - in->chain_at)
            break;
        w->island->clock = *clock;
        const uint32_t n = chain_run(w, in->chain, in->chain_at, left, status);
        *clock += n;
        in += n;
        if (!n)
            break;
    }
    return (uint32_t)(in - first);
}

/* Runs `n` straight instructions, or those up to one that needs a look at its guard or ends the launch, for which
 * *status is WARP_FAULT; it is counted then, and not passed. */
static uint32_t run_straight(struct warp *w, const struct insn *in, uint32_t n, enum warp_status *status) {
    struct island *isl = w->island;
    const struct insn *const first = in, *const end = in + n;
    const uint32_t lanes = w->g->mask;
    uint64_t clock = isl->clock;
    for (; in != end; in++) {
        uint32_t mask = lanes;
        const uint32_t done = in->chain && lanes == WARP_ALL_LANES ? run_chains(w, in, end, &clock, status) : 0;
        in += done;
        if (*status != WARP_NEXT) {
            w->g->pc += (uint32_t)(in - first) - 1;
            return (uint32_t)(in - first);
        }
        if (in == end)
            break;
        if (in->guard != WARP_SINK) {
            if (warp_poison(w, in->guard) & lanes)
                break;
            const uint32_t p = warp_src32(w, in->guard)[0];
            mask &= in->guard_neg ? ~p : p;
        }
        isl->clock = ++clock;
        if (mask && (in->fn(w, in, mask) != WARP_NEXT || isl->fault)) {
            *status = WARP_FAULT;
            w->g->pc += (uint32_t)(in - first);
            return (uint32_t)(in - first) + 1;
        }
    }
    w->g->pc += (uint32_t)(in - first);
    return (uint32_t)(in - first);
}

/* Runs an instruction of lanes `mask`, with what comes before it: the warp's others, for .aligned. */
static inline enum warp_status execute(struct warp *w, const struct insn *in, uint32_t mask) {
    enum warp_status s = WARP_NEXT;
    if (in->aligned && mask != w->live) {
        s = wait_aligned(w, in, mask);
        mask = w->g->mask; /* with those that came */
    }
    if (in->aligned && w->live != w->lanes && s == WARP_NEXT)
        s = pass_exited(w, in);
    if (w->before && s == WARP_NEXT)
        s = w->before(w, in, mask);
    if (s == WARP_NEXT)
        s = in->fn(w, in, mask);
    if (w->riding)
        unride(w, s != WARP_WAIT);
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
        if (g->pc == stop) {
            park(w, g);
            return ran;
        }
        const struct insn *in = &code[g->pc];
        enum warp_status s = WARP_NEXT;
        if (in->run && !watched && !w->before) {
            const uint32_t n = run_straight(w, in, in->run < budget - ran ? in->run : (uint32_t)(budget - ran), &s);
            ran += n;
            if (s != WARP_NEXT)
                return ran;
            if (n)
                continue;
        }
        const uint32_t mask = guarded(w, in, &s);
        ran++;
        isl->clock++;
        enum event_wait_end end = WAIT_MET;
        if (watched)
            end = tell_executes(w, in, mask);
        if (mask && s == WARP_NEXT)
            s = execute(w, in, mask);
        if (watched && s != WARP_WAIT)
            tell_goes_on(w, g, end);
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
    return run_straight(w, &w->func->code[g->pc], n, &s);
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
