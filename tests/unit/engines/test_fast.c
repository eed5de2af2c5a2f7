/* Whole operations with and without --umma=fast: where the host has a matrix unit, f16 is summed in another order; all
 * else is equal in all bits.
 */
#include "engines/tc_chain.h"
#include "fixture.h"

#include <math.h>

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Operations, K of 128 bytes twice: f16 is not equal with --umma=fast, but near; all else is. */
struct operation {
    enum tc_kind kind;
    unsigned group;
    uint32_t m, type; /* code of A's and B's */
    bool differs;     /* with --umma=fast, where there is a matrix unit */
};

static void open_operation(struct fixture *f, const struct operation *x, bool fast) {
    uint64_t state = 4;
    uint32_t base;
    fixture_open_on(f, x->group, 48 * 1024, x->group);
    f->gpu->config.umma = fast ? MACH_UMMA_FAST : MACH_UMMA_EXACT;
    struct cta *cta = f->cluster.cta;
    for (uint32_t c = 0; c < x->group; c++) {
        for (uint32_t i = MACH_SMEM_FIRST; i < cta[c].smem_end; i++)
            cta[c].smem[i] = (uint8_t)(fixture_random(&state) >> 40 & (i & 1 && x->kind == TC_KIND_F16 ? 0xbb : 0xff));
        smem_clear_poison(&cta[c], MACH_SMEM_FIRST, cta[c].smem_end - MACH_SMEM_FIRST);
    }
    if (x->group == 1) {
        CHECK_EQ(fixture_alloc(f, cta, 256), 0);
        return;
    }
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, 256, &base), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[1], NULL, 0, 256, &base), TC_DONE);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, 256, &base), TC_DONE);
}

/* D in the tensor memory of each CTA. */
static void run_operation(const struct operation *x, bool fast, uint32_t d[2][256 * 128]) {
    struct fixture f;
    open_operation(&f, x, fast);
    struct tc_mma mma = {.kind = x->kind, .group = x->group};
    mma.idesc =
        (x->kind == TC_KIND_I8 ? 2u : 1u) << 4 | x->type << 7 | x->type << 10 | 256u >> 3 << 17 | x->m >> 4 << 24;
    for (uint32_t i = 0; i < 8; i++) {
        mma.a = ((uint64_t)MACH_SMEM_FIRST >> 4 | UINT64_C(1) << 16 | UINT64_C(64) << 32 | UINT64_C(1) << 46 |
                 UINT64_C(2) << 61) +
                i % 4 * 2;
        mma.b = mma.a + (16384 >> 4);
        mma.accumulate = i;
        tc_issue_mma(f.cta, NULL, &mma);
    }
    fixture_drain(&f);
    if (!CHECK_EQ(f.island.fault, 0))
        fprintf(stderr, "%s\n", fixture_report(&f));
    for (uint32_t c = 0; c < x->group; c++)
        memcpy(d[c], f.gpu->sms[c].tmem->cell[0], sizeof d[c]);
    fixture_close(&f);
}

static void operations(bool available) {
    static const struct operation all[] = {{TC_KIND_F16, 1, 128, 0, true},     {TC_KIND_F16, 2, 256, 0, true},
                                           {TC_KIND_F16, 2, 128, 0, true},     {TC_KIND_F16, 2, 128, 1, false},
                                           {TC_KIND_F8F6F4, 1, 128, 0, false}, {TC_KIND_I8, 1, 128, 0, false},
                                           {TC_KIND_I8, 2, 256, 0, false},     {TC_KIND_I8, 2, 128, 0, false}};
    static uint32_t exact[2][256 * 128], fast[2][256 * 128];
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        uint32_t differ = 0, far = 0;
        run_operation(&all[i], false, exact);
        run_operation(&all[i], true, fast);
        for (uint32_t c = 0; c < all[i].group; c++)
            for (uint32_t e = 0; e < 256 * 128; e++) {
                float x = float_of(exact[c][e]), y = float_of(fast[c][e]);
                differ += exact[c][e] != fast[c][e];
                far += all[i].differs && !(fabsf(x - y) < 1e-4f * (1 + fabsf(x)));
            }
        CHECK((differ > 0) == (available && all[i].differs));
        CHECK_EQ(far, 0);
    }
}

int main(void) {
    operations(simd_available(SIMD_AMX));
    return check_report();
}
