/* machine/mbarrier.c - the state machine of mbarrier objects (PTX ISA 9.7.13.15). Contract:
 * machine/mbarrier.h. */
#include "machine/mbarrier.h"

#include "base/heap.h"
#include "machine/events.h"

/* 9.7.13.15.2: largest expected and pending arrival count, and largest magnitude of the tx-count. */
#define MBAR_MAX_COUNT 0xfffffu
#define MBAR_TAG 2u /* neither all zeros nor all ones: both are what overwriting usually leaves */
#define INLINE static inline __attribute__((always_inline))

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
    b->tx = (int64_t)(bits << 3) >> 43;
    b->phase = (uint32_t)(bits >> MBAR_PHASE_BIT) & 1;
    return bits >> 62 == MBAR_TAG && b->tx >= -(int64_t)MBAR_MAX_COUNT;
}

static uint32_t place_of(uint32_t off) { return off / 8 % MACH_MBAR_PLACES; }

static __attribute__((noinline)) uint32_t mbar_search(const struct cta *cta, uint32_t off) {
    uint32_t i = 0;
    while (i < cta->num_mbars && cta->mbars[i].off != off)
        i++;
    return i;
}
static inline uint32_t mbar_find(const struct cta *cta, uint32_t off) {
    const uint32_t i = cta->mbar_at[place_of(off)];
    return i < cta->num_mbars && cta->mbars[i].off == off ? i : mbar_search(cta, off);
}

/* Sets the bit of who it is in `parts` of the object's phase. */
static void take_part(const struct event_by *by, uint32_t *parts) {
    if (by->cta && by->warp < MACH_MAX_WARPS)
        parts[by->cta->rank] |= 1u << by->warp;
}

/* Finds the object and its state. */
static inline enum mbar_error mbar_open(const struct cta *cta, uint32_t off, struct mach_mbar **object,
                                        struct mbar *b) {
    if (cta->live_warps == 0)
        return MBAR_CTA_EXITED;
    uint32_t i = mbar_find(cta, off);
    if (i == cta->num_mbars)
        return MBAR_NOT_INITIALISED;
    *object = &cta->mbars[i];
    uint64_t bits;
    memcpy(&bits, cta->smem + off, sizeof bits);
    return bits == (*object)->bits && mbar_unpack(bits, b) ? MBAR_OK : MBAR_CORRUPT;
}

static enum mbar_error mbar_load(const struct cta *cta, uint32_t off, struct mbar *b) {
    struct mach_mbar *object;
    return mbar_open(cta, off, &object, b);
}

static __attribute__((noinline)) void mbar_send(const struct event_by *by, uint32_t lanes, enum event_sync_kind kind,
                                                struct cta *cta, const struct mach_mbar *object, const struct mbar *b,
                                                uint32_t count, uint32_t bytes) {
    struct event_sync e = {.by = *by,
                           .kind = kind,
                           .owner = cta,
                           .off = object->off,
                           .phase = object->phases,
                           .count = count,
                           .bytes = bytes,
                           .pending = b->pending,
                           .tx = (int32_t)b->tx};
    e.by.lanes = lanes;
    events_send_sync(cta->gpu, &e);
}

/* These lanes of somebody did `kind` to the object, which is *b then. */
static inline void mbar_tell(const struct event_by *by, uint32_t lanes, enum event_sync_kind kind, struct cta *cta,
                             const struct mach_mbar *object, const struct mbar *b, uint32_t count, uint32_t bytes) {
    if (events_wanted(cta->gpu, WANT_MBARRIER))
        mbar_send(by, lanes, kind, cta, object, b, count, bytes);
}

/* 9.7.13.15.6: with no pending arrival and a tx-count of zero the phase completes and the next one begins; lanes `last`
 * end it. */
static inline void mbar_store(const struct event_by *by, uint32_t last, struct cta *cta, struct mach_mbar *object,
                              struct mbar *b) {
    const bool complete = b->pending == 0 && b->tx == 0;
    if (complete) {
        mbar_tell(by, last, SYNC_MBAR_PHASE, cta, object, b, 0, 0);
        b->phase ^= 1;
        b->pending = b->expected;
        object->phases++;
        object->last = object->now;
        object->now = (struct mach_mbar_phase){0};
    }
    uint64_t bits = mbar_pack(b);
    memcpy(cta->smem + object->off, &bits, sizeof bits);
    object->bits = bits;
    object->used = true;
    cta->island->progress++;
    if (complete)
        mach_wake(cta);
}

static bool is_own(const struct event_by *by, const struct mach_mbar *object) {
    return !object->together && by->warp == object->init_warp && by->lanes == 1u << object->init_lane;
}

enum mbar_again mbar_again(const struct event_by *by, const struct cta *cta, uint32_t off, uint32_t count) {
    struct mbar b;
    if (by->cta != cta || mbar_load(cta, off, &b) != MBAR_OK)
        return MBAR_AGAIN_NOT;
    const struct mach_mbar *object = &cta->mbars[mbar_find(cta, off)];
    if (object->used)
        return by->warp == object->init_warp && b.pending == b.expected && b.tx == 0 ? MBAR_AGAIN_USED : MBAR_AGAIN_NOT;
    if (is_own(by, object))
        return MBAR_AGAIN_OWN;
    return by->site == object->init && count == b.expected ? MBAR_AGAIN_SAME : MBAR_AGAIN_NOT;
}

static enum mbar_error begin(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t count, bool again) {
    if (cta->live_warps == 0)
        return MBAR_CTA_EXITED;
    if (count == 0 || count > MBAR_MAX_COUNT)
        return MBAR_BAD_COUNT;
    const uint32_t i = mbar_find(cta, off);
    if (i != cta->num_mbars && !again)
        return MBAR_LIVE;
    const bool others = i != cta->num_mbars && !is_own(by, &cta->mbars[i]);
    if (i == cta->num_mbars) {
        cta->mbars = xgrow(cta->mbars, cta->num_mbars, &cta->cap_mbars, sizeof *cta->mbars);
        cta->mbar_at[place_of(off)] = (uint8_t)cta->num_mbars++;
    }
    smem_clear_poison(cta, off, 8);
    const uint64_t bits = mbar_pack(&(struct mbar){.pending = count, .expected = count});
    memcpy(cta->smem + off, &bits, sizeof bits);
    cta->mbars[i] = (struct mach_mbar){.off = off,
                                       .bits = bits,
                                       .init = by->site,
                                       .init_warp = by->warp,
                                       .init_lane = by->lanes ? (uint32_t)__builtin_ctz(by->lanes) : 0,
                                       .together = others || (by->lanes & (by->lanes - 1))};
    cta->island->progress++;
    tell_life(cta->gpu,
              &(struct event_life){.by = *by, .kind = LIFE_MBAR_INIT, .owner = cta, .off = off, .count = count});
    return MBAR_OK;
}

enum mbar_error mbar_init(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t count) {
    return begin(by, cta, off, count, false);
}

enum mbar_error mbar_init_again(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t count) {
    return begin(by, cta, off, count, true);
}

enum mbar_error mbar_inval(const struct event_by *by, struct cta *cta, uint32_t off) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e != MBAR_OK)
        return e;
    cta->mbars[mbar_find(cta, off)] = cta->mbars[--cta->num_mbars];
    smem_set_poison(cta, off, 8); /* what the bytes hold now is not defined */
    cta->island->progress++;
    tell_life(cta->gpu, &(struct event_life){.by = *by, .kind = LIFE_MBAR_INVAL, .owner = cta, .off = off});
    return MBAR_OK;
}

/* 9.7.13.15.7, .14: one arrive-on operation, after an expect-tx of `bytes`. If it ends the phase, lanes `last` do. */
INLINE enum mbar_error mbar_arrive_on(const struct event_by *by, uint32_t last, struct cta *cta, uint32_t off,
                                      uint32_t bytes, uint32_t count, bool drop, uint64_t *state) {
    struct mach_mbar *object;
    struct mbar b;
    enum mbar_error e = mbar_open(cta, off, &object, &b);
    if (e != MBAR_OK)
        return e;
    if (count == 0 || count > MBAR_MAX_COUNT)
        return MBAR_BAD_COUNT;
    if (count > b.pending || (drop && count > b.expected))
        return MBAR_TOO_MANY_ARRIVALS;
    if (b.tx + (int64_t)bytes > (int64_t)MBAR_MAX_COUNT)
        return MBAR_TX_RANGE;
    if (state)
        *state = object->bits;
    struct mach_mbar_phase *now = &object->now;
    object->ranks |= by->cta ? 1u << by->cta->rank : 0;
    take_part(by, now->arrived);
    now->announced += bytes;
    b.tx += bytes;
    if (bytes)
        mbar_tell(by, by->lanes, SYNC_MBAR_EXPECT_TX, cta, object, &b, 0, bytes);
    b.pending -= count;
    if (drop)
        b.expected -= count;
    mbar_tell(by, by->lanes, drop ? SYNC_MBAR_DROP : SYNC_MBAR_ARRIVE, cta, object, &b, count, 0);
    mbar_store(by, last, cta, object, &b);
    return MBAR_OK;
}

enum mbar_error mbar_arrive_together(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t bytes,
                                     uint32_t count, uint64_t *state) {
    if (count > MBAR_MAX_COUNT || bytes > MBAR_MAX_COUNT)
        return MBAR_BAD_COUNT;
    const uint32_t last = 1u << (31 - __builtin_clz(by->lanes)), all = 0xffffffff;
    const uint32_t times = by->lanes == all ? MACH_WARP : (uint32_t)__builtin_popcount(by->lanes);
    return mbar_arrive_on(by, last, cta, off, times * bytes, times * count, false, state);
}

enum mbar_error mbar_arrive(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t count, bool drop,
                            uint64_t *state) {
    return mbar_arrive_on(by, by->lanes, cta, off, 0, count, drop, state);
}

enum mbar_error mbar_arrive_expect_tx(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t bytes,
                                      bool drop, uint64_t *state) {
    return mbar_arrive_on(by, by->lanes, cta, off, bytes, 1, drop, state);
}

enum mbar_error mbar_add_pending(const struct event_by *by, struct cta *cta, uint32_t off) {
    struct mach_mbar *object;
    struct mbar b;
    enum mbar_error e = mbar_open(cta, off, &object, &b);
    if (e != MBAR_OK)
        return e;
    if (b.pending == MBAR_MAX_COUNT)
        return MBAR_BAD_COUNT;
    b.pending++;
    mbar_tell(by, by->lanes, SYNC_MBAR_PENDING, cta, object, &b, 1, 0);
    mbar_store(by, by->lanes, cta, object, &b);
    return MBAR_OK;
}

static enum mbar_error mbar_add_tx(const struct event_by *by, struct cta *cta, uint32_t off, enum event_sync_kind kind,
                                   uint32_t bytes) {
    struct mach_mbar *object;
    struct mbar b;
    enum mbar_error e = mbar_open(cta, off, &object, &b);
    if (e != MBAR_OK)
        return e;
    const int64_t tx = kind == SYNC_MBAR_EXPECT_TX ? b.tx + bytes : b.tx - bytes;
    if (tx > (int64_t)MBAR_MAX_COUNT || tx < -(int64_t)MBAR_MAX_COUNT)
        return MBAR_TX_RANGE;
    struct mach_mbar_phase *now = &object->now;
    if (kind == SYNC_MBAR_COMPLETE_TX)
        take_part(by, now->brought);
    *(kind == SYNC_MBAR_EXPECT_TX ? &now->announced : &now->came) += bytes;
    b.tx = tx;
    mbar_tell(by, by->lanes, kind, cta, object, &b, 0, bytes);
    mbar_store(by, by->lanes, cta, object, &b);
    return MBAR_OK;
}

enum mbar_error mbar_expect_tx(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t bytes) {
    return mbar_add_tx(by, cta, off, SYNC_MBAR_EXPECT_TX, bytes);
}

enum mbar_error mbar_complete_tx(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t bytes) {
    return mbar_add_tx(by, cta, off, SYNC_MBAR_COMPLETE_TX, bytes);
}

enum mbar_error mbar_test_state(struct cta *cta, uint32_t off, uint64_t state, bool *done) {
    return mbar_test_parity(cta, off, mbar_state_phase(state), done);
}

/* 9.7.13.15.16: only the current, incomplete phase and the one before it can be asked for, so that one bit
 * tells. */
enum mbar_error mbar_test_parity(struct cta *cta, uint32_t off, uint32_t parity, bool *done) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e != MBAR_OK)
        return e;
    *done = b.phase != (parity & 1);
    cta->mbars[mbar_find(cta, off)].used = true;
    return MBAR_OK;
}

bool mbar_passed(struct cta *cta, uint32_t off, uint32_t warp) {
    const uint32_t i = mbar_find(cta, off);
    if (i == cta->num_mbars)
        return false;
    struct mach_mbar *object = &cta->mbars[i];
    const uint32_t now = (uint32_t)object->phases + 1;
    const bool again = object->passed[warp] == now;
    object->again |= (uint32_t)again << warp;
    object->passed[warp] = now;
    return again || !object->phases;
}

uint32_t mbar_index(const struct cta *cta, uint32_t off) {
    uint32_t i = mbar_find(cta, off);
    return i < cta->num_mbars ? i : UINT32_MAX;
}

enum mbar_error mbar_peek(const struct cta *cta, uint32_t off, struct mbar_view *out) {
    struct mbar b;
    enum mbar_error e = mbar_load(cta, off, &b);
    if (e == MBAR_OK)
        *out =
            (struct mbar_view){cta->mbars[mbar_find(cta, off)].phases, b.pending, b.expected, (int32_t)b.tx, b.phase};
    return e;
}

bool mbar_last(const struct cta *cta, uint32_t index, struct mbar_view *out) {
    struct mbar b;
    if (!mbar_unpack(cta->mbars[index].bits, &b))
        return false;
    *out = (struct mbar_view){cta->mbars[index].phases, b.pending, b.expected, (int32_t)b.tx, b.phase};
    return true;
}

uint32_t mbar_pending_count(uint64_t state) { return (uint32_t)state & MBAR_MAX_COUNT; }

#define MBAR_ERROR(id_, rule_, section_, hint_, reason_)                                                               \
    { .id = id_, .rule = rule_, .section = section_, .hint = hint_, .reason = reason_ }

DIAG_ARRAY(errors, MBAR_ERRORS) = {
    [MBAR_NOT_INITIALISED] = MBAR_ERROR(
        "mbarrier-not-initialised", "every mbarrier operation except init needs an initialised mbarrier object",
        "PTX ISA 9.7.13.15.3", "Let one thread execute mbarrier.init, and add a barrier between it and the first use",
        "the bytes are not an mbarrier object: arrivals and waits there use garbage."),
    [MBAR_CORRUPT] = MBAR_ERROR("mbarrier-overwritten",
                                "only mbarrier operations may access an initialised mbarrier object",
                                "PTX ISA 9.7.13.15",
                                "Find the store or copy to shared memory that overwrote the 8 bytes of the mbarrier",
                                "counts and phase are lost in every order."),
    [MBAR_BAD_COUNT] = MBAR_ERROR("mbarrier-count", "arrival counts are from 1 to 2^20-1", "PTX ISA 9.7.13.15.2",
                                  "Give the number of arrivals that complete a phase, at least 1",
                                  "the ISA allows no such count."),
    [MBAR_LIVE] = MBAR_ERROR(
        "mbarrier-init-live", "a valid mbarrier object must be invalidated before its memory is initialised again",
        "PTX ISA 9.7.13.15.9",
        "Let one thread initialise each mbarrier, once; mbarrier.inval ends its life. Cases that mostly do no harm "
        "have ids of their own: mbarrier-init-again, mbarrier-init-together, mbarrier-init-used",
        "the ISA leaves it undefined, and the threads that use the object lose their phases."),
    [MBAR_TOO_MANY_ARRIVALS] = MBAR_ERROR(
        "mbarrier-too-many-arrivals", "a phase takes no more arrivals than mbarrier.init announced",
        "PTX ISA 9.7.13.15.2",
        "Give mbarrier.init a larger count, or let fewer threads arrive. Usual causes are a warp that arrives with all "
        "threads instead of one (elect.sync), or a thread that arrives twice because it waited for the wrong parity",
        "the phase completes early, and every later one is out of step."),
    [MBAR_TX_RANGE] = MBAR_ERROR("mbarrier-tx-count", "the tx-count stays within -(2^20-1) .. 2^20-1",
                                 "PTX ISA 9.7.13.15.2",
                                 "Let expect_tx announce, in every phase, the bytes that arrive in it",
                                 "the count does not fit the object's field."),
    [MBAR_CTA_EXITED] =
        MBAR_ERROR("mbarrier-cta-exited", "shared memory, with the mbarriers in it, lives only as long as its CTA",
                   "PTX ISA 5.1.7", "End the kernel with barrier.cluster.arrive and .wait, so that no CTA exits early",
                   "in this order another CTA may own the memory by then, and its bytes are overwritten."),
};

DIAG(outlived) = MBAR_ERROR("mbarrier-cta-exited",
                            "shared memory, with the mbarriers in it, lives only as long as its CTA", "PTX ISA 5.1.7",
                            "Let a warp of the CTA wait for this mbarrier's phase before it exits: the operation has "
                            "outlived the CTA that issued it",
                            NULL);

const struct diag *mbar_error_diag(enum mbar_error e) { return &errors[e]; }

const char *mbar_error_text(enum mbar_error e) {
    static const char *const text[MBAR_ERRORS] = {
        [MBAR_NOT_INITIALISED] = "it is not initialised",
        [MBAR_CORRUPT] = "it was overwritten",
        [MBAR_TOO_MANY_ARRIVALS] = "it awaits fewer arrivals",
        [MBAR_TX_RANGE] = "its tx-count overflows",
        [MBAR_CTA_EXITED] = "that CTA has exited",
    };
    return text[e] ? text[e] : "it cannot be used";
}

const struct diag *mbar_op_error_diag(enum mbar_error e, const struct cta *issuer, const struct cta *owner) {
    return e == MBAR_CTA_EXITED && issuer == owner ? &outlived : &errors[e];
}
