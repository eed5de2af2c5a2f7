/* warp/meet.c - how a warp's lanes part, meet again and wait; contract in meet.h. */
#include "warp/meet.h"

#include "base/fatal.h"
#include "base/later.h"
#include "warp/core.h"

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

void warp_tell_goes_on(const struct warp *w, struct group *g, enum event_wait_end end) {
    if (g->told)
        send_wait(w, g, end);
    g->told = false;
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

/* All lanes that take part have arrived or exited: they go on together. */
static void join_complete(struct warp *w, int32_t index) {
    struct warp_join *j = &w->joins[index];
    uint32_t mask = j->arrived;
    struct warp_time last = {.at = w->g->time.at};
    for (unsigned i = 0; i < MACH_WARP; i++) {
        struct group *g = &w->groups[i];
        if (g->state != GROUP_WAITING || g->wait.kind != WAIT_JOIN || g->join != index)
            continue;
        warp_tell_goes_on(w, g, WAIT_MET);
        g->state = GROUP_FREE;
        last.slots += g->time.slots;
        last.at = later(last.at, g->time.at + g->time.cycles);
    }
    j->used = false;
    if (mask)
        new_group(w, mask, j->pc, j->frame, j->parent)->time = last;
}

void warp_park(struct warp *w, struct group *g) {
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
    warp_tell_goes_on(w, g, WAIT_RELEASED);
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
    warp_tell_goes_on(w, o, WAIT_MET);
    if (o->join == g->join && o->frame == g->frame && o->pc == g->pc) {
        o->state = GROUP_FREE;
        return;
    }
    o->state = GROUP_WAITING;
    o->wait = (struct warp_wait){.kind = WAIT_RIDING};
    w->riding |= o->mask;
}

void warp_unride(struct warp *w, bool done) {
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

enum warp_status warp_pass_exited(struct warp *w, const struct insn *in) {
    if (!waits_for_exited(in))
        return WARP_NEXT;
    const struct mach_origin origin = warp_origin(w, in, w->live);
    return mach_warn(
               w->island, &origin, &aligned_exited, "%u of the warp's %u threads execute %s; the others have exited",
               (unsigned)__builtin_popcount(w->live), (unsigned)__builtin_popcount(w->lanes), in->src->site.ptx_text)
               ? WARP_NEXT
               : WARP_FAULT;
}

enum warp_status warp_wait_aligned(struct warp *w, const struct insn *in, uint32_t mask) {
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
        warp_unride(w, false);
        return warp_fault(w, in, mask, &aligned_diverged, "%u of the warp's %u live threads execute %s",
                          (unsigned)__builtin_popcount(mask), (unsigned)__builtin_popcount(w->live),
                          in->src->site.ptx_text);
    }
    if (w->riding)
        warp_unride(w, false);
    return warp_wait(w, in, &(struct warp_wait){.kind = WAIT_ALIGNED});
}
