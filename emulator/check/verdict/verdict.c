/* check/verdict/verdict.c - the rules of order in shared and tensor memory; contract in verdict.h. */
#include "check/verdict/verdict.h"

#include "check/verdict/cause.h"

#include <stdio.h>

/* --- the rules ---------------------------------------------------------------------------------------------------- */

#define FLIP                                                                                                           \
    "Flip the parity of the wait before this access once for each phase: it passed at once. The"                       \
    " parity begins with 0, or with 1 in a thread that waits for a free stage. If it is right, "                       \
    "the wait names the mbarrier of another stage"
#define SHARED_RACE                                                                                                    \
    DIAG_HEAD(WARNING, "shared-race", "8.8, 8.10.6, 9.7.13.1, 9.7.13.2"),                                              \
        .rule = "if two threads access the same bytes of shared memory, and one of them writes, the accesses must be " \
                "ordered. Use a barrier, bar.warp.sync within a warp, or a release and an acquire"
DIAG_ARRAY(shared_race, CAUSES) = {
    [CAUSE_ANY] = {SHARED_RACE,
                   .hint = "Add __syncthreads() between the two accesses, or __syncwarp() if both are lanes of one "
                           "warp; shfl, vote and elect.sync do not order memory. Warps mostly run in the lucky order",
                   .reason = "the two accesses may come in either order."},
    [CAUSE_WARP] = {SHARED_RACE,
                    .hint =
                        "Add __syncwarp() between the two accesses: the threads are lanes of one warp. shfl, vote and "
                        "elect.sync do not order memory. If many lanes change one word, use an atomic operation"},
    [CAUSE_CLUSTER] = {SHARED_RACE,
                       .hint = "Add barrier.cluster.arrive and .wait between the two accesses, or an mbarrier. The "
                               "threads are in two CTAs, and __syncthreads() covers only one"},
    [CAUSE_TELLER] = {SHARED_RACE,
                      .hint = "Add __syncwarp() before one lane arrives on the mbarrier for its warp. Its arrival "
                              "comes after the earlier access, but does not cover the other lanes"},
    [CAUSE_LATE] = {SHARED_RACE, .hint = "Arrive on the mbarrier after the earlier access: the arrival that the other "
                                         "thread has seen comes before it"},
    [CAUSE_WAITER] = {SHARED_RACE,
                      .hint = "Add __syncthreads() (within one warp __syncwarp()) after the wait. Another thread of "
                              "this CTA has waited for these bytes, but has not synchronised with this thread since"},
    [CAUSE_RETURN] = {SHARED_RACE,
                      .hint = "Let this thread wait, before it writes again, until the readers have read: by a "
                              "barrier, or an mbarrier on which they arrive after the load. The readers wait for this "
                              "thread, but it does not wait for them, or they arrive too early"},
};
DIAG(missing_fence) = {
    DIAG_HEAD(WARNING, "missing-proxy-fence", "9.7.16.6.5, 9.7.13.4"),
    .rule = "the async proxy sees a store through the generic proxy only after a fence.proxy.async",
    .hint = "Add fence.proxy.async.shared::cta in every thread that stored, before the barrier that releases the "
            "issuing thread. Without it most runs work by luck. Or use two halves: fence.proxy.async::generic.release "
            "there, .acquire in the issuing thread",
};
DIAG(fence_before_overwrite) = {
    DIAG_HEAD(STRICT, "proxy-fence-before-overwrite", "8.6, 9.7.13.4"),
    .rule = "a read through the generic proxy is ordered before a write through the async proxy only by a "
            "fence.proxy.async between them",
    .hint = "Add fence.proxy.async.shared::cta in every thread that read, before it arrives on the barrier that lets "
            "the copy be issued. Many kernels do without; one of them, on an NVL72, gave wrong results. Or use two "
            "halves: fence.proxy.async::generic.release there, .acquire in the issuing thread",
};
DIAG(fence_over_address) = {
    DIAG_HEAD(STRICT, "proxy-fence-before-overwrite", "8.6, 9.7.13.4, 9.7.16.7.1"),
    .rule = "tcgen05.alloc writes its address through the generic proxy. A write over it through the async proxy is "
            "ordered after that only by a fence.proxy.async between them",
    .hint = "Add fence.proxy.async.shared::cta in every thread that has read the address, before the barrier that lets "
            "the copy be issued. Or give the address a word of its own, as most kernels do",
};
#define NOT_AWAITED                                                                                                    \
    DIAG_HEAD(WARNING, "copy-not-awaited", "9.7.9.25.1, 9.7.9.25.2, 9.7.13.15.5"),                                     \
        .rule =                                                                                                        \
            "the bytes that an asynchronous copy writes may be accessed only after its completion is observed. Wait "  \
            "for the phase of the mbarrier that it signals, or execute wait_group in the thread that issued it"
DIAG_ARRAY(not_awaited, CAUSES) = {
    [CAUSE_ANY] =
        {NOT_AWAITED,
         .hint =
             "Wait for the copy's mbarrier, with the right parity and stage, before this access. If a wait is there: "
             "let expect_tx announce the bytes of all copies. If another thread waits, add a barrier after its wait",
         .reason = "if the copy is late, old bytes are read, or the copy overwrites what was written."},
    [CAUSE_WAITER] =
        {NOT_AWAITED,
         .hint = "Add __syncthreads() (within one warp __syncwarp()) after the wait. Another thread has waited for the "
                 "copy, but has not synchronised with this one since; wait_group covers only a thread's own copies"},
    [CAUSE_COMMIT] = {NOT_AWAITED, .hint = "Add cp.async.commit_group after the copy, then cp.async.wait_group 0. The "
                                           "copy is in no group, and wait_group waits only for committed groups"},
    [CAUSE_GROUP] = {NOT_AWAITED, .hint = "Let cp.async.wait_group N name a smaller N, 0 for the last groups. The "
                                          "group of this copy is committed, but no wait of its thread has covered it"},
    [CAUSE_OWN] = {NOT_AWAITED, .hint = "Add __syncthreads() after cp.async.wait_group, in all threads. Each thread "
                                        "waits only for its own copies, and this copy is another thread's"},
    [CAUSE_OTHER_WAIT] = {NOT_AWAITED,
                          .hint = "Wait for the mbarrier that the copy signals. The wait_group before this access "
                                  "covers only copies in async-groups, and this copy is in none"},
    [CAUSE_PARITY] = {NOT_AWAITED, .hint = FLIP},
};
DIAG(copy_too_soon) = {
    DIAG_HEAD(WARNING, "copy-overwrites", "8.8, 9.7.9.25.1"),
    .rule = "cp.async may be issued into memory only when all threads that use the old contents are known to be done",
    .hint = "Add __syncthreads() at the end of the loop's body, before the next cp.async into these bytes. The copying "
            "thread is one iteration ahead of this thread, which still reads",
};
DIAG(copy_overwrites) = {
    DIAG_HEAD(WARNING, "copy-overwrites", "8.8, 9.7.9.25.1"),
    .rule = "an asynchronous copy may be issued into memory only when all threads that use the old contents are known "
            "to be done",
    .hint =
        "Let the thread that issues the copy wait for the barrier on which the readers arrive, with the right parity "
        "and stage. Let the readers arrive after they have read (all lanes: __syncwarp() before one lane arrives)",
    .reason = "if the copy is early, it overwrites bytes that others still read.",
};
DIAG(lane_told) = {
    DIAG_HEAD(WARNING, "copy-overwrites", "9.7.13.2, 8.9.5, 9.7.9.25.1"),
    .rule = "the lanes of a warp are separate threads. If one lane arrives for all, a bar.warp.sync must order the "
            "arrival after the accesses of the others",
    .hint = "Add __syncwarp() between the accesses of the lanes and the arrival, or let each lane arrive. Neither "
            "elect.sync nor a fence in each lane orders the lanes. A converged warp issues its loads before the "
            "arrival, so it mostly works",
    .by_site = true,
};
#define SOURCE_OVERWRITTEN                                                                                             \
    DIAG_HEAD(WARNING, "bulk-store-overwritten", "9.7.9.25.1, 9.7.9.25.4"),                                            \
        .rule = "the source of a bulk copy must not change before the copy has read it"
DIAG_ARRAY(source_overwritten, CAUSES) = {
    [CAUSE_ANY] = {SOURCE_OVERWRITTEN,
                   .hint =
                       "Add cp.async.bulk.commit_group and cp.async.bulk.wait_group.read in the thread that issued the "
                       "copy, then a barrier, before the buffer is written again",
                   .reason = "if the copy is late, it reads the new bytes."},
    [CAUSE_WAITER] = {SOURCE_OVERWRITTEN,
                      .hint = "Add a barrier for all who write the buffer after cp.async.bulk.wait_group.read. The "
                              "thread that issued the copy has waited, but has not synchronised with this one since"},
    [CAUSE_COMMIT] = {SOURCE_OVERWRITTEN,
                      .hint = "Add cp.async.bulk.commit_group after the copy, in the same thread. The copy is in no "
                              "group yet, and wait_group waits only for committed groups"},
    [CAUSE_GROUP] = {SOURCE_OVERWRITTEN, .hint = "Let cp.async.bulk.wait_group.read N name a smaller N: the group of "
                                                 "this copy was among the N groups that may still be pending"},
    [CAUSE_PEER] = {SOURCE_OVERWRITTEN, .hint = "Wait for a signal from a thread of the other CTA that has waited for "
                                                "the copy's mbarrier: a copy to another CTA is in no group"},
    [CAUSE_UNWAITED] =
        {SOURCE_OVERWRITTEN,
         .hint = "Add cp.async.bulk.wait_group.read 0 in the thread that issued the copy, then a barrier, before the "
                 "buffer is written again. The copy's group is committed, but its thread has not waited since"},
    [CAUSE_EARLY] =
        {SOURCE_OVERWRITTEN,
         .hint = "Let the thread that issues the copy wait for this store first, for example at a barrier whose thread "
                 "count includes all threads that store. The copy was issued before this thread's first store"},
};
#define OPERAND_OVERWRITTEN                                                                                            \
    DIAG_HEAD(WARNING, "tcgen05-operand-overwritten", "9.7.16.6.2, 9.7.16.12"),                                        \
        .rule =                                                                                                        \
            "shared memory that tcgen05.mma or .cp reads may be written only after a later tcgen05.commit is observed"
DIAG_ARRAY(operand_overwritten, CAUSES) = {
    [CAUSE_ANY] = {OPERAND_OVERWRITTEN,
                   .hint = "Wait, before the write, for the mbarrier on which tcgen05.commit arrives (\"empty\"), with "
                           "the right parity and stage. Let the commit name this stage's barrier, and come after the "
                           "last tcgen05.mma that reads the stage",
                   .reason = "the operation may read the bytes after they have changed."},
    [CAUSE_PARITY] = {OPERAND_OVERWRITTEN, .hint = FLIP},
};
#define RELAXED_HANDOVER                                                                                               \
    DIAG_HEAD(WARNING, "relaxed-handover", "8.8, 9.7.13.4, 9.7.13.15.13"),                                             \
        .rule = "a relaxed arrival or wait does not order memory accesses of threads. A release before the arrival "   \
                "and an acquire after the wait do"
DIAG_ARRAY(relaxed_handover, CAUSES) = {
    [CAUSE_ANY] = {RELAXED_HANDOVER,
                   .hint = "Use .release and .acquire (the defaults). Or add fence.release before the relaxed arrival, "
                           "in every thread whose accesses it covers, and fence.acquire after the relaxed wait"},
    [CAUSE_RELEASE] =
        {RELAXED_HANDOVER,
         .hint =
             "Arrive with .release (the default), or add fence.acq_rel before the relaxed arrival, in every thread "
             "whose accesses it covers: nothing was released. The wait must acquire, too, or have a fence after it"},
    [CAUSE_ACQUIRE] = {RELAXED_HANDOVER,
                       .hint = "Wait with .acquire (the default), or add fence.acq_rel after the relaxed wait: the "
                               "arriving side releases, but this side does not acquire"},
};
DIAG(relaxed_copy_handover) = {
    DIAG_HEAD(STRICT, "relaxed-copy-handover", "9.7.16.6.4, 9.7.13.4, 8.9.1.1"),
    .rule = "a relaxed wait orders only tcgen05 operations. Bytes that a copy has written, or that a tcgen05 operation "
            "has read, need an acquire",
    .hint = "Use mbarrier.try_wait.acquire, or add fence.acquire.sync_restrict::shared::cluster.cluster after the "
            "relaxed wait; the fence compiles to nothing",
};
#define MMA_NOT_AWAITED                                                                                                \
    DIAG_HEAD(WARNING, "tcgen05-not-awaited", "9.7.16.6.2, 9.7.16.6.4.2, 9.7.16.12"),                                  \
        .rule = "tensor memory that tcgen05.mma, .cp or .shift uses may be accessed only after a later "               \
                "tcgen05.commit is observed"
DIAG_ARRAY(mma_not_awaited, CAUSES) = {
    [CAUSE_ANY] = {MMA_NOT_AWAITED,
                   .hint = "Wait for the mbarrier on which tcgen05.commit arrives, with the right parity and "
                           "accumulator, before this access. Let the commit come after the last tcgen05.mma",
                   .reason = "the operation may be in progress when its cells are accessed."},
    [CAUSE_PARITY] = {MMA_NOT_AWAITED, .hint = FLIP},
    [CAUSE_COMMIT] = {MMA_NOT_AWAITED, .hint = "Execute tcgen05.commit in the thread that issues tcgen05.mma: it "
                                               "tracks only the operations of its own thread (PTX ISA 9.7.16.12.1)"},
    [CAUSE_RETURN] =
        {MMA_NOT_AWAITED,
         .hint = "Let the thread that issues tcgen05.mma wait, before the first one of a tile, for the mbarrier on "
                 "which the readers of the accumulator arrive. Let these arrive after tcgen05.wait::ld. The commits "
                 "are fine: this warp has waited for an earlier one of that thread"},
};
DIAG(mma_of_two) = {
    MMA_NOT_AWAITED,
    .hint = "Let one thread issue both operations, or synchronise the two threads in between, with tcgen05.fence "
            "around it. Operations of two threads are not ordered by themselves",
};
DIAG(ld_not_waited) = {
    DIAG_HEAD(WARNING, "tcgen05-ld-not-waited", "9.7.16.6.4.5, 9.7.16.8.5"),
    .rule = "using a register of a tcgen05.ld waits for its value, but only tcgen05.wait::ld guarantees that the cells "
            "have been read",
    .hint = "Add tcgen05.wait::ld.sync.aligned between the loads and the arrival or barrier that lets others continue. "
            "Without it a later tcgen05.mma, .st or .dealloc may overtake a load, though it usually does not",
    .reason = "a later write of the cells may overtake the load, though it usually does not.",
};
DIAG(st_not_waited) = {
    DIAG_HEAD(WARNING, "tcgen05-st-not-waited", "9.7.16.6.4.3, 9.7.16.8.5"),
    .rule = "tcgen05.st is asynchronous: only tcgen05.wait::st guarantees that the cells have been written",
    .hint = "Add tcgen05.wait::st.sync.aligned after the stores, before their cells are used or another thread is "
            "signalled",
    .reason = "the cells may not have been written when they are read.",
};
#define TENSOR_RACE                                                                                                    \
    DIAG_HEAD(WARNING, "tensor-race", "9.7.16.6.4, 9.7.16.6.3"),                                                       \
        .rule =                                                                                                        \
            "if two operations access the same cells of tensor memory, and one of them writes, they must be ordered. " \
            "Use a barrier or an mbarrier, with tcgen05.fence::before_thread_sync and ::after_thread_sync around it"
DIAG(tensor_race) = {
    TENSOR_RACE,
    .hint = "Let the warps that read an accumulator arrive on an mbarrier. Let the thread that issues the next "
            "tcgen05.mma into it wait for all of them, with the right parity and accumulator",
    .reason = "the two accesses may come in either order.",
};
DIAG(dealloc_race) = {
    TENSOR_RACE,
    .hint = "Add a barrier of all warps that access the columns, with tcgen05.fence around it, before tcgen05.dealloc: "
            "__syncthreads(), or for a CTA pair the cluster barrier",
};
DIAG(ldst_race) = {
    TENSOR_RACE,
    .hint = "Add a barrier between the two warps, with tcgen05.wait and tcgen05.fence around it, or give each its own "
            "columns: both access the same window of lanes",
};
DIAG(fence_missing) = {
    DIAG_HEAD(STRICT, "tcgen05-fence-missing", "9.7.16.6.4"),
    .rule = "synchronisation orders tcgen05 operations of two threads only with fences. Before it comes "
            "tcgen05.fence::before_thread_sync (or a tcgen05.commit), after it tcgen05.fence::after_thread_sync",
    .hint =
        "Add ::before_thread_sync in every thread whose tcgen05 operations come before the arrival or barrier. Add "
        "::after_thread_sync in the thread that continues. ptxas 13.0 was not seen to move an instruction without them",
    .reason = "ptxas 13.0 emits no instruction for the fence and was not seen to move anything across waits without "
              "it; CUTLASS's C++ kernels have none.",
};
DIAG(operand_fence_missing) = {
    DIAG_HEAD(STRICT, "tcgen05-fence-missing", "9.7.16.11.1, 9.7.16.6.3"),
    .rule = "tcgen05.mma and .cp are asynchronous. Their reads of shared memory come after a wait or barrier of their "
            "thread only with tcgen05.fence::after_thread_sync in between",
    .hint = "Add tcgen05.fence::after_thread_sync after the wait for the bytes, in the thread that issues. No known "
            "chip or compiler moves the operation in front of the wait, and many kernels do without",
};
DIAG(narrow_scope) = {
    DIAG_HEAD(STRICT, "scope-too-narrow", "8.5, 8.8, 9.7.13.15.13, 9.7.16.11.1"),
    .rule = "two threads synchronise only if the scope of each operation includes the other thread. Threads of "
            "different CTAs of a cluster need .cluster or wider",
    .hint = "Add .release.cluster and .acquire.cluster: without them mbarrier.arrive and .try_wait have scope .cta. "
            "Many kernels do without. For two of them, whose bytes came by cp.async, stale reads on chips are reported",
    .reason = "CUTLASS's and DeepGEMM's barriers between CTAs have this scope. Stale reads are reported for two "
              "kernels, both with bytes of cp.async (NVIDIA/cutlass#3324, NVIDIA/cutlass#3647).",
};
DIAG(narrow_atomics) = {
    DIAG_HEAD(STRICT, "scope-too-narrow", "8.5, 8.7, 8.7.1"),
    .rule = "two strong accesses to one word do not race if the scope of each includes the other thread. For threads "
            "in two CTAs of a cluster that is .cluster or wider",
    .hint = "Use .cluster scope in both: .cta leaves out the threads of the other CTA",
};
DIAG(not_pipelined) = {
    DIAG_HEAD(STRICT, "tcgen05-not-pipelined", "9.7.16.6.2, 9.7.16.6.4.5"),
    .rule = "only some pairs of asynchronous tcgen05 operations of one thread run in the order of issue. Such pairs "
            "are mma and mma with the same accumulator and shape, cp and mma, shift and mma, shift and cp.4x256b, mma "
            "and shift",
    .hint =
        "Add tcgen05.commit after the first, and a wait for its mbarrier before the second. After tcgen05.ld add "
        "tcgen05.wait::ld, even if the registers have been used. Block-scaled kernels rely on the order of mma and cp",
    .reason = "CUTLASS's block-scaled kernels rely on the order of mma and cp, and no chip is known to change it.",
};

/* --- order -------------------------------------------------------------------------------------------------------- */

/* Does the viewer know, in a layer of tcgen05.fence, that the operation's access is complete? A synchronous operation,
 * such as tcgen05.dealloc, needs no ::after_thread_sync of its own (9.7.16.6.1). So for it the clocks in v->synchronous
 * count as well; for other accesses that is NULL. */
static bool knows_tensor(const struct viewer *v, enum layer layer, const struct note *first, bool wrote) {
    struct viewer also = *v;
    also.now = v->synchronous;
    return viewer_knows_done(v, layer, first, wrote) ||
           (v->synchronous && viewer_knows_done(&also, layer, first, wrote));
}

/* Does the viewer know in that layer that the thread made the access (a cp.async: that the copy is complete)? */
static bool knows_stamp(const struct race *r, const struct viewer *v, enum layer layer, const struct stamp *s) {
    if (s->flags & STAMP_COPY)
        return viewer_knows_copy(r, v, layer, s->warp, s->lane, s->time);
    if (s->flags & STAMP_WARP)
        return viewer_knows_lanes(v, layer, &(struct done){.warp = s->warp, .lanes = UINT32_MAX, .time = s->time},
                                  false);
    return viewer_knows_lane(v, layer, s->warp, s->lane, s->time);
}

/* --- verdicts ----------------------------------------------------------------------------------------------------- */

/* The part of verdict_stamp for a cp.async `first` that no wait covers. If both threads commit groups and the copying
 * one has committed more, it is a round ahead of the viewer: then its copy came too soon. */
static const struct diag *copy_verdict(const struct race *r, const struct stamp *first, const struct viewer *v) {
    const struct lane_copies *theirs = r->warps[first->warp].ops.copies, *ours = r->warps[v->warp].ops.copies;
    const uint32_t lane = v->lanes ? (uint32_t)__builtin_ctz(v->lanes) : 0;
    if (!v->note && first->warp != v->warp && theirs && ours && ours[lane].groups &&
        theirs[first->lane].groups > ours[lane].groups)
        return &copy_too_soon;
    return &not_awaited[cause_of_copy(r, first, v)];
}

/* The part of verdict_stamp for a thread that made its access after the issue of the operation `v`, without having
 * waited for the operation. */
static const struct diag *while_under_way(const struct race *r, const struct stamp *first, const struct viewer *v,
                                          bool writes) {
    if (writes)
        return &not_awaited[cause_under_way(r, first, v)];
    if (v->agent == AGENT_TENSOR_CORE || v->agent == AGENT_TENSOR_COPY)
        return &operand_overwritten[CAUSE_ANY];
    return &source_overwritten[cause_of_read(r, v->note, NULL)];
}

/* Does it read an operand of tcgen05.mma or .cp? For such a read, only two kinds of earlier acts count as ordered: its
 * thread's own, and those that the thread knew at its last tcgen05.fence::after_thread_sync (9.7.16.11.1). */
static bool is_operand(const struct viewer *v) { return v->note && v->note->tensor; }

/* Of two ordered accesses: the strict rule that they break (scopes, tcgen05.fence), or NULL. */
static const struct diag *strictly(const struct race *r, const struct stamp *first, const struct viewer *v) {
    if (!r->strict)
        return NULL;
    if (!race_is_near(r, first->warp, v) && !knows_stamp(r, v, LAYER_SCOPED, first))
        return &narrow_scope;
    return is_operand(v) && !knows_stamp(r, v, LAYER_BEHIND, first) ? &operand_fence_missing : NULL;
}

uint32_t verdict_known_time(const struct race *r, uint32_t warp, const struct viewer *v) {
    const uint32_t ordered = vclock_all_lanes(v->now[v->async ? LAYER_FENCED : LAYER_ORDER], warp);
    const uint32_t scoped =
        r->strict && !race_is_near(r, warp, v) ? vclock_all_lanes(v->now[LAYER_SCOPED], warp) : ordered;
    const uint32_t fenced = r->strict && is_operand(v) ? vclock_all_lanes(v->now[LAYER_BEHIND], warp) : ordered;
    const uint32_t least = scoped < fenced ? scoped : fenced;
    return ordered < least ? ordered : least;
}

const struct diag *verdict_stamp(const struct race *r, const struct stamp *first, bool wrote, const struct viewer *v,
                                 bool writes) {
    if (knows_stamp(r, v, v->async ? LAYER_FENCED : LAYER_ORDER, first))
        return strictly(r, first, v);
    if (v->async && knows_stamp(r, v, LAYER_ORDER, first)) { /* ordered, but by no proxy fence (8.6) */
        if (!wrote)
            return &fence_before_overwrite;
        return first->flags & STAMP_WARP && writes ? &fence_over_address : &missing_fence;
    }
    if (first->flags & STAMP_COPY)
        return knows_stamp(r, v, LAYER_SEEN, first) ? &relaxed_copy_handover : copy_verdict(r, first, v);
    if (knows_stamp(r, v, LAYER_SEEN, first))
        return first->flags & STAMP_WARP ? &relaxed_copy_handover /* no thread's access: strict, as for a copy */
                                         : &relaxed_handover[cause_of_handover(r, first, v)];
    if (v->note && (first->time > v->note->time || cause_is_ahead(r, first, v)))
        return while_under_way(r, first, v, writes);
    if (!v->note || !writes)
        return &shared_race[cause_of_race(r, first, wrote, v, writes)];
    return cause_lane_that_told(r, first, v) ? &lane_told : &copy_overwrites;
}

const struct diag *verdict_strong(const struct race *r, const struct stamp *first, const struct viewer *v,
                                  bool narrow) {
    return r->strict && (narrow || first->flags & STAMP_NARROW) && !race_is_near(r, first->warp, v) &&
                   !knows_stamp(r, v, LAYER_SCOPED, first)
               ? &narrow_atomics
               : NULL;
}

/* Is it a pair of 9.7.16.6.2? These run in the order of issue, also if two threads issue them (9.7.16.6.4.3). Two
 * tcgen05.mma must have the same accumulator and shape. */
static bool is_pair(const struct note *a, const struct note *b) {
    const bool multiplies = a->agent == AGENT_TENSOR_CORE;
    if (b->agent == AGENT_TENSOR_CORE)
        return !multiplies || (a->d == b->d && a->m == b->m && a->n == b->n);
    return multiplies ? b->shifts : a->shifts && b->copies_4x256b;
}

/* Does b run after `a`, of the same thread, because of operations between them that are pairs: .mma and .shift before a
 * .cp.4x256b, .mma before a .shift, or .shift before a .mma? */
static bool is_chained(const struct note *a, const struct note *b) {
    if (b->agent == AGENT_TENSOR_CORE)
        return b->before.shift > a->time; /* of two .mma, as others are pairs */
    if (b->shifts)
        return b->before.mma > a->time;
    return b->copies_4x256b && (a->agent == AGENT_TENSOR_CORE ? b->before.shift : b->before.mma_then_shift) > a->time;
}

/* Does the tcgen05 operation of `v` run after the operation `first` without a wait? Then *rule is NULL, or a strict
 * rule that the two still break.
 *   One thread issued both: yes. If neither they nor pairs between them are in order, they break not_pipelined. But
 *     the answer is no for two such tcgen05.mma, if `first` writes what they share.
 *   Two threads issued them: yes, if they are a pair and the second thread knows that `first` was issued. Then
 *     first->then notes that `first` is complete when the second operation is. */
static bool pipelined(const struct race *r, struct note *first, bool wrote, const struct viewer *v,
                      const struct diag **rule) {
    const struct note *b = v->note;
    const struct done issue = {.warp = first->warp, .lanes = first->lanes, .time = first->time};
    if (!b || !first->tensor || !b->tensor || first->cta_group != b->cta_group)
        return false;
    const bool own = first->warp == b->warp && first->lanes == b->lanes;
    *rule = is_pair(first, b) || (own && is_chained(first, b)) ? NULL : &not_pipelined;
    if (own)
        return !(*rule && wrote && first->agent == AGENT_TENSOR_CORE && b->agent == AGENT_TENSOR_CORE);
    if (*rule || !viewer_knows_lanes(v, LAYER_SEEN, &issue, false))
        return false;
    if (r->strict && !viewer_knows_lanes(v, LAYER_TENSOR, &issue, false))
        *rule = &fence_missing;
    else if (r->strict && !race_is_near(r, first->warp, v) &&
             !viewer_knows_lanes(v, LAYER_TENSOR_SCOPED, &issue, false))
        *rule = &narrow_scope;
    first->then = b->written;
    return true;
}

/* Is `first` a tcgen05.ld whose warp has used a register that it loads, and is `v` a tcgen05.ld or .st of the same
 * warp? That use waited for the value, a true dependency (9.7.16.6.4.5). */
static bool depends(const struct note *first, const struct viewer *v) {
    return first->used && v->note && v->note->agent == AGENT_TENSOR_LDST && first->warp == v->note->warp;
}

/* The part of verdict_note for tensor memory, if the viewer does not know that `first` is complete. If `first` is a
 * tcgen05.ld or .st and the viewer knows of its issue, tcgen05.wait is missing. If the viewer does not know of the
 * issue, nothing orders the two. */
static const struct diag *tensor_verdict(const struct race *r, const struct note *first, const struct viewer *v) {
    const struct done issue = {.warp = first->warp, .lanes = first->lanes, .time = first->time};
    if (first->tensor && v->note && v->note->tensor && (first->warp != v->note->warp || first->lanes != v->note->lanes))
        return &mma_of_two;
    if (first->tensor)
        return &mma_not_awaited[cause_of_mma(r, first, v)];
    if (viewer_knows_lanes(v, LAYER_SEEN, &issue, false))
        return first->loads ? &ld_not_waited : &st_not_waited;
    if (v->synchronous)
        return &dealloc_race;
    return v->agent == AGENT_TENSOR_LDST ? &ldst_race : &tensor_race;
}

/* Of two synchronised accesses to tensor memory: the strict rule that they break (fences, scopes), or NULL. */
static const struct diag *tensor_strictly(const struct race *r, const struct note *first, bool wrote,
                                          const struct viewer *v) {
    if (!r->strict)
        return NULL;
    if (!knows_tensor(v, LAYER_TENSOR, first, wrote))
        return &fence_missing;
    return race_is_near(r, first->warp, v) || knows_tensor(v, LAYER_TENSOR_SCOPED, first, wrote) ? NULL : &narrow_scope;
}

/* The part of verdict_note for shared memory, if the viewer does not know that `first` is complete. */
static const struct diag *bytes_verdict(const struct race *r, const struct note *first, bool wrote,
                                        const struct viewer *v, bool writes) {
    if (wrote)
        return v->note && writes ? &copy_overwrites : &not_awaited[cause_of_write(r, first, v)];
    return first->tensor ? &operand_overwritten[cause_stale(r, first, v) ? CAUSE_PARITY : CAUSE_ANY]
                         : &source_overwritten[cause_of_read(r, first, v)];
}

const struct diag *verdict_note_other(const struct race *r, struct note *first, bool wrote, const struct viewer *v,
                                      bool writes, enum where where) {
    if (v->note && first->time > v->note->time) { /* `v` is the earlier one: does `first` know of it? */
        const struct viewer later = viewer_of_note(v->by, first, v->async, first->name);
        return first == v->note ? NULL
                                : verdict_note(r, (struct note *)(uintptr_t)v->note, writes, &later, wrote, where);
    }
    const struct diag *rule = NULL;
    if (first == v->note)
        return NULL;
    /* each reduction is relaxed (9.7.9.25.4.2), so two of them are morally strong and do not race (8.7.1) */
    if (wrote && writes && first->reduces && v->note && v->note->reduces)
        return NULL;
    /* a viewer that knows `first` as complete has waited, and breaks no rule of the pipeline */
    if (pipelined(r, first, wrote, v, &rule) && !(rule && viewer_knows_done(v, LAYER_SEEN, first, wrote)))
        return rule;
    if (where == IN_TENSOR) {
        if (!viewer_knows_done(v, LAYER_SEEN, first, wrote))
            return depends(first, v) ? &not_pipelined : tensor_verdict(r, first, v);
        return tensor_strictly(r, first, wrote, v);
    }
    if (viewer_knows_done(v, LAYER_ORDER, first, wrote))
        return r->strict && is_operand(v) && !viewer_knows_done(v, LAYER_BEHIND, first, wrote) ? &operand_fence_missing
                                                                                               : NULL;
    return viewer_knows_done(v, LAYER_SEEN, first, wrote) ? &relaxed_copy_handover
                                                          : bytes_verdict(r, first, wrote, v, writes);
}

/* --- reports ------------------------------------------------------------------------------------------------------ */

/* The conflict between `first`, the remembered access, and that of `v`. `late`: in the program's order `first` is the
 * later one: it came after the issue of the operation `v`, or its thread is a round ahead. */
static struct conflict conflict_at(const struct race *r, const struct diag *rule, const struct party *first, bool late,
                                   const struct viewer *v, bool writes, const struct spot *at) {
    const struct party mine = {v->note ? v->note->origin : event_origin(v->by), v->what, writes};
    struct conflict f = {rule, late ? *first : mine, late ? mine : *first, "", NULL, {0}, ""};
    const int n = at->where == IN_TENSOR ? snprintf(f.place, sizeof f.place, "tensor memory column %u", at->at)
                                         : snprintf(f.place, sizeof f.place, "shared offset 0x%x", at->at);
    if (r->cluster->num_ctas > 1)
        snprintf(f.place + n, sizeof f.place - (size_t)n, " of cluster CTA %u", at->owner->rank);
    return f;
}

struct conflict verdict_stamp_conflict(const struct race *r, const struct diag *rule, const struct stamp *first,
                                       bool wrote, const struct viewer *v, bool writes, const struct spot *at) {
    const char *what = rule == &narrow_atomics     ? "a strong access"
                       : first->flags & STAMP_COPY ? "cp.async"
                       : wrote                     ? "a store"
                                                   : "a load";
    const bool known = knows_stamp(r, v, LAYER_SEEN, first); /* then `first` came first */
    const bool late =
        (v->note && !known && (first->time > v->note->time || cause_is_ahead(r, first, v))) || rule == &copy_too_soon;
    const struct diag_site *site = sites_find(&r->warps[first->warp].sites, first->time);
    const struct party earlier = {race_origin(r, first->warp, 1u << first->lane, site), what, wrote};
    if (sites_is_forgotten(&r->warps[first->warp].sites, first->time))
        race_lost(r, BOUND_SITES);
    struct conflict f = conflict_at(r, rule, &earlier, late, v, writes, at);
    const struct tell *tell = rule == &lane_told ? cause_lane_that_told(r, first, v) : NULL;
    if (tell)
        f.told = race_origin(r, first->warp, tell->lanes, tell->site);
    return f;
}

struct conflict verdict_note_conflict(const struct race *r, const struct diag *rule, const struct note *first,
                                      bool wrote, const struct viewer *v, bool writes, const struct spot *at) {
    const bool late = v->note && first->time > v->note->time;
    struct conflict f = conflict_at(r, rule, &(struct party){first->origin, first->name, wrote}, late, v, writes, at);
    if (rule == &mma_not_awaited[CAUSE_PARITY] || rule == &operand_overwritten[CAUSE_PARITY] ||
        rule == &not_awaited[CAUSE_PARITY])
        cause_say_stale(cause_stale(r, first, v), f.why, sizeof f.why);
    else if (rule == &mma_not_awaited[CAUSE_COMMIT])
        cause_say_commit(r, first, v, f.why, sizeof f.why);
    return f;
}
