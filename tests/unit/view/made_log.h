/* made_log.h - a log made by hand: two CTAs, a ring of two stages, two tiles; and its source.
 *
 * Each CTA's load warp (1) brings A into a stage of both; the leader's MMA warp (0) makes UMMAs of it and commits; warps 2
 * and 3 of the leader are its epilogue. Event numbers stand beside what the tests ask for.
 */
#ifndef TESTS_MADE_LOG_H
#define TESTS_MADE_LOG_H

#include "check.h"
#include "trace/log.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const made_source = "/* 1 */ kernel\n"
                                       "    mbarrier_init(smem_address(&s->full[i]), 2);\n"
                                       "    mbarrier_init(smem_address(&s->empty[i]), 1);\n"
                                       "    mbarrier_init(smem_address(&s->done), 1);\n"
                                       "        if (elect_one()) mma_role(&g, s);\n"
                                       "            load_role(&g, s, &a);\n"
                                       "    epilogue_role(&g, s, d);\n"
                                       "        wait(&s->full[at], parity);\n"
                                       "        tma_load(to, a, x, y, full);\n"
                                       "            umma(d, x, y);\n"
                                       "        umma_commit(&s->empty[at]);\n"
                                       "        tma_load(to_b, b, x, y, full);\n"
                                       "    mbarrier_wait(&s->done, 0);\n"
                                       "    load_slice(&g->a, to);\n"
                                       "    load_slice(&g->b, to);\n";

struct made {
    struct trace_log log;
    struct trace_cluster cluster;
    char text[4096];
    struct trace_site sites[32];
    struct trace_call calls[64];
    struct trace_object objects[32];
    struct trace_op ops[64];
    struct trace_event events[256];
    char folder[64], path[96], wrappers[96];
};

static inline trace_text made_text(struct made *m, const char *text) {
    for (uint32_t at = 0; at < m->log.text_bytes; at += (uint32_t)strlen(m->text + at) + 1)
        if (strcmp(m->text + at, text) == 0)
            return at;
    const uint32_t at = m->log.text_bytes;
    CHECK(at + strlen(text) + 1 < sizeof m->text);
    memcpy(m->text + at, text, strlen(text) + 1);
    m->log.text_bytes += (uint32_t)strlen(text) + 1;
    return at;
}

static inline uint32_t made_call(struct made *m, uint32_t line, uint32_t outer) {
    m->calls[m->log.num_calls] = (struct trace_call){made_text(m, m->path), line, outer};
    return ++m->log.num_calls;
}

/* An instruction in a wrapper that the source calls at `line`, in what the kernel calls at `task` (0: in the kernel). */
static inline uint32_t made_site(struct made *m, uint32_t line, uint32_t task, const char *text) {
    const uint32_t outer = task ? made_call(m, task, 0) : 0;
    m->sites[m->log.num_sites] = (struct trace_site){
        .file = made_text(m, m->wrappers),
        .line = 1,
        .ptx = made_text(m, "ring.ptx"),
        .ptx_line = 10 + m->log.num_sites,
        .text = made_text(m, text),
        .func = made_text(m, "_Z4ringv"),
        .inlined = made_call(m, line, outer),
    };
    return ++m->log.num_sites;
}

static inline uint32_t made_object(struct made *m, struct trace_object o) {
    m->objects[m->cluster.num_objects] = o;
    return ++m->cluster.num_objects;
}

static inline uint32_t made_event(struct made *m, struct trace_event e) {
    e.lanes = e.lanes ? e.lanes : 1;
    e.times = 1;
    m->events[m->cluster.num_events] = e;
    return ++m->cluster.num_events;
}

/* Issues an operation; its event. */
static inline uint32_t made_issue(struct made *m, struct trace_op op) {
    const uint32_t number = ++m->cluster.num_ops;
    op.leader = op.leader ? op.leader : number;
    op.issued = made_event(m, (struct trace_event){.class = TRACE_OP,
                                                   .kind = OP_ISSUED,
                                                   .rank = (uint8_t)op.rank,
                                                   .warp = (uint8_t)op.warp,
                                                   .site = op.site,
                                                   .object = op.queue,
                                                   .op = number});
    m->ops[number - 1] = op;
    return op.issued;
}

/* A stage of an operation, or what it does to an mbarrier. */
static inline uint32_t made_by_op(struct made *m, uint32_t op, struct trace_event e) {
    e.op = op;
    e.rank = (uint8_t)m->ops[op - 1].rank;
    e.warp = (uint8_t)m->ops[op - 1].warp;
    e.site = m->ops[op - 1].site;
    e.cause = e.cause ? e.cause : m->ops[op - 1].started;
    return made_event(m, e);
}

static inline void made_start(struct made *m, uint32_t op) {
    m->ops[op - 1].started = made_by_op(
        m, op,
        (struct trace_event){
            .class = TRACE_OP, .kind = OP_STARTED, .object = m->ops[op - 1].queue, .cause = m->ops[op - 1].issued});
}

static inline void made_complete(struct made *m, uint32_t op) {
    m->ops[op - 1].completed = made_by_op(
        m, op, (struct trace_event){.class = TRACE_OP, .kind = OP_COMPLETED, .object = m->ops[op - 1].queue});
}

/* --- the ring ----------------------------------------------------------------------------------------------------- */

enum { MADE_FULL = 0x400, MADE_EMPTY = 0x410, MADE_DONE = 0x420, MADE_STAGES = 0x800, MADE_STAGE = 0x100 };

struct made_ring {
    uint32_t full[2][2], empty[2][2], done; /* objects, by rank and stage; done: rank 0's */
    uint32_t tma[2], core;                  /* queues */
    uint32_t wait, load, umma, commit, end; /* sites */
};

static inline void made_init(struct made *m, uint32_t rank, uint32_t at, uint32_t count, uint32_t site,
                             uint32_t *object) {
    *object = made_object(
        m, (struct trace_object){.kind = OBJECT_MBARRIER, .rank = rank, .at = at, .count = count, .site = site});
    made_event(m, (struct trace_event){.class = TRACE_LIFE,
                                       .kind = LIFE_MBAR_INIT,
                                       .rank = (uint8_t)rank,
                                       .warp = 0,
                                       .site = site,
                                       .object = *object,
                                       .count = count});
}

static inline void made_begin(struct made *m, struct made_ring *r) {
    /* an unrolled loop: a copy of the instruction for each stage */
    const uint32_t full[] = {made_site(m, 2, 0, "mbarrier.init.shared::cta.b64 [%r1], 2;"),
                             made_site(m, 2, 0, "mbarrier.init.shared::cta.b64 [%r1+8], 2;")},
                   empty = made_site(m, 3, 0, "mbarrier.init.shared::cta.b64 [%r2], 1;"),
                   done = made_site(m, 4, 0, "mbarrier.init.shared::cta.b64 [%r3], 1;");
    r->wait = made_site(m, 8, 5, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;");
    r->load = made_site(m, 9, 6, "cp.async.bulk.tensor.2d.shared::cluster.global [%r1], [%rd1, {%r2, %r3}], [%r4];");
    r->umma = made_site(m, 10, 5, "@%p3 tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;");
    r->commit = made_site(m, 11, 5, "tcgen05.commit.cta_group::2 [%r1];");
    r->end = made_site(m, 13, 7, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;");
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t i = 0; i < 2; i++) {
            made_init(m, rank, MADE_FULL + 8 * i, 2, full[i], &r->full[rank][i]);
            made_init(m, rank, MADE_EMPTY + 8 * i, 1, empty, &r->empty[rank][i]);
        }
    made_init(m, 0, MADE_DONE, 1, done, &r->done);
    for (uint32_t rank = 0; rank < 2; rank++)
        r->tma[rank] = made_object(
            m, (struct trace_object){
                   .kind = OBJECT_QUEUE, .rank = rank, .count = 1, .name = made_text(m, "bulk copy to shared memory")});
    r->core = made_object(m, (struct trace_object){.kind = OBJECT_QUEUE, .name = made_text(m, "tensor core")});
    made_event(m, (struct trace_event){
                      .class = TRACE_LIFE, .kind = LIFE_TMEM_ALLOC, .site = r->wait, .count = 128, .pending = 0});
}

/* A wait at an mbarrier begins; its event. */
static inline uint32_t made_wait(struct made *m, uint32_t rank, uint32_t warp, uint32_t object, uint32_t phase,
                                 uint32_t site, uint32_t kind, uint32_t cause) {
    return made_event(m, (struct trace_event){.class = TRACE_WAIT,
                                              .kind = (uint8_t)kind,
                                              .rank = (uint8_t)rank,
                                              .warp = (uint8_t)warp,
                                              .site = site,
                                              .object = object,
                                              .phase = phase,
                                              .value = phase & 1,
                                              .what = WAIT_MBARRIER,
                                              .cause = cause});
}

/* The load of one CTA into both stages' place of a K tile; number of its first operation. */
static inline uint32_t made_load(struct made *m, const struct made_ring *r, uint32_t rank, uint32_t stage) {
    const uint32_t first = m->cluster.num_ops + 1;
    for (uint32_t to = 0; to < 2; to++)
        made_issue(m, (struct trace_op){.name = made_text(m, "cp.async.bulk.tensor to shared memory"),
                                        .agent = AGENT_TMA,
                                        .rank = rank,
                                        .warp = 1,
                                        .site = r->load,
                                        .queue = r->tma[rank],
                                        .leader = first,
                                        .to = to + 1,
                                        .to_off = MADE_STAGES + stage * MADE_STAGE + rank * (MADE_STAGE / 2),
                                        .signals = 1,
                                        .signals_off = MADE_FULL + 8 * stage,
                                        .bytes = MADE_STAGE / 2,
                                        .map = 77,
                                        .dims = 2});
    return first;
}

/* Brings the bytes of both CTAs; the event that completes the phase. */
static inline uint32_t made_land(struct made *m, const struct made_ring *r, const uint32_t loads[2], uint32_t stage,
                                 uint32_t phase) {
    uint32_t cause = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t op = loads[i / 2] + i % 2;
        made_start(m, op);
        cause = made_by_op(m, op,
                           (struct trace_event){.class = TRACE_SYNC,
                                                .kind = SYNC_MBAR_COMPLETE_TX,
                                                .object = r->full[0][stage],
                                                .phase = phase,
                                                .tx = (int32_t)((3 - i) * MADE_STAGE / 2),
                                                .value = MADE_STAGE / 2});
        if (i == 3)
            cause = made_by_op(m, op,
                               (struct trace_event){.class = TRACE_SYNC,
                                                    .kind = SYNC_MBAR_PHASE,
                                                    .object = r->full[0][stage],
                                                    .phase = phase,
                                                    .cause = cause});
        made_complete(m, op);
    }
    return cause;
}

/* UMMAs of a K tile and their commit; the event of the stage's release in the leader. */
static inline uint32_t made_multiply(struct made *m, const struct made_ring *r, uint32_t stage, uint32_t phase,
                                     uint32_t columns, bool first) {
    const uint32_t op = m->cluster.num_ops + 1;
    for (uint32_t i = 0; i < 2; i++)
        made_issue(m, (struct trace_op){.name = made_text(m, "tcgen05.mma"),
                                        .agent = AGENT_TENSOR_CORE,
                                        .site = r->umma,
                                        .queue = r->core,
                                        .m = 256,
                                        .n = 64,
                                        .k = 16,
                                        .cta_group = 2,
                                        .from = 1,
                                        .to = 1,
                                        .to_off = columns,
                                        .a = (MADE_STAGES + stage * MADE_STAGE) >> 4,
                                        .b = 0x3000 >> 4,
                                        .accumulate = !(first && i == 0)});
    made_issue(m, (struct trace_op){.name = made_text(m, "tcgen05.commit"),
                                    .agent = AGENT_COMMIT,
                                    .site = r->commit,
                                    .queue = r->core,
                                    .signals = 1,
                                    .signals_off = MADE_EMPTY + 8 * stage,
                                    .ctas = 3});
    for (uint32_t i = 0; i < 3; i++) {
        made_start(m, op + i);
        if (i < 2)
            made_complete(m, op + i);
    }
    const uint32_t arrive = made_by_op(
        m, op + 2,
        (struct trace_event){
            .class = TRACE_SYNC, .kind = SYNC_MBAR_ARRIVE, .object = r->empty[0][stage], .phase = phase, .count = 1});
    const uint32_t over = made_by_op(m, op + 2,
                                     (struct trace_event){.class = TRACE_SYNC,
                                                          .kind = SYNC_MBAR_PHASE,
                                                          .object = r->empty[0][stage],
                                                          .phase = phase,
                                                          .cause = arrive});
    made_complete(m, op + 2);
    return over;
}

/* Two tiles of two K tiles each. */
static inline void made_run(struct made *m, const struct made_ring *r) {
    uint32_t over[2] = {0, 0};
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t stage = k % 2, phase = k / 2;
        uint32_t loads[2];
        made_wait(m, 0, 0, r->full[0][stage], phase, r->wait, WAIT_BEGINS, 0);
        for (uint32_t rank = 0; rank < 2; rank++) {
            if (phase && rank == 0) {
                made_wait(m, 0, 1, r->empty[0][stage], phase - 1, r->load, WAIT_BEGINS, 0);
                made_wait(m, 0, 1, r->empty[0][stage], phase - 1, r->load, WAIT_MET, over[stage]);
            }
            made_event(m, (struct trace_event){.class = TRACE_SYNC,
                                               .kind = SYNC_MBAR_EXPECT_TX,
                                               .rank = (uint8_t)rank,
                                               .warp = 1,
                                               .site = r->load,
                                               .object = r->full[0][stage],
                                               .phase = phase,
                                               .tx = (int32_t)((rank + 1) * MADE_STAGE),
                                               .pending = 2 - rank,
                                               .value = MADE_STAGE});
            made_event(m, (struct trace_event){.class = TRACE_SYNC,
                                               .kind = SYNC_MBAR_ARRIVE,
                                               .rank = (uint8_t)rank,
                                               .warp = 1,
                                               .site = r->load,
                                               .object = r->full[0][stage],
                                               .phase = phase,
                                               .count = 1,
                                               .tx = (int32_t)((rank + 1) * MADE_STAGE),
                                               .pending = 1 - rank});
            loads[rank] = made_load(m, r, rank, stage);
        }
        const uint32_t full = made_land(m, r, loads, stage, phase);
        made_wait(m, 0, 0, r->full[0][stage], phase, r->wait, WAIT_MET, full);
        over[stage] = made_multiply(m, r, stage, phase, k < 2 ? 0 : 64, stage == 0);
    }
    made_wait(m, 0, 2, r->done, 0, r->end, WAIT_BEGINS, 0);
}

/* The log, and its source in a folder of its own where `sources`. */
static inline void made_open(struct made *m, bool sources) {
    memset(m, 0, sizeof *m);
    snprintf(m->folder, sizeof m->folder, "/tmp/test_view.XXXXXX");
    CHECK(mkdtemp(m->folder) != NULL);
    snprintf(m->path, sizeof m->path, "%s/ring.cu", m->folder);
    snprintf(m->wrappers, sizeof m->wrappers, "%s/wrappers.cuh", m->folder);
    FILE *f = sources ? fopen(m->path, "w") : NULL;
    if (f) {
        fputs(made_source, f);
        fclose(f);
    }
    m->log = (struct trace_log){
        .version = TRACE_VERSION,
        .grid = {2, 1, 1},
        .block = {128, 1, 1},
        .cluster = {2, 1, 1},
        .resident = 74,
        .text = m->text,
        .sites = m->sites,
        .calls = m->calls,
        .clusters = &m->cluster,
        .num_clusters = 1,
        .text_bytes = 1,
    };
    m->log.kernel = made_text(m, "_Z4ringv");
    m->log.schedule = made_text(m, "default");
    m->cluster =
        (struct trace_cluster){.ctas = 2, .objects = m->objects, .ops = m->ops, .events = m->events, .complete = 1};
    struct made_ring ring;
    made_begin(m, &ring);
    made_run(m, &ring);
    CHECK(m->cluster.num_events < 256 && m->cluster.num_ops < 64 && m->log.num_calls < 64);
}

static inline void made_close(struct made *m) {
    unlink(m->path);
    rmdir(m->folder);
}

#endif
