/* tma_bench.h - a cluster with global memory full of random bytes, for the tests of bulk and tensor copies. */
#ifndef TESTS_ENGINES_TMA_BENCH_H
#define TESTS_ENGINES_TMA_BENCH_H

#include "engines/tma.h"
#include "fixture.h"
#include "machine/mbarrier.h"

#define SMEM 65536u
#define DATA 0x1000u /* offset of the buffer in shared memory */
#define MBAR 0x400u
#define GLOBAL (1u << 19)

struct bench {
    struct fixture f;
    uint64_t global; /* device address of GLOBAL bytes */
    uint8_t *bytes;  /* the same for the host */
    uint64_t seed;
    uint8_t map[TMAP_BYTES];
};

static inline uint32_t below(struct bench *b, uint32_t n) { return (uint32_t)(fixture_random(&b->seed) >> 33) % n; }

static inline void bench_open(struct bench *b, uint32_t ctas) {
    memset(b, 0, sizeof *b);
    fixture_open(&b->f, ctas, SMEM);
    b->global = mem_alloc(b->f.gpu->mem, GLOBAL, 256, MEM_DEVICE, NULL);
    b->bytes = mem_at(b->f.gpu->mem, b->global, GLOBAL);
    for (uint32_t i = 0; i < GLOBAL; i++)
        b->bytes[i] = (uint8_t)below(b, 256);
}

static inline void bench_close(struct bench *b) { fixture_close(&b->f); }

static inline uint32_t at(uint32_t rank, uint32_t off) { return rank << MACH_SMEM_RANK_SHIFT | off; }

static inline struct tmap map_2d(const struct bench *b) {
    return (struct tmap){.type = TMAP_U16,
                         .rank = 2,
                         .address = b->global,
                         .dim = {64, 32, 1, 1, 1},
                         .stride = {256},
                         .box = {64, 8, 1, 1, 1},
                         .step = {1, 1, 1, 1, 1}};
}

static inline void encode(struct bench *b, const struct tmap *m) {
    const char *why = tmap_encode(m, b->map);
    if (!CHECK(why == NULL))
        fprintf(stderr, "    %s\n", why);
}

static const struct event_by somebody; /* nobody listens */

static inline void init(struct cta *cta) { CHECK_EQ(mbar_init(&somebody, cta, MBAR, 1), MBAR_OK); }

static inline void expect(struct cta *cta, uint32_t bytes) {
    CHECK_EQ(mbar_arrive_expect_tx(&somebody, cta, MBAR, bytes, false, NULL), MBAR_OK);
}

static inline uint32_t phase(struct cta *cta) {
    struct mbar_view v = {0};
    CHECK_EQ(mbar_peek(cta, MBAR, &v), MBAR_OK);
    return v.phase;
}

#endif
