/* check/know/flags.c - words through which threads synchronise; contract in flags.h. */
#include "check/know/cluster.h"

#include "base/heap.h"

#define MAX_FLAG_BYTES (256u << 20) /* that the flags of a launch may take, about; of more nothing can be said */
#define KEY_SHARED (UINT64_C(1) << 63)

/* --- tables ------------------------------------------------------------------------------------------------------- */

static struct flag *slot_of(const struct flags *w, uint64_t key) {
    uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - w->bits);
    while (w->flag[i].key && w->flag[i].key != key)
        i = (i + 1) & ((UINT64_C(1) << w->bits) - 1);
    return &w->flag[i];
}

static struct flag *find(const struct flags *w, uint64_t key) {
    struct flag *flag = w->num ? slot_of(w, key) : NULL;
    return flag && flag->key ? flag : NULL;
}

static void grow(struct flags *w) {
    const struct flags old = *w;
    w->bits = old.bits ? old.bits + 1 : 6;
    w->flag = xcalloc(UINT64_C(1) << w->bits, sizeof *w->flag);
    for (uint64_t i = 0; old.bits && i < UINT64_C(1) << old.bits; i++)
        if (old.flag[i].key)
            *slot_of(w, old.flag[i].key) = old.flag[i];
    xfree(old.flag);
}

static struct flag *find_or_add(struct flags *w, uint64_t key) {
    struct flag *flag = find(w, key);
    if (flag)
        return flag;
    if (!w->bits || w->num >= UINT32_C(1) << (w->bits - 1))
        grow(w);
    w->num++;
    flag = slot_of(w, key);
    flag->key = key;
    return flag;
}

/* --- one flag ----------------------------------------------------------------------------------------------------- */

/* One lane's access. `local`: the word is in the table of the cluster. */
struct sync {
    struct race *r;
    uint32_t warp, lane;
    enum event_order order;
    enum event_scope scope;
    bool local, narrow;
};

static void clear(const struct sync *s, struct flag *w) {
    w->version++;
    for (unsigned l = 0; l < LAYERS; l++)
        if (s->local) {
            vclock_set(&s->r->clocks, &w->given.own[l], NULL);
        } else {
            far_drop(s->r->clocks.far, w->given.far[l]);
            w->given.far[l] = NULL;
        }
}

static void give_layer(const struct sync *s, struct flag *w, unsigned l, struct vclock *c) {
    struct vclock_pool *far = s->r->clocks.far;
    if (!c)
        return;
    if (s->local) {
        vclock_join(&s->r->clocks, &w->given.own[l], c);
        return;
    }
    struct vclock *mine = vclock_export(&s->r->clocks, c);
    far_join(far, &w->given.far[l], vclock_far(c));
    far_add(far, &w->given.far[l], s->r->number, mine);
    vclock_drop(far, mine);
}

static void give(const struct sync *s, struct flag *w) {
    struct meeting m = {{NULL}, {NULL}, NULL};
    w->version++;
    know_arrive(s->r, s->warp, 1u << s->lane, &m, &(struct sem){s->order, s->scope, true});
    vclock_join(&s->r->clocks, &m.open[LAYER_ORDER], race_strand(s->r, s->warp, 1u << s->lane)->k.now[LAYER_PERFORMED]);
    for (unsigned l = 0; l < LAYERS; l++)
        give_layer(s, w, l, m.open[l]);
    know_forget(s->r, &m);
}

static struct flags *table(const struct sync *s) { return s->local ? &s->r->flags : &s->r->grid->flags; }

static bool has_taken(const struct sync *s, struct flag *w) {
    const uint32_t cluster = s->r->number;
    const uint8_t order = (uint8_t)((uint32_t)s->order << 4 | (uint32_t)s->scope);
    struct flag_taker *t = &w->taker[(cluster + s->warp) % FLAG_TAKERS];
    if (t->version == w->version && t->cluster == cluster && t->warp == s->warp && t->lane == s->lane &&
        t->order == order)
        return true;
    *t = (struct flag_taker){w->version, cluster, (uint16_t)s->warp, (uint8_t)s->lane, order};
    return false;
}

static void take(const struct sync *s, uint64_t key) {
    struct flag *w = find(table(s), key);
    struct meeting m = {{NULL}, {NULL}, NULL};
    if (!w || has_taken(s, w))
        return;
    for (unsigned l = 0; l < LAYERS; l++)
        if (s->local)
            vclock_set(&s->r->clocks, &m.done[l], w->given.own[l]);
        else
            vclock_import(&s->r->clocks, &m.done[l], far_of(w->given.far[l], s->r->number),
                          s->narrow ? NULL : w->given.far[l]);
    const uint32_t each = s->r->warps_each;
    const bool near = w->cluster == s->r->number && w->warp / each == s->warp / each; /* of the latest giver */
    know_observe(s->r, s->warp, 1u << s->lane, &m, &(struct sem){s->order, s->scope, near});
    know_forget(s->r, &m);
}

/* A plain store begins a new release sequence, unless it is by the thread that wrote last. */
static void end_sequence(const struct sync *s, uint64_t key) {
    struct flag *w = find(table(s), key);
    if (w && (w->cluster != s->r->number || w->warp != s->warp || w->lane != s->lane))
        clear(s, w);
}

static void put(const struct sync *s, uint64_t key) {
    const struct know *k = &race_strand(s->r, s->warp, 1u << s->lane)->k;
    if (!sem_releases(s->order) && !k->released_at && !k->before_at && !k->now[LAYER_PERFORMED])
        return;
    const uint32_t each = LAYERS * (512 + 9 * s->r->clocks.warps);
    if (!s->local && s->r->grid->flags.num >= MAX_FLAG_BYTES / each) {
        s->r->grid->quiet = true;
        event_tell_unseen(s->r->cluster->cta[0].gpu, UNSEEN_GLOBAL_RACES);
        return;
    }
    struct flag *w = find_or_add(table(s), key);
    w->cluster = s->r->number;
    w->warp = (uint16_t)s->warp;
    w->lane = (uint8_t)s->lane;
    give(s, w);
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* A reduction reads, but makes no acquire pattern (8.11.1). */
static bool acquires(const struct event_access *e) {
    return e->effect & EFFECT_READ && !(e->by.what && strcmp(e->by.what, "red") == 0);
}

static void sync_word(struct sync *s, const struct event_access *e, uint64_t key, bool whole) {
    const bool local = s->narrow || e->space == SPACE_SHARED;
    for (int pass = 0; pass < 2; pass++) {
        s->local = pass == 0;
        if (acquires(e))
            take(s, key);
        if (e->effect == EFFECT_WRITE && whole)
            end_sequence(s, key);
    }
    s->local = local;
    if (e->effect & EFFECT_WRITE)
        put(s, key);
}

void flags_sync(struct race *r, const struct event_access *e) {
    struct sync s = {.r = r,
                     .warp = race_warp_of(r, &e->by),
                     .order = e->by.order,
                     .scope = e->by.scope,
                     .narrow = e->by.scope < SCOPE_GPU || e->space == SPACE_SHARED};
    if (!r->grid || maps_is_copy(e))
        return;
    for (uint32_t m = e->by.lanes; m; m &= m - 1) {
        s.lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = e->at[s.lane];
        const uint64_t high = e->space == SPACE_SHARED ? KEY_SHARED | (uint64_t)e->owner->rank << 32 : 0;
        for (uint64_t word = at / 4; word <= (at + e->size - 1) / 4; word++)
            sync_word(&s, e, high | word, e->size >= 4);
    }
}

void flags_end(struct race *r) {
    const struct sync s = {.r = r, .local = true};
    const struct flags *w = &r->flags;
    for (uint64_t i = 0; w->bits && i < UINT64_C(1) << w->bits; i++)
        clear(&s, &w->flag[i]);
    xfree(w->flag);
}

void flags_end_launch(struct flags *w, struct vclock_pool *far) {
    for (uint64_t i = 0; w->bits && i < UINT64_C(1) << w->bits; i++)
        for (unsigned l = 0; l < LAYERS; l++)
            far_drop(far, w->flag[i].given.far[l]);
    xfree(w->flag);
}
