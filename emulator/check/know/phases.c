/* check/know/phases.c - mbarriers: what a phase passes on, and to whom; contract in phases.h. */
#include "check/know/cluster.h"

#include "base/heap.h"

#include <string.h>

struct mbar_watch *mbars_find(struct race *r, const struct cta *owner, uint32_t off) {
    struct mbars *b = &race_cta(r, owner)->mbars;
    uint32_t *place = &b->place[off / 8 % (sizeof b->place / sizeof *b->place)];
    if (*place < b->num && b->list[*place].off == off)
        return &b->list[*place];
    for (uint32_t i = 0; i < b->num; i++)
        if (b->list[i].off == off) {
            *place = i;
            return &b->list[i];
        }
    return NULL;
}

/* --- life --------------------------------------------------------------------------------------------------------- */

void mbars_begin(struct race *r, const struct event_life *e) {
    struct mbar_watch *m = mbars_find(r, e->owner, e->off);
    if (!m) {
        struct mbars *b = &race_cta(r, e->owner)->mbars;
        b->list = xgrow(b->list, b->num, &b->cap, sizeof *b->list);
        m = &b->list[b->num++];
        *m = (struct mbar_watch){.off = e->off, .token = VCLOCK_NO_TOKEN};
        b->from = b->from == b->to || e->off < b->from ? e->off : b->from;
        b->to = e->off + 8 > b->to ? e->off + 8 : b->to;
    }
    const struct mbar_init init = {race_warp(r, e->by.cta, e->by.warp), e->by.lanes, r->time, event_origin(&e->by)};
    uint32_t i = 0;
    while (i < m->num_init && (m->init[i].warp != init.warp || m->init[i].lanes != init.lanes))
        i++;
    if (i == m->num_init)
        m->init = xgrow(m->init, m->num_init++, &m->cap_init, sizeof *m->init);
    m->init[i] = init; /* a thread that knows of this one knows of earlier ones by the same threads */
    m->told = 0;
    m->published = MBAR_FRESH;
}

/* Frees what is remembered of an mbarrier. */
static void forget(struct race *r, struct mbar_watch *m) {
    know_forget(r, &m->m);
    carried_forget(r, &m->carried);
    vclock_set(&r->clocks, &m->before, NULL);
    xfree(m->init);
    xfree(m->warps);
    xfree(m->others);
    xfree(m->place);
    xfree(m->seen);
}

void mbars_end(struct race *r, const struct event_life *e) {
    struct mbars *b = &race_cta(r, e->owner)->mbars;
    struct mbar_watch *m = mbars_find(r, e->owner, e->off);
    if (!m)
        return;
    forget(r, m);
    *m = b->list[--b->num];
}

void mbars_forget(struct race *r, struct mbars *b) {
    for (uint32_t i = 0; i < b->num; i++)
        forget(r, &b->list[i]);
    xfree(b->list);
}

/* --- publication -------------------------------------------------------------------------------------------------- */

/* Moves a CTA's mbarriers in state `from` to state `to`. */
static void move_on(struct mbars *b, enum mbar_seen from, enum mbar_seen to) {
    for (uint32_t i = 0; i < b->num; i++)
        if (b->list[i].published == from)
            b->list[i].published = to;
}

/* Is it a release at cluster scope, as publishing an mbarrier needs (9.7.13.4)? */
static bool releases_to_cluster(const struct event_sync *e) {
    if (e->by.order == ORDER_RELAXED || e->by.order == ORDER_ACQUIRE || e->by.scope < SCOPE_CLUSTER)
        return false;
    return e->kind == SYNC_CLUSTER_ARRIVE ||
           (e->kind == SYNC_FENCE &&
            (e->fence == FENCE_MEMORY || e->fence == FENCE_SYNC_RESTRICT || e->fence == FENCE_MBARRIER_INIT));
}

void mbars_released(struct race *r, const struct event_sync *e) {
    if (releases_to_cluster(e))
        move_on(&race_cta(r, e->by.cta)->mbars, MBAR_FRESH, MBAR_RELEASED);
}

void mbars_met(struct race *r) {
    for (uint32_t i = 0; i < r->cluster->num_ctas; i++)
        move_on(&r->ctas[i].mbars, MBAR_RELEASED, MBAR_PUBLISHED);
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

/* The lowest index in `others` of a use by one of these lanes, or num_others. `place`: of their warp. */
static uint32_t first_of(const struct mbar_watch *m, const uint32_t place[VCLOCK_LANES], uint32_t lanes) {
    uint32_t first = m->num_others;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t number = place[__builtin_ctz(lanes)];
        first = number && number - 1 < first ? number - 1 : first;
    }
    return first;
}

/* others[i] becomes that use. */
static void put_use(struct mbar_watch *m, uint32_t i, struct mbar_use use) {
    m->others[i] = use;
    for (uint32_t left = use.lanes; left; left &= left - 1)
        m->place[use.warp][__builtin_ctz(left)] = i + 1;
}

/* Moves the warp's latest use *use to `others`, for those of its lanes that take no part in the new use by `mine`.
 * Each lane has at most one use there. */
static void keep_others(struct race *r, struct mbar_watch *m, const struct mbar_use *use, uint32_t mine) {
    struct mbar_use rest = *use;
    rest.lanes &= ~mine;
    if (!m->place)
        m->place = xcalloc(r->clocks.warps, sizeof *m->place);
    uint32_t *place = m->place[use->warp];
    const uint32_t number = place[__builtin_ctz(mine)];
    if (!(mine & (mine - 1)) && !(use->lanes & (use->lanes - 1)) && !place[__builtin_ctz(use->lanes)] && number &&
        m->others[number - 1].lanes == mine) { /* lanes one by one: the same as below */
        place[__builtin_ctz(mine)] = 0;
        if (number < m->num_others)
            put_use(m, number - 1, m->others[m->num_others - 1]);
        put_use(m, m->num_others - 1, rest);
        return;
    }
    for (uint32_t i, gone = use->lanes | mine; (i = first_of(m, place, gone)) < m->num_others;) {
        struct mbar_use *u = &m->others[i];
        for (uint32_t left = u->lanes & gone; left; left &= left - 1)
            place[__builtin_ctz(left)] = 0;
        u->lanes &= ~gone;
        if (!u->lanes && i < --m->num_others)
            put_use(m, i, m->others[m->num_others]);
    }
    m->others = xgrow(m->others, m->num_others, &m->cap_others, sizeof *m->others);
    put_use(m, m->num_others++, rest);
}

/* Remembers a use by threads, for the rule at mbarrier.inval. */
static void remember_use(struct race *r, struct mbar_watch *m, struct mbar_use now) {
    if (!m->warps)
        m->warps = xcalloc(r->clocks.warps, sizeof *m->warps);
    struct mbar_use *use = &m->warps[now.warp].use;
    if (use->lanes & ~now.lanes)
        keep_others(r, m, use, now.lanes);
    *use = now;
}

/* remember_use for lanes of a warp in turn, the first at `time`, as long as each has its last use in `others` and the
 * warp's latest is another lane's; returns those that are left. A use is read only where an earlier turn wrote it: what
 * was just written is still in registers. */
static uint32_t remember_in_turn(struct mbar_watch *m, uint32_t lanes, uint32_t warp, uint32_t time,
                                 const struct diag_site *site) {
    const uint32_t last = m->num_others;
    if (!m->warps || !m->place || !last)
        return lanes;
    uint32_t *const place = m->place[warp];
    struct mbar_use *const use = &m->warps[warp].use, now = *use, end = m->others[last - 1];
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t mine = lanes & (0u - lanes), number = place[__builtin_ctz(mine)];
        if (!now.lanes || now.lanes & (now.lanes - 1) || now.lanes == mine || place[__builtin_ctz(now.lanes)] ||
            !number || m->others[number - 1].lanes != mine)
            break;
        place[__builtin_ctz(mine)] = 0;
        if (number < last)
            put_use(m, number - 1, end);
        put_use(m, last - 1, now);
        end = now;
        now = (struct mbar_use){warp, time++, mine, site};
    }
    *use = now;
    return lanes;
}

uint32_t mbars_took_part(const struct mbar_watch *m, uint32_t warp, uint64_t phase) {
    const struct mbar_part *p = m->warps ? &m->warps[warp].part : NULL;
    if (!p || !phase || p->phase > phase)
        return 0;
    return p->phase == phase ? p->before : p->phase + 1 == phase ? p->lanes : 0;
}

/* After remember_use: remembers the arriving lanes, for the hint of mbarrier-phase-missed. */
static void take_part(const struct event_sync *e, struct mbar_watch *m, uint32_t warp) {
    struct mbar_part *p = &m->warps[warp].part;
    const uint32_t here = p->phase == e->phase ? p->lanes : 0;
    *p = (struct mbar_part){e->phase, here | e->by.lanes, mbars_took_part(m, warp, e->phase)};
}

/* The token of the mbarrier; created at the first need, because many mbarriers stay unused. */
static uint32_t token_of(struct race *r, struct mbar_watch *m) {
    if (m->token == VCLOCK_NO_TOKEN)
        m->token = vclock_new_token(&r->clocks);
    return m->token;
}

/* A copy's complete_tx: the copy is complete for threads that see the end of the phase (9.7.9.25.1). */
static void copy_lands(struct race *r, const struct event_sync *e, struct mbar_watch *m, struct note *n) {
    if (!n || n->written.how == DONE_TOKEN)
        return;
    note_lands(r, n, &m->m, &m->carried);
    n->written = n->read = (struct done){.how = DONE_TOKEN, .token = token_of(r, m), .step = (uint32_t)e->phase + 1};
}

void mbars_join(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct sem how = sem_of(e);
    uint32_t time = r->time - (uint32_t)__builtin_popcount(e->by.lanes);
    const uint32_t rest = remember_in_turn(m, e->by.lanes, warp, time + 1, e->by.site);
    for (uint32_t left = e->by.lanes; left; left &= left - 1) {
        const struct mbar_use use = {warp, ++time, left & (0u - left), e->by.site};
        if (rest & use.lanes)
            remember_use(r, m, use);
        tells_remember(&r->warps[warp].tells, use.time, use.lanes, use.site);
    }
    m->first = (struct arrival){0};
    take_part(e, m, warp);
    know_arrive(r, warp, e->by.lanes, &m->m, &how);
}

/* An arrival: by threads, by tcgen05.commit, or by cp.async.mbarrier.arrive. */
static void arrives(struct race *r, const struct event_sync *e, struct mbar_watch *m, struct note *n) {
    m->first =
        (struct arrival){n && n->tensor && !m->operations && !e->pending && !e->tx, n ? n->warp : 0, n ? n->lanes : 0};
    m->operations |= e->by.op != NULL;
    const struct sem how = sem_of(e);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    if (!e->by.op) {
        tells_remember(&r->warps[warp].tells, r->time, e->by.lanes, e->by.site);
        take_part(e, m, warp);
        know_arrive(r, warp, e->by.lanes, &m->m, &how);
    } else if (n && n->tensor) {
        note_commit(r, n, &m->m, &m->carried);
    } else if (n) { /* cp.async.mbarrier.arrive */
        note_arrives(r, n, e->by.lanes, &m->m);
        note_copies_done(r, n->warp, e->by.lanes ? (uint32_t)__builtin_ctz(e->by.lanes) : 0, n->time,
                         &(struct done){.how = DONE_TOKEN, .token = token_of(r, m), .step = (uint32_t)e->phase + 1});
    }
}

/* Remembers the warp's first poll that saw the end of phase e->phase - 1, for mbarrier-phase-missed. */
static void remember_seen(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    if (m->saw != e->phase)
        m->num_seen = 0;
    m->saw = e->phase;
    for (uint32_t i = 0; i < m->num_seen; i++)
        if (m->seen[i].warp == warp)
            return;
    m->seen = xgrow(m->seen, m->num_seen, &m->cap_seen, sizeof *m->seen);
    m->seen[m->num_seen++] = (struct mbar_use){warp, r->time, e->done, e->by.site};
}

/* The polls of the lanes e->done returned true: they observe the completed phases. */
static void saw_phase(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    const struct sem how = sem_of(e);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct vclock *known = race_strand(r, warp, e->done)->k.now[LAYER_SEEN];
    struct polls *p = &r->warps[warp].polls;
    p->log[p->end++ % POLLS] =
        (struct poll){.time = r->time,
                      .off = m->off,
                      .rank = e->owner->rank,
                      .parity = e->parity,
                      .stale = !e->phase || vclock_knows_token(known, m->token, (uint32_t)e->phase),
                      .site = e->by.site};
    remember_seen(r, e, m);
    know_observe(r, warp, e->done, &m->m, NULL, &how);
}

void mbars_commit_issued(struct race *r, const struct note *n, const struct event_work *work) {
    for (uint32_t left = n->agent == AGENT_COMMIT ? work->ctas : 0; left; left &= left - 1) {
        const uint32_t rank = (uint32_t)__builtin_ctz(left);
        struct mbar_watch *m =
            rank < r->cluster->num_ctas ? mbars_find(r, &r->cluster->cta[rank], work->signals_off) : NULL;
        if (!m)
            continue;
        m->commit.warp = n->warp;
        m->commit.lanes = n->lanes;
        m->commit.idle = !n->read.step;
        m->commit.site = n->origin.site;
    }
}

void mbars_issued(struct race *r, const struct cta *owner, uint32_t off) {
    struct mbar_watch *m = mbars_find(r, owner, off);
    if (m)
        m->coming++;
}

/* A phase completes: whoever observes that will know one more step of the mbarrier's token. */
static void phase_ends(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    vclock_set(&r->clocks, &m->before, m->operations ? NULL : m->m.open[LAYER_RAN]);
    m->operations = m->brought = false;
    know_token(r, &m->m, token_of(r, m), (uint32_t)e->phase + 1);
    know_phase(r, &m->m);
    carried_forget(r, &m->carried);
}

/* Remembers the latest arrival or bytes of another CTA's operation, for the rule at the CTA's exit (5.1.7). */
static void remember_remote(const struct event_sync *e, struct mbar_watch *m, const struct note *n) {
    if (!n || !e->by.op || e->by.op->cta == e->owner)
        return;
    m->remote.any = true;
    m->remote.phase = e->phase;
    m->remote.origin = n->origin;
    m->remote.what = n->name;
    m->remote.by = n->tensor ? n->read : (struct done){.how = DONE_NOT};
}

void mbars_sync(struct race *r, const struct event_sync *e, struct mbar_watch *m, struct note *n) {
    if (e->kind != SYNC_MBAR_PHASE && !e->by.op)
        remember_use(r, m, (struct mbar_use){race_warp_of(r, &e->by), r->time, e->by.lanes, e->by.site});
    switch (e->kind) {
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
        arrives(r, e, m, n);
        remember_remote(e, m, n);
        break;
    case SYNC_MBAR_EXPECT_TX:
        m->operations = true;
        break;
    case SYNC_MBAR_COMPLETE_TX:
        m->operations = true;
        m->brought |= e->by.op != NULL;
        m->coming -= e->by.op && m->coming;
        copy_lands(r, e, m, n);
        remember_remote(e, m, n);
        break;
    case SYNC_MBAR_PHASE:
        phase_ends(r, e, m);
        break;
    case SYNC_MBAR_TEST:
        if (e->done)
            saw_phase(r, e, m);
        break;
    default:
        break;
    }
}
