/* check/shadow/global.c - global memory: turns events into marks; contract in kept.h. */
#include "check/shadow/kept.h"

/* The accesses of an event, and where they are remembered; during its check. */
struct accesses {
    struct race *r;
    struct cells *cells;
};

/* --- operations --------------------------------------------------------------------------------------------------- */

/* An operation's access. What later accesses need to know of the operation is in its record. */
static void engine(struct race *r, struct cells *c, const struct event_access *e, struct note *n) {
    const struct viewer v = viewer_of_note(&e->by, n, true, e->what ? e->what : n->name);
    struct op_record *op = note_record(r, n);
    uint8_t flags = MARK_OP | ONE_LANE * MARK_UNIT;
    if (!op)
        return;
    if (e->effect & EFFECT_WRITE)
        flags |= MARK_WRITE;
    if (e->effect == EFFECT_ATOMIC)
        flags |= MARK_STRONG;
    struct toucher t = {.r = r, .v = &v};
    t.mark = (struct mark){.by.op = op, .time = n->time, .cluster = r->number, .flags = flags};
    t.mark.warp = (uint16_t)n->warp;
    for (uint32_t i = 0; i < (e->pieces ? e->pieces : 1); i++)
        cells_touch(c, &t, e->at[i], e->size, e->rows ? e->rows : 1, e->stride);
}

/* The event comes at the issue of the copy, which reads the map later (9.7.9.25.1); note_reads_map() says until when.
 * Chips do that: some loads of an H100 used the map as it was after a change that followed their issue
 * (docs/memory-model.md). */
static void reads_map(struct race *r, struct cells *c, const struct event_access *e, struct note *n) {
    const struct viewer v = viewer_of_note(&e->by, n, true, e->what);
    struct op_record *op = note_record(r, n);
    if (!op)
        return;
    struct toucher t = {.r = r, .v = &v, .map = true};
    t.mark = (struct mark){.by.op = op, .time = n->time, .cluster = r->number};
    t.mark.flags = MARK_OP | ONE_LANE * MARK_UNIT;
    t.mark.warp = (uint16_t)n->warp;
    note_reads_map(r, n);
    cells_touch(c, &t, e->at[0], e->size, 1, 0);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

/* mark.flags of an access by threads. Each lane has its own bytes: their number is the unit if it is a power of two. */
static uint8_t thread_flags(const struct event_access *e) {
    const bool even = e->size <= SECTOR && (e->size & (e->size - 1)) == 0;
    uint8_t flags = e->effect & EFFECT_WRITE ? MARK_WRITE : 0;
    if (maps_is_copy(e))
        return flags | ONE_WARP * MARK_UNIT;
    flags |= (uint8_t)((even ? (uint32_t)__builtin_ctz(e->size) : ONE_LANE) * MARK_UNIT);
    if (e->by.order != ORDER_WEAK || e->effect == EFFECT_ATOMIC)
        flags |= MARK_STRONG | (e->by.scope < SCOPE_GPU ? MARK_NARROW : 0);
    return flags;
}

/* On an access by lanes from `first` on to `bytes` bytes from that lane's address on; `flags` say whose they are. */
static void run(const struct accesses *a, struct toucher *t, const struct event_access *e, uint32_t first,
                uint64_t bytes, uint8_t flags) {
    const uint64_t at = e->at[first];
    t->mark.flags = flags;
    t->mark.lane = (int8_t)first;
    t->written = e->effect == EFFECT_WRITE ? mem_at(e->by.cta->gpu->mem, at, bytes) : NULL;
    cells_touch(a->cells, t, at, (uint32_t)bytes, 1, 0);
}

/* On the 128 bytes of each lane's discard or tensormap.replace, sector by sector: in a run the next sector would be the
 * next lane's. */
static __attribute__((noinline)) void touch_sectors(const struct accesses *a, struct toucher *t,
                                                    const struct event_access *e, uint32_t lanes, uint8_t flags) {
    event_spread(e);
    t->mark.flags = flags;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        t->mark.lane = (int8_t)lane;
        for (uint64_t at = e->at[lane]; at < e->at[lane] + e->size; at += SECTOR) {
            t->written = e->effect == EFFECT_WRITE ? mem_at(e->by.cta->gpu->mem, at, SECTOR) : NULL;
            cells_touch(a->cells, t, at, SECTOR, 1, 0);
        }
    }
}

/* Those of the lanes whose bytes are next to those of no adjacent lane. */
static uint32_t lone_lanes(const struct event_access *e, uint32_t lanes) {
    uint32_t joined = 0;
    for (uint32_t l = 0; l + 1 < VCLOCK_LANES; l++)
        joined |= (uint32_t)(e->at[l + 1] == e->at[l] + e->size) << l;
    joined &= lanes & lanes >> 1;
    return lanes & ~(joined | joined << 1);
}

/* Adjacent lanes with adjacent bytes make one run, if it has a unit; so do lanes that all read the same bytes. */
static void touch_lanes(const struct accesses *a, struct toucher *t, const struct event_access *e, uint32_t lanes) {
    const uint8_t flags = thread_flags(e);
    const bool all = lanes == UINT32_MAX && e->affine, joins = e->size == 1u << flags / MARK_UNIT;
    if (e->size > SECTOR && flags / MARK_UNIT == ONE_LANE) {
        touch_sectors(a, t, e, lanes, flags);
        return;
    }
    if (all && e->effect == EFFECT_READ && e->step == 0) {
        run(a, t, e, 0, e->size, (uint8_t)(flags % MARK_UNIT + EVERY_LANE * MARK_UNIT));
        return;
    }
    if (all && joins && e->step == e->size) {
        run(a, t, e, 0, (uint64_t)VCLOCK_LANES * e->size, flags);
        return;
    }
    event_spread(e);
    uint32_t lone = e->effect != EFFECT_READ ? 0 : joins ? lone_lanes(e, lanes) : lanes;
    while (lanes) {
        if (lone & lanes & -lanes) { /* reads of lanes on their own, at once */
            const uint32_t others = lanes & ~lone, most = lone & lanes & ((others & -others) - 1);
            t->mark.flags = flags;
            const uint32_t left = cells_list_reads(a->cells, t, e->at, e->size, most);
            lanes &= ~(most & ~left);
            lone = left == most ? 0 : lone;
            if (left != most)
                continue;
        }
        const uint32_t first = (uint32_t)__builtin_ctz(lanes);
        uint32_t n = 1;
        lanes &= lanes - 1;
        while (joins && first + n < VCLOCK_LANES && lanes >> (first + n) & 1 &&
               e->at[first + n] == e->at[first] + (uint64_t)n * e->size)
            lanes &= ~(1u << (first + n++));
        run(a, t, e, first, (uint64_t)n * e->size, flags);
    }
}

/* Fast path: all lanes of a warp read bytes side by side, or the same bytes. False: another access, or one that cannot
 * only be listed. */
static inline bool list_row(struct race *r, struct cells *c, const struct event_access *e) {
    const uint32_t warp = race_warp_of(r, &e->by), size = e->size;
    if (e->effect != EFFECT_READ || e->by.order != ORDER_WEAK || !e->affine || r->warps[warp].num_strands != 1 ||
        (e->step && (e->step != size || size > SECTOR || size & (size - 1))))
        return false;
    const uint32_t unit = e->step ? (uint32_t)__builtin_ctz(size) : EVERY_LANE;
    return cells_list_row(c, e->by.site, r->time, r->number, (uint16_t)warp, (uint8_t)(unit * MARK_UNIT), e->at[0],
                          e->step ? VCLOCK_LANES * size : size);
}

/* An access by threads, strand by strand; `copy`: by their cp.async, or NULL. */
static __attribute__((noinline)) void threads(const struct accesses *a, const struct event_access *e,
                                              const struct note *copy) {
    struct race *r = a->r;
    const uint32_t warp = race_warp_of(r, &e->by);
    const struct warp_watch *w = &r->warps[warp];
    struct toucher t = {.r = r, .noncoherent = e->proxy == PROXY_NONCOHERENT};
    t.mark = (struct mark){.by.site = e->by.site, .cluster = r->number, .warp = (uint16_t)warp};
    t.mark.time = copy ? copy->time : r->time;
    if (copy) { /* cp.async: a read at its issue */
        const struct viewer v = viewer_of_note(&e->by, copy, false, copy->name);
        t.v = &v;
        touch_lanes(a, &t, e, e->by.lanes);
        return;
    }
    for (uint32_t i = 0; i < w->num_strands; i++) {
        const struct viewer v = viewer_of_strand(r, &e->by, warp, &w->strand[i], e->effect);
        t.v = &v;
        t.k = &w->strand[i].k;
        touch_lanes(a, &t, e, v.lanes);
    }
}

void global_access(struct race *r, struct cells *c, const struct event_access *e, struct note *n) {
    const struct accesses a = {r, c};
    if (!c || !e->size)
        return;
    if (r->grid->quiet) {
        race_lost(r, BOUND_FLAG_BYTES);
        return;
    }
    if (e->agent == AGENT_THREAD) {
        if (!list_row(r, c, e))
            threads(&a, e, NULL);
    } else if (e->agent == AGENT_CP_ASYNC && n)
        threads(&a, e, n);
    else if (n && e->proxy == PROXY_TENSORMAP)
        reads_map(r, c, e, n);
    else if (n)
        engine(r, c, e, n);
}
