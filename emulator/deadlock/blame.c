/* deadlock/blame.c - who waits for whom in a launch that cannot go on, and where that chain begins; contract: blame.h.
 *
 * Nothing in a program says who arrives at an mbarrier. So each group is followed to what it would do next (ahead.h). A
 * wait needs those that would then arrive there, or bring its bytes, and have not in this phase: a warp that has come
 * comes no more before the phase is over. If all have come and the count is not met, the barrier itself is to blame,
 * and so it is if nobody would ever come. If each waits for another, the first waits of a ring tell: data can be waited
 * for before it is there, and room for it cannot.
 */
#include "deadlock/blame.h"

#include "base/heap.h"

#include <string.h>

#define MAX_POLLS 64u                  /* words */
#define LOOK_AHEAD (UINT64_C(1) << 24) /* instructions, of all groups together */

const struct insn *deadlock_insn(const struct warp *w, const struct group *g) {
    return g->state == GROUP_WAITING && g->wait.in ? g->wait.in : &w->frames[g->frame].func->code[g->pc];
}

/* --- mbarriers ---------------------------------------------------------------------------------------------------- */

static bool same_init(const struct mach_mbar *a, const struct mach_mbar *b) {
    const struct diag_site *x = a->init, *y = b->init;
    if (x == y || !x || !y)
        return x == y;
    const struct diag_inline *p = x->inlined, *q = y->inlined;
    return x->src_line == y->src_line && p && q && p->line == q->line;
}

static uint32_t parts(const struct mach_mbar_phase *p, uint32_t rank) { return p->arrived[rank] | p->brought[rank]; }

/* Who came in the phase before or, in the first one, to the object's likes, and not in this one. */
static void expect(struct lack *k) {
    const struct mach_mbar *o = k->object;
    for (uint32_t r = 0; r < k->cta->cluster->num_ctas; r++) {
        k->came_before[r] = parts(&o->last, r);
        for (uint32_t i = 0; o->phases == 0 && i < k->cta->num_mbars; i++) {
            const struct mach_mbar *other = &k->cta->mbars[i];
            if (other != o && same_init(o, other))
                k->came_before[r] |= parts(&other->last, r) | parts(&other->now, r);
        }
        k->came_before[r] &= ~parts(&o->now, r);
    }
}

struct lack deadlock_lack(const struct stuck *s) {
    const struct warp_wait *x = &s->g->wait;
    struct lack k = {0};
    k.cta = smem_resolve(s->w->cta, x->addr, 8, &k.off);
    if (!k.cta || mbar_peek(k.cta, k.off, &k.v) != MBAR_OK)
        return k;
    k.object = &k.cta->mbars[mbar_index(k.cta, k.off)];
    expect(&k);
    k.passed = k.object->passed[s->w->index];
    k.missed = k.v.phases > (k.passed ? k.passed - 1 : 0);
    return k;
}

bool deadlock_is_fresh(const struct lack *k) {
    return k->object && k->v.phases == 0 && k->v.pending == k->v.expected && !k->passed;
}

uint32_t deadlock_exited(const struct lack *k) {
    for (uint32_t i = 0; i < k->cta->num_warps; i++)
        if (k->came_before[k->cta->rank] >> i & 1 && !k->cta->warps[i].live)
            return i;
    return DEADLOCK_NONE;
}

/* --- who waits for whom ------------------------------------------------------------------------------------------- */

/* Would `o` come to the mbarrier that lacks `k` in this phase, once it went on? */
static bool comes_to(const struct stuck *o, const struct lack *k) {
    const uint32_t what = ahead_what(&o->ahead, k->cta, k->off), rank = o->w->cta->rank, bit = 1u << o->w->index;
    if (k->v.pending && what & (AHEAD_ARRIVES | AHEAD_COMMITS) && !(k->object->now.arrived[rank] & bit))
        return true;
    if (k->v.tx > 0 && what & AHEAD_BYTES && !(k->object->now.brought[rank] & bit))
        return true;
    return !o->ahead.whole && k->came_before[rank] & bit;
}

/* Would it go on to `in`, or is that not known? */
static bool comes_to_insn(const struct stuck *o, const struct ptx_insn *in) {
    return ahead_meets(&o->ahead, in) || !o->ahead.whole;
}

static bool at_barrier(const struct stuck *s, const struct stuck *o) {
    return o->kind == WAIT_BARRIER && o->w->cta == s->w->cta && o->g->wait.addr == s->g->wait.addr;
}

/* Would `s` go on once `o` had? */
static bool needs(const struct stuck *s, const struct stuck *o, const struct lack *k) {
    const struct cta *own = s->w->cta, *other = o->w->cta;
    const struct ptx_insn *in = deadlock_insn(s->w, s->g)->src;
    switch (s->kind) {
    case WAIT_NONE:
        return s->poll.in && ahead_what(&o->ahead, NULL, s->poll.addr);
    case WAIT_MBARRIER:
        return k->object && comes_to(o, k);
    case WAIT_BARRIER:
        return other == own && !at_barrier(s, o) &&
               (o->ahead.bars >> s->g->wait.addr % MACH_BARRIERS & 1 || !o->ahead.whole);
    case WAIT_CLUSTER:
        return o->kind != WAIT_CLUSTER;
    case WAIT_WARP_SYNC:
        return o->w == s->w && o->g->mask & (uint32_t)s->g->wait.value && comes_to_insn(o, in);
    case WAIT_ALIGNED:
        return o->w == s->w && comes_to_insn(o, in);
    case WAIT_JOIN:
        return o->w == s->w && o->kind != WAIT_JOIN;
    case WAIT_PAIR:
        return other->rank == (own->rank ^ 1) && o->kind != WAIT_PAIR && comes_to_insn(o, in);
    default:
        return false;
    }
}

/* The groups of one cluster, list[first] and on, and who needs whom. */
struct graph {
    struct stuck *list;
    uint32_t count;
    uint8_t *needs; /* [i * count + j]: i needs j */
};

static bool edge(const struct graph *g, uint32_t i, uint32_t j) { return g->needs[(size_t)i * g->count + j]; }

static void find_edges(struct graph *g) {
    for (uint32_t i = 0; i < g->count; i++) {
        struct stuck *s = &g->list[i];
        const struct lack k = s->kind == WAIT_MBARRIER ? deadlock_lack(s) : (struct lack){0};
        for (uint32_t j = 0; j < g->count; j++) {
            const bool needed = j != i && needs(s, &g->list[j], &k);
            g->needs[(size_t)i * g->count + j] = needed;
            s->first &= !needed;
        }
    }
}

/* Who is held up by list[root], itself included: how many. With `set` each is told the next on the way to it. */
static uint32_t reach(const struct graph *g, uint32_t root, bool set) {
    uint32_t *queue = xcalloc(g->count, sizeof *queue), n = 0;
    bool *seen = xcalloc(g->count, sizeof *seen);
    queue[n++] = root;
    seen[root] = true;
    for (uint32_t at = 0; at < n; at++)
        for (uint32_t i = 0; i < g->count; i++) {
            if (seen[i] || !edge(g, i, queue[at]))
                continue;
            seen[i] = true;
            queue[n++] = i;
            if (set) {
                g->list[i].waits_for = &g->list[queue[at]];
                g->list[i].depth = g->list[queue[at]].depth + 1;
            }
        }
    xfree(queue);
    xfree(seen);
    return n;
}

/* --- how much speaks for each ------------------------------------------------------------------------------------- */

/* What all together would do to an mbarrier. */
static uint32_t what_of_all(const struct graph *g, const struct cta *cta, uint32_t off) {
    uint32_t what = 0;
    for (uint32_t i = 0; i < g->count; i++)
        what |= ahead_what(&g->list[i].ahead, cta, off);
    return what;
}

/* Bytes that came and that nobody is going to announce: who has arrived announces no more in this phase. */
static bool unannounced(const struct graph *g, const struct cta *cta, uint32_t off) {
    struct mbar_view v;
    return mbar_peek(cta, off, &v) == MBAR_OK && v.tx < 0 &&
           (!v.pending || !(what_of_all(g, cta, off) & AHEAD_EXPECTS));
}

static const struct cta *stray_of(const struct graph *g, const struct lack *k) {
    const struct cluster *cl = k->cta->cluster;
    for (uint32_t r = 0; r < cl->num_ctas && k->v.tx > 0; r++)
        if (&cl->cta[r] != k->cta && unannounced(g, &cl->cta[r], k->off))
            return &cl->cta[r];
    return NULL;
}

/* Of an mbarrier: a phase that is over, a count or bytes that cannot be met. */
static uint32_t weigh_mbarrier(const struct graph *g, struct stuck *s) {
    const struct lack k = deadlock_lack(s);
    if (!k.object)
        return 96;
    if (unannounced(g, k.cta, k.off))
        return 91;
    if (k.missed)
        return 86;
    s->stray = stray_of(g, &k);
    if (s->stray)
        return 81;
    if (!s->first)
        return 0;
    if (deadlock_exited(&k) != DEADLOCK_NONE)
        return 71;
    return k.v.tx > 0 && !k.v.pending ? 66 : k.v.pending < k.v.expected ? 61 : 51;
}

static uint32_t weigh(const struct graph *g, struct stuck *s) {
    switch (s->kind) {
    case WAIT_NONE:
        return !s->poll.in ? 100 : s->first ? 70 : 0;
    case WAIT_MBARRIER:
        return weigh_mbarrier(g, s);
    case WAIT_WARP_SYNC:
    case WAIT_ALIGNED:
        return s->first ? 79 : 0;
    case WAIT_PAIR:
        return s->first ? 77 : 0;
    case WAIT_BARRIER:
        return s->first ? 76 : 0;
    case WAIT_TMEM_ALLOC:
    case WAIT_REGISTERS:
        return s->first ? 66 : 0;
    case WAIT_CLUSTER:
        return s->first ? 41 : 0;
    default:
        return 0;
    }
}

/* The same where each waits for another: nobody can be waited for at once, and in the first phase of a ring room is
 * waited for in vain before data. Room is told by arrivals or commits, data by bytes or commits. */
static uint32_t weigh_in_ring(const struct graph *g, const struct stuck *s) {
    switch (s->kind) {
    case WAIT_PAIR:
        return 34;
    case WAIT_WARP_SYNC:
    case WAIT_ALIGNED:
        return 32;
    case WAIT_MBARRIER: {
        const struct lack k = deadlock_lack(s);
        const uint32_t what = what_of_all(g, k.cta, k.off);
        const uint32_t data = what & (AHEAD_BYTES | AHEAD_EXPECTS) ? 2 : what & AHEAD_COMMITS ? 1 : 0;
        return (deadlock_is_fresh(&k) ? 20 : 10) - data;
    }
    case WAIT_NONE:
        return 7;
    case WAIT_BARRIER:
        return 5;
    default:
        return 1;
    }
}

/* The one to blame among those of a cluster. */
static struct stuck *find_root(const struct graph *g) {
    struct stuck *best = NULL;
    for (uint32_t i = 0; i < g->count; i++) {
        struct stuck *s = &g->list[i];
        s->weight = weigh(g, s);
        s->followers = 0;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        struct stuck *s = &g->list[i];
        if (best && s->weight < best->weight)
            continue;
        s->followers = reach(g, i, false);
        const bool ring = !s->weight;
        if (!best || s->weight > best->weight || s->followers > best->followers ||
            (ring && s->followers == best->followers && weigh_in_ring(g, s) > weigh_in_ring(g, best)))
            best = s;
    }
    return best;
}

/* --- the groups --------------------------------------------------------------------------------------------------- */

static struct stuck *list_groups(const struct deadlock_scene *at, uint32_t *count) {
    struct stuck *list = NULL;
    uint32_t cap = 0, n = 0;
    for (uint32_t c = 0; c < at->num_clusters; c++) {
        struct cluster *cl = at->clusters[c];
        for (uint32_t r = 0; r < cl->num_ctas && cl->cta[r].warps; r++)
            for (uint32_t i = 0; i < cl->cta[r].num_warps; i++) {
                struct warp *w = &cl->cta[r].warps[i];
                for (unsigned k = 0; k < w->num_groups && w->live; k++) {
                    const struct group *g = &w->groups[k];
                    if (g->state == GROUP_FREE)
                        continue;
                    const enum event_wait_kind kind = g->state == GROUP_WAITING ? g->wait.kind : WAIT_NONE;
                    list = xgrow(list, n, &cap, sizeof *list);
                    list[n++] = (struct stuck){.w = w, .g = g, .kind = kind, .depth = UINT32_MAX};
                }
            }
    }
    *count = n;
    return list;
}

/* The words that are polled, in a list that the caller frees. */
static uint64_t *find_polls(struct stuck *list, uint32_t count, uint32_t *num) {
    uint64_t *words = NULL;
    uint32_t cap = 0;
    *num = 0;
    for (uint32_t i = 0; i < count && *num < MAX_POLLS; i++) {
        uint32_t k = 0;
        if (list[i].kind != WAIT_NONE)
            continue;
        ahead_find_poll(list[i].w, list[i].g, &list[i].poll);
        while (k < *num && words[k] != list[i].poll.addr)
            k++;
        if (!list[i].poll.in || k < *num)
            continue;
        words = xgrow(words, *num, &cap, sizeof *words);
        words[(*num)++] = list[i].poll.addr;
    }
    return words;
}

/* Follows all groups of whole clusters, as far as the instructions suffice; returns how many groups. Clusters that
 * there are none left for are taken to be as those before. */
static uint32_t look_ahead(struct stuck *list, uint32_t count) {
    uint64_t budget = LOOK_AHEAD;
    uint32_t num_words, first = 0;
    uint64_t *words = find_polls(list, count, &num_words);
    for (uint32_t i = 0; i < count; i++) {
        struct stuck *s = &list[i];
        if (s->w->cta->cluster != list[first].w->cta->cluster)
            first = i;
        ahead_look(s->w, s->g, &s->poll, words, num_words, &budget, &s->ahead);
        if (!budget && first) {
            count = first;
            break;
        }
    }
    xfree(words);
    return count;
}

/* Would another one, of whichever cluster, store to the word that `s` polls? */
static bool is_stored(const struct stuck *list, uint32_t count, const struct stuck *s) {
    for (uint32_t i = 0; i < count; i++)
        if (&list[i] != s && ahead_what(&list[i].ahead, NULL, s->poll.addr))
            return true;
    return false;
}

struct stuck *deadlock_groups(const struct deadlock_scene *at, uint32_t *count, struct stuck **root) {
    struct stuck *list = list_groups(at, count);
    const uint32_t looked = look_ahead(list, *count);
    *root = NULL;
    for (uint32_t first = 0, end; first < looked; first = end) {
        for (end = first; end < looked && list[end].w->cta->cluster == list[first].w->cta->cluster; end++)
            list[end].first = !list[end].poll.in || !is_stored(list, looked, &list[end]);
        struct graph g = {.list = list + first, .count = end - first};
        g.needs = xcalloc((size_t)g.count * g.count, 1);
        find_edges(&g);
        struct stuck *s = find_root(&g);
        if (!*root || s->weight > (*root)->weight) {
            *root = s;
            s->depth = 0;
            reach(&g, (uint32_t)(s - g.list), true);
        }
        xfree(g.needs);
    }
    return list;
}

void deadlock_free_groups(struct stuck *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        ahead_free(&list[i].ahead);
    xfree(list);
}
