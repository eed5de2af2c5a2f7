/* machine/mbarrier.c - the state machine of mbarrier objects (PTX ISA 9.7.13.15). Contract:
 * machine/mbarrier.h. */
#include "machine/mbarrier.h"

#include "base/arena.h"
#include "machine/observer.h"

#include <string.h>

/* 9.7.13.15.2: largest expected and pending arrival count, and largest magnitude of the tx-count. */
#define MBAR_MAX_COUNT 0xfffffu
#define MBAR_TAG 2u /* neither all zeros nor all ones: both are what overwriting usually leaves */

struct mbar {
    uint32_t pending, expected;
    int64_t tx;
    uint32_t phase;
};

static uint64_t mbar_pack(const struct mbar *b) {
    return (uint64_t)b->pending | (uint64_t)b->expected << 20 | ((uint64_t)b->tx & 0x1fffff) << 40 |
           (uint64_t)b->phase << MBAR_PHASE_BIT | (uint64_t)MBAR_TAG << 62;
}

static bool mbar_unpack(uint64_t bits, struct mbar *b) {
    b->pending = (uint32_t)bits & MBAR_MAX_COUNT;
    b->expected = (uint32_t)(bits >> 20) & MBAR_MAX_COUNT;
    uint32_t tx = (uint32_t)(bits >> 40) & 0x1fffff;
    b->tx = tx & 0x100000 ? (int64_t)tx - 0x200000 : (int64_t)tx;
    b->phase = (uint32_t)(bits >> MBAR_PHASE_BIT) & 1;
    return bits >> 62 == MBAR_TAG && b->tx >= -(int64_t)MBAR_MAX_COUNT;
}

static uint32_t mbar_find(const struct cta *cta, uint32_t off) {
    uint32_t i = 0;
    while (i < cta->num_mbars && cta->mbars[i].off != off)
        i++;
    return i;
}

static enum mbar_error mbar_load(const struct cta *cta, uint32_t off, struct mbar *b) {
    if (cta->live_warps == 0)
        return MBAR_CTA_EXITED;
    uint32_t i = mbar_find(cta, off);
    if (i == cta->num_mbars)
        return MBAR_NOT_INITIALISED;
    uint64_t bits;
    memcpy(&bits, cta->smem + off, sizeof bits);
    return bits == cta->mbars[i].bits && mbar_unpack(bits, b) ? MBAR_OK : MBAR_CORRUPT;
}

/* 9.7.13.15.6: with no pending arrival and a tx-count of zero the phase completes and the next one begins. */
static void mbar_store(struct cta *cta, uint32_t off, struct mbar *b) {
    bool complete = b->pending == 0 && b->tx == 0;
    if (complete) {
        b->phase ^= 1;
        b->pending = b->expected;
    }
    uint64_t bits = mbar_pack(b);
    memcpy(cta->smem + off, &bits, sizeof bits);
    cta->mbars[mbar_find(cta, off)].bits = bits;
    cta->island->progress++;
    if (!complete)
        return;
    mach_wake(cta);
    const struct observer *o = cta->gpu->observer;
    if (o && o->sync)
        o->sync(o->ctx, cta);
}

enum mbar_error mbar_init(struct cta *cta, uint32_t off, uint32_t count) {
    if (cta->live_warps == 0)
        return MBAR_CTA_EXITED;
    if (count == 0 || count > MBAR_MAX_COUNT)
        return MBAR_BAD_COUNT;
    if (mbar_find(cta, off) != cta->num_mbars)
        return MBAR_LIVE;
    cta->mbars = xgrow(cta->mbars, cta->num_mbars, &cta->cap_mbars, sizeof *cta->mbars);
    cta->mbars[cta->num_mbars++] = (struct mach_mbar){.off = off};
    smem_clear_poison(cta, off, 8);
    struct mbar b = {.pending = count, .expected = count};
    mbar_store(cta, off, &b);
    return MBAR_OK;
}

enum mbar_error mbar_inval(struct cta *cta, uint32_t off) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e != MBAR_OK)
        return e;
    cta->mbars[mbar_find(cta, off)] = cta->mbars[--cta->num_mbars];
    smem_set_poison(cta, off, 8); /* what the bytes hold now is not defined */
    cta->island->progress++;
    return MBAR_OK;
}

/* 9.7.13.15.7, .14: one arrive-on operation, after an expect-tx of `bytes`. */
static enum mbar_error mbar_arrive_on(struct cta *cta, uint32_t off, uint32_t bytes, uint32_t count, bool drop,
                                      uint64_t *state) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e != MBAR_OK)
        return e;
    if (count == 0 || count > MBAR_MAX_COUNT)
        return MBAR_BAD_COUNT;
    if (count > b.pending || (drop && count > b.expected))
        return MBAR_TOO_MANY_ARRIVALS;
    if (b.tx + (int64_t)bytes > (int64_t)MBAR_MAX_COUNT)
        return MBAR_TX_RANGE;
    if (state)
        *state = mbar_pack(&b);
    b.tx += bytes;
    b.pending -= count;
    if (drop)
        b.expected -= count;
    mbar_store(cta, off, &b);
    return MBAR_OK;
}

enum mbar_error mbar_arrive(struct cta *cta, uint32_t off, uint32_t count, bool drop, uint64_t *state) {
    return mbar_arrive_on(cta, off, 0, count, drop, state);
}

enum mbar_error mbar_arrive_expect_tx(struct cta *cta, uint32_t off, uint32_t bytes, bool drop, uint64_t *state) {
    return mbar_arrive_on(cta, off, bytes, 1, drop, state);
}

enum mbar_error mbar_add_pending(struct cta *cta, uint32_t off) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e != MBAR_OK)
        return e;
    if (b.pending == MBAR_MAX_COUNT)
        return MBAR_BAD_COUNT;
    b.pending++;
    mbar_store(cta, off, &b);
    return MBAR_OK;
}

static enum mbar_error mbar_add_tx(struct cta *cta, uint32_t off, int64_t delta) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e != MBAR_OK)
        return e;
    int64_t tx = b.tx + delta;
    if (tx > (int64_t)MBAR_MAX_COUNT || tx < -(int64_t)MBAR_MAX_COUNT)
        return MBAR_TX_RANGE;
    b.tx = tx;
    mbar_store(cta, off, &b);
    return MBAR_OK;
}

enum mbar_error mbar_expect_tx(struct cta *cta, uint32_t off, uint32_t bytes) { return mbar_add_tx(cta, off, bytes); }

enum mbar_error mbar_complete_tx(struct cta *cta, uint32_t off, uint32_t bytes) {
    return mbar_add_tx(cta, off, -(int64_t)bytes);
}

enum mbar_error mbar_test_state(struct cta *cta, uint32_t off, uint64_t state, bool *done) {
    return mbar_test_parity(cta, off, (uint32_t)(state >> MBAR_PHASE_BIT) & 1, done);
}

/* 9.7.13.15.16: only the current, incomplete phase and the one before it can be asked for, so that one bit
 * tells. */
enum mbar_error mbar_test_parity(struct cta *cta, uint32_t off, uint32_t parity, bool *done) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e == MBAR_OK)
        *done = b.phase != (parity & 1);
    return e;
}

uint32_t mbar_index(const struct cta *cta, uint32_t off) {
    uint32_t i = mbar_find(cta, off);
    return i < cta->num_mbars ? i : UINT32_MAX;
}

enum mbar_error mbar_peek(const struct cta *cta, uint32_t off, struct mbar_view *out) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e == MBAR_OK)
        *out = (struct mbar_view){b.pending, b.expected, (int32_t)b.tx, b.phase};
    return e;
}

uint32_t mbar_pending_count(uint64_t state) { return (uint32_t)state & MBAR_MAX_COUNT; }

static const struct diag unpublished = {
    .id = "mbarrier-unpublished",
    .rule = "the other CTAs of the cluster may use an mbarrier once its initialisation is visible to them: a "
            "release at cluster scope after mbarrier.init, and a cluster barrier after that",
    .section = "PTX ISA 9.7.13.4, 9.7.13.3",
    .hint = "fence.mbarrier_init.release.cluster by the thread that initialised, then barrier.cluster.arrive "
            "and .wait by all threads; without them it works on most runs",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};

void mbar_release(struct cta *cta) {
    for (uint32_t i = 0; i < cta->num_mbars; i++)
        if (cta->mbars[i].seen == MBAR_FRESH)
            cta->mbars[i].seen = MBAR_RELEASED;
}

void mbar_publish(struct cluster *cl) {
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        for (uint32_t i = 0; i < cl->cta[r].num_mbars; i++)
            if (cl->cta[r].mbars[i].seen == MBAR_RELEASED)
                cl->cta[r].mbars[i].seen = MBAR_PUBLISHED;
}

bool mbar_check_remote(const struct cta *from, const struct cta *owner, uint32_t off, const struct mach_origin *origin,
                       const char *what) {
    uint32_t i = from == owner ? owner->num_mbars : mbar_find(owner, off);
    if (i == owner->num_mbars || owner->mbars[i].seen == MBAR_PUBLISHED) /* none there is the operation's own error */
        return true;
    return mach_warn(from->island, origin, &unpublished,
                     "%s by cluster CTA %u on the mbarrier at shared offset 0x%x of CTA %u: since its mbarrier.init %s",
                     what, from->rank, off, owner->rank,
                     owner->mbars[i].seen == MBAR_FRESH
                         ? "no thread of that CTA has executed a release at cluster scope"
                         : "no cluster barrier has completed");
}

static const struct diag unannounced = {
    .id = "mbarrier-bytes-unannounced",
    .rule = "expect_tx announces every byte that the copies of a phase bring to its mbarrier",
    .section = "PTX ISA 9.7.13.15.5, 9.7.13.15.6",
    .hint = "an expect_tx of fewer bytes than all copies bring lets the phase end before the last of them "
            "has landed; count "
            "those that other CTAs send, too (of a CTA pair: both halves)",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};

void mbar_cta_exit(const struct cta *cta) {
    for (uint32_t i = 0; i < cta->num_mbars; i++) {
        struct mbar b;
        if (!mbar_unpack(cta->mbars[i].bits, &b) || b.tx >= 0)
            continue;
        mach_warn(cta->island, NULL, &unannounced,
                  "CTA (%u,%u,%u), rank %u, exits, and the mbarrier at shared offset 0x%x got %d bytes that no "
                  "expect_tx announced",
                  cta->id.x, cta->id.y, cta->id.z, cta->rank, cta->mbars[i].off, (int)-b.tx);
        return;
    }
}

#define MBAR_ERROR(id_, rule_, section_, hint_)                                                                        \
    { .id = id_, .rule = rule_, .section = section_, .hint = hint_, .cuda_error = DIAG_CUDA_LAUNCH_FAILURE }

static const struct diag errors[] = {
    [MBAR_NOT_INITIALISED] =
        MBAR_ERROR("mbarrier-not-initialised", "every mbarrier operation but init needs an initialised mbarrier object",
                   "PTX ISA 9.7.13.15.3",
                   "one thread must run mbarrier.init, and a barrier must come between it and the first use"),
    [MBAR_CORRUPT] =
        MBAR_ERROR("mbarrier-overwritten", "only mbarrier operations may touch an initialised mbarrier object",
                   "PTX ISA 9.7.13.15", "a store or a copy to shared memory ran over the 8 bytes of the barrier"),
    [MBAR_BAD_COUNT] = MBAR_ERROR("mbarrier-count", "arrival counts lie in 1 .. 2^20-1", "PTX ISA 9.7.13.15.2",
                                  "look at the count operand"),
    [MBAR_LIVE] = MBAR_ERROR(
        "mbarrier-init-live", "a valid mbarrier object must be invalidated before its memory is initialised again",
        "PTX ISA 9.7.13.15.9", "let one thread initialise each barrier, once; mbarrier.inval ends its life"),
    [MBAR_TOO_MANY_ARRIVALS] =
        MBAR_ERROR("mbarrier-too-many-arrivals", "a phase takes no more arrivals than mbarrier.init announced",
                   "PTX ISA 9.7.13.15.2",
                   "the count given to mbarrier.init is too small, or a thread arrives "
                   "twice in a phase, as when a wait for the wrong parity let it pass"),
    [MBAR_TX_RANGE] =
        MBAR_ERROR("mbarrier-tx-count", "the tx-count stays within -(2^20-1) .. 2^20-1", "PTX ISA 9.7.13.15.2",
                   "bytes expected and bytes that arrive must agree in every phase"),
    [MBAR_CTA_EXITED] = MBAR_ERROR(
        "mbarrier-cta-exited", "shared memory lives as long as its CTA: an mbarrier in it ends with it",
        "PTX ISA 5.1.7", "end the kernel with barrier.cluster.arrive and .wait, so that no CTA leaves early"),
};

const struct diag *mbar_error_diag(enum mbar_error e) { return &errors[e]; }
