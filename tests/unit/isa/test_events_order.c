/* The order of the events of each object (machine/events.h), under every schedule: operations, mbarriers, barriers,
 * waits and lives of a cluster of two CTAs that does a little of everything.
 */
#include "unit/event_log.h"

enum { CTAS = 2, MAX_WARPS = 2, MAX_OPS = 64, MAX_BARS = 4 };

struct order {
    struct {
        enum { NOT_STARTED, RUNS, EXITED, ENDED } life;
        enum { UNKNOWN, ISSUED, STARTED, COMPLETED } op[MAX_OPS];
        uint64_t issued;
        uint32_t waiting[MAX_WARPS]; /* lanes */
        uint64_t bar_phase[MAX_BARS];
        uint32_t arrived[MAX_BARS];
        uint64_t mbar_phase;
        bool mbar_full; /* the phase has all it awaits: what follows must be its completion */
    } cta[CTAS];
    uint64_t cluster_phase;
    uint32_t cluster_arrived; /* warps */
    unsigned seen[SYNC_GRID_LAUNCH_DEPENDENTS + 1], completed, begun, ended, steps, accesses;
};

/* What an operation does lies between its start and its completion; its tensor map is taken when it is issued. */
static void acts(const struct order *o, const struct event_by *by, bool map) {
    if (by->op && CHECK(by->op->number < MAX_OPS))
        CHECK_EQ(o->cta[by->op->cta->rank].op[by->op->number], map ? ISSUED : STARTED);
}

static void on_access(const struct listener *self, const struct event_access *e) {
    struct order *o = self->ctx;
    acts(o, &e->by, e->proxy == PROXY_TENSORMAP);
    o->accesses++;
}

static void on_op(const struct listener *self, const struct event_op *e) {
    struct order *o = self->ctx;
    const struct async_op *op = e->by.op;
    if (!CHECK(op->number < MAX_OPS))
        return;
    CHECK_EQ(o->cta[op->cta->rank].op[op->number], (unsigned)e->stage);
    o->cta[op->cta->rank].op[op->number]++;
    if (e->stage == OP_ISSUED)
        CHECK_EQ(op->number, ++o->cta[op->cta->rank].issued);
    o->completed += e->stage == OP_COMPLETED;
}

/* The kernel has one mbarrier a CTA. */
static void mbarrier(struct order *o, const struct event_sync *e) {
    const uint32_t rank = e->owner->rank;
    CHECK_EQ(e->phase, o->cta[rank].mbar_phase);
    CHECK_EQ(e->kind == SYNC_MBAR_PHASE, o->cta[rank].mbar_full);
    if (e->kind == SYNC_MBAR_PHASE)
        o->cta[rank].mbar_phase++;
    if (e->kind == SYNC_MBAR_TEST)
        CHECK_EQ(e->done != 0, (e->phase & 1) != e->parity);
    else
        o->cta[rank].mbar_full = e->kind != SYNC_MBAR_PHASE && e->pending == 0 && e->tx == 0;
}

static void barrier(struct order *o, const struct event_sync *e) {
    const uint32_t rank = e->owner->rank;
    if (!CHECK(e->number < MAX_BARS))
        return;
    CHECK_EQ(e->phase, o->cta[rank].bar_phase[e->number] - (e->kind == SYNC_BAR_PASS));
    o->cta[rank].arrived[e->number] += e->kind == SYNC_BAR_ARRIVE ? MACH_WARP : 0;
    if (e->kind == SYNC_BAR_PHASE) {
        CHECK_EQ(o->cta[rank].arrived[e->number], e->count);
        o->cta[rank].arrived[e->number] = 0;
        o->cta[rank].bar_phase[e->number]++;
    }
}

static void cluster(struct order *o, const struct event_sync *e) {
    CHECK_EQ(e->phase, o->cluster_phase - (e->kind == SYNC_CLUSTER_PASS));
    o->cluster_arrived += e->kind == SYNC_CLUSTER_ARRIVE;
    if (e->kind == SYNC_CLUSTER_PHASE) {
        CHECK_EQ(o->cluster_arrived, CTAS * MAX_WARPS);
        o->cluster_arrived = 0;
        o->cluster_phase++;
    }
}

static void on_sync(const struct listener *self, const struct event_sync *e) {
    struct order *o = self->ctx;
    acts(o, &e->by, false);
    o->seen[e->kind]++;
    if (e->kind <= SYNC_MBAR_TEST)
        mbarrier(o, e);
    else if (e->kind <= SYNC_BAR_PASS)
        barrier(o, e);
    else if (e->kind <= SYNC_CLUSTER_PASS)
        cluster(o, e);
}

static void on_wait(const struct listener *self, const struct event_wait *e) {
    struct order *o = self->ctx;
    uint32_t *waiting = &o->cta[e->by.cta->rank].waiting[e->by.warp];
    CHECK(e->kind > WAIT_NONE && e->kind < WAIT_LAST);
    CHECK_EQ(*waiting & e->by.lanes, e->end == WAIT_BEGINS ? 0 : e->by.lanes);
    *waiting ^= e->by.lanes;
    if (e->end == WAIT_BEGINS)
        o->begun++;
    else
        o->ended++;
}

static void on_step(const struct listener *self, const struct event_step *e) {
    struct order *o = self->ctx;
    CHECK_EQ(o->cta[e->by.cta->rank].life, RUNS);
    CHECK_EQ(o->cta[e->by.cta->rank].waiting[e->by.warp] & e->by.lanes, 0);
    CHECK_EQ(e->by.lanes & ~e->live, 0);
    o->steps++;
}

static void on_life(const struct listener *self, const struct event_life *e) {
    struct order *o = self->ctx;
    static const int now[] = {
        [LIFE_CTA_START] = NOT_STARTED, [LIFE_CTA_EXIT] = RUNS, [LIFE_CTA_END] = EXITED, [LIFE_LANES_EXIT] = RUNS};
    if (e->kind != LIFE_CTA_START && e->kind != LIFE_CTA_EXIT && e->kind != LIFE_CTA_END && e->kind != LIFE_LANES_EXIT)
        return;
    const uint32_t rank = e->owner ? e->owner->rank : e->by.cta->rank;
    CHECK_EQ(o->cta[rank].life, now[e->kind]);
    o->cta[rank].life += e->kind != LIFE_LANES_EXIT;
    if (e->kind == LIFE_CTA_EXIT)
        for (unsigned w = 0; w < MAX_WARPS; w++)
            CHECK_EQ(o->cta[rank].waiting[w], 0);
}

/* Three turns: a copy arrives, is multiplied, and the product's end is waited for; what was loaded goes out again. */
static const char text[] = LOG_HEAD
    "setp.ne.u32 %p5, %r3, 0; @%p5 bra meet;\n" LOG_TENSOR "add.u64 %rd5, %rd1, 8192; mov.u32 %r40, 0;\n"
    "turn: @%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 128;\n"
    "@%p8 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r20+6144], [%rd5, {0, 0}], "
    "[%r21];\n" LOG_WAIT(
        "loaded", "%r21",
        "0") "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd12, %rd13, %r14, %p6;\n"
             "@%p8 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r21];\n" LOG_WAIT(
                 "done", "%r21",
                 "1") "tcgen05.fence::after_thread_sync; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r12];\n"
                      "tcgen05.wait::ld.sync.aligned; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12+16], {%r30};\n"
                      "tcgen05.wait::st.sync.aligned; @%p8 cp.async.bulk.global.shared::cta.bulk_group [%rd1], "
                      "[%r20+6144], 128;\n"
                      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; cp.async.ca.shared.global [%r20+6400], "
                      "[%rd1+512], 16;\n"
                      "cp.async.wait_all; setp.lt.u32 %p1, %r1, 7; @%p1 add.u32 %r41, %r1, 1; @!%p1 bra skip; add.u32 "
                      "%r41, %r41, 2;\n"
                      "skip: bar.warp.sync -1; add.u32 %r40, %r40, 1; setp.lt.u32 %p1, %r40, 3; @%p1 bra turn;\n"
                      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r12, 32;\n"
                      "meet: bar.sync 1; bar.sync 1;\n" LOG_CLUSTER_SYNC LOG_CLUSTER_SYNC LOG_END;

static void under(enum mach_schedule schedule, uint64_t seed) {
    static struct order o;
    struct run r;
    struct mach_config config = mach_config_b200();
    memset(&o, 0, sizeof o);
    config.schedule = schedule;
    config.seed = seed;
    config.depth = 3;
    config.watchdog = 1000000;
    if (run_open_config(&r, text, &config)) {
        struct event_log data = {.wants = 0}; /* for its memory and tensor map */
        const struct listener l = {.name = "order",
                                   .wants = WANT_ALL,
                                   .ctx = &o,
                                   .access = on_access,
                                   .sync = on_sync,
                                   .op = on_op,
                                   .wait = on_wait,
                                   .step = on_step,
                                   .life = on_life};
        CHECK(events_attach(r.gpu, &l));
        log_attach(&r, &data);
        run_ok(&r, "k", (struct run_shape){.grid = CTAS, .block = MACH_WARP * MAX_WARPS, .cluster = CTAS}, 1,
               &data.base);
    }
    run_close(&r);
    for (unsigned c = 0; c < CTAS; c++) {
        CHECK_EQ(o.cta[c].life, ENDED);
        CHECK_EQ(o.cta[c].issued, 3 * 8);
        CHECK_EQ(o.cta[c].mbar_phase, 3 * 2);
        CHECK_EQ(o.cta[c].bar_phase[1], 2);
        for (uint64_t n = 1; n <= o.cta[c].issued; n++)
            CHECK_EQ(o.cta[c].op[n], COMPLETED);
    }
    CHECK_EQ(o.cluster_phase, 2);
    CHECK_EQ(o.seen[SYNC_BAR_PASS], CTAS * MAX_WARPS * 2);
    CHECK_EQ(o.seen[SYNC_CLUSTER_PASS], CTAS * MAX_WARPS * 2);
    CHECK_EQ(o.seen[SYNC_TCGEN05_WAIT_LD], CTAS * 3);
    CHECK_EQ(o.begun, o.ended);
    CHECK(o.begun > 0 && o.steps > 0 && o.accesses > 0);
}

int main(void) {
    under(MACH_SCHED_DEFAULT, 0);
    under(MACH_SCHED_EAGER, 0);
    under(MACH_SCHED_LAZY, 0);
    for (uint64_t seed = 1; seed <= 20; seed++)
        under(seed % 2 ? MACH_SCHED_RANDOM : MACH_SCHED_PCT, seed);
    return check_report();
}
