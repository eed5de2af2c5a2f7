/* engines/tma_copy.c - queues, destinations, completion and faults of bulk copies; contract in tma_copy.h. */
#include "engines/tma_copy.h"

#include "machine/mbarrier.h"

#include <string.h>

/* --- queues ------------------------------------------------------------------------------------------------------- */

static struct async_queue *queue_named(struct cta *cta, const char *name) {
    for (struct async_queue *q = cta->queues; q; q = q->next)
        if (strcmp(q->name, name) == 0)
            return q;
    struct async_queue *q = async_queue_create(cta, name);
    q->unordered = true; /* copies have no order among themselves (9.7.9.25.1) */
    return q;
}

struct async_queue *tma_load_queue(struct cta *cta) {
    return queue_named(cta, "bulk copy to shared memory");
}
struct async_queue *tma_store_queue(struct cta *cta) {
    return queue_named(cta, "bulk copy from shared memory");
}

/* --- destinations ------------------------------------------------------------------------------------------------- */

#define RANK(addr) ((addr) >> MACH_SMEM_RANK_SHIFT)
#define OFFSET(addr) ((addr) & ((1u << MACH_SMEM_RANK_SHIFT) - 1))

DIAG(misaligned) = {
    DIAG_FAULT(MISALIGNED_ADDRESS, "bulk-copy-alignment", "9.7.9.25.4.1, 5.5.7"),
    .rule = "the addresses of a bulk copy must be multiples of 16",
    .hint = "Declare the buffer in shared memory with alignas(16)",
    .reason = "the chip traps.",
};

DIAG(misaligned_tensor) = {
    DIAG_FAULT(MISALIGNED_ADDRESS, "bulk-copy-alignment", "9.7.9.25.4.1, 5.5.7"),
    .rule = "the shared memory address of a tensor copy must be a multiple of 128",
    .hint = "Declare the buffer with alignas(128), or alignas(1024) for 128-byte swizzling",
};

DIAG(misaligned_mbarrier) = {
    DIAG_FAULT(MISALIGNED_ADDRESS, "bulk-copy-alignment", "9.7.13.15.1"),
    .rule = "an mbarrier object is aligned to 8 bytes",
    .hint = "Declare the mbarrier as a 64-bit integer, and pass its address unchanged",
};

DIAG(not_own) = {
    DIAG_HEAD(ERROR, "bulk-copy-not-own", "9.7.9.27.1.2"),
    .rule = ".shared::cta names the executing CTA's own shared memory",
    .hint = "Write .shared::cluster for a destination in another CTA",
    .reason = "the address is not in the named state space.",
};

DIAG(no_such_rank) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "bulk-copy-rank", "5.1.7"), /* measured on an H200 */
    .rule = "a shared::cluster address names a CTA of the cluster",
    .hint = "Check how bits 24 and up of the address were computed: they name the CTA",
    .reason = "on the chip the access fails, or reaches another CTA's bytes.",
};

static bool judge_alignment(struct cta *cta, const struct mach_origin *origin, const char *name, uint32_t addr,
                            uint32_t align) {
    return addr % align == 0 ||
           mach_fails(cta->island, origin, align == 128 ? &misaligned_tensor : &misaligned,
                      "%s uses shared address 0x%08x, which is no multiple of %u", name, addr, align);
}

static bool judge_addresses(struct cta *cta, const struct mach_origin *origin, const char *name,
                            const struct tma_target *to, uint32_t align) {
    const uint32_t ctas = cta->cluster->num_ctas;
    if (!judge_alignment(cta, origin, name, to->dst, align))
        return false;
    if (to->mbar % 8)
        return mach_fails(cta->island, origin, &misaligned_mbarrier,
                          "%s signals shared address 0x%08x, which is no multiple of 8", name, to->mbar);
    if (to->own && RANK(to->dst) != cta->rank)
        return mach_fails(cta->island, origin, &not_own,
                          "%s from the CTA of rank %u to shared address 0x%08x of rank %u", name, cta->rank, to->dst,
                          RANK(to->dst));
    if (RANK(to->dst) >= ctas || RANK(to->mbar) >= ctas) {
        const uint32_t bad = RANK(to->dst) >= ctas ? to->dst : to->mbar;
        return mach_fails(cta->island, origin, &no_such_rank, "%s uses 0x%08x, of rank %u in a cluster of %u CTAs",
                          name, bad, RANK(bad), ctas);
    }
    return true;
}

DIAG(mbarrier_elsewhere) = {
    DIAG_HEAD(ERROR, "bulk-copy-mbarrier-cta", "9.7.9.27.1.2"),
    .rule = "the mbarrier is in the CTA of the destination, unless the copy says .cta_group::2",
    .hint = "To signal the leader of a CTA pair, clear bit 24 of the mbarrier's address and write .cta_group::2",
    .reason = "in every order the bytes complete a phase of another CTA's mbarrier, not of the one that the threads "
              "wait for.",
};

/* 9.7.9.27.1.2: with .cta_group::1 the mbarrier lies in the CTA of the destination, with ::2 there or in its peer. */
static bool judge_mbarrier(struct cta *cta, const struct mach_origin *origin, const char *name,
                           const struct tma_target *to) {
    const uint32_t dst = RANK(to->dst), mbar = RANK(to->mbar);
    if (mbar == dst || (to->cta_group == 2 && mbar == (dst ^ 1)))
        return true;
    struct diag d = mbarrier_elsewhere;
    if (to->cta_group == 2)
        d.rule = "with .cta_group::2 the mbarrier is in the destination's CTA or in its peer (rank ^ 1)";
    return mach_fails(cta->island, origin, &d, "%s to the CTA of rank %u signals an mbarrier of rank %u", name, dst,
                      mbar);
}

DIAG(beyond_mask) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "multicast-mask", "9.7.9.27.1.2"),
    .rule = "bit r of ctaMask is the CTA of rank r in the cluster; bits beyond the cluster's size must be 0",
    .hint = "Check the mask: it may be for a larger cluster, or built from the wrong coordinates",
    .reason = "the bytes would go to a CTA that does not exist.",
};

DIAG(empty_mask) = {
    DIAG_HEAD(STRICT, "multicast-mask-empty", "9.7.9.25.4.1, 9.7.9.27.1.2"),
    .rule = "ctaMask has a bit for each CTA that gets a multicast copy. If all bits are 0, the copy goes nowhere, and "
            "its bytes count on no mbarrier",
    .hint = "Build the mask: the bit of a CTA is 1 << its %cluster_ctarank",
    .reason = "the ISA does not say what an empty mask does. On the chip the copy ends without an error, and nothing "
              "arrives anywhere (measured on an H200).",
};

static bool judge_multicast(struct cta *cta, const struct mach_origin *origin, const char *name,
                            const struct tma_target *to) {
    const uint32_t ctas = cta->cluster->num_ctas;
    if (to->multicast && !to->ctas)
        return mach_warn(cta->island, origin, &empty_mask, "%s with ctaMask 0, which names no CTA", name);
    if (!to->multicast || !(to->ctas >> ctas))
        return true;
    return mach_fails(cta->island, origin, &beyond_mask, "%s with ctaMask 0x%04x in a cluster of %u CTAs", name,
                      to->ctas, ctas);
}

DIAG(no_peer) = {
    DIAG_HEAD(ERROR, "multicast-no-peer", "9.7.9.27.1.2"),
    .rule = ".cta_group::2 signals a CTA of the destination's pair, which must exist",
    .hint = "Launch clusters of an even number of CTAs",
    .reason = "there is no CTA to signal.",
};

/* A multicast to nobody copies nothing and tells nobody (measured on an H200). */
bool tma_places(struct cta *cta, const struct mach_origin *origin, const char *name, const struct tma_target *to,
                uint32_t align, struct tma_place places[MACH_MAX_CLUSTER], uint32_t *num) {
    *num = 0;
    if (!judge_addresses(cta, origin, name, to, align) || !judge_multicast(cta, origin, name, to) ||
        !judge_mbarrier(cta, origin, name, to))
        return false;
    struct cluster *cl = cta->cluster;
    const uint32_t ctas = to->multicast ? to->ctas : 1u << RANK(to->dst);
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        if (!(ctas >> r & 1))
            continue;
        uint32_t told = to->cta_group == 2 ? (r & ~1u) | (RANK(to->mbar) & 1) : r;
        if (told >= cl->num_ctas)
            return mach_fails(cta->island, origin, &no_peer,
                              "%s: the CTA of rank %u has no peer in a cluster of %u CTAs", name, r, cl->num_ctas);
        places[(*num)++] = (struct tma_place){&cl->cta[r], OFFSET(to->dst), &cl->cta[told], OFFSET(to->mbar)};
    }
    return true;
}

DIAG(into_exited) = {
    DIAG_HEAD(ERROR, "bulk-copy-cta-exited", "5.1.7, 9.7.9.25.1"),
    .rule = "shared memory lives as long as its CTA: a copy must not arrive after the CTA has exited",
    .hint = "Before a CTA exits, let it wait for every copy into it, also for those of its peers: wait on the "
            "mbarrier, or end the kernel with barrier.cluster.arrive and .wait",
    .reason = "in this order another CTA may own the memory by then, and its bytes are overwritten.",
};

DIAG(outside_shared) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "bulk-copy-bounds", "9.7.9.25.4.1"),
    .rule = "a copy must stay inside the shared memory of its CTA",
    .hint = "Ask for more dynamic shared memory in the launch, or copy fewer bytes: a smaller size, or a smaller box "
            "in the tensor map",
    .reason = "on the chip the copy fails, or reaches another CTA's bytes.",
};

bool tma_check_place(const struct async_op *op, const struct tma_place *p, uint64_t bytes) {
    const struct cta *to = p->cta;
    if (to->live_warps == 0)
        return mach_fails(op->cta->island, &op->origin, &into_exited,
                          "%s writes to the CTA of rank %u, which has exited", op->name, to->rank);
    if (p->off >= MACH_SMEM_FIRST && p->off <= to->smem_end && bytes <= to->smem_end - p->off)
        return true;
    return mach_fails(op->cta->island, &op->origin, &outside_shared,
                      "%s writes %llu bytes at 0x%x; the memory of cluster CTA %u ends at 0x%x", op->name,
                      (unsigned long long)bytes, p->off, to->rank, to->smem_end);
}

bool tma_signal(const struct async_op *op, const struct tma_place *p, uint32_t bytes) {
    enum mbar_error e = MBAR_NOT_INITIALISED;
    const struct event_by by = event_by_op(op, ORDER_RELEASE, SCOPE_CLUSTER); /* 8.9.1.1 */
    if (p->mbar >= MACH_SMEM_FIRST && (uint64_t)p->mbar + 8 <= p->mbar_cta->smem_end)
        e = mbar_complete_tx(&by, p->mbar_cta, p->mbar, bytes);
    if (e == MBAR_OK)
        return true;
    return mach_fails(op->cta->island, &op->origin, mbar_op_error_diag(e, op->cta, p->mbar_cta),
                      "%s signals %u bytes to mbarrier 0x%x of cluster CTA %u: %s", op->name, bytes, p->mbar,
                      p->mbar_cta->rank, mbar_error_text(e));
}

/* --- sources ------------------------------------------------------------------------------------------------------ */

bool tma_source(struct cta *cta, const struct mach_origin *origin, const char *name, uint32_t src, uint32_t align,
                uint32_t *off) {
    *off = OFFSET(src);
    if (!judge_alignment(cta, origin, name, src, align))
        return false;
    if (RANK(src) == cta->rank)
        return true;
    struct diag d = not_own;
    d.hint = NULL;
    return mach_fails(cta->island, origin, &d, "%s by the CTA of rank %u from shared address 0x%08x of rank %u", name,
                      cta->rank, src, RANK(src));
}

DIAG(from_exited) = {
    DIAG_HEAD(STRICT, "bulk-store-cta-exited", "9.7.9.27.2.2"),
    .rule = "shared memory lives as long as its CTA: a store must have read it before the CTA exits",
    .hint = "End the thread that issues stores with cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0. "
            "Kernels that run on B200s do without, but the ISA does not promise it",
    .reason = "CUTLASS's default epilogue, DeepGEMM and FlashMLA end like this, and their results are right. The "
              "emulator keeps the memory until the store has read it.",
};

DIAG(peer_from_exited) = {
    DIAG_HEAD(WARNING, "cta-exits-early", "5.1.7, 9.7.9.25.4.1"),
    .rule = "shared memory lives only as long as its CTA. A CTA that copies to another one must not exit before the "
            "copy has read its source",
    .hint = "End the sending CTA with barrier.cluster.arrive and .wait, or with a wait for a signal from the receiver. "
            "Only the receiver's mbarrier shows when the copy is done; no wait_group covers it",
};

bool tma_check_source(const struct async_op *op, uint32_t off, uint64_t bytes) {
    struct cta *cta = op->cta;
    /* its memory is there until its queues are empty: launch/resident.c */
    if (cta->live_warps == 0 &&
        !mach_warn(cta->island, &op->origin, op->dst ? &peer_from_exited : &from_exited,
                   "%s reads shared memory of CTA rank %u, which has exited", op->name, cta->rank))
        return false;
    if (off < MACH_SMEM_FIRST || off > cta->smem_end || bytes > cta->smem_end - off) {
        struct diag d = outside_shared;
        d.hint = NULL;
        return mach_fails(cta->island, &op->origin, &d, "%s reads %llu bytes at 0x%x; the CTA's memory ends at 0x%x",
                          op->name, (unsigned long long)bytes, off, cta->smem_end);
    }
    if (bytes)
        tma_tell_shared(op, EFFECT_READ, cta, off, (uint32_t)bytes);
    return cta->island->fault == 0;
}

DIAG(reads_unwritten) = {
    DIAG_HEAD(ERROR, "bulk-store-uninitialised", "9.7.9.25.1"),
    .rule = "a bulk store must find initialised bytes in shared memory",
    .hint = "Add a barrier between the threads that store and the thread that issues the copy. If one is there, check "
            "that the box is no larger than what was written",
    .reason = "the stored bytes are garbage in every order.",
};

void tma_fault_poison(const struct async_op *op, uint32_t off) {
    mach_fault_unwritten(op->cta, off, 1, &op->origin, &reads_unwritten,
                         "%s reads shared offset 0x%x, which was never written", op->name, off);
}

DIAG(outside_global) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "bulk-copy-global-bounds", "5.1.4"),
    .rule = "a copy must stay inside one live allocation of global memory",
    .hint = "Check the address and the size of the copy; for a tensor copy, the sizes and strides given to "
            "cuTensorMapEncodeTiled",
    .reason = "the bytes are another allocation's, or no allocation's.",
};

uint8_t *tma_global(const struct async_op *op, uint64_t addr, uint64_t bytes, bool write) {
    uint8_t *p = mem_at(op->cta->gpu->mem, addr, bytes);
    if (p)
        return p;
    struct mem_block b;
    if (!mem_is_device(op->cta->gpu->mem, addr))
        mach_fault(op->cta->island, &op->origin, &outside_global,
                   "%s %s %llu bytes at 0x%llx, which is no device address", op->name, write ? "writes" : "reads",
                   (unsigned long long)bytes, (unsigned long long)addr);
    else if (mem_nearest(op->cta->gpu->mem, addr, &b))
        mach_fault(op->cta->island, &op->origin, &outside_global,
                   "%s %s %llu bytes at byte %llu of the %llu-byte allocation at 0x%llx", op->name,
                   write ? "writes" : "reads", (unsigned long long)bytes, (unsigned long long)(addr - b.addr),
                   (unsigned long long)b.size, (unsigned long long)b.addr);
    else
        mach_fault(op->cta->island, &op->origin, &outside_global, "%s %s %llu bytes at 0x%llx, below every allocation",
                   op->name, write ? "writes" : "reads", (unsigned long long)bytes, (unsigned long long)addr);
    return NULL;
}

/* --- who watches -------------------------------------------------------------------------------------------------- */

void tma_tell_shared(const struct async_op *op, enum event_effect effect, struct cta *owner, uint32_t off,
                     uint32_t bytes) {
    if (events_wanted(op->cta->gpu, WANT_ENGINE_READ | WANT_ENGINE_WRITE))
        events_send_access(op->cta->gpu, &(struct event_access){.by = event_by_op(op, ORDER_WEAK, SCOPE_NONE),
                                                                .agent = op->kind->agent,
                                                                .space = SPACE_SHARED,
                                                                .effect = effect,
                                                                .proxy = PROXY_ASYNC,
                                                                .owner = owner,
                                                                .what = op->name,
                                                                .at = &(uint64_t){off},
                                                                .size = bytes,
                                                                .rows = 1});
}

static void tell_global(const struct async_op *op, enum event_effect effect, enum event_proxy proxy, uint64_t addr,
                        uint32_t bytes, uint32_t rows, uint64_t stride) {
    if (events_wanted(op->cta->gpu, WANT_ENGINE_GLOBAL))
        events_send_access(op->cta->gpu, &(struct event_access){.by = event_by_op(op, ORDER_WEAK, SCOPE_NONE),
                                                                .agent = op->kind->agent,
                                                                .space = SPACE_GLOBAL,
                                                                .effect = effect,
                                                                .proxy = proxy,
                                                                .what = proxy == PROXY_ASYNC ? op->name : "tensor map",
                                                                .at = &(uint64_t){addr},
                                                                .size = bytes,
                                                                .rows = rows,
                                                                .stride = stride});
}

void tma_tell_global(const struct async_op *op, enum event_effect effect, uint64_t addr, uint32_t bytes, uint32_t rows,
                     uint64_t stride) {
    tell_global(op, effect, PROXY_ASYNC, addr, bytes, rows, stride);
}

void tma_tell_map(const struct async_op *op, uint64_t addr) {
    if (addr)
        tell_global(op, EFFECT_READ, PROXY_TENSORMAP, addr, TMAP_BYTES, 1, 0);
}

void tma_describe_place(const struct tma_place *p, uint64_t bytes, struct event_work *work) {
    work->bytes = bytes;
    work->to = p->cta;
    work->to_off = p->off;
    work->signals = p->mbar_cta;
    work->signals_off = p->mbar;
}
