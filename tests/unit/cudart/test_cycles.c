/* The modelled part of --stats: of a kernel in which one warp waits for another, who waited, for what and how long. */
#include "base/heap.h"
#include "clock/clock.h"
#include "cudart/core/cycles.h"
#include "trace/file.h"
#include "trace/record.h"
#include "unit/event_log.h"

static const struct clock_state boost = {.kind = CLOCK_BOOST};

static void take(void *ctx, struct trace_log *log) { *(struct trace_log **)ctx = log; }

/* Warp 1 waits for an mbarrier at which warp 0 arrives behind 300 rounds of a loop; then both meet at barrier 0. */
static struct trace_log *logged(void) {
    static struct event_log none;
    static struct trace_log *log;
    static struct trace_sink sink = {.take = take, .ctx = &log, .schedule = "default"};
    struct run r;
    log = NULL;
    if (run_open(&r, LOG_HEAD "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; bar.sync 0; mov.u32 %r5, 0;\n"
                              "setp.ne.u32 %p1, %r3, 0; @%p1 bra other;\n"
                              "more: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 300; @%p2 bra more;\n"
                              "@%p8 mbarrier.arrive.shared::cta.b64 _, [%r21]; bra done;\n"
                              "other:" LOG_WAIT("w", "%r21", "0") "done: bar.sync 0;\n" LOG_END)) {
        log_attach(&r, &none);
        CHECK(trace_attach(r.gpu, &sink));
        run_ok(&r, "k", (struct run_shape){.block = 64}, 1, &none.base);
    }
    run_close(&r);
    CHECK(log != NULL);
    return log;
}

static const struct stats_wait *find(const struct stats_cycles *s, const char *role, const char *what) {
    for (uint32_t i = 0; i < s->num_waits; i++)
        if (strcmp(s->waits[i].role, role) == 0 && strcmp(s->waits[i].what, what) == 0)
            return &s->waits[i];
    return NULL;
}

/* Cycles from warp 1's event before the answer "yes" to that answer, by the replay. */
static double waited(const struct trace_log *log, double *life) {
    const struct clock_table table = clock_b200();
    struct clock_result r;
    char why[256];
    double before = -1, first = -1, found = -1;
    if (!CHECK(clock_replay(log, &table, &r, why, sizeof why)))
        return 0;
    for (uint32_t i = 0; i < log->clusters[0].num_events; i++) {
        const struct trace_event *e = &log->clusters[0].events[i];
        if (e->op || e->warp != 1)
            continue;
        const double now = r.clusters[0].cycle[i];
        first = first < 0 ? now : first;
        if (e->class == TRACE_SYNC && e->kind == SYNC_MBAR_TEST && e->count)
            found = now - before;
        before = now;
        *life = now - first;
    }
    clock_result_free(&r, log);
    return found;
}

static void who_waited(void) {
    struct trace_log *log = logged();
    struct stats_cycles *s = rt_cycles(log, &boost, 1);
    double life = 0;
    const double want = waited(log, &life);
    const struct stats_wait *w = find(s, "warp 1", "mbarrier 0x2300");
    CHECK_STR(s->why, "");
    CHECK_EQ(s->sms, 1);
    CHECK(s->cycles > want && want > 900); /* 300 rounds of three instructions, which one warp issues */
    CHECK_NEAR(s->tensor + s->tma + s->hbm, 0, 0);
    CHECK_STR(s->time.state, "boost");
    CHECK_NEAR(s->time.ns * s->time.ghz, s->cycles, 1e-6);
    CHECK(find(s, "warp 0", "mbarrier 0x2300") == NULL);
    if (CHECK(w != NULL)) {
        CHECK_EQ(w->waits, 1);
        CHECK_EQ(w->warps, 1);
        CHECK_NEAR(w->cycles, want, 0);
        CHECK_NEAR(w->share, want / life, 1e-12);
        CHECK(w == s->waits); /* the longest */
    }
    for (uint32_t i = 0; i < s->num_waits; i++)
        CHECK(s->waits[i].what[0]);
    xfree(s->waits);
    xfree(s);
    log->cut = 1;
    s = rt_cycles(log, &boost, 1);
    CHECK(s->why[0] && s->num_waits == 0);
    xfree(s);
    trace_free(log);
}

int main(void) {
    who_waited();
    return check_report();
}
