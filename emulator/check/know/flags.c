/* check/know/flags.c - words through which threads synchronise; contract in flags.h. */
#include "check/know/cluster.h"

#include "base/heap.h"

#include <string.h>

#define KEY_SHARED (UINT64_C(1) << 63) /* in a flag's key: a word of shared memory */
#define TAKERS 4u                      /* kept for each flag */
#define ALL VCLOCK_LANES               /* a taker's lane: the whole warp */
#define OWN_NOW UINT32_MAX             /* in struct gift's time: stands for flag.time */

/* What a release sequence passes on, by layer. Lives while a flag or a giver holds it. */
struct gift {
    uint32_t holders;
    bool shared;           /* by flags of one giver: it must not change, and has not the giver's own accesses yet */
    uint32_t time[LAYERS]; /* shared: the giver's own accesses up to this time also go along; 0: none; or OWN_NOW */
    union {
        struct vclock *own[LAYERS]; /* in a cluster's table */
        struct far *far[LAYERS];    /* in the launch's table */
    } of;
};

/* A warp's latest gift for words of each table (index: struct sync's `local`), and the clocks that it was made from;
 * until the warp ends. While these do not change, the next word gets the same gift. */
struct giver {
    struct gift *gift[2];
    struct vclock *from[2][LAYERS];
};

/* A thread that took that version of a flag's gift: its next polls need not take it again. Lives with the flag. */
struct flag_taker {
    uint32_t version, cluster;
    uint16_t warp;       /* in the cluster */
    uint8_t lane, order; /* lane ALL: the whole warp took it; order: .sem and .scope of its read */
};

/* --- tables ------------------------------------------------------------------------------------------------------- */

/* The place of the key in the hash table: its own, or the first free one after it (linear probing). */
static struct flag *slot_of(const struct flags *w, uint64_t key) {
    uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - w->bits);
    while (w->flag[i].key && w->flag[i].key != key)
        i = (i + 1) & ((UINT64_C(1) << w->bits) - 1);
    return &w->flag[i];
}

/* The word's flag, or NULL. */
static struct flag *find(const struct flags *w, uint64_t key) {
    struct flag *flag = w->num ? slot_of(w, key) : NULL;
    return flag && flag->key ? flag : NULL;
}

/* Doubles the table. */
static void grow(struct flags *w) {
    const struct flags old = *w;
    w->bits = old.bits ? old.bits + 1 : 6;
    w->flag = xcalloc(UINT64_C(1) << w->bits, sizeof *w->flag);
    w->bytes += (sizeof *w->flag << w->bits) - (old.bits ? sizeof *w->flag << old.bits : 0);
    for (uint64_t i = 0; old.bits && i < UINT64_C(1) << old.bits; i++)
        if (old.flag[i].key)
            *slot_of(w, old.flag[i].key) = old.flag[i];
    xfree(old.flag);
}

static struct flag *find_or_add(struct flags *w, uint64_t key) {
    struct flag *flag = find(w, key);
    if (flag)
        return flag;
    if (!w->bits || w->num >= UINT32_C(3) << (w->bits - 2))
        grow(w);
    w->num++;
    flag = slot_of(w, key);
    flag->key = key;
    return flag;
}

/* --- one flag ----------------------------------------------------------------------------------------------------- */

/* A lane's strong access, or a read by several lanes as one; during the call of flags_sync. */
struct sync {
    struct race *r;
    uint32_t warp, lane, lanes; /* lane: the first of the lanes */
    enum event_order order;
    enum event_scope scope;
    /* local: in the cluster's table, otherwise in the launch's; narrow: it is to shared memory, or its .scope leaves
     * out other clusters */
    bool local, narrow;
    bool acquires; /* it is a read that may acquire */
};

static struct flags *table(const struct sync *s) { return s->local ? &s->r->flags : &s->r->grid->flags; }

/* Removes a holder of the gift; `local`: `of` is a cluster's table, `clocks` its pool. */
static void drop_gift(struct vclock_pool *clocks, struct flags *of, bool local, struct gift *g) {
    if (!g || --g->holders)
        return;
    for (unsigned l = 0; l < LAYERS; l++)
        if (local)
            vclock_drop(clocks, g->of.own[l]);
        else
            far_drop(clocks, g->of.far[l]);
    of->bytes -= sizeof *g;
    xfree(g);
}

/* A gift with nothing in it, for a flag of the table. */
static struct gift *new_gift(const struct sync *s, bool shared) {
    struct gift *g = xcalloc(1, sizeof *g);
    table(s)->bytes += sizeof *g;
    g->holders = 1;
    g->shared = shared;
    return g;
}

/* *to drops its gift and gets `g`, with the caller's hold of it. */
static void set_gift(const struct sync *s, struct gift **to, struct gift *g) {
    struct gift *old = *to;
    *to = g;
    drop_gift(s->local ? &s->r->clocks : s->r->clocks.far, table(s), s->local, old);
}

/* The word's release sequence ends. */
static void clear(const struct sync *s, struct flag *w) {
    w->version++;
    set_gift(s, &w->gift, NULL);
}

/* Three functions add to layer l of a gift. This one adds a clock of this cluster. */
static void give_clock(const struct sync *s, struct gift *g, unsigned l, struct vclock *c) {
    struct vclock_pool *far = s->r->clocks.far;
    if (!c)
        return;
    if (s->local) {
        vclock_join(&s->r->clocks, &g->of.own[l], c);
        return;
    }
    struct vclock *mine = vclock_export(&s->r->clocks, c);
    far_join(far, &g->of.far[l], vclock_far(c));
    far_add(far, &g->of.far[l], s->r->number, mine);
    vclock_drop(far, mine);
}

/* This one adds the same layer of another gift. */
static void give_gift(const struct sync *s, struct gift *g, unsigned l, const struct gift *from) {
    if (s->local)
        vclock_join(&s->r->clocks, &g->of.own[l], from->of.own[l]);
    else
        far_join(s->r->clocks.far, &g->of.far[l], from->of.far[l]);
}

/* This one adds the acts of one lane up to `time`. *who names the lane: only its cluster, warp and lane are read. */
static void give_lane(const struct sync *s, struct gift *g, unsigned l, const struct flag *who, uint32_t time) {
    struct vclock_pool *far = s->r->clocks.far;
    struct vclock *c = NULL;
    if (!time)
        return;
    if (s->local) {
        vclock_add_lanes(&s->r->clocks, &g->of.own[l], who->warp, 1u << who->lane, time);
        return;
    }
    vclock_add_lanes(far, &c, who->warp, 1u << who->lane, time);
    far_add(far, &g->of.far[l], who->cluster, c);
    vclock_drop(far, c);
}

/* Does the lane release through a fence before the write, and does that fence's scope leave out other clusters? */
static bool is_narrow(const struct sync *s) {
    const struct know *k = &race_strand(s->r, s->warp, 1u << s->lane)->k;
    return !sem_releases(s->order) && k->released_at && k->released_scope < SCOPE_GPU;
}

/* What the lane's release gives, apart from the time: mostly the warp's latest gift again. The giver holds it. Readers
 * also acquire what any earlier fence of gpu scope released (LAYER_PERFORMED, see flags.h). */
static struct gift *gift_now(const struct sync *s) {
    struct giver **giver = &s->r->warps[s->warp].giver;
    struct meeting m = {.open = {NULL}};
    uint32_t own[LAYERS] = {0};
    know_release(s->r, s->warp, s->lane, &m, own, &(struct sem){s->order, s->scope, true, false, false});
    if (!s->local && is_narrow(s)) { /* the lane's last fence is not for readers in other clusters (8.7) */
        vclock_set(&s->r->clocks, &m.open[LAYER_ORDER], NULL);
        own[LAYER_ORDER] = 0;
    }
    for (unsigned l = 0; l < LAYERS; l++)
        own[l] = own[l] == s->r->time ? OWN_NOW : own[l];
    if (!*giver)
        *giver = xcalloc(1, sizeof **giver);
    struct gift **latest = &(*giver)->gift[s->local];
    struct vclock **from = (*giver)->from[s->local];
    if (!*latest || memcmp(from, m.open, sizeof m.open) != 0 || memcmp((*latest)->time, own, sizeof own) != 0) {
        struct gift *g = new_gift(s, true);
        memcpy(g->time, own, sizeof own);
        for (unsigned l = 0; l < LAYERS; l++) {
            give_clock(s, g, l, m.open[l]);
            vclock_set(&s->r->clocks, &from[l], m.open[l]);
        }
        give_clock(s, g, LAYER_ORDER, m.open[LAYER_PERFORMED]);
        set_gift(s, latest, g);
    }
    know_forget(s->r, &m);
    return *latest;
}

/* If the word's gift is shared: the word gets one of its own, which includes the giver's own accesses. */
static void make_own(const struct sync *s, struct flag *w) {
    if (!w->gift || !w->gift->shared)
        return;
    struct gift *g = new_gift(s, false);
    for (unsigned l = 0; l < LAYERS; l++) {
        give_gift(s, g, l, w->gift);
        give_lane(s, g, l, w, w->gift->time[l] == OWN_NOW ? w->time : w->gift->time[l]);
    }
    set_gift(s, &w->gift, g);
}

/* A release by the lane: its gift joins the word's release sequence. In an empty sequence the word shares the gift. If
 * the same lane gives the same once more, only the time changes. */
static void give(const struct sync *s, struct flag *w) {
    const struct flag who = {.cluster = s->r->number, .warp = (uint16_t)s->warp, .lane = (uint8_t)s->lane};
    const bool again = w->cluster == who.cluster && w->warp == who.warp && w->lane == who.lane;
    struct gift *g = gift_now(s);
    w->version++;
    if (w->gift && (w->gift != g || !again)) {
        make_own(s, w);
        for (unsigned l = 0; l < LAYERS; l++) {
            give_gift(s, w->gift, l, g);
            give_lane(s, w->gift, l, &who, g->time[l] == OWN_NOW ? s->r->time : g->time[l]);
        }
    } else if (!w->gift) {
        g->holders++;
        w->gift = g;
    }
    w->time = s->r->time;
    w->cluster = who.cluster;
    w->warp = who.warp;
    w->lane = who.lane;
}

/* Have the reading lanes taken this version already, with the same .sem and .scope? If not, remembers that they take it
 * now: the first of them, or all if they are the whole warp. */
static bool has_taken(const struct sync *s, struct flag *w) {
    const uint32_t cluster = s->r->number;
    const uint8_t order = (uint8_t)((uint32_t)s->order << 4 | (uint32_t)s->scope);
    const uint8_t lane = (uint8_t)(s->lanes == UINT32_MAX ? ALL : s->lane);
    const bool one = s->lanes == 1u << s->lane;
    if (!w->taker) {
        w->taker = xcalloc(TAKERS, sizeof *w->taker);
        table(s)->bytes += TAKERS * sizeof *w->taker;
    }
    struct flag_taker *t = &w->taker[(cluster + s->warp) % TAKERS];
    if (t->version == w->version && t->cluster == cluster && t->warp == s->warp && t->order == order &&
        (t->lane == ALL || (one && t->lane == lane)))
        return true;
    *t = (struct flag_taker){w->version, cluster, (uint16_t)s->warp, lane, order};
    return false;
}

/* The lanes learn the word's gift; `far`: also what it has from other clusters. */
static void observe(const struct sync *s, struct flag *w, bool far) {
    struct meeting m = {.open = {NULL}};
    make_own(s, w);
    for (unsigned l = 0; w->gift && l < LAYERS; l++)
        if (s->local)
            vclock_set(&s->r->clocks, &m.done[l], w->gift->of.own[l]);
        else
            vclock_import(&s->r->clocks, &m.done[l], far_of(w->gift->of.far[l], s->r->number),
                          far ? w->gift->of.far[l] : NULL);
    const uint32_t each = s->r->warps_each;
    /* used at the strict level: is the latest giver in this CTA? Earlier ones are not asked */
    const bool near = w->cluster == s->r->number && w->warp / each == s->warp / each;
    know_observe(s->r, s->warp, s->lanes, &m, NULL, &(struct sem){s->order, s->scope, near, far, false});
    know_forget(s->r, &m);
}

/* A strong read of the word, in one of the tables: acquires what its release sequence has released. A relaxed read of
 * gpu scope needs a fence after it, whose scope is not known yet. So it observes the word twice: first only what came
 * from this cluster, then all. A fence of narrow scope will take only the first (know.narrow), a fence of gpu scope
 * both. */
static void take(const struct sync *s, uint64_t key) {
    struct flag *w = find(table(s), key);
    const bool far = !s->local && !s->narrow;
    if (!w || has_taken(s, w))
        return;
    if (!far || !sem_acquires(s->order))
        observe(s, w, false);
    if (far)
        observe(s, w, true);
}

/* A plain store begins a new release sequence, unless its thread was the last writer. */
static void end_sequence(const struct sync *s, uint64_t key) {
    struct flag *w = find(table(s), key);
    if (w && (w->cluster != s->r->number || w->warp != s->warp || w->lane != s->lane))
        clear(s, w);
}

/* Has a thread with this knowledge anything to pass on? */
static bool releases(enum event_order order, const struct know *k) {
    return sem_releases(order) || k->released_at || k->before_at || k->now[LAYER_PERFORMED];
}

/* A strong write of the word: passes on what the lane has released, if anything. When the launch's table is full,
 * global memory is no longer checked: without its gifts, ordered accesses would look like races. */
static void put(const struct sync *s, uint64_t key) {
    if (!releases(s->order, &race_strand(s->r, s->warp, 1u << s->lane)->k))
        return;
    const struct grid_watch *g = s->r->grid;
    if (!s->local && g->flags.bytes + g->far.bytes >= race_bound(s->r, BOUND_FLAG_BYTES)) {
        s->r->grid->quiet = true;
        return;
    }
    give(s, find_or_add(table(s), key));
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* Does the access acquire? A reduction reads, but is no acquire pattern (8.11.1). */
static bool acquires(const struct event_access *e) {
    return e->effect & EFFECT_READ && !(e->by.what && strcmp(e->by.what, "red") == 0);
}

/* Remembers who wrote a word of global memory without a release, and for a read, which such writes it found. It needs
 * no lock. A launch whose kernel uses strong accesses of gpu scope has one island (machine/island.h), and clusters of
 * one island never run at the same time. */
static void hint(const struct sync *s, const struct event_access *e, uint64_t key) {
    struct flag_hint *h = &s->r->grid->hints[key % HINTS];
    const bool known = h->key == key && h->num;
    if (e->effect & EFFECT_READ && known)
        s->r->warps[s->warp].heard = *h;
    if (!(e->effect & EFFECT_WRITE))
        return;
    if (!known || e->effect == EFFECT_WRITE || sem_releases(s->order))
        *h = (struct flag_hint){.key = key};
    if (!sem_releases(s->order))
        h->by[h->num++ % HINT_WRITERS] = (struct hint_writer){s->r->number, s->r->time, s->warp, e->by.site};
}

/* A strong access to a word. It reads both tables, because writers of the word may have used several scopes; a write
 * goes to the table of its own scope. `whole`: it covers all bytes of the word. */
static void sync_word(struct sync *s, const struct event_access *e, uint64_t key, bool whole) {
    const bool local = s->narrow || e->space == SPACE_SHARED;
    for (int pass = 0; pass < 2; pass++) {
        s->local = pass == 0;
        if (s->acquires)
            take(s, key);
        if (e->effect == EFFECT_WRITE && whole)
            end_sequence(s, key);
    }
    s->local = local;
    if (!local)
        hint(s, e, key);
    if (e->effect & EFFECT_WRITE)
        put(s, key);
    if (e->effect & EFFECT_WRITE && !local && is_narrow(s)) { /* what the narrow fence released is for this cluster */
        s->local = true;
        put(s, key);
    }
}

/* May the lanes read as one? They must read the same word, and so far know the same. A relaxed read observes the word
 * twice (see take). Then the warp may have no other strand: between the two observations the lanes could merge with it.
 */
static bool reads_as_one(const struct sync *s, const struct event_access *e) {
    const bool twice = !s->narrow && !sem_acquires(s->order);
    const struct warp_watch *w = &s->r->warps[s->warp];
    const uint32_t lanes = e->by.lanes;
    if (e->effect != EFFECT_READ || !(lanes & (lanes - 1)) || (twice && w->num_strands > 1) ||
        lanes & ~race_strand(s->r, s->warp, lanes)->lanes)
        return false;
    uint64_t other = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        other |= e->at[__builtin_ctz(m)] ^ e->at[__builtin_ctz(lanes)];
    return !other;
}

/* Is there nothing to learn, because no thread has released anything, and nothing to pass on? */
static bool is_idle(const struct race *r, const struct event_access *e, uint32_t warp) {
    const struct warp_watch *w = &r->warps[warp];
    bool idle = !r->flags.num && !r->grid->flags.num;
    for (uint32_t i = 0; idle && e->effect & EFFECT_WRITE && i < w->num_strands; i++)
        idle = !(w->strand[i].lanes & e->by.lanes) || !releases(e->by.order, &w->strand[i].k);
    return idle;
}

void flags_sync(struct race *r, const struct event_access *e) {
    struct sync s = {.r = r,
                     .warp = race_warp_of(r, &e->by),
                     .order = e->by.order,
                     .scope = e->by.scope,
                     .narrow = e->by.scope < SCOPE_GPU || e->space == SPACE_SHARED,
                     .acquires = acquires(e)};
    /* global memory is not checked, or the qualifiers are those of the fence in tensormap.cp_fenceproxy: its accesses
     * themselves pass nothing on */
    if (!r->grid || maps_is_copy(e))
        return;
    const bool idle = is_idle(r, e, s.warp);
    if (idle && s.narrow)
        return;
    const bool as_one = reads_as_one(&s, e);
    for (uint32_t m = e->by.lanes; m; m = as_one ? 0 : m & (m - 1)) {
        s.lane = (uint32_t)__builtin_ctz(m);
        s.lanes = as_one ? m : 1u << s.lane;
        const uint64_t at = e->at[s.lane];
        const uint64_t high = e->space == SPACE_SHARED ? KEY_SHARED | (uint64_t)e->owner->rank << 32 : 0;
        for (uint64_t word = at / 4; word <= (at + e->size - 1) / 4; word++)
            if (idle)
                hint(&s, e, high | word);
            else
                sync_word(&s, e, high | word, e->size >= 4);
    }
}

void flags_end_warp(struct race *r, struct giver *g) {
    for (int local = 0; g && local < 2; local++) {
        const struct sync s = {.r = r, .local = local};
        for (unsigned l = 0; l < LAYERS; l++)
            vclock_drop(&r->clocks, g->from[local][l]);
        if (g->gift[local])
            set_gift(&s, &g->gift[local], NULL);
    }
    xfree(g);
}

/* Frees what the flags of a table hold, and the table. */
static void end_table(struct flags *w, struct vclock_pool *clocks, bool local) {
    for (uint64_t i = 0; w->bits && i < UINT64_C(1) << w->bits; i++) {
        drop_gift(clocks, w, local, w->flag[i].gift);
        xfree(w->flag[i].taker);
    }
    xfree(w->flag);
}

void flags_end(struct race *r) { end_table(&r->flags, &r->clocks, true); }

void flags_end_launch(struct flags *w, struct vclock_pool *far) { end_table(w, far, false); }
