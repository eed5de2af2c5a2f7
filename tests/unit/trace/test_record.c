/* The log of a launch (trace/record.h): what ended each kind of wait, what of it an operation is, windows, and that the
 * bytes do not depend on the number of host threads. */
#include "unit/event_log.h"

#include "base/heap.h"
#include "trace/file.h"
#include "trace/record.h"

static const struct run_shape ONE = {.block = 1}, WARP = {.block = 32}, WARPS = {.block = 64},
                              PAIR = {.grid = 2, .block = 32, .cluster = 2};

#define INIT(count) "@%p8 mbarrier.init.shared::cta.b64 [%r21], " count "; bar.warp.sync -1;\n"
#define NAP "nanosleep.u32 10;\n"

/* --- making logs -------------------------------------------------------------------------------------------------- */

struct kept {
    struct trace_log *log;
    struct trace_sink sink;
};

static void keep(void *ctx, struct trace_log *log) {
    struct kept *k = ctx;
    trace_free(k->log);
    k->log = log;
}

static void record(struct kept *k, const char *ptx, struct run_shape shape, const struct mach_config *config) {
    struct run r;
    const struct trace_window window = k->sink.window;
    k->sink = (struct trace_sink){.take = keep, .ctx = k, .schedule = "default", .window = window};
    if (run_open_config(&r, ptx, config)) {
        CHECK(trace_attach(r.gpu, &k->sink));
        run_ok(&r, "k", shape, 1, (uint64_t[]){run_alloc(&r, 4096)});
    }
    run_close(&r);
}

/* --- logs in words ------------------------------------------------------------------------------------------------ */

static const char *const waits[] = {"?",    "mbarrier",  "barrier", "cluster", "warp_sync", "tmem_alloc", "pair",
                                    "regs", "tmem_ldst", "async",   "join",    "aligned",   "riding",     "room"};
static const char *const ends[] = {"begins", "met", "timed out", "released"};

/* "phase by 0/1", "completed tcgen05.ld" */
static void put_event(struct event_log *to, const struct trace_log *log, const struct trace_cluster *c,
                      const struct trace_event *e) {
    static const char *const stages[] = {"issued", "started", "completed"};
    static const char *const lives[] = {
        [LIFE_TMEM_ALLOC] = "alloc",           [LIFE_TMEM_CLOSING] = "closing", [LIFE_TMEM_DEALLOC] = "dealloc",
        [LIFE_TMEM_RELINQUISH] = "relinquish", [LIFE_LANES_EXIT] = "exit",      [LIFE_REGISTERS] = "setmaxnreg",
        [LIFE_CTA_EXIT] = "cta exit",          [LIFE_MBAR_INIT] = "init"};
    static const char *const syncs[] = {
        [SYNC_MBAR_ARRIVE] = "arrive",    [SYNC_MBAR_COMPLETE_TX] = "bytes", [SYNC_MBAR_PHASE] = "phase",
        [SYNC_MBAR_TEST] = "test",        [SYNC_BAR_ARRIVE] = "arrive",      [SYNC_BAR_PHASE] = "phase",
        [SYNC_CLUSTER_ARRIVE] = "arrive", [SYNC_CLUSTER_PHASE] = "phase"};
    const char *what = e->class == TRACE_OP     ? stages[e->kind]
                       : e->class == TRACE_LIFE ? lives[e->kind]
                       : e->class == TRACE_SYNC ? syncs[e->kind]
                       : e->class == TRACE_STEP ? "step"
                       : e->class == TRACE_WAIT ? ends[e->kind]
                                                : "?";
    log_put(to, "%s", what ? what : "?");
    if (e->op)
        log_put(to, " %s", trace_string(log, c->ops[e->op - 1].name));
    else
        log_put(to, " %u/%u", e->rank, e->warp == TRACE_NO_WARP ? 99 : e->warp);
}

/* A line for each wait that has ended: who, for what, and what ended it, back to what a thread or the host did. */
static void put_waits(struct event_log *to, const struct trace_log *log) {
    to->len = 0;
    to->text[0] = 0;
    for (uint32_t k = 0; k < log->num_clusters; k++) {
        const struct trace_cluster *c = &log->clusters[k];
        for (uint32_t i = 0; i < c->num_events; i++) {
            const struct trace_event *e = &c->events[i];
            if (e->class != TRACE_WAIT || e->kind == WAIT_BEGINS)
                continue;
            log_put(to, "%u/%u %s %s", e->rank, e->warp, waits[e->what], ends[e->kind]);
            for (uint32_t cause = e->cause; cause;) {
                const struct trace_cluster *of = e->cluster ? &log->clusters[e->cluster - 1] : c;
                log_put(to, " < ");
                if (e->cluster)
                    log_put(to, "cluster %u ", e->cluster - 1);
                e = &of->events[cause - 1];
                put_event(to, log, of, e);
                cause = e->cause;
            }
            e = &c->events[i];
            log_put(to, "\n");
        }
    }
}

static void gives(const char *ptx, struct run_shape shape, const char *expected) {
    struct kept k = {0};
    struct event_log text = {0};
    record(&k, ptx, shape, NULL);
    if (CHECK(k.log != NULL)) {
        CHECK_EQ(k.log->fault, 0);
        CHECK_EQ(k.log->cut, 0);
        put_waits(&text, k.log);
        CHECK_STR(text.text, expected);
    }
    trace_free(k.log);
}

/* --- causes ------------------------------------------------------------------------------------------------------- */

static void barriers(void) {
    gives(LOG_HEAD INIT("1") "bar.sync 0; setp.eq.u32 %p1, %r3, 0; @%p1 bra wait;\n" NAP
                             "setp.eq.u32 %p2, %r1, 32; @%p2 mbarrier.arrive.shared::cta.b64 _, [%r21]; ret;\n"
                             "wait:\n" LOG_WAIT("w", "%r21", "0") LOG_END,
          WARPS,
          "0/0 barrier met < phase 0/1 < arrive 0/1\n"
          "0/0 mbarrier met < phase 0/1 < arrive 0/1\n");
    gives(LOG_HEAD INIT("1") "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r21], 0, 1000;\n" LOG_END, ONE,
          "0/0 mbarrier timed out\n");
    gives(LOG_HEAD LOG_CLUSTER_SYNC LOG_END, PAIR, "0/0 cluster met < phase 1/0 < arrive 1/0\n");
    /* the second warp exits in place of arriving */
    gives(LOG_HEAD "setp.eq.u32 %p1, %r3, 0; @%p1 bra first; mov.u32 %r5, 0;\n"
                   "top: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 5000; @%p2 bra top; ret;\n"
                   "first: bar.sync 0;\n" LOG_END,
          WARPS, "0/0 barrier met < phase 0/99 < exit 0/1\n");
}

static void operations(void) {
    gives(LOG_HEAD INIT("1") "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 64;\n"
                             "@%p8 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], [%rd1], 64, "
                             "[%r21];\n" LOG_WAIT("v", "%r21", "0") LOG_END,
          WARP,
          "0/0 mbarrier met < phase cp.async.bulk to shared memory < bytes cp.async.bulk to shared memory < started "
          "cp.async.bulk to shared memory < issued cp.async.bulk to shared memory\n");
    gives(
        LOG_HEAD LOG_TENSOR
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r1}; tcgen05.wait::st.sync.aligned;\n"
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r12]; tcgen05.wait::ld.sync.aligned;\n"
        "st.shared.u32 [%r20], 1; fence.proxy.async;\n"
        "@%p8 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r20], 16; cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0; cp.async.ca.shared.global [%r20], [%rd1], 16; cp.async.wait_all;\n" LOG_TENSOR_END,
        WARP,
        "0/0 tmem_ldst met < completed tcgen05.st < started tcgen05.st < issued tcgen05.st\n"
        "0/0 tmem_ldst met < completed tcgen05.ld < started tcgen05.ld < issued tcgen05.ld\n"
        "0/0 async met < completed cp.async.bulk to global memory < started cp.async.bulk to global memory < issued "
        "cp.async.bulk to global memory < started cp.async.bulk to global memory < issued cp.async.bulk to global "
        "memory\n"
        "0/0 async met < completed cp.async < started cp.async < issued cp.async\n");
}

/* Lanes that meet: by the instruction of those that came, or their exit. */
static void meetings(void) {
    gives(LOG_HEAD "setp.lt.u32 %p1, %r1, 4; @!%p1 bra all; add.u32 %r5, %r1, 1; all: bar.warp.sync -1;\n" LOG_END,
          WARP,
          "0/0 join met < step 0/0\n"
          "0/0 join met < step 0/0\n");
    gives(LOG_HEAD "setp.lt.u32 %p1, %r1, 4; @!%p1 bra all; mov.u32 %r5, 0;\n"
                   "top: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 500; @%p2 bra top; exit;\n"
                   "all: bar.warp.sync -1;\n" LOG_END,
          WARP, "0/0 warp_sync met < exit 0/0\n");
}

/* Of two CTAs on one SM the second gets columns when the first has given back columns and permit, which waits until the
 * second asks. */
static void tensor_memory(void) {
    static const char ptx[] =
        LOG_HEAD "mov.u32 %r6, %ctaid.x; setp.eq.u32 %p1, %r6, 148; and.pred %p2, %p1, %p8;\n"
                 "@%p2 red.release.gpu.global.add.u32 [%rd1], 1;\n"
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r22], 512; bar.warp.sync -1;\n"
                 "ld.shared.u32 %r12, [%r22]; setp.ne.u32 %p1, %r6, 0; @%p1 bra over;\n"
                 "top: ld.acquire.gpu.global.u32 %r5, [%rd1]; setp.eq.u32 %p2, %r5, 0; @%p2 bra top;\n"
                 "over: tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r12, 512; "
                 "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" LOG_END;
    struct kept k = {0};
    struct event_log text = {0};
    record(&k, ptx, (struct run_shape){.grid = 149, .block = 32}, NULL);
    if (CHECK(k.log != NULL)) {
        put_waits(&text, k.log);
        CHECK_STR(text.text, "0/0 tmem_alloc met < cluster 0 relinquish 0/0\n");
    }
    trace_free(k.log);
}

static void pairs(void) {
    gives(LOG_HEAD "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r22], 32; bar.warp.sync -1;\n"
                   "ld.shared.u32 %r12, [%r22];\n" LOG_CLUSTER_SYNC
                   "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r12, 32;\n"
                   "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n" LOG_END,
          PAIR,
          "0/0 pair met < alloc 1/0\n"
          "1/0 cluster met < phase 0/0 < arrive 0/0\n"
          "0/0 pair met < dealloc 1/0\n");
}

/* --- what is in a log --------------------------------------------------------------------------------------------- */

/* Polls that fail one behind the other are one event; what threads did between events is counted. */
static void polls_and_steps(void) {
    struct kept k = {0};
    record(&k,
           LOG_HEAD INIT("1") "mov.u32 %r5, 0;\n"
                              "top: mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r21], 0; add.u32 %r5, %r5, 1;\n"
                              "setp.lt.u32 %p2, %r5, 3; @%p2 bra top;\n"
                              "st.shared.u32 [%r20], 1; st.global.u32 [%rd1], 1;\n" LOG_END,
           ONE, NULL);
    uint32_t tests = 0, stores = 0, ran[RUN_KINDS] = {0};
    for (uint32_t i = 0; k.log && i < k.log->clusters[0].num_events; i++) {
        const struct trace_event *e = &k.log->clusters[0].events[i];
        for (unsigned n = 0; n < RUN_KINDS; n++)
            ran[n] += e->ran[n];
        if (e->class == TRACE_SYNC && e->kind == SYNC_MBAR_TEST) {
            tests++;
            CHECK_EQ(e->times, 3);
            CHECK_EQ(e->count, 0);
        }
        if (e->class == TRACE_GLOBAL) {
            stores++;
            CHECK_EQ(e->count, 4);
            CHECK_EQ(e->value, 1);
        }
    }
    CHECK_EQ(tests, 1);
    CHECK_EQ(stores, 1);
    /* LOG_HEAD has eight; mov, three rounds of add */
    CHECK_EQ(ran[RUN_ALU], 7 + 1 + 3);
    CHECK_EQ(ran[RUN_CONTROL], 1 + 3 * 2 + 1); /* setp, bra, ret */
    CHECK_EQ(ran[RUN_SHARED], 1);
    CHECK_EQ(ran[RUN_GLOBAL], 1);
    CHECK_EQ(ran[RUN_ASYNC], 2 + 3);
    trace_free(k.log);
}

/* Addresses of an access, as spans of equal steps; which load an event waits for, and what was issued before. */
static void accesses(void) {
    struct kept k = {0};
    record(&k,
           LOG_HEAD "mov.u32 %r5, %laneid; mul.wide.u32 %rd2, %r5, 64; add.u64 %rd2, %rd1, %rd2;\n"
                    "ld.global.v2.u32 {%r6, %r7}, [%rd2]; ld.volatile.global.u32 %r8, [%rd1];\n"
                    "st.global.u32 [%rd1+8], 1; add.u32 %r9, %r6, 1; st.global.u32 [%rd1+12], %r9;\n" LOG_END,
           WARP, NULL);
    const struct trace_cluster *c = k.log ? &k.log->clusters[0] : NULL;
    uint32_t global[4] = {0}, n = 0;
    for (uint32_t i = 0; c && i < c->num_events && n < 4; i++)
        if (c->events[i].class == TRACE_GLOBAL)
            global[n++] = i;
    if (!CHECK_EQ(n, 4))
        return;
    const struct trace_event *load = &c->events[global[0]], *strong = &c->events[global[1]],
                             *other = &c->events[global[2]], *store = &c->events[global[3]];
    CHECK_EQ(load->pending, 1);
    CHECK_EQ(load->what, 0);
    CHECK_EQ(c->spans[load->phase - 1].step, 64);
    CHECK_EQ(c->spans[load->phase - 1].lanes, 32);
    CHECK_EQ(c->spans[strong->phase - 1].first, c->spans[load->phase - 1].first);
    CHECK_EQ(c->spans[strong->phase - 1].step, 0);
    CHECK_EQ(strong->what, 1);
    CHECK_EQ(other->used, 0);
    CHECK_EQ(store->used, global[0] + 1);
    trace_free(k.log);
}

/* Clocks and atomics that give an answer are marked. */
static void timed(void) {
    struct kept k = {0};
    record(&k,
           LOG_HEAD "mov.u32 %r5, %clock; atom.global.add.u32 %r6, [%rd1], 1; red.global.add.u32 [%rd1], 1;\n"
                    "atom.shared.add.u32 %r7, [%r21], 1;\n" LOG_END,
           ONE, NULL);
    uint32_t marked = 0;
    for (uint32_t i = 0; k.log && i < k.log->clusters[0].num_events; i++) {
        const struct trace_event *e = &k.log->clusters[0].events[i];
        marked += e->class == TRACE_STEP && e->kind == 1;
    }
    CHECK_EQ(marked, 2);
    trace_free(k.log);
}

#define BUSY                                                                                                           \
    LOG_HEAD INIT("1") "bar.sync 0; @%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 64;\n"                   \
                       "@%p8 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], [%rd1], 64, "       \
                       "[%r21];\n" LOG_WAIT("v", "%r21", "0") LOG_END

static size_t bytes_of(const struct trace_log *log, char **bytes) {
    size_t size = 0;
    FILE *f = open_memstream(bytes, &size);
    CHECK(f != NULL && trace_write(f, log));
    fclose(f);
    return size;
}

/* The same bytes with any number of host threads. */
static void any_threads(void) {
    char *first = NULL, *bytes = NULL;
    size_t size = 0;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct mach_config config = mach_config_b200();
        struct kept k = {0};
        config.threads = threads;
        record(&k, BUSY, (struct run_shape){.grid = 64, .block = 64, .cluster = 2}, &config);
        if (!CHECK(k.log != NULL))
            break;
        CHECK_EQ(k.log->num_clusters, 32);
        const size_t n = bytes_of(k.log, &bytes);
        if (threads == 1) {
            first = bytes;
            size = n;
        } else {
            CHECK(n == size && memcmp(first, bytes, n) == 0);
            free(bytes);
        }
        trace_free(k.log);
    }
    free(first);
}

static void windows(void) {
    struct kept k = {.sink.window = {.ctas = true, .first_cta = 3, .last_cta = 4}};
    record(&k, BUSY, (struct run_shape){.grid = 8, .block = 64, .cluster = 2}, NULL);
    if (CHECK(k.log != NULL) && CHECK_EQ(k.log->num_clusters, 2)) {
        CHECK_EQ(k.log->cut, 1);
        CHECK_EQ(k.log->clusters[0].number, 1); /* with CTAs 2 and 3 */
        CHECK_EQ(k.log->clusters[1].number, 2);
    }
    k.sink.window = (struct trace_window){.bytes = 10 * sizeof(struct trace_event)};
    record(&k, BUSY, WARPS, NULL);
    if (CHECK(k.log != NULL)) {
        CHECK_EQ(k.log->cut, 1);
        CHECK_EQ(k.log->clusters[0].num_events, 10);
        CHECK_EQ(k.log->clusters[0].complete, 0);
    }
    trace_free(k.log);
}

/* A tile begins with an MMA that does not accumulate: two of two MMAs, of which the second is kept. */
static void tiles(void) {
#define MMA(p) "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd12, %rd13, %r14, " p ";\n"
    struct kept k = {.sink.window = {.tiles = true, .first_tile = 1, .last_tile = 1}};
    record(&k,
           LOG_HEAD LOG_TENSOR "setp.ge.u32 %p5, %r1, 0;\n" MMA("%p6") MMA("%p5") MMA("%p6") MMA("%p5") MMA("%p5")
               MMA("%p6") LOG_COMMIT LOG_TENSOR_END,
           WARP, NULL);
    uint32_t mmas = 0;
    for (uint32_t i = 0; k.log && i < k.log->clusters[0].num_events; i++) {
        const struct trace_event *e = &k.log->clusters[0].events[i];
        mmas += e->class == TRACE_OP && e->kind == OP_ISSUED;
    }
    CHECK_EQ(mmas, 3);
    trace_free(k.log);
}

int main(void) {
    barriers();
    operations();
    meetings();
    tensor_memory();
    pairs();
    accesses();
    polls_and_steps();
    timed();
    any_threads();
    windows();
    tiles();
    return check_report();
}
