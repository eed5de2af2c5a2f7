/* check/verdict/marks.c - the rules of order in global memory; contract in marks.h. */
#include "check/verdict/marks.h"

#include "check/verdict/conflict.h"

#include <stdio.h>
#include <string.h>

/* --- the rules ---------------------------------------------------------------------------------------------------- */

/* The cause of a global-race. The rule has a hint for each. */
enum cause {
    CAUSE_ANY,        /* not known */
    CAUSE_CTA,        /* both threads are in one CTA */
    CAUSE_CLUSTER,    /* in two CTAs of one cluster */
    CAUSE_POLLER,     /* another thread of the later one's CTA has acquired the bytes */
    CAUSE_TELLER,     /* another thread of the earlier one's CTA has set the flag */
    CAUSE_READ,       /* a bulk store, known to have read its source, but not to have written */
    CAUSE_BULK,       /* a write by an operation that no wait covers */
    CAUSE_COPY,       /* a read by an operation that no wait covers */
    CAUSE_SCOPE,      /* both are strong, but a scope leaves out the other thread */
    CAUSE_WEAK_LOAD,  /* one is strong, the other a weak load; */
    CAUSE_WEAK_STORE, /* or a weak store */
    CAUSE_RELAXED,    /* the flag was written without a release */
    CAUSE_LATE,       /* the store came after its thread's release */
    CAUSES
};

#define GLOBAL_RACE                                                                                                    \
    DIAG_HEAD(WARNING, "global-race", "8.7.1, 8.8, 8.9.5, 9.7.9.25.2"),                                                \
        .rule = "two accesses to the same bytes of global memory, one of them a write, must be ordered. Within a CTA " \
                "or cluster use a barrier, between clusters a release and an acquire. For bulk stores use wait_group " \
                "without .read"
DIAG_ARRAY(global_race, CAUSES) = {
    [CAUSE_ANY] = {GLOBAL_RACE,
                   .hint = "Check whether two CTAs compute the same addresses. If one CTA reads what another writes, "
                           "set a flag after the write, with __threadfence() before the flag",
                   .reason = "the two accesses may come in either order."},
    [CAUSE_CTA] = {GLOBAL_RACE, .hint = "Add __syncthreads() between the two accesses: both threads are in one CTA. "
                                        "For lanes of one warp __syncwarp() is enough"},
    [CAUSE_CLUSTER] = {GLOBAL_RACE,
                       .hint = "Add barrier.cluster.arrive and .wait between the two accesses, or a release and an "
                               "acquire at .cluster scope: the threads are in two CTAs of one cluster"},
    [CAUSE_POLLER] =
        {GLOBAL_RACE,
         .hint = "Add __syncthreads() (within one warp __syncwarp()) after the poll. Another thread of this CTA has "
                 "acquired these bytes, but has not synchronised with this thread since; shfl does not order memory"},
    [CAUSE_TELLER] = {GLOBAL_RACE,
                      .hint = "Add __syncthreads() (within one warp __syncwarp()) before the flag is set. One thread "
                              "sets the flag for its CTA, and nothing orders that after the access by another thread"},
    [CAUSE_READ] = {GLOBAL_RACE,
                    .hint = "Use cp.async.bulk.wait_group without .read before this access. The .read form waits only "
                            "until the source has been read, not until the bytes are in global memory"},
    [CAUSE_BULK] = {GLOBAL_RACE,
                    .hint = "Add cp.async.bulk.commit_group and cp.async.bulk.wait_group, without .read, in the thread "
                            "that issues the copy, before the bytes are accessed or a flag is set"},
    [CAUSE_COPY] = {GLOBAL_RACE,
                    .hint = "Add cp.async.wait_group 0, or the wait for the copy's mbarrier, before its source is "
                            "written: the copy may still be reading"},
    [CAUSE_SCOPE] = {GLOBAL_RACE, .hint = "Use .gpu scope on both sides of this word. The scopes .cta and .cluster "
                                          "leave out threads of other clusters, so the two accesses race"},
    [CAUSE_WEAK_LOAD] = {GLOBAL_RACE,
                         .hint = "Use ld.acquire.gpu (cuda::atomic_ref, memory_order_acquire) for the weak load of "
                                 "this word: a weak load races with a strong store or an atomic operation"},
    [CAUSE_WEAK_STORE] =
        {GLOBAL_RACE,
         .hint =
             "Use st.release.gpu or an atomic operation (cuda::atomic_ref) if the weak store writes a flag or counter: "
             "it races with the strong access. If it writes data, add a barrier or a flag between the two"},
    [CAUSE_RELAXED] =
        {GLOBAL_RACE,
         .hint = "Add __threadfence() (fence.acq_rel.gpu) before the flag or counter is written, in the thread that "
                 "writes it, or write it with .release. This CTA has read the flag, but that write released nothing"},
    [CAUSE_LATE] = {GLOBAL_RACE,
                    .hint = "Store before the flag or lock is released: the store comes after the release that the "
                            "other thread has acquired. Or let that thread wait for the next release"},
};
DIAG(weak_seed) = {
    DIAG_HEAD(STRICT, "weak-load-before-cas", "8.7.1, 8.2.1"),
    .rule =
        "if other threads change a word by atom.cas, read it with a strong load, such as ld.relaxed or a volatile load",
    .hint =
        "Use a volatile load, or cuda::atomic_ref. A loop that repeats until atom.cas succeeds is right without it, "
        "too: the CUDA C++ Programming Guide's own atomicAdd begins with a weak load",
    .reason = "a wrong value makes only atom.cas fail, and the loop tries again. The CUDA C++ Programming Guide shows "
              "such loops, and CUTLASS has them.",
};
DIAG(relaxed_handover) = {
    DIAG_HEAD(WARNING, "relaxed-handover", "8.8, 8.11.1"),
    .rule = "a relaxed write or read of a word orders no other accesses. A fence before the write and a fence after "
            "the read do",
    .hint =
        "Add __threadfence() (fence.acq_rel.gpu) in the thread that has read the flag or counter, before it reads the "
        "data. Without it a cache may still hold older bytes. __threadfence_block() (.cta) does not cover other CTAs",
    .reason = "the store may still be in progress when the other thread reads.",
};
DIAG(release_missing) = {
    DIAG_HEAD(WARNING, "relaxed-handover", "8.7, 8.8, 8.11.1"),
    .rule = "a relaxed write of a word orders earlier accesses only if a fence comes before the write, and only for "
            "threads within the fence's scope",
    .hint = "Add __threadfence() (fence.acq_rel.gpu) between the data and the flag or counter, in the thread that sets "
            "it. __threadfence_block() (.cta) does not reach other CTAs. A fence before the data has no effect",
};
DIAG(missing_fence) = {
    DIAG_HEAD(WARNING, "missing-proxy-fence", "8.6, 9.7.9.25.2, 9.7.13.4"),
    .rule = "the async proxy sees a store to global memory through the generic proxy only after a fence.proxy.async of "
            "that memory",
    .hint =
        "Add fence.proxy.async.global, or fence.proxy.async, in the thread that stored, before it signals others. Or "
        "add it in the thread that issues the copy, after its wait. The form .shared::cta covers only shared memory",
    .reason = "the async proxy may read the bytes as they were before the store, though it usually does not.",
};
DIAG(fence_before_overwrite) = {
    DIAG_HEAD(STRICT, "proxy-fence-before-overwrite", "8.6, 9.7.13.4"),
    .rule = "a read through the generic proxy is ordered before a write through the async proxy only by a "
            "fence.proxy.async between them",
    .hint = "Add fence.proxy.async.global in every thread that read. Many kernels do without",
    .reason = "CUTLASS and DeepGEMM release stages without the fence. For one kernel, on an NVL72, wrong results are "
              "reported that the fence cured (deepseek-ai/DeepEP#642).",
};
DIAG(copy_handover) = {
    DIAG_HEAD(STRICT, "relaxed-copy-handover", "9.7.9.25.2, 8.8"),
    .rule =
        "a release and an acquire make a copy's reads and writes visible to another thread; relaxed operations do not",
    .hint = "Use an acquire, or add a fence after the relaxed wait",
    .reason =
        "the missing fence compiles to nothing, and on chips any thread that sees the phase end sees the copy's bytes.",
};
DIAG(narrow_scope) = {
    DIAG_HEAD(STRICT, "scope-too-narrow", "8.5, 8.7.1, 8.8"),
    .rule = "threads in two CTAs of a cluster need scope .cluster or wider, to order accesses to global memory or to "
            "make them morally strong",
    .hint = "Add .release.cluster and .acquire.cluster: without them mbarrier.arrive and .try_wait have scope .cta. "
            "The CTAs run on two SMs, whose L1 caches may hold different bytes",
};
DIAG(noncoherent_load) = {
    DIAG_HEAD(STRICT, "noncoherent-load-of-written", "9.7.9.9, 9.7.9.10"),
    .rule = "ld.global.nc and ldu are for data that the kernel only reads: they may take it from a cache that does not "
            "see stores",
    .hint = "Use ld.global without .nc: no __ldg(), and no const __restrict__ on a pointer whose bytes the kernel "
            "writes, because that makes nvcc choose .nc",
    .reason = "the bytes are stale only if that cache held them before the write. DeepEP reads what its peers write by "
              "ld.global.nc.L1::no_allocate, and found it right on Hopper.",
};
DIAG(map_fence_missing) = {
    DIAG_HEAD(WARNING, "tensormap-fence-missing", "9.7.13.4, 9.7.13.16, 8.6"),
    .rule = "copies see a tensor map that a kernel wrote only after two fences. The writer executes "
            "fence.proxy.tensormap::generic.release, the issuing thread fence.proxy.tensormap::generic.acquire of the "
            "map's 128 bytes",
    .hint = "Add the acquire in the CTA that issues the copy, even if the same thread wrote the map. For the release, "
            "tensormap.cp_fenceproxy is enough",
    .reason = "the copy may use the map as it was before it was modified.",
};

/* --- order -------------------------------------------------------------------------------------------------------- */

/* The viewer's cluster. */
static uint32_t cluster_of(const struct toucher *t) { return t->r->number; }

/* What a layer of `now` knows of a cluster. For the viewer's own cluster, that is the layer's clock itself. That clock
 * holds a set with clocks for other clusters: for one of those, it is the clock in the set. */
static const struct vclock *vclock_of(const struct toucher *t, struct vclock *const *now, enum layer layer,
                                      uint32_t cluster) {
    return cluster == cluster_of(t) ? now[layer] : far_of(vclock_far(now[layer]), cluster);
}

/* The lane that accessed that byte of the sector. */
static uint32_t lane_of(const struct mark *m, uint32_t byte) {
    return (uint32_t)(m->lane + (int)(byte >> mark_unit(m)));
}

/* Did the lane that now accesses the byte also make *first there? A lane's own accesses are ordered; for the async
 * proxy only up to its proxy fence. */
static bool is_own(const struct toucher *t, enum layer layer, const struct mark *first, const struct mark *mine,
                   uint32_t byte) {
    const struct viewer *v = t->v;
    const uint32_t lane = lane_of(first, byte), until = layer == LAYER_FENCED_GLOBAL ? v->global_at : v->time;
    if (first->cluster != cluster_of(t) || first->warp != v->warp || first->time > until)
        return false;
    if (mark_unit(first) == ONE_WARP || mark_unit(mine) == ONE_WARP)
        return true;
    if (mark_unit(mine) == EVERY_LANE) /* also 31 other lanes */
        return false;
    return mine->flags & MARK_OP ? v->lanes >> lane & 1 : lane == lane_of(mine, byte);
}

/* Does the clock know all 32 lanes of *first, which is of EVERY_LANE? */
static bool knows_every(const struct toucher *t, const struct vclock *c, enum layer layer, const struct mark *first,
                        const struct mark *mine) {
    struct mark one = *first;
    one.flags = (uint8_t)(first->flags % MARK_UNIT + ONE_LANE * MARK_UNIT);
    for (one.lane = 0; one.lane < (int8_t)VCLOCK_LANES; one.lane++)
        if (!is_own(t, layer, &one, mine, 0) &&
            !(c && vclock_knows_lane(c, first->warp, (uint32_t)one.lane, first->time)))
            return false;
    return true;
}

/* Does the viewer know in the layer the lanes of *first that accessed the bytes `both`? All bytes in a unit of *first
 * are of one lane, and so are those in a unit of *mine. So it is enough to look at one byte in each stretch of the
 * smaller unit's size. */
static bool knows(const struct toucher *t, struct vclock *const *now, enum layer layer, const struct mark *first,
                  const struct mark *mine, uint32_t both) {
    const struct vclock *c = vclock_of(t, now, layer, first->cluster);
    uint32_t unit = mark_unit(first);
    if (!(mine->flags & MARK_OP) && mark_unit(mine) < unit)
        unit = mark_unit(mine);
    if (mark_unit(first) == EVERY_LANE)
        return knows_every(t, c, layer, first, mine);
    if (mark_unit(first) == ONE_WARP)
        return is_own(t, layer, first, mine, 0) || vclock_knows_any(c, first->warp, UINT32_MAX, first->time);
    for (uint32_t left = both; left;) {
        const uint32_t byte = (uint32_t)__builtin_ctz(left), end = ((byte >> unit) + 1) << unit;
        left = end < SECTOR ? left >> end << end : 0;
        if (!is_own(t, layer, first, mine, byte) &&
            !(c && vclock_knows_lane(c, first->warp, lane_of(first, byte), first->time)))
            return false;
    }
    return true;
}

bool marks_known(const struct toucher *t, const struct mark *first, const struct mark *mine, uint32_t both) {
    return knows(t, t->v->now, LAYER_ORDER, first, mine, both);
}

/* How threads learn that the operation's write (`wrote`), or its read, is complete. */
static const struct done *done_of(const struct op_record *op, bool wrote) {
    return op->note ? wrote ? &op->note->written : &op->note->read : wrote ? &op->written : &op->read;
}

/* Does the viewer, who knows *c of the operation's cluster, know that its part with this *d is complete? */
static bool knows_that(const struct toucher *t, const struct vclock *c, const struct op_record *op,
                       const struct done *d) {
    const struct viewer *v = t->v;
    switch (d->how) {
    case DONE_TOKEN:
        return vclock_knows_token(c, d->token, d->step);
    case DONE_THREAD:
        if (op->cluster == cluster_of(t) && d->warp == v->warp && d->time <= v->time &&
            (d->lanes & v->lanes || mark_unit(&t->mark) == ONE_WARP))
            return true;
        return vclock_knows_any(c, d->warp, d->lanes, d->time);
    case DONE_FORGOTTEN:
        race_lost(t->r, BOUND_BULK);
        return true;
    default:
        return false;
    }
}

/* Does the viewer know in the layer that the operation's write (`wrote`), or its read, is complete? */
static bool knows_done(const struct toucher *t, enum layer layer, const struct op_record *op, bool wrote) {
    const struct vclock *c = vclock_of(t, t->v->now, layer, op->cluster);
    /* nothing is known of that cluster. If it is of another island (machine/island.h), a second host thread may be
     * changing *op now, so it is not read */
    if (op->cluster != cluster_of(t) && !c)
        return false;
    return knows_that(t, c, op, done_of(op, wrote)) || (!wrote && knows_that(t, c, op, &op->waited));
}

/* --- tensor maps -------------------------------------------------------------------------------------------------- */

/* Is the write *first to a tensor map covered by fence.proxy.tensormap: a release by its writer, and an acquire by a
 * thread that the viewer knows (9.7.13.16)? `at`: an address in the map. */
static bool is_map_fenced(const struct toucher *t, const struct mark *first, uint64_t at) {
    const struct map_acquires *q = &t->r->acquires;
    const struct viewer *v = t->v;
    for (uint32_t i = 0; i < q->num; i++) {
        const struct map_acquire *a = &q->list[i];
        const bool own = a->warp == v->warp && a->lanes & v->lanes && a->time <= v->time;
        if (a->map <= at && at < a->map + 128 && maps_is_released(t->r, a, first->cluster, first->time) &&
            (own || vclock_knows_any(v->now[LAYER_ORDER], a->warp, a->lanes, a->time)))
            return true;
    }
    if (q->lost)
        race_lost(t->r, BOUND_ACQUIRES);
    return q->lost;
}

/* --- verdicts ----------------------------------------------------------------------------------------------------- */

/* Are both strong, and does each one's scope include the other thread? Then they are morally strong (8.7). */
static bool are_strong(const struct mark *a, const struct mark *b) {
    return a->flags & b->flags & MARK_STRONG && (a->cluster == b->cluster || !((a->flags | b->flags) & MARK_NARROW));
}

/* Two stores of the same value race by 8.7.1. But the result is the same in each order, kernels store flags and zeros
 * like this, and no chip gives another result. */
static bool same_value(const struct mark *a, const struct mark *b) {
    return a->flags & b->flags & MARK_SUM && a->mask == b->mask && a->sum == b->sum;
}

/* Are both operations issued by one instruction of a warp, from one source? So they write the same; it happens if no
 * lane was elected. */
static bool same_store(const struct mark *a, const struct mark *b) {
    const struct op_record *x = a->by.op, *y = b->by.op;
    return a->flags & b->flags & MARK_OP && !((a->flags | b->flags) & MARK_STRONG) && x->site == y->site &&
           x->cluster == y->cluster && x->warp == y->warp && x->clock == y->clock && x->source == y->source;
}

/* Is it an atom.cas? */
static bool is_cas(const struct mark *m) {
    return (m->flags & (MARK_STRONG | MARK_WRITE | MARK_OP)) == (MARK_STRONG | MARK_WRITE) && m->by.site &&
           m->by.site->ptx_text && strstr(m->by.site->ptx_text, ".cas.");
}

/* Is one a weak load of a word, and the other a compare-and-swap of it in the same kernel? Usually the load begins a
 * loop around the compare-and-swap, and any loaded value will do. */
static bool is_seed(const struct mark *a, const struct mark *b) {
    const struct mark *load = is_cas(a) ? b : a, *cas = is_cas(a) ? a : b;
    return is_cas(cas) && !(load->flags & (MARK_WRITE | MARK_STRONG | MARK_OP)) && load->by.site &&
           load->by.site->func && cas->by.site->func && strcmp(load->by.site->func, cas->by.site->func) == 0;
}

/* Are the viewers threads of another CTA than the operation's issuer? They may have another L1 cache. */
static bool is_elsewhere(const struct toucher *t, const struct op_record *op) {
    return !t->v->async &&
           (op->cluster != t->r->number || op->warp / t->r->warps_each != t->v->warp / t->r->warps_each);
}

/* Does a thread of the viewer's CTA know of *first by a relaxed read without a fence after it? Perhaps that thread
 * polled for the others. */
static bool is_pending(const struct toucher *t, const struct mark *first, const struct mark *mine, uint32_t both) {
    const struct race *r = t->r;
    const uint32_t from = t->v->warp - t->v->warp % r->warps_each;
    for (uint32_t w = from; w < from + r->warps_each; w++)
        for (uint32_t i = 0; i < r->warps[w].num_strands; i++)
            if (knows(t, r->warps[w].strand[i].k.pending, LAYER_ORDER, first, mine, both))
                return true;
    return false;
}

/* Does a CTA mate of the viewer, a thread of the viewer's CTA, know of *first? */
static bool mate_knows(const struct toucher *t, const struct mark *first, const struct mark *mine, uint32_t both) {
    const struct race *r = t->r;
    const uint32_t from = t->v->warp - t->v->warp % r->warps_each;
    for (uint32_t w = from; w < from + r->warps_each; w++)
        for (uint32_t i = 0; i < r->warps[w].num_strands; i++)
            if (knows(t, r->warps[w].strand[i].k.now, LAYER_ORDER, first, mine, both))
                return true;
    return false;
}

/* Does the viewer know a CTA mate of *first: a later act of another thread in the CTA that made *first? Then that
 * thread signalled too early. */
static bool knows_mate(const struct toucher *t, const struct mark *first) {
    const struct vclock *c = vclock_of(t, t->v->now, LAYER_ORDER, first->cluster);
    const uint32_t each = t->r->warps_each, from = first->warp - first->warp % each;
    for (uint32_t w = from; c && w < from + each; w++)
        if (vclock_knows_any(c, w, UINT32_MAX, first->time))
            return true;
    return false;
}

/* For an operation in flight that reads, or writes (`wrote`), global memory. `read`: it is known to have read. */
static enum cause cause_of_op(bool read, bool wrote) { return !wrote ? CAUSE_COPY : read ? CAUSE_READ : CAUSE_BULK; }

/* A later write by the CTA of *first that released nothing, and that a warp of the viewer's CTA has read. Or NULL. */
static const struct hint_writer *heard_of(const struct toucher *t, const struct mark *first) {
    const uint32_t each = t->r->warps_each, from = t->v->warp - t->v->warp % each;
    for (uint32_t w = from; w < from + each; w++)
        for (uint32_t i = 0; i < HINT_WRITERS; i++) {
            const struct hint_writer *by = &t->r->warps[w].heard.by[i];
            if (by->site && by->cluster == first->cluster && by->warp / each == first->warp / each &&
                by->time > first->time)
                return by;
        }
    return NULL;
}

/* Is *first a store, and does the viewer know an earlier act of its thread, which accessed the byte at `at`? */
static bool knows_earlier(const struct toucher *t, const struct mark *first, uint64_t at) {
    const struct vclock *c = vclock_of(t, t->v->now, LAYER_ORDER, first->cluster);
    return c && first->flags & MARK_WRITE && mark_unit(first) <= ONE_LANE &&
           vclock_knows_lane(c, first->warp, lane_of(first, (uint32_t)(at % SECTOR)), 1);
}

/* Why nothing orders two accesses of threads. */
static enum cause cause_of(const struct toucher *t, const struct mark *first, const struct mark *mine, uint32_t both) {
    const bool strong = first->flags & MARK_STRONG, same = first->cluster == cluster_of(t);
    if (strong && mine->flags & MARK_STRONG)
        return CAUSE_SCOPE; /* otherwise they would not race */
    if (strong != !!(mine->flags & MARK_STRONG) && !t->v->async) {
        const struct mark *weak = strong ? mine : first;
        return weak->flags & MARK_WRITE ? CAUSE_WEAK_STORE : CAUSE_WEAK_LOAD;
    }
    if (t->v->note && same && first->time > t->v->note->time)
        return cause_of_op(t->v->note->read.how == DONE_THREAD, mine->flags & MARK_WRITE);
    if (!same && !t->v->async && mate_knows(t, first, mine, both))
        return CAUSE_POLLER;
    if (!same && knows_mate(t, first))
        return CAUSE_TELLER;
    if (!same && first->flags & MARK_WRITE && !t->v->async && heard_of(t, first))
        return CAUSE_RELAXED;
    if (!same)
        return knows_earlier(t, first, (uint32_t)__builtin_ctz(both)) ? CAUSE_LATE : CAUSE_ANY;
    return first->warp / t->r->warps_each == t->v->warp / t->r->warps_each ? CAUSE_CTA : CAUSE_CLUSTER;
}

/* Is *first by another CTA of the viewer's cluster? */
static bool is_peer(const struct toucher *t, const struct mark *first) {
    const uint32_t each = t->r->warps_each;
    return first->cluster == cluster_of(t) && first->warp / each != t->v->warp / each;
}

/* Is the scope of its instruction .cta, which leaves out other CTAs? */
static bool leaves_out(const struct mark *m) {
    return m->flags & MARK_NARROW && m->by.site && m->by.site->ptx_text && strstr(m->by.site->ptx_text, ".cta.");
}

/* order_verdict if *first is by an operation: does the viewer know that it is complete? */
static const struct diag *op_verdict(const struct toucher *t, const struct mark *first, const struct mark *mine) {
    const bool wrote = first->flags & MARK_WRITE;
    const struct op_record *op = first->by.op;
    if (mine->flags & MARK_OP && op == mine->by.op)
        return NULL;
    if (knows_done(t, LAYER_ORDER, op, wrote)) /* strict: a thread's wait has a scope, an mbarrier's phase has none */
        return t->r->strict && is_peer(t, first) && done_of(op, wrote)->how == DONE_THREAD &&
                       !knows_done(t, LAYER_SCOPED, op, wrote)
                   ? &narrow_scope
                   : NULL;
    if (!knows_done(t, LAYER_SEEN, op, wrote))
        return &global_race[cause_of_op(knows_done(t, LAYER_SEEN, op, false), wrote)];
    return is_elsewhere(t, op) ? &relaxed_handover : &copy_handover;
}

/* Of two ordered accesses: the strict rule that they break if a scope leaves out one of the threads, or NULL. */
static const struct diag *strictly(const struct toucher *t, const struct mark *first, const struct mark *mine,
                                   uint32_t both) {
    return t->r->strict && is_peer(t, first) && !knows(t, t->v->now, LAYER_SCOPED, first, mine, both) ? &narrow_scope
                                                                                                      : NULL;
}

/* marks_verdict without its rule for non-coherent loads. NULL: the two are ordered, or do not race. */
static const struct diag *order_verdict(const struct toucher *t, const struct mark *first, const struct mark *mine,
                                        uint32_t both, uint64_t at) {
    struct vclock *const *now = t->v->now;
    if (same_value(first, mine) || same_store(first, mine))
        return NULL;
    if (are_strong(first, mine))
        return is_peer(t, first) && (leaves_out(first) || leaves_out(mine)) ? strictly(t, first, mine, both) : NULL;
    if (first->flags & MARK_OP)
        return op_verdict(t, first, mine);
    if (!t->v->async && knows(t, now, LAYER_ORDER, first, mine, both))
        return strictly(t, first, mine, both);
    if (t->v->async && !t->map && knows(t, now, LAYER_FENCED_GLOBAL, first, mine, both))
        return strictly(t, first, mine, both);
    if (t->v->async && knows(t, now, LAYER_ORDER, first, mine, both)) {
        if (t->map)
            return is_map_fenced(t, first, at) ? NULL : &map_fence_missing;
        return first->flags & MARK_WRITE ? &missing_fence : &fence_before_overwrite;
    }
    /* the viewer's thread has read a flag that orders *first, but no fence has completed this acquire pattern yet. A
     * strong access before that fence is not reported: it may be part of the pattern */
    if (t->k && mine->flags & MARK_STRONG && knows(t, t->k->pending, LAYER_ORDER, first, mine, both))
        return NULL;
    if (is_seed(first, mine))
        return &weak_seed;
    if (!knows(t, now, LAYER_SEEN, first, mine, both))
        return &global_race[cause_of(t, first, mine, both)];
    return is_pending(t, first, mine, both) ? &relaxed_handover : &release_missing;
}

const struct diag *marks_verdict(const struct toucher *t, const struct mark *first, const struct mark *mine,
                                 uint32_t both, uint64_t at) {
    const struct diag *rule = order_verdict(t, first, mine, both, at);
    return !rule && t->noncoherent && first->flags & MARK_WRITE ? &noncoherent_load : rule;
}

/* --- reports ------------------------------------------------------------------------------------------------------ */

/* The maker of a mark; its cluster may have ended. */
static struct mach_origin origin_of(const struct toucher *t, const struct mark *m, uint64_t at) {
    const struct grid_watch *g = t->r->grid;
    const struct diag_dim3 c = g->cluster, b = g->block;
    const struct diag_dim3 clusters = {g->grid.x / c.x, g->grid.y / c.y, g->grid.z / c.z};
    const uint32_t rank = m->warp / t->r->warps_each, warp = m->warp % t->r->warps_each;
    const uint32_t lanes = m->flags & MARK_OP ? m->by.op->lanes : 1u << lane_of(m, at % SECTOR);
    const uint32_t first = warp * MACH_WARP + (lanes ? (uint32_t)__builtin_ctz(lanes) : 0);
    const struct diag_dim3 id = {m->cluster % clusters.x, m->cluster / clusters.x % clusters.y,
                                 m->cluster / (clusters.x * clusters.y)};
    return (struct mach_origin){
        .site = m->flags & MARK_OP ? m->by.op->site : m->by.site,
        .thread = {.cta = {id.x * c.x + rank % c.x, id.y * c.y + rank / c.x % c.y, id.z * c.z + rank / (c.x * c.y)},
                   .cluster_rank = rank,
                   .cluster_size = c.x * c.y * c.z,
                   .warp = warp,
                   .lanes = lanes,
                   .tid = {first % b.x, first / b.x % b.y, first / (b.x * b.y)}}};
}

void marks_tell(const struct toucher *t, const struct diag *rule, const struct mark *first, const struct mark *mine,
                uint64_t at) {
    const struct viewer *v = t->v;
    const bool op = first->flags & MARK_OP, wrote = first->flags & MARK_WRITE;
    const char *store = first->flags & MARK_STRONG ? "a strong write" : "a store";
    const struct party theirs = {origin_of(t, first, at), op ? first->by.op->name : wrote ? store : "a load", wrote};
    struct event_by by = *v->by;
    if (!(mine->flags & MARK_OP))
        by.lanes = 1u << lane_of(mine, at % SECTOR);
    const struct party ours = {v->note ? v->note->origin : event_origin(&by), v->what, mine->flags & MARK_WRITE};
    /* an operation counts from its issue, even if it runs later */
    const bool late = v->note && first->cluster == cluster_of(t) && first->time > v->note->time;
    struct conflict f = {rule, late ? theirs : ours, late ? ours : theirs, "", NULL, {0}, ""};
    if (rule == &noncoherent_load)
        f.but = "its cache may miss";
    const struct hint_writer *flag = rule == &global_race[CAUSE_RELAXED] ? heard_of(t, first) : NULL;
    char where[120];
    if (flag)
        snprintf(f.why, sizeof f.why, "the write of a flag at %s, which this CTA has read, releases nothing",
                 diag_where(flag->site, where, sizeof where));
    mem_place(t->r->cluster->cta[0].gpu->mem, at, f.place);
    conflict_tell(t->r, &f);
}
