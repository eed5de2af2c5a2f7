/* deadlock/blame.c - who waits for whom in a launch that cannot go on, and what the first in the chain lacks; contract
 * in blame.h.
 *
 * Nothing says who would have arrived at an mbarrier. Who did in the phase before, there or at one that the same line
 * initialised, is taken to do so again: where such a warp is held up elsewhere, it is waited for; where it has exited,
 * or where nobody is known, the barrier itself is to blame. Whether a wait asks for another phase than the next one its
 * warp had to see is known: cta->mbars[].passed.
 */
#include "deadlock/blame.h"

#include "base/heap.h"
#include "base/strbuf.h"

const struct insn *deadlock_insn(const struct warp *w, const struct group *g) {
    return g->state == GROUP_WAITING && g->wait.in ? g->wait.in : &w->frames[g->frame].func->code[g->pc];
}

/* --- mbarriers ---------------------------------------------------------------------------------------------------- */

/* What a group waits for at an mbarrier. */
struct lack {
    const struct cta *cta; /* whose it is */
    uint32_t off;
    struct mbar_view v;
    const struct mach_mbar *object; /* NULL: it is not initialised */
    uint32_t warps, ranks;          /* that came in the phase before, and not in this one */
    uint32_t passed;                /* `phases` + 1 when the warp last passed it; 0: never */
    bool missed;                    /* phases have completed that the warp did not wait for */
};

static bool same_init(const struct mach_mbar *a, const struct mach_mbar *b) {
    const struct diag_site *x = a->init, *y = b->init;
    if (x == y || !x || !y)
        return x == y;
    const struct diag_inline *p = x->inlined, *q = y->inlined;
    return x->src_line == y->src_line && p && q && p->line == q->line;
}

/* Who is expected in this phase: those of the phase before or, in the first one, those of the object's likes. */
static void expect(struct lack *k) {
    const struct mach_mbar *o = k->object;
    k->warps = o->last.warps;
    k->ranks = o->last.ranks;
    for (uint32_t i = 0; o->phases == 0 && i < k->cta->num_mbars; i++) {
        const struct mach_mbar *other = &k->cta->mbars[i];
        if (other == o || !same_init(o, other))
            continue;
        k->warps |= other->last.warps | other->now.warps;
        k->ranks |= other->last.ranks | other->now.ranks;
    }
    k->warps &= ~o->now.warps;
    k->ranks &= ~o->now.ranks;
}

static struct lack lack_of(const struct stuck *s) {
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

/* Another CTA's mbarrier at the same place with bytes that nobody announced, or NULL. */
static const struct cta *stray_of(const struct lack *k, int32_t *bytes) {
    const struct cluster *cl = k->cta->cluster;
    struct mbar_view v;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        if (&cl->cta[r] != k->cta && mbar_peek(&cl->cta[r], k->off, &v) == MBAR_OK && v.tx < 0) {
            *bytes = -v.tx;
            return &cl->cta[r];
        }
    return NULL;
}

static bool has_exited(const struct lack *k) {
    for (uint32_t i = 0; i < k->cta->num_warps; i++)
        if (k->warps >> i & 1 && !k->cta->warps[i].live)
            return true;
    return false;
}

/* How much speaks for a missing arrival or byte as the cause; 0 where somebody else comes first. */
static uint32_t weigh_mbarrier(const struct stuck *s) {
    const struct lack k = lack_of(s);
    int32_t bytes;
    if (!k.object)
        return 95;
    if (k.v.tx < 0)
        return 90;
    if (k.missed)
        return 85;
    if (k.v.tx > 0 && stray_of(&k, &bytes))
        return 80;
    if (has_exited(&k))
        return 70;
    if (s->waits_for != DEADLOCK_NONE)
        return 0;
    return k.v.tx > 0 && !k.v.pending ? 65 : k.v.pending < k.v.expected ? 60 : 50;
}

/* --- who waits for whom ------------------------------------------------------------------------------------------- */

static bool at_barrier(const struct stuck *s, const struct stuck *o) {
    return o->kind == WAIT_BARRIER && o->w->cta == s->w->cta && o->g->wait.addr == s->g->wait.addr;
}

/* Would `s` go on once `o` had? */
static bool needs(const struct stuck *s, const struct stuck *o, const struct lack *k) {
    const struct cta *own = s->w->cta, *other = o->w->cta;
    switch (s->kind) {
    case WAIT_MBARRIER:
        if (o->w == s->w || !k->object)
            return false;
        return other == k->cta ? k->warps >> o->w->index & 1 : k->ranks >> other->rank & 1;
    case WAIT_BARRIER:
        return other == own && !at_barrier(s, o);
    case WAIT_CLUSTER:
        return o->kind != WAIT_CLUSTER;
    case WAIT_WARP_SYNC:
        return o->w == s->w && o->g->mask & (uint32_t)s->g->wait.value;
    case WAIT_JOIN:
    case WAIT_ALIGNED:
        return o->w == s->w;
    case WAIT_PAIR:
        return other->rank == (own->rank ^ 1) && o->kind != WAIT_PAIR;
    default:
        return false;
    }
}

static void find_needed(struct stuck *list, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const struct lack k = list[i].kind == WAIT_MBARRIER ? lack_of(&list[i]) : (struct lack){0};
        for (uint32_t j = first; j < end && list[i].waits_for == DEADLOCK_NONE; j++)
            if (j != i && list[j].kind != WAIT_JOIN && needs(&list[i], &list[j], &k))
                list[i].waits_for = j;
    }
    for (uint32_t i = first; i < end; i++) {
        uint32_t at = list[i].waits_for;
        for (uint32_t steps = first; at != DEADLOCK_NONE && at != i && steps < end; steps++) {
            list[at].followers++;
            at = list[at].waits_for;
        }
    }
}

static uint32_t weigh(const struct stuck *s) {
    const struct cta *cta = s->w->cta;
    const bool first = s->waits_for == DEADLOCK_NONE;
    switch (s->kind) {
    case WAIT_NONE:
        return 100;
    case WAIT_MBARRIER:
        return 1 + weigh_mbarrier(s);
    case WAIT_BARRIER:
        return first && cta->live_warps < cta->num_warps ? 75 : 0;
    case WAIT_TMEM_ALLOC:
    case WAIT_REGISTERS:
        return first ? 65 : 1;
    case WAIT_CLUSTER:
    case WAIT_WARP_SYNC:
    case WAIT_ALIGNED:
    case WAIT_JOIN:
        return 0;
    default:
        return 1;
    }
}

struct stuck *deadlock_groups(const struct deadlock_scene *at, uint32_t *count) {
    struct stuck *list = NULL;
    uint32_t cap = 0, n = 0;
    for (uint32_t c = 0; c < at->num_clusters; c++) {
        struct cluster *cl = at->clusters[c];
        const uint32_t first = n;
        for (uint32_t r = 0; r < cl->num_ctas && cl->cta[r].warps; r++)
            for (uint32_t i = 0; i < cl->cta[r].num_warps; i++) {
                struct warp *w = &cl->cta[r].warps[i];
                for (unsigned k = 0; k < w->num_groups && w->live; k++) {
                    const struct group *g = &w->groups[k];
                    if (g->state == GROUP_FREE)
                        continue;
                    list = xgrow(list, n, &cap, sizeof *list);
                    list[n++] = (struct stuck){.w = w,
                                               .g = g,
                                               .kind = g->state == GROUP_WAITING ? g->wait.kind : WAIT_NONE,
                                               .waits_for = DEADLOCK_NONE};
                }
            }
        find_needed(list, first, n);
    }
    for (uint32_t i = 0; i < n; i++)
        list[i].weight = weigh(&list[i]);
    *count = n;
    return list;
}

uint32_t deadlock_root(const struct stuck *list, uint32_t count) {
    uint32_t best = DEADLOCK_NONE;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].kind == WAIT_JOIN)
            continue;
        if (best == DEADLOCK_NONE || list[i].weight > list[best].weight ||
            (list[i].weight == list[best].weight && list[i].followers > list[best].followers))
            best = i;
    }
    return best;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

static void say_cta(struct strbuf *o, const struct cta *cta) {
    strbuf_put(o, "CTA (%u,%u,%u)", cta->id.x, cta->id.y, cta->id.z);
}

static void say_barrier(struct strbuf *o, const struct lack *k, const char *name) {
    if (*name) {
        strbuf_put(o, "%s", name);
    } else {
        const struct diag_site *init = k->object->init;
        const struct diag_inline *call = init ? init->inlined : NULL;
        const struct diag_site line = {.src_file = call ? call->file : NULL, .src_line = call ? call->line : 0};
        char where[600];
        strbuf_put(o, "the mbarrier 0x%x, initialised at %s,", k->cta->rank << MACH_SMEM_RANK_SHIFT | k->off,
                   diag_where(call ? &line : init, where, sizeof where));
    }
    strbuf_put(o, " of ");
    say_cta(o, k->cta);
}

/* Phases that the warp did not see. */
static void say_missed(struct strbuf *o, const struct stuck *s, const struct lack *k, const char *name) {
    const unsigned long long now = k->v.phases, next = k->passed ? k->passed - 1 : 0;
    strbuf_put(o, "warp %u waits for parity %u of ", s->w->index, (unsigned)s->g->wait.value);
    say_barrier(o, k, name);
    strbuf_put(o, ", which is that of phase %llu; phase %llu was the next for it to see and is over", now, next);
    if ((next & 1) == s->g->wait.value)
        strbuf_put(o, ", as is the one with the other parity: it missed them");
    else if (now == next + 1 && !k->passed)
        strbuf_put(o, ": wrong parity for its first wait");
    else
        strbuf_put(o, ": wrong parity, or a wait is missing");
}

/* Bytes that are missing, or too many. */
static void say_bytes(struct strbuf *o, const struct lack *k, const char *name) {
    int32_t bytes = 0;
    const struct cta *stray = stray_of(k, &bytes);
    strbuf_put(o, "phase %llu of ", (unsigned long long)k->v.phases);
    say_barrier(o, k, name);
    if (k->v.tx < 0) {
        strbuf_put(o, " got %d bytes that no expect_tx announced", -k->v.tx);
        return;
    }
    strbuf_put(o, " lacks %d of %u bytes", k->v.tx, k->object->now.announced);
    if (k->v.pending)
        strbuf_put(o, " and %u of %u arrivals", k->v.pending, k->v.expected);
    if (!stray) {
        strbuf_put(o, ", and no copy is under way");
        return;
    }
    strbuf_put(o, "; %d that nobody announced came to that of ", bytes);
    say_cta(o, stray);
    if (stray->mbars[mbar_index(stray, k->off)].now.ranks == 1u << stray->rank)
        strbuf_put(o, ", by copies of its own");
}

/* Arrivals that are missing. */
static void say_arrivals(struct strbuf *o, const struct lack *k, const char *name) {
    strbuf_put(o, "phase %llu of ", (unsigned long long)k->v.phases);
    say_barrier(o, k, name);
    strbuf_put(o, " lacks %u of %u arrivals", k->v.pending, k->v.expected);
    if (has_exited(k)) {
        strbuf_put(o, ", and warp %d, which took part before, has exited", __builtin_ctz(k->warps));
        return;
    }
    if (k->v.phases == 0 && k->v.pending == k->v.expected)
        strbuf_put(o, ": nobody has ever arrived");
}

static const char *mbarrier_cause(const struct stuck *s, struct strbuf *o, struct deadlock_names *names) {
    const struct lack k = lack_of(s);
    int32_t bytes;
    if (!k.object) {
        strbuf_put(o, "warp %u waits at the mbarrier 0x%x, which is not initialised", s->w->index, s->g->wait.addr);
        return NULL;
    }
    const char *name = deadlock_barrier_name(names, k.cta, k.off, s->w);
    if (k.v.tx >= 0 && k.missed) {
        say_missed(o, s, &k, name);
        return "flip the parity once for each phase that is waited for, beginning with 0, or 1 for who fills empty "
               "stages; and let nobody complete a phase before all have seen the one before";
    }
    if (k.v.tx) {
        say_bytes(o, &k, name);
        return k.v.tx < 0             ? "an expect_tx that is missing, too small, or in another phase than its copies"
               : stray_of(&k, &bytes) ? "a copy signals the mbarrier of the CTA that its address names: where the "
                                        "leader waits for a pair, the address must be the leader's in both CTAs"
                                      : "an expect_tx without its copy, or of more bytes than its copies bring";
    }
    say_arrivals(o, &k, name);
    return k.v.pending == k.v.expected && k.v.phases == 0
               ? "the arrive or the tcgen05.commit for it is missing, or goes to another mbarrier or CTA"
               : "an arrive or a commit is missing, or mbarrier.init counts more arrivals than come in a phase";
}

static void barrier_cause(const struct stuck *s, struct strbuf *o) {
    const struct cta *cta = s->w->cta;
    const struct mach_barrier *b = &cta->bar[s->g->wait.addr % MACH_BARRIERS];
    strbuf_put(o, "barrier %u of ", s->g->wait.addr);
    say_cta(o, cta);
    strbuf_put(o, " lacks %u of %u threads", b->expected - b->arrived, b->expected);
    if (cta->live_warps < cta->num_warps)
        strbuf_put(o, "; %u of %u warps have exited", cta->num_warps - cta->live_warps, cta->num_warps);
}

const char *deadlock_cause(const struct stuck *s, struct deadlock_names *names, char *text, size_t size) {
    struct strbuf o = strbuf_in(text, size);
    if (s->kind == WAIT_MBARRIER)
        return mbarrier_cause(s, &o, names);
    if (s->kind == WAIT_BARRIER)
        barrier_cause(s, &o);
    else
        strbuf_put(&o, "no warp can run and nothing is in flight");
    return NULL;
}
