/* check/global_words.c - words through which threads synchronise; global.h.
 *
 * A release pattern on a word (8.8) gives what its thread knows to whoever reads the value in an acquire pattern.
 * Memory is sequentially consistent in the emulator: a read finds the latest write. An atomic operation continues the
 * release sequences that it finds (8.9.2); a plain strong store begins a new one, unless its thread wrote the word
 * last. A weak store would end it, but races with the read, which is told of the access itself.
 *
 * Formally a fence releases the accesses before it of its own thread, and what that thread knew then. Kernels rely on
 * more: every thread fences, then a barrier, then one thread's relaxed store (LAYER_PERFORMED). All has reached the
 * device by then, and chips have no way to undo it.
 */
#include "base/heap.h"
#include "check/global.h"

#include <string.h>

#define MAX_WORD_BYTES (256u << 20) /* that the words of a launch may take, about; of more nothing can be said */
#define KEY_SHARED (UINT64_C(1) << 63)

static bool releases(enum event_order o) { return o == ORDER_RELEASE || o == ORDER_ACQ_REL; }

/* --- tables ------------------------------------------------------------------------------------------------------- */

static struct word_given *slot_of(const struct words *w, uint64_t key) {
    uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - w->bits);
    while (w->word[i].key && w->word[i].key != key)
        i = (i + 1) & ((UINT64_C(1) << w->bits) - 1);
    return &w->word[i];
}

static struct word_given *find(const struct words *w, uint64_t key) {
    struct word_given *word = w->num ? slot_of(w, key) : NULL;
    return word && word->key ? word : NULL;
}

static void grow(struct words *w) {
    const struct words old = *w;
    w->bits = old.bits ? old.bits + 1 : 6;
    w->word = xcalloc(UINT64_C(1) << w->bits, sizeof *w->word);
    for (uint64_t i = 0; old.bits && i < UINT64_C(1) << old.bits; i++)
        if (old.word[i].key)
            *slot_of(w, old.word[i].key) = old.word[i];
    xfree(old.word);
}

static struct word_given *find_or_add(struct words *w, uint64_t key) {
    struct word_given *word = find(w, key);
    if (word)
        return word;
    if (!w->bits || w->num >= UINT32_C(1) << (w->bits - 1))
        grow(w);
    w->num++;
    word = slot_of(w, key);
    word->key = key;
    return word;
}

/* --- one word ----------------------------------------------------------------------------------------------------- */

/* One lane's access. `local`: the word is in the table of the cluster. */
struct sync {
    struct race *r;
    uint32_t warp, lane;
    enum event_order order;
    enum event_scope scope;
    bool local, narrow;
};

static void clear(const struct sync *s, struct word_given *w) {
    w->version++;
    for (unsigned l = 0; l < LAYERS; l++)
        if (s->local) {
            clock_set(&s->r->clocks, &w->given.own[l], NULL);
        } else {
            far_drop(s->r->clocks.far, w->given.far[l]);
            w->given.far[l] = NULL;
        }
}

static void give_layer(const struct sync *s, struct word_given *w, unsigned l, struct clock *c) {
    struct clock_pool *far = s->r->clocks.far;
    if (!c)
        return;
    if (s->local) {
        clock_join(&s->r->clocks, &w->given.own[l], c);
        return;
    }
    struct clock *mine = clock_export(&s->r->clocks, c);
    far_join(far, &w->given.far[l], clock_far(c));
    far_add(far, &w->given.far[l], s->r->global->cluster, mine);
    clock_drop(far, mine);
}

static const struct know *know_of(const struct sync *s) {
    const struct warp_watch *w = &s->r->warps[s->warp];
    uint32_t i = 0;
    while (i + 1u < w->num_strands && !(w->strand[i].lanes >> s->lane & 1))
        i++;
    return &w->strand[i].k;
}

static void give(const struct sync *s, struct word_given *w) {
    struct meeting m = {{NULL}, {NULL}, NULL};
    w->version++;
    know_arrive(s->r, s->warp, 1u << s->lane, &m, &(struct manner){s->order, s->scope, true});
    clock_join(&s->r->clocks, &m.open[LAYER_ORDER], know_of(s)->now[LAYER_PERFORMED]);
    for (unsigned l = 0; l < LAYERS; l++)
        give_layer(s, w, l, m.open[l]);
    know_forget(s->r, &m);
}

static struct words *table(const struct sync *s) {
    return s->local ? &s->r->global->words : &s->r->global->launch->words;
}

static bool has_taken(const struct sync *s, struct word_given *w) {
    const uint32_t cluster = s->r->global->cluster;
    const uint8_t order = (uint8_t)((uint32_t)s->order << 4 | (uint32_t)s->scope);
    struct taker *t = &w->taker[(cluster + s->warp) % WORD_TAKERS];
    if (t->version == w->version && t->cluster == cluster && t->warp == s->warp && t->lane == s->lane &&
        t->order == order)
        return true;
    *t = (struct taker){w->version, cluster, (uint16_t)s->warp, (uint8_t)s->lane, order};
    return false;
}

static void take(const struct sync *s, uint64_t key) {
    struct word_given *w = find(table(s), key);
    struct meeting m = {{NULL}, {NULL}, NULL};
    if (!w || has_taken(s, w))
        return;
    for (unsigned l = 0; l < LAYERS; l++)
        if (s->local)
            clock_set(&s->r->clocks, &m.done[l], w->given.own[l]);
        else
            clock_import(&s->r->clocks, &m.done[l], far_of(w->given.far[l], s->r->global->cluster),
                         s->narrow ? NULL : w->given.far[l]);
    const uint32_t each = s->r->warps_each;
    const bool near = w->cluster == s->r->global->cluster && w->warp / each == s->warp / each; /* of the latest giver */
    know_observe(s->r, s->warp, 1u << s->lane, &m, &(struct manner){s->order, s->scope, near});
    know_forget(s->r, &m);
}

/* A plain store begins a new release sequence, unless it is by the thread that wrote last. */
static void end_sequence(const struct sync *s, uint64_t key) {
    struct word_given *w = find(table(s), key);
    if (w && (w->cluster != s->r->global->cluster || w->warp != s->warp || w->lane != s->lane))
        clear(s, w);
}

static void put(const struct sync *s, uint64_t key) {
    const struct know *k = know_of(s);
    if (!releases(s->order) && !k->released_at && !k->before_at && !k->now[LAYER_PERFORMED])
        return;
    const uint32_t each = LAYERS * (512 + 9 * s->r->clocks.warps);
    if (!s->local && s->r->global->launch->words.num >= MAX_WORD_BYTES / each) {
        s->r->global->launch->quiet = true;
        return;
    }
    struct word_given *w = find_or_add(table(s), key);
    w->cluster = s->r->global->cluster;
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

void global_sync(struct race *r, const struct event_access *e) {
    struct sync s = {.r = r,
                     .warp = race_warp(r, e->by.cta, e->by.warp),
                     .order = e->by.order,
                     .scope = e->by.scope,
                     .narrow = e->by.scope < SCOPE_GPU || e->space == SPACE_SHARED};
    if (!r->global || global_is_map_copy(e))
        return;
    for (uint32_t m = e->by.lanes; m; m &= m - 1) {
        s.lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = e->at[s.lane];
        const uint64_t high = e->space == SPACE_SHARED ? KEY_SHARED | (uint64_t)e->owner->rank << 32 : 0;
        for (uint64_t word = at / 4; word <= (at + e->size - 1) / 4; word++)
            sync_word(&s, e, high | word, e->size >= 4);
    }
}

void global_words_end(struct race *r) {
    const struct sync s = {.r = r, .local = true};
    const struct words *w = &r->global->words;
    for (uint64_t i = 0; w->bits && i < UINT64_C(1) << w->bits; i++)
        clear(&s, &w->word[i]);
    xfree(w->word);
}

void global_words_free(struct global *g) {
    const struct words *w = &g->words;
    for (uint64_t i = 0; w->bits && i < UINT64_C(1) << w->bits; i++)
        for (unsigned l = 0; l < LAYERS; l++)
            far_drop(&g->far, w->word[i].given.far[l]);
    xfree(w->word);
}
