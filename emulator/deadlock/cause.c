/* deadlock/cause.c - what the root of a deadlock lacks, in a sentence, and what usually causes that; contract: blame.h.
 */
#include "base/strbuf.h"
#include "deadlock/blame.h"

#include <stdio.h>

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

/* A phase that the warp did not see; the hint. */
static const char *say_missed(struct strbuf *o, const struct stuck *s, const struct lack *k, const char *name) {
    const unsigned long long now = k->v.phases, next = k->passed ? k->passed - 1 : 0;
    strbuf_put(o, "warp %u waits for parity %u of ", s->w->index, (unsigned)s->g->wait.value);
    say_barrier(o, k, name);
    strbuf_put(o, ", but has not seen phase %llu", next);
    if ((next & 1) == s->g->wait.value)
        return "Complete no phase before all threads that wait for it have seen it. This warp came too late: the next "
               "phase is over, too";
    return now == next + 1 && !k->passed ? "Begin with the other parity: 0, or 1 for a thread that fills empty stages. "
                                           "This first wait is for the "
                                           "phase after the one that is over"
                                         : "Flip the parity once for each phase that is waited for, beginning with 0, "
                                           "or with 1 for a thread that "
                                           "fills empty stages. If it is right, a wait is missing";
}

/* All groups, and the names of their barriers. */
struct scene {
    const struct deadlock_scene *launch;
    const struct stuck *list;
    uint32_t count;
    struct deadlock_names *names;
};

/* Do the operations of `o`'s warp complete phases of the mbarrier that lacks `k`? */
static bool completes(const struct stuck *o, const struct lack *k) {
    const uint32_t rank = o->w->cta->rank;
    const struct mach_mbar_phase *last = &k->object->last, *now = &k->object->now;
    return o->w->cta->cluster == k->cta->cluster &&
           (ahead_what(&o->ahead, k->cta, k->off) & (AHEAD_ARRIVES | AHEAD_COMMITS | AHEAD_BYTES) ||
            (last->arrived[rank] | last->brought[rank] | now->arrived[rank] | now->brought[rank]) >> o->w->index & 1);
}

/* How many warps would arrive there. */
static uint32_t arrivers(const struct scene *at, const struct cta *cta, uint32_t off) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < at->count; i++)
        n += (i == 0 || at->list[i - 1].w != at->list[i].w) &&
             ahead_what(&at->list[i].ahead, cta, off) & (AHEAD_ARRIVES | AHEAD_COMMITS);
    return n;
}

static void say_mbarrier(const struct scene *at, struct strbuf *o, const struct cta *cta, uint32_t off,
                         const struct warp *w) {
    struct lack k = {.cta = cta, .off = off, .object = &cta->mbars[mbar_index(cta, off)]};
    say_barrier(o, &k, deadlock_barrier_name(at->names, cta, off, w));
}

/* Why `s` missed phases of an mbarrier: `filler`, who completes them, did not wait until `s` had given back. The hint,
 * or NULL. */
static const char *say_overtaken(const struct scene *at, struct strbuf *o, const struct stuck *s, const struct lack *k,
                                 const struct stuck *filler) {
    const struct cta *cta = filler->w->cta;
    const unsigned long long next = k->passed ? k->passed - 1 : 0;
    const char *hint = NULL;
    for (uint32_t i = 0; i < cta->num_mbars && !hint; i++) {
        const struct mach_mbar *e = &cta->mbars[i];
        struct mbar_view v;
        if (e == k->object || !(ahead_what(&s->ahead, cta, e->off) & (AHEAD_ARRIVES | AHEAD_COMMITS)) ||
            mbar_peek(cta, e->off, &v) != MBAR_OK)
            continue;
        const uint32_t come = arrivers(at, cta, e->off);
        if (e->again >> filler->w->index & 1) {
            strbuf_put(o, "warp %u goes on past ", filler->w->index);
            say_mbarrier(at, o, cta, e->off, filler->w);
            strbuf_put(o, " when no phase has ended");
            hint = "Check the parity of that wait, or of a test_wait before it: with the wrong parity it names the "
                   "phase before, and passes at once";
        } else if (come > v.expected) {
            say_mbarrier(at, o, cta, e->off, filler->w);
            strbuf_put(o, " counts %u arrivals, and %u warps arrive", v.expected, come);
            hint = "Give mbarrier.init a larger count: the phase completes before the last warp has arrived";
        }
    }
    if (!hint)
        return NULL;
    strbuf_put(o, ": so warp %u missed phase %llu of ", s->w->index, next);
    say_barrier(o, k, deadlock_barrier_name(at->names, k->cta, k->off, s->w));
    return hint;
}

static const char *missed_cause(const struct scene *at, struct strbuf *o, const struct stuck *s, const struct lack *k) {
    for (uint32_t i = 0; i < at->count; i++) {
        const struct stuck *filler = &at->list[i];
        const char *hint = filler != s && completes(filler, k) ? say_overtaken(at, o, s, k, filler) : NULL;
        if (hint)
            return hint;
    }
    return say_missed(o, s, k, deadlock_barrier_name(at->names, k->cta, k->off, s->w));
}

/* Bytes that came to the same mbarrier of another CTA; the hint. */
static const char *say_stray(struct strbuf *o, const struct stuck *s, const struct lack *k, int32_t bytes) {
    const struct mach_mbar_phase *now = &s->stray->mbars[mbar_index(s->stray, k->off)].now;
    strbuf_put(o, "; ");
    say_cta(o, s->stray);
    strbuf_put(o, " got %d unannounced", bytes);
    for (uint32_t r = 0; r < MACH_MAX_CLUSTER; r++)
        if (r != s->stray->rank && now->brought[r])
            return "Give both CTAs of a pair the leader's address if the leader waits for both: a copy signals the "
                   "mbarrier of the CTA that its address names";
    return "Give both CTAs of a pair the leader's address if the leader waits for both. The other CTA's copies "
           "signalled "
           "its own mbarrier: a copy signals the mbarrier of the CTA that its address names";
}

/* Bytes that are missing, or too many. */
static const char *bytes_cause(struct strbuf *o, const struct stuck *s, const struct lack *k, const char *name) {
    struct mbar_view v;
    const bool stray = k->v.tx >= 0 && s->stray && mbar_peek(s->stray, k->off, &v) == MBAR_OK;
    if (!stray)
        strbuf_put(o, "phase %llu of ", (unsigned long long)k->v.phases);
    say_barrier(o, k, name);
    if (k->v.tx < 0) {
        strbuf_put(o, " got %d bytes that no expect_tx announced", -k->v.tx);
        return "Announce these bytes: an expect_tx is missing, too small, or in another phase than its copies";
    }
    strbuf_put(o, " lacks %d of %u bytes", k->v.tx, k->object->now.announced);
    if (k->v.pending)
        strbuf_put(o, " and %u of %u arrivals", k->v.pending, k->v.expected);
    if (stray)
        return say_stray(o, s, k, -v.tx);
    strbuf_put(o, ", and no copy is under way");
    return "Issue the copy that expect_tx announces, or announce fewer bytes: expect_tx counts more than the copies "
           "bring";
}

/* Who would complete the phase waits for `s` in turn. */
static const char *ring_cause(const struct scene *at, struct strbuf *o, const struct stuck *s, const struct lack *k,
                              const char *name) {
    if (deadlock_is_fresh(k) && s->g->wait.value == 0) {
        strbuf_put(o, "warp %u waits for parity 0 of ", s->w->index);
        say_barrier(o, k, name);
        strbuf_put(o, ", and nobody arrives before it has gone on");
        return "Let a thread that fills stages wait for parity 1 in its first round: that phase counts as over, "
               "because the stages begin empty";
    }
    const struct stuck *other = NULL;
    for (uint32_t i = 0; i < at->count && !other; i++)
        if (at->list[i].waits_for == s && at->list[i].w != s->w)
            other = &at->list[i];
    strbuf_put(o, "phase %llu of ", (unsigned long long)k->v.phases);
    say_barrier(o, k, name);
    strbuf_put(o, " lacks %u of %u arrivals", k->v.pending, k->v.expected);
    if (other)
        strbuf_put(o, ", and warp %u waits for warp %u in turn", other->w->index, s->w->index);
    return "Find the one that waits too early, at the wrong stage, or for the wrong parity: each waits for the other";
}

/* Another CTA of the cluster at whose mbarrier of that offset warps of this one's CTA have arrived, or NULL. */
static const struct cta *arrived_elsewhere(const struct lack *k) {
    const struct cluster *cl = k->cta->cluster;
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        const struct cta *other = &cl->cta[r];
        const uint32_t i = mbar_index(other, k->off);
        if (other != k->cta && i < other->num_mbars && other->mbars[i].ranks >> k->cta->rank & 1)
            return other;
    }
    return NULL;
}

/* Arrivals that are missing. */
static const char *arrivals_cause(struct strbuf *o, const struct lack *k, const char *name) {
    const uint32_t exited = deadlock_exited(k);
    const bool never = k->v.phases == 0 && k->v.pending == k->v.expected;
    strbuf_put(o, "phase %llu of ", (unsigned long long)k->v.phases);
    say_barrier(o, k, name);
    strbuf_put(o, " lacks %u of %u arrivals", k->v.pending, k->v.expected);
    if (exited != DEADLOCK_NONE)
        strbuf_put(o, ", and warp %u, which took part before, has exited", exited);
    else if (never)
        strbuf_put(o, ": nobody has ever arrived");
    const struct cta *other = never ? arrived_elsewhere(k) : NULL;
    if (other) {
        strbuf_put(o, ", and its own CTA has arrived at that of ");
        say_cta(o, other);
        return "Name this CTA in the mask of the multicast tcgen05.commit (bit r is the CTA of rank r), or in the rank "
               "of the arrive's address: the arrival goes to the wrong CTA";
    }
    return never ? "Add the arrive or the tcgen05.commit for it. If there is one, it goes to another mbarrier or CTA"
                 : "Add the missing arrive or commit, or give mbarrier.init a smaller count: it counts more arrivals "
                   "than come in a phase";
}

static const char *mbarrier_cause(const struct scene *at, struct strbuf *o, const struct stuck *s) {
    const struct lack k = deadlock_lack(s);
    if (!k.object) {
        strbuf_put(o, "warp %u waits at the mbarrier 0x%x, which is not initialised", s->w->index, s->g->wait.addr);
        return NULL;
    }
    const char *name = deadlock_barrier_name(at->names, k.cta, k.off, s->w);
    if (k.v.tx >= 0 && k.missed)
        return missed_cause(at, o, s, &k);
    if (!s->weight)
        return ring_cause(at, o, s, &k, name);
    if (k.v.tx)
        return bytes_cause(o, s, &k, name);
    return arrivals_cause(o, &k, name);
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

/* An instruction that lanes of a warp execute together. */
static void lanes_cause(const struct stuck *s, struct strbuf *o) {
    const uint32_t all = s->kind == WAIT_ALIGNED ? UINT32_MAX : (uint32_t)s->g->wait.value;
    const uint32_t others = all & s->w->live & ~s->g->mask;
    strbuf_put(o, "warp %u of ", s->w->index);
    say_cta(o, s->w->cta);
    strbuf_put(o, " waits in %s for lanes 0x%08x, which %s", ptx_op_text(deadlock_insn(s->w, s->g)->src->op), others,
               s->first ? "never come" : "wait elsewhere");
}

static void pair_cause(const struct stuck *s, struct strbuf *o) {
    strbuf_put(o, "warp %u of ", s->w->index);
    say_cta(o, s->w->cta);
    strbuf_put(o, " waits in %s, and its pair's other CTA %s", ptx_op_text(deadlock_insn(s->w, s->g)->src->op),
               s->first ? "never comes" : "waits elsewhere");
}

void deadlock_describe_poll(const struct ahead_poll *p, struct strbuf *o) {
    static const struct {
        enum ptx_mod until;
        const char *text;
    } said[] = {{PTX_MOD_eq, "is %llu"},         {PTX_MOD_ne, "is not %llu"},       {PTX_MOD_lt, "is less than %llu"},
                {PTX_MOD_le, "is %llu or less"}, {PTX_MOD_gt, "is more than %llu"}, {PTX_MOD_ge, "is %llu or more"}};
    strbuf_put(o, "polls 0x%llx", (unsigned long long)p->addr);
    for (size_t i = 0; i < sizeof said / sizeof *said && p->known; i++)
        if (said[i].until == p->until) {
            char text[64];
            snprintf(text, sizeof text, said[i].text, (unsigned long long)p->wanted);
            strbuf_put(o, " until it %s", text);
        }
    strbuf_put(o, ", and it stays %llu", (unsigned long long)p->value);
}

/* A word of global memory that nobody who is resident is going to write. */
static const char *poll_cause(const struct scene *at, struct strbuf *o, const struct stuck *s) {
    strbuf_put(o, "warp %u of ", s->w->index);
    say_cta(o, s->w->cta);
    strbuf_put(o, " ");
    deadlock_describe_poll(&s->poll, o);
    if (at->launch->unstarted) {
        strbuf_put(o, ": %llu CTAs of the grid cannot start", (unsigned long long)at->launch->unstarted);
        return "Launch no more CTAs than can be resident at once: these CTAs wait for one another. "
               "cudaLaunchCooperativeKernel refuses a grid that is too large";
    }
    return "Check the store that it waits for: it is missing, stores another value, or goes to another word. Writes by "
           "the host or another stream do not arrive meanwhile: here a launch ends before the next begins";
}

const char *deadlock_cause(const struct deadlock_scene *launch, const struct stuck *s, const struct stuck *list,
                           uint32_t count, struct deadlock_names *names, char *text, size_t size) {
    const struct scene at = {launch, list, count, names};
    struct strbuf o = strbuf_in(text, size);
    switch (s->kind) {
    case WAIT_NONE:
        if (s->poll.in)
            return poll_cause(&at, &o, s);
        strbuf_put(&o, "warp %u of ", s->w->index);
        say_cta(&o, s->w->cta);
        strbuf_put(&o, " runs in a loop in which nothing changes");
        return "End the loop: its condition never changes, or it waits for a value that it does not read again";
    case WAIT_MBARRIER:
        return mbarrier_cause(&at, &o, s);
    case WAIT_BARRIER:
        barrier_cause(s, &o);
        return NULL;
    case WAIT_WARP_SYNC:
    case WAIT_ALIGNED:
        lanes_cause(s, &o);
        return NULL;
    case WAIT_PAIR:
        pair_cause(s, &o);
        return NULL;
    default:
        *text = 0;
        return NULL;
    }
}
