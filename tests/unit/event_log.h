/* event_log.h - a listener that writes the stream of machine/events.h down, a line an event, for tests to compare.
 *
 *     struct event_log log = {.wants = WANT_MBARRIER | WANT_POLL};
 *     log_attach(&r, &log);
 *     run_ok(&r, "k", (struct run_shape){.block = 32}, 1, &log.base);
 *     CHECK_STR(log.text, "mbarrier.init 0/0:1 ...\n");
 *
 * Who: RANK/WARP:LANES, or RANK#NUMBER for an operation. Numbers of addresses, lanes and values are hexadecimal, others
 * decimal; a shared address is an offset (the first variable lies at 400), a global one counts from log.base.
 */
#ifndef TESTS_EVENT_LOG_H
#define TESTS_EVENT_LOG_H

#include "unit/run_ptx.h"

#include "engines/tensormap.h"
#include "machine/events.h"
#include "warp/warp.h"

#include <stdarg.h>

struct event_log {
    uint32_t wants;
    uint64_t base;       /* device address that log_attach allocates, for the kernel too */
    uint64_t watch_tag;  /* what this log keeps in cta->watch: set at LIFE_CTA_START, compared at LIFE_CTA_END */
    unsigned watch_kept; /* CTAs that came back with it */
    struct {
        uint64_t number; /* of the operation, 0: none */
        uint32_t rank;
        const char *what;
        uint64_t first, end, bytes;
        enum event_proxy proxy;
    } operand; /* that is being read, in as many pieces as the engine likes */
    char text[65536];
    size_t len;
};

enum { LOG_BYTES = 65536 }; /* at log.base */

static inline void log_put(struct event_log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline void log_put(struct event_log *log, const char *fmt, ...) {
    char piece[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(piece, sizeof piece, fmt, ap);
    va_end(ap);
    CHECK((size_t)n < sizeof piece && log->len + (size_t)n + 1 < sizeof log->text);
    check_append(log->text, sizeof log->text, &log->len, piece, strlen(piece));
}

/* Puts the pieces of an operand of the tensor core into one line: from, to, bytes. */
static inline void log_operand_end(struct event_log *log) {
    if (log->operand.number)
        log_put(log, "%s %u#%" PRIu64 " read %" PRIx64 "-%" PRIx64 " bytes %" PRIu64 "%s\n", log->operand.what,
                log->operand.rank, log->operand.number, log->operand.first, log->operand.end, log->operand.bytes,
                log->operand.proxy == PROXY_ASYNC ? " async" : "");
    log->operand.number = 0;
}

static inline void log_operand(struct event_log *log, const struct event_access *e) {
    const char *what = e->what ? e->what : e->by.what;
    uint64_t first = e->at[0], end = 0;
    for (uint32_t i = 0; i < e->pieces; i++) {
        const uint64_t last = e->at[i] + (e->rows - 1) * e->stride + e->size;
        first = e->at[i] < first ? e->at[i] : first;
        end = last > end ? last : end;
    }
    const struct async_op *op = e->by.op;
    if (log->operand.number != op->number || log->operand.rank != op->cta->rank ||
        strcmp(log->operand.what, what) != 0) {
        log_operand_end(log);
        log->operand.number = op->number;
        log->operand.rank = op->cta->rank;
        log->operand.what = what;
        log->operand.proxy = e->proxy;
        log->operand.first = first;
        log->operand.end = log->operand.bytes = 0;
    }
    log->operand.first = first < log->operand.first ? first : log->operand.first;
    log->operand.end = end > log->operand.end ? end : log->operand.end;
    log->operand.bytes += (uint64_t)e->rows * e->pieces * e->size;
}

/* Starts a line. */
static inline void log_by(struct event_log *log, const struct event_by *by, const char *kind) {
    log_operand_end(log);
    log_put(log, "%s ", by->what ? by->what : "-");
    if (by->op)
        log_put(log, "%u#%" PRIu64, by->op->cta->rank, by->op->number);
    if (by->op && by->op->kind->agent == AGENT_CP_ASYNC)
        log_put(log, ":%x", by->lanes);
    if (!by->op)
        log_put(log, "%u/%u:%x", by->cta ? by->cta->rank : 0, by->warp, by->lanes);
    log_put(log, " %s", kind);
    CHECK(by->site || by->lanes == 0); /* threads do nothing without an instruction */
}

static inline void log_order(struct event_log *log, const struct event_by *by) {
    static const char *const order[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc"};
    static const char *const scope[] = {"", ".cta", ".cluster", ".gpu", ".sys"};
    log_put(log, " %s%s", order[by->order], scope[by->scope]);
}

/* Places of lanes: the first, and "+STEP" where the others lie evenly, else all. */
static inline void log_lanes(struct event_log *log, const struct event_access *e, uint64_t base) {
    uint64_t first = 0, step = 0, before = 0;
    unsigned n = 0;
    bool even = true;
    WARP_FOR_LANES(l, e->by.lanes) {
        if (n == 0)
            first = e->at[l];
        else if (n == 1)
            step = e->at[l] - first;
        else
            even = even && e->at[l] - before == step;
        before = e->at[l];
        n++;
    }
    if (even) {
        log_put(log, n > 1 ? " %" PRIx64 "+%" PRIx64 : " %" PRIx64, first - base, step);
        return;
    }
    WARP_FOR_LANES(l, e->by.lanes)
    log_put(log, "%s%" PRIx64, e->at[l] == first ? " " : ",", e->at[l] - base);
}

static inline void log_access(const struct listener *self, const struct event_access *e) {
    static const char *const spaces[] = {"shared", "tensor", "global"};
    static const char *const effects[] = {[EFFECT_READ] = "read",
                                          [EFFECT_WRITE] = "write",
                                          [EFFECT_READ | EFFECT_WRITE] = "update",
                                          [EFFECT_ATOMIC] = "atomic"};
    static const char *const agents[] = {"",      " cp_async", " tma",   " bulk",   " core",
                                         " copy", " ldst",     " alloc", " commit", " clc"};
    static const char *const proxies[] = {"", " async", " tensormap", " nc"};
    struct event_log *log = self->ctx;
    const char *effect = effects[e->effect];
    CHECK(!e->by.op || e->agent == e->by.op->kind->agent);
    if ((e->agent == AGENT_TENSOR_CORE || e->agent == AGENT_TENSOR_COPY) && e->space == SPACE_SHARED) {
        log_operand(log, e);
        return;
    }
    log_by(log, &e->by, effect);
    log_put(log, " %s", spaces[e->space]);
    CHECK_EQ(e->owner != NULL, e->space == SPACE_SHARED || e->space == SPACE_TENSOR);
    if (e->owner && e->owner != e->by.cta)
        log_put(log, "@%u", e->owner->rank);
    if (e->what && strcmp(e->what, e->by.what) != 0)
        log_put(log, " (%s)", e->what);
    uint64_t base = e->space == SPACE_GLOBAL ? log->base : 0;
    if (e->space == SPACE_TENSOR)
        log_put(log, " %" PRIx64 " columns %u lanes %x,%x,%x,%x", e->at[0], e->columns, e->tmem_lanes[0],
                e->tmem_lanes[1], e->tmem_lanes[2], e->tmem_lanes[3]);
    else if (e->agent == AGENT_THREAD || e->agent == AGENT_CP_ASYNC)
        log_lanes(log, e, base);
    else
        log_put(log, " %" PRIx64 " rows %u+%" PRIx64, e->at[0] - base, e->rows, e->rows > 1 ? e->stride : 0);
    if (e->space != SPACE_TENSOR)
        log_put(log, " size %u", e->size);
    log_put(log, "%s", agents[e->agent]);
    if (e->agent == AGENT_THREAD)
        log_order(log, &e->by);
    log_put(log, "%s", proxies[e->proxy]);
    if (e->value) {
        log_put(log, " got");
        WARP_FOR_LANES(l, e->by.lanes)
        log_put(log, " %" PRIx64, e->value[l]);
    }
    log_put(log, "\n");
}

/* mbarriers: object, phase, what was added, what the phase still awaits. */
static inline void log_mbarrier(struct event_log *log, const struct event_sync *e) {
    log_put(log, " %x", e->off);
    if (e->owner != e->by.cta)
        log_put(log, "@%u", e->owner->rank);
    log_put(log, " phase %" PRIu64, e->phase);
    if (e->kind == SYNC_MBAR_TEST) {
        log_put(log, " parity %u done %x", e->parity, e->done);
        return;
    }
    if (e->kind == SYNC_MBAR_ARRIVE || e->kind == SYNC_MBAR_DROP || e->kind == SYNC_MBAR_PENDING)
        log_put(log, " count %u", e->count);
    if (e->kind == SYNC_MBAR_EXPECT_TX || e->kind == SYNC_MBAR_COMPLETE_TX)
        log_put(log, " bytes %u", e->bytes);
    if (e->kind != SYNC_MBAR_PHASE)
        log_put(log, " awaits %u,%d", e->pending, e->tx);
}

static inline void log_fence(struct event_log *log, const struct event_sync *e) {
    static const char *const fences[] = {"memory", "sync_restrict", "mbarrier_init", "alias",
                                         "async",  "async_generic", "tensormap"};
    static const char *const spaces[] = {"", " shared", " global"};
    log_put(log, " %s%s", fences[e->fence], e->fence == FENCE_PROXY_TENSORMAP ? "" : spaces[e->space]);
    if (e->map)
        log_put(log, " map %" PRIx64, e->map - log->base);
}

static inline void log_sync(const struct listener *self, const struct event_sync *e) {
    static const char *const kinds[] = {"arrive",    "drop",         "expect",      "complete",  "pending",
                                        "PHASE",     "test",         "bar_arrive",  "BAR",       "pass",
                                        "cl_arrive", "CLUSTER",      "cl_pass",     "warp",      "fence",
                                        "commit",    "wait",         "ld",          "wait_ld",   "wait_st",
                                        "use",       "fence_before", "fence_after", "grid_wait", "grid_launch"};
    struct event_log *log = self->ctx;
    log_by(log, &e->by, kinds[e->kind]);
    if (e->kind <= SYNC_MBAR_TEST)
        log_mbarrier(log, e);
    else if (e->kind <= SYNC_BAR_PASS)
        log_put(log, " %u phase %" PRIu64, e->number, e->phase);
    else if (e->kind <= SYNC_CLUSTER_PASS)
        log_put(log, " phase %" PRIu64, e->phase);
    if (e->kind == SYNC_BAR_ARRIVE)
        log_put(log, " of %u", e->count);
    if (e->kind == SYNC_WARP)
        log_put(log, " members %x", e->members);
    if (e->kind == SYNC_FENCE)
        log_fence(log, e);
    if (e->kind == SYNC_GROUP_COMMIT || e->kind == SYNC_GROUP_WAIT)
        log_put(log, "%s%s", e->bulk ? " bulk" : "", e->read ? " read" : "");
    if (e->kind == SYNC_GROUP_WAIT)
        log_put(log, " but %u", e->count);
    if (e->kind == SYNC_TCGEN05_USE)
        log_put(log, " of #%" PRIu64, e->awaited);
    if (e->by.order != ORDER_WEAK)
        log_order(log, &e->by);
    log_put(log, "\n");
}

/* What the operation says it is. */
static inline void log_work(struct event_log *log, const struct async_op *op) {
    struct event_work w = {0};
    op->kind->describe(op, &w);
    if (w.m)
        log_put(log, " %ux%ux%u a %" PRIx64 " b %" PRIx64, w.m, w.n, w.k, w.a, w.b);
    if (w.cta_group)
        log_put(log, " group %u", w.cta_group);
    if (w.bytes)
        log_put(log, " bytes %" PRIu64, w.bytes);
    if (w.from)
        log_put(log, " from %u:%x", w.from->rank, w.from_off);
    if (w.to)
        log_put(log, " to %u:%x", w.to->rank, w.to_off);
    if (w.global)
        log_put(log, " global %" PRIx64, w.global - log->base);
    for (uint32_t i = 0; i < w.rank; i++)
        log_put(log, " coord %d", w.coord[i]);
    if (w.signals)
        log_put(log, " signals %u:%x", w.signals->rank, w.signals_off);
    if (w.ctas)
        log_put(log, " ctas %x", w.ctas);
    if (w.follows)
        log_put(log, " follows #%" PRIu64, w.follows);
}

static inline void log_op(const struct listener *self, const struct event_op *e) {
    static const char *const stages[] = {"issued", "started", "completed"};
    struct event_log *log = self->ctx;
    if (!CHECK(e->by.op) || !CHECK(e->queue))
        return;
    log_by(log, &e->by, stages[e->stage]);
    if (e->stage == OP_ISSUED)
        log_work(log, e->by.op);
    log_put(log, "\n");
}

static inline void log_wait(const struct listener *self, const struct event_wait *e) {
    static const char *const ends[] = {"waits", "goes_on", "timed_out", "released"};
    static const char *const kinds[] = {"?",          "mbarrier", "barrier",   "cluster",   "warp_sync",
                                        "tmem_alloc", "pair",     "registers", "tmem_ldst", "async",
                                        "join",       "aligned",  "riding"};
    struct event_log *log = self->ctx;
    log_by(log, &e->by, ends[e->end]);
    log_put(log, " %s %x %" PRIx64 "\n", kinds[e->kind], e->off, e->value);
}

static inline void log_step(const struct listener *self, const struct event_step *e) {
    struct event_log *log = self->ctx;
    log_by(log, &e->by, "step");
    log_put(log, " live %x\n", e->live);
}

static inline void log_watch(const struct listener *self, const struct event_life *e) {
    struct event_log *log = self->ctx;
    if (e->kind == LIFE_CTA_START)
        *event_watch(self, e->owner) = &log->watch_tag;
    if (e->kind == LIFE_CTA_END)
        log->watch_kept += *event_watch(self, e->owner) == &log->watch_tag;
}

static inline void log_life(const struct listener *self, const struct event_life *e) {
    static const char *const kinds[] = {"CLUSTER-START", "CLUSTER-END", "CTA-START", "CTA-EXIT", "CTA-END",
                                        "exit",          "alloc",       "closing",   "dealloc",  "relinquish",
                                        "init",          "inval",       "heap",      "unheap",   "registers"};
    struct event_log *log = self->ctx;
    log_watch(self, e);
    log_by(log, &e->by, kinds[e->kind]);
    if (e->owner && e->owner != e->by.cta)
        log_put(log, " @%u", e->owner->rank);
    if (e->kind == LIFE_CTA_START)
        log_put(log, " bytes %" PRIu64, e->bytes);
    if (e->kind >= LIFE_TMEM_ALLOC && e->kind <= LIFE_TMEM_DEALLOC)
        log_put(log, " %u columns %u", e->column, e->columns);
    if (e->kind == LIFE_MBAR_INIT || e->kind == LIFE_MBAR_INVAL)
        log_put(log, " %x", e->off);
    if (e->kind == LIFE_HEAP_ALLOC)
        log_put(log, " bytes %" PRIu64, e->bytes);
    if (e->kind == LIFE_MBAR_INIT || e->kind == LIFE_REGISTERS)
        log_put(log, " count %u", e->count);
    log_put(log, "\n");
}

static inline void log_host(const struct listener *self, const struct event_host *e) {
    static const char *const kinds[] = {"launch", "launch_end", "copy", "alloc",      "free",
                                        "record", "wait",       "sync", "sync_device"};
    struct event_log *log = self->ctx;
    log_put(log, "%s %s grid %u block %u cluster %u shared %u+%u stream %" PRIu64 "%s\n", kinds[e->kind], e->kernel,
            e->grid.x, e->block.x, e->cluster.x, e->static_smem, e->dynamic_smem, e->stream, e->early ? " early" : "");
}

static inline struct listener log_listener(struct event_log *log) {
    return (struct listener){.name = "log",
                             .wants = log->wants,
                             .ctx = log,
                             .access = log_access,
                             .sync = log_sync,
                             .op = log_op,
                             .wait = log_wait,
                             .step = log_step,
                             .life = log_life,
                             .host = log_host};
}

/* Global memory at log->base, with a tensor map at 2000: rows of 16 words at 4000, 32 of them, in boxes of 8 by 4. */
static inline void log_attach(struct run *r, struct event_log *log) {
    const struct listener l = log_listener(log);
    log->base = run_alloc(r, LOG_BYTES);
    struct tmap map = {.type = TMAP_U32,
                       .rank = 2,
                       .address = log->base + 16384,
                       .dim = {16, 32},
                       .stride = {64},
                       .box = {8, 4},
                       .step = {1, 1}};
    CHECK(tmap_encode(&map, run_at(r, log->base + 8192, TMAP_BYTES)) == NULL);
    CHECK(events_attach(r->gpu, &l));
}

/* Runs one kernel of `ptx` with its parameter log->base, under a schedule, and leaves in *log what it wanted. */
static inline bool log_run_under(struct event_log *log, const char *ptx, struct run_shape shape,
                                 enum mach_schedule schedule) {
    struct run r;
    struct mach_config config = mach_config_b200();
    config.schedule = schedule;
    config.seed = 7;
    config.watchdog = 1000000;
    bool ok = run_open_config(&r, ptx, &config);
    if (ok) {
        log_attach(&r, log);
        ok = run_ok(&r, "k", shape, 1, &log->base);
    }
    run_close(&r);
    return ok;
}

/* The log of one kernel is `want`. */
static inline void log_gives(uint32_t wants, struct run_shape shape, const char *ptx, const char *want) {
    static struct event_log log;
    memset(&log, 0, sizeof log);
    log.wants = wants;
    log_run_under(&log, ptx, shape, MACH_SCHED_DEFAULT);
    log_operand_end(&log);
    CHECK_STR(log.text, want);
}

/* The head of kernel k: %r1 thread, %r2 rank, %r3 warp; %r20 8 KiB `sm` of shared memory at offset 400, its last 256
 * bytes for mbarriers at %r21 (2300) and a word at %r22 (2380); %rd1 global memory; @%p8: thread 0. */
#define LOG_HEAD                                                                                                       \
    RUN_HEADER ".visible .entry k(.param .u64 out) {\n"                                                                \
               ".reg .pred %p<9>; .reg .b16 %h<4>; .reg .b32 %r<60>; .reg .b64 %rd<30>;\n"                             \
               ".shared .align 1024 .b8 sm[8192];\n"                                                                   \
               "mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; shr.u32 %r3, %r1, 5; mov.u32 %r20, sm;\n"          \
               "add.u32 %r21, %r20, 7936; add.u32 %r22, %r20, 8064; ld.param.u64 %rd1, [out];\n"                       \
               "setp.eq.u32 %p8, %r1, 0;\n"
#define LOG_END "ret; }\n"
/* One warp has 32 columns of tensor memory at %r12, A (128 x 16 of ones in f16) at 400 and B (8 x 16) at 1400 by the
 * descriptors %rd12 and %rd13, the instruction descriptor %r14, an mbarrier of one arrival; %p6: false. */
#define LOG_TENSOR                                                                                                     \
    "shl.b32 %r10, %r1, 2; add.u32 %r10, %r10, %r20; mov.u32 %r11, 0;\n"                                               \
    "fill: st.shared.u32 [%r10], 0x3c003c00; add.u32 %r10, %r10, 128; add.u32 %r11, %r11, 1;\n"                        \
    "setp.lt.u32 %p0, %r11, 34; @%p0 bra fill; @%p8 mbarrier.init.shared::cta.b64 [%r21], 1;\n"                        \
    "fence.proxy.async; bar.warp.sync -1; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r22], 32;\n"       \
    "ld.shared.u32 %r12, [%r22]; and.b32 %r13, %r20, 0x3ffff; shr.u32 %r13, %r13, 4; setp.lt.u32 %p6, %r1, 0;\n"       \
    "cvt.u64.u32 %rd11, %r13;\n"                                                                                       \
    "or.b64 %rd12, %rd11, 0x0000400800800000; add.u64 %rd13, %rd11, 256; or.b64 %rd13, %rd13, 0x0000400800080000;\n"   \
    "mov.u32 %r14, 0x08020010;\n"
#define LOG_COMMIT                                                                                                     \
    "@%p8 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r21];\n" LOG_WAIT(                   \
        "w", "%r21", "0") "tcgen05.fence::after_thread_sync;\n"
#define LOG_TENSOR_END                                                                                                 \
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r12, 32;\n"                                                        \
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ret; }\n"
#define LOG_CLUSTER_SYNC "barrier.cluster.arrive; barrier.cluster.wait;\n"
/* Parity `par` of the mbarrier at `at` is awaited. */
#define LOG_WAIT(label, at, par)                                                                                       \
    label ": mbarrier.try_wait.parity.shared::cta.b64 %p7, [" at "], " par "; @!%p7 bra " label ";\n"

#endif
