/* isa/async_group.c - async-groups, and their instructions for cp.async: commit_group, wait_group, wait_all (PTX ISA
 * 9.7.9.25.3.2, 9.7.9.25.3.3); contract in async_group.h.
 *
 * Each thread has groups. The lanes of a warp mostly copy, commit and wait together, so lane 0's groups stand for all
 * lanes' until one of them acts alone.
 */
#include "isa/async_group.h"

#include "base/heap.h"
#include "isa/tell.h"
#include "warp/meet.h"

/* One group; in a list, oldest first. */
struct async_group {
    struct async_group *next;
    struct async_group *whole; /* what it has from before the warp's lanes parted, or NULL */
    struct tma_track track;
};

struct lane_groups {
    struct async_group *first, *last; /* committed */
    struct async_group *open;         /* not committed yet, or NULL */
    uint32_t count;                   /* of the committed ones in the list */
};

struct isa_async {
    struct lane_groups lanes[ASYNC_KINDS][MACH_WARP];
    bool parted; /* lanes have copied or committed alone; until then lane 0's groups of copies are all lanes' */
    struct lane_groups whole;  /* lane 0's at that time */
    struct async_group *spare; /* groups that are over, to be taken again */
};

static struct isa_async *state_of(struct warp *w) {
    if (!w->async_groups)
        w->async_groups = xcalloc(1, sizeof(struct isa_async));
    return w->async_groups;
}

static bool group_done(const struct async_group *g, bool read) {
    return g->track.reading == 0 && (read || g->track.writing == 0) && (!g->whole || group_done(g->whole, read));
}

static struct async_group *new_group(struct isa_async *a, struct async_group *whole) {
    struct async_group *g = a->spare;
    if (g)
        a->spare = g->next;
    else
        g = xcalloc(1, sizeof *g);
    *g = (struct async_group){.whole = whole};
    return g;
}

static void spare_groups(struct isa_async *a, struct async_group *g) {
    for (struct async_group *next; g; g = next) {
        next = g->next;
        g->next = a->spare;
        a->spare = g;
    }
}

static void append_group(struct lane_groups *s, struct async_group *g) {
    g->track.committed = true;
    if (s->last)
        s->last->next = g;
    else
        s->first = g;
    s->last = g;
    s->count++;
}

/* From here on each lane has its own groups of copies. */
static void part_lanes(struct isa_async *a) {
    a->parted = true;
    a->whole = a->lanes[ASYNC_COPY][0];
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        struct lane_groups *s = &a->lanes[ASYNC_COPY][l];
        *s = (struct lane_groups){0};
        for (struct async_group *g = a->whole.first; g; g = g->next)
            append_group(s, new_group(a, g));
        if (a->whole.open)
            s->open = new_group(a, a->whole.open);
    }
}

/* All lanes' groups of copies are over: they are one lane's again, unless one is open. */
static void join_lanes(struct isa_async *a) {
    struct lane_groups *s = a->lanes[ASYNC_COPY];
    for (uint32_t l = 0; l < MACH_WARP; l++)
        if (s[l].open)
            return;
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        spare_groups(a, s[l].first);
        s[l] = (struct lane_groups){0};
    }
    spare_groups(a, a->whole.first);
    spare_groups(a, a->whole.open);
    a->whole = (struct lane_groups){0};
    a->parted = false;
}

uint32_t isa_group_lanes(struct warp *w, enum isa_group_kind kind, uint32_t mask) {
    struct isa_async *const a = state_of(w);
    if (kind == ASYNC_BULK || a->parted)
        return mask;
    if (mask == WARP_ALL_LANES)
        return 1;
    part_lanes(a);
    return mask;
}

static struct async_group *open_group(struct isa_async *a, enum isa_group_kind kind, uint32_t l) {
    struct lane_groups *s = &a->lanes[kind][l];
    if (!s->open)
        s->open = new_group(a, NULL);
    return s->open;
}

struct tma_track *isa_group_open(struct warp *w, enum isa_group_kind kind, uint32_t l) {
    return &open_group(state_of(w), kind, l)->track;
}

static void tell_group(const struct warp *w, const struct insn *in, uint32_t mask, enum event_sync_kind event,
                       enum isa_group_kind kind, uint32_t n, bool read) {
    const struct event_sync e = {.kind = event, .count = n, .bulk = kind == ASYNC_BULK, .read = read};
    isa_saw_sync(w, in, mask, WANT_FENCE, e);
}

void isa_group_commit(struct warp *w, const struct insn *in, enum isa_group_kind kind, uint32_t mask) {
    tell_group(w, in, mask, SYNC_GROUP_COMMIT, kind, 0, false);
    struct isa_async *const a = state_of(w);
    WARP_FOR_LANES(l, isa_group_lanes(w, kind, mask)) {
        struct lane_groups *s = &a->lanes[kind][l];
        struct async_group *const now = open_group(a, kind, l);
        append_group(s, now);
        if (now->whole && l == 0) /* whose group the copies of all lanes name */
            now->whole->track.committed = true;
        s->open = NULL;
        /* groups complete in the order of their commits: finished ones at the front need no watching */
        while (s->first != s->last && group_done(s->first, false)) {
            struct async_group *g = s->first;
            s->first = g->next;
            s->count--;
            g->next = a->spare;
            a->spare = g;
        }
        if (s->count >= ASYNC_MAX_OPS) /* empty groups behind one that has not finished: let that run */
            w->island->crowded = true;
    }
}

/* Of all but the `n` latest committed groups of the lanes one that has not finished (`read`: read its sources), or
 * NULL. */
static const struct async_group *unfinished(struct warp *w, enum isa_group_kind kind, uint32_t mask, uint32_t n,
                                            bool read) {
    const struct isa_async *a = state_of(w);
    WARP_FOR_LANES(l, kind == ASYNC_BULK || a->parted ? mask : 1) {
        const struct lane_groups *s = &a->lanes[kind][l];
        const struct async_group *g = s->first;
        for (uint32_t i = s->count; i > n; i--, g = g->next)
            if (!group_done(g, read))
                return g;
    }
    return NULL;
}

enum warp_status isa_group_wait(struct warp *w, const struct insn *in, uint32_t mask, enum isa_group_kind kind,
                                uint32_t n, bool read) {
    const struct async_group *g = unfinished(w, kind, mask, n, read);
    if (!g) {
        if (kind == ASYNC_COPY && n == 0 && mask == WARP_ALL_LANES && w->async_groups->parted)
            join_lanes(w->async_groups);
        w->waited = (struct warp_waited){.in = in->src, .kind = WAIT_ASYNC};
        tell_group(w, in, mask, SYNC_GROUP_WAIT, kind, n, read);
        return WARP_NEXT;
    }
    if (warp_isolate(w, in, mask))
        return WARP_JUMP;
    /* no other lanes commit or wait meanwhile, and so end this group */
    const bool all = kind == ASYNC_COPY && mask == WARP_ALL_LANES && in->guard == WARP_SINK && !g->whole;
    return warp_wait(w, in,
                     &(struct warp_wait){.kind = WAIT_ASYNC, .value = n, .left = all ? &g->track.writing : NULL});
}

static void free_groups(struct async_group *g) {
    for (struct async_group *next; g; g = next) {
        next = g->next;
        xfree(g);
    }
}

void isa_group_destroy(struct warp *w) {
    struct isa_async *s = w->async_groups;
    for (unsigned k = 0; s && k < ASYNC_KINDS; k++)
        for (unsigned l = 0; l < MACH_WARP; l++) {
            free_groups(s->lanes[k][l].first);
            xfree(s->lanes[k][l].open);
        }
    if (s) {
        free_groups(s->whole.first);
        xfree(s->whole.open);
        free_groups(s->spare);
    }
    xfree(s);
    w->async_groups = NULL;
}

/* --- commit and wait ---------------------------------------------------------------------------------------------- */

static enum warp_status do_commit(struct warp *w, const struct insn *in, uint32_t mask) {
    isa_group_commit(w, in, ASYNC_COPY, mask);
    return WARP_NEXT;
}

static enum warp_status do_wait_group(struct warp *w, const struct insn *in, uint32_t mask) {
    return isa_group_wait(w, in, mask, ASYNC_COPY, (uint32_t)in->aux, false);
}

/* wait_all: commit_group and wait_group 0. A group that waits runs it again, and then commits nothing new. */
static enum warp_status do_wait_all(struct warp *w, const struct insn *in, uint32_t mask) {
    struct isa_async *s = state_of(w);
    uint32_t open = 0;
    WARP_FOR_LANES(l, s->parted ? mask : 1) open |= (uint32_t)(s->lanes[ASYNC_COPY][l].open != NULL) << l;
    if (open && !s->parted)
        open = mask;
    if (open)
        isa_group_commit(w, in, ASYNC_COPY, open);
    return isa_group_wait(w, in, mask, ASYNC_COPY, 0, false);
}

bool isa_bind_cp_async_group(struct isa_binder *b, struct insn *in) {
    (void)b;
    const bool group = in->src->op == PTX_OP_cp_async_wait_group;
    in->fn = group ? do_wait_group : in->src->op == PTX_OP_cp_async_wait_all ? do_wait_all : do_commit;
    if (in->src->num_mods)
        return false;
    in->aux = group ? (uint32_t)in->o[0].more->src->imm : 0;
    return true;
}
