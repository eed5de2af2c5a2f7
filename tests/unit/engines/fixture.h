/* fixture.h - a GPU with one SM and a cluster on it, and what it reported. */
#ifndef TESTS_ENGINES_FIXTURE_H
#define TESTS_ENGINES_FIXTURE_H

#include "../../check.h"
#include "base/arena.h"
#include "engines/tc.h"

struct fixture {
    struct gpu *gpu;
    struct island island;
    struct cluster cluster;
    struct cta *cta;   /* rank 0 */
    char report[4096]; /* everything reported since the last fixture_clear */
    size_t length;
};

static inline void fixture_write(void *ctx, const char *text, size_t len) {
    struct fixture *f = ctx;
    check_append(f->report, sizeof f->report, &f->length, text, len);
}

/* `ctas` CTAs of one cluster, CTA r on SM r % num_sms, each with `smem` bytes of shared memory. */
static inline void fixture_open_on(struct fixture *f, uint32_t ctas, uint32_t smem, uint32_t num_sms) {
    memset(f, 0, sizeof *f);
    struct mach_config config = mach_config_b200();
    config.num_sms = num_sms;
    f->gpu = gpu_create(&config);
    f->gpu->sink = (struct diag_sink){fixture_write, f};
    struct sm *sms[MACH_MAX_CLUSTER];
    for (uint32_t i = 0; i < ctas; i++)
        sms[i] = &f->gpu->sms[i % num_sms];
    island_init(&f->island, f->gpu, 0);
    cluster_init(&f->cluster, &f->island, (struct diag_dim3){0, 0, 0}, (struct diag_dim3){ctas, 1, 1}, sms);
    for (uint32_t i = 0; i < ctas; i++) {
        cta_alloc_smem(&f->cluster.cta[i], smem);
        f->cluster.cta[i].live_warps = 4;
    }
    f->cta = &f->cluster.cta[0];
}

/* All CTAs resident on SM 0. */
static inline void fixture_open(struct fixture *f, uint32_t ctas, uint32_t smem) { fixture_open_on(f, ctas, smem, 1); }

/* The tensor core's inner loops by turns, SIMD_BEST among them and in place of those that the host lacks. */
static inline void fixture_simd(struct fixture *f, uint64_t turn) {
    for (uint32_t i = 0; i < f->cluster.num_ctas; i++)
        tc_state_of(&f->cluster.cta[i])->simd = (enum simd)(turn % (SIMD_AMX + 1));
}

static inline void fixture_close(struct fixture *f) {
    for (uint32_t i = 0; i < f->cluster.num_ctas; i++)
        tc_cta_release(&f->cluster.cta[i]);
    cluster_release(&f->cluster);
    island_close(&f->island);
    gpu_destroy(f->gpu);
}

/* What the island has said so far, into f->report. */
static inline const char *fixture_report(struct fixture *f) {
    island_tell(&f->island);
    return f->report;
}

static inline void fixture_clear(struct fixture *f) {
    island_close(&f->island);
    f->island.fault = f->gpu->fault = 0;
    findings_clear(f->gpu->findings);
    f->length = 0;
    f->report[0] = 0;
}

/* Did a fault with this id come, and nothing before it? Forgets it. */
static inline bool fixture_faulted(struct fixture *f, const char *id) {
    bool ok = f->island.fault != 0 && strstr(fixture_report(f), id) != NULL;
    if (!ok)
        fprintf(stderr, "expected %s, got: %s\n", id, f->length ? f->report : "(nothing)");
    fixture_clear(f);
    return ok;
}

/* Runs what is queued; products may be put off (engines/tc_chain.h). */
static inline void fixture_run(struct fixture *f) {
    for (uint32_t i = 0; i < f->cluster.num_ctas; i++)
        for (struct async_queue *q = f->cluster.cta[i].queues; q; q = q->next)
            while (q->head && async_step(q))
                ;
}

/* The same, and tensor memory's cells hold what was computed. */
static inline void fixture_drain(struct fixture *f) {
    fixture_run(f);
    tc_flush(&f->cluster);
}

/* An allocation that must succeed. */
static inline uint32_t fixture_alloc(struct fixture *f, struct cta *cta, uint32_t columns) {
    uint32_t taddr = 0;
    enum tc_result r = tc_alloc(cta, NULL, columns, &taddr);
    CHECK_EQ(r, TC_DONE);
    if (r != TC_DONE)
        fprintf(stderr, "%s\n", fixture_report(f));
    return taddr;
}

/* splitmix64 */
static inline uint64_t fixture_random(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

#endif
