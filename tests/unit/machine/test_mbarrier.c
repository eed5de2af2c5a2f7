/* The mbarrier state machine (PTX ISA 9.7.13.15) on a CTA without an executor. */
#include "machine/events.h"

#include "tests/check.h"

static const struct event_by somebody;

#define AT MACH_SMEM_FIRST
#define MAX 0xfffffu

struct fixture {
    struct gpu *gpu;
    struct island island;
    struct cluster cl;
    struct cta *cta;
};

static void setup(struct fixture *f) {
    struct mach_config c = mach_config_b200();
    f->gpu = gpu_create(&c);
    struct sm *sm = &f->gpu->sms[0];
    island_init(&f->island, f->gpu, 0);
    cluster_init(&f->cl, &f->island, (struct diag_dim3){0, 0, 0}, (struct diag_dim3){1, 1, 1}, &sm);
    f->cta = &f->cl.cta[0];
    f->cta->live_warps = f->cta->num_warps = 1;
    cta_alloc_smem(f->cta, 1024);
}

static void teardown(struct fixture *f) {
    cluster_release(&f->cl);
    island_close(&f->island);
    gpu_destroy(f->gpu);
}

static struct mbar_view view(struct fixture *f) {
    struct mbar_view v = {~0u, ~0u, ~0u, -1, ~0u};
    CHECK_EQ(mbar_peek(f->cta, AT, &v), MBAR_OK);
    return v;
}

static void test_arrivals(struct fixture *f) {
    uint64_t state, epoch;
    bool done = true;
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 1, false, NULL), MBAR_NOT_INITIALISED);
    CHECK_EQ(mbar_init(&somebody, f->cta, AT, 0), MBAR_BAD_COUNT);
    CHECK_EQ(mbar_init(&somebody, f->cta, AT, MAX + 1), MBAR_BAD_COUNT);
    CHECK_EQ(mbar_init(&somebody, f->cta, AT, 3), MBAR_OK);
    CHECK_EQ(mbar_init(&somebody, f->cta, AT, 3), MBAR_LIVE);
    CHECK(!smem_poisoned(f->cta, AT, 8));
    CHECK(smem_poisoned(f->cta, AT + 8, 1));

    epoch = f->cta->epoch;
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 1, false, &state), MBAR_OK);
    CHECK_EQ(mbar_pending_count(state), 3);
    CHECK_EQ(view(f).pending, 2);
    CHECK_EQ(f->cta->epoch, epoch); /* nothing to wait for has changed */
    CHECK_EQ(mbar_test_state(f->cta, AT, state, &done), MBAR_OK);
    CHECK(!done);
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 3, false, NULL), MBAR_TOO_MANY_ARRIVALS);
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 0, false, NULL), MBAR_BAD_COUNT);
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 2, false, NULL), MBAR_OK);
    CHECK(f->cta->epoch != epoch);
    CHECK_EQ(view(f).phase, 1);
    CHECK_EQ(view(f).pending, 3);
    CHECK_EQ(mbar_test_state(f->cta, AT, state, &done), MBAR_OK);
    CHECK(done);
    CHECK_EQ(mbar_test_parity(f->cta, AT, 0, &done), MBAR_OK);
    CHECK(done);
    CHECK_EQ(mbar_test_parity(f->cta, AT, 1, &done), MBAR_OK);
    CHECK(!done);
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 3, false, NULL), MBAR_OK);
    CHECK_EQ(view(f).phase, 0);
    CHECK_EQ(mbar_inval(&somebody, f->cta, AT), MBAR_OK);
    CHECK_EQ(mbar_inval(&somebody, f->cta, AT), MBAR_NOT_INITIALISED);
    CHECK(smem_poisoned(f->cta, AT, 8));
}

static void test_transactions(struct fixture *f) {
    CHECK_EQ(mbar_init(&somebody, f->cta, AT, 1), MBAR_OK);
    /* arrival first, bytes later */
    CHECK_EQ(mbar_arrive_expect_tx(&somebody, f->cta, AT, 4096, false, NULL), MBAR_OK);
    CHECK_EQ(view(f).pending, 0);
    CHECK_EQ(view(f).tx, 4096);
    CHECK_EQ(view(f).phase, 0);
    CHECK_EQ(mbar_complete_tx(&somebody, f->cta, AT, 4095), MBAR_OK);
    CHECK_EQ(view(f).phase, 0);
    CHECK_EQ(mbar_complete_tx(&somebody, f->cta, AT, 1), MBAR_OK);
    CHECK_EQ(view(f).phase, 1);
    /* bytes first: the tx-count goes below zero, and the phase must wait for the arrival */
    CHECK_EQ(mbar_complete_tx(&somebody, f->cta, AT, 64), MBAR_OK);
    CHECK_EQ(view(f).tx, -64);
    CHECK_EQ(mbar_arrive_expect_tx(&somebody, f->cta, AT, 64, false, NULL), MBAR_OK);
    CHECK_EQ(view(f).phase, 0);
    CHECK_EQ(view(f).tx, 0);
    /* expect_tx is a separate step: it must not end a phase that still lacks arrivals */
    CHECK_EQ(mbar_expect_tx(&somebody, f->cta, AT, 16), MBAR_OK);
    CHECK_EQ(mbar_complete_tx(&somebody, f->cta, AT, 16), MBAR_OK);
    CHECK_EQ(view(f).phase, 0);
    CHECK_EQ(view(f).pending, 1);
    /* limits */
    CHECK_EQ(mbar_expect_tx(&somebody, f->cta, AT, MAX), MBAR_OK);
    CHECK_EQ(mbar_expect_tx(&somebody, f->cta, AT, 1), MBAR_TX_RANGE);
    CHECK_EQ(mbar_arrive_expect_tx(&somebody, f->cta, AT, 1, false, NULL), MBAR_TX_RANGE);
    CHECK_EQ(mbar_complete_tx(&somebody, f->cta, AT, MAX), MBAR_OK);
    CHECK_EQ(mbar_complete_tx(&somebody, f->cta, AT, MAX), MBAR_OK);
    CHECK_EQ(view(f).tx, -(int32_t)MAX);
    CHECK_EQ(mbar_complete_tx(&somebody, f->cta, AT, 1), MBAR_TX_RANGE);
    CHECK_EQ(mbar_expect_tx(&somebody, f->cta, AT, UINT32_MAX), MBAR_TX_RANGE);
    CHECK_EQ(mbar_inval(&somebody, f->cta, AT), MBAR_OK);
}

static void test_drop(struct fixture *f) {
    CHECK_EQ(mbar_init(&somebody, f->cta, AT, 4), MBAR_OK);
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 2, true, NULL), MBAR_OK);
    CHECK_EQ(view(f).pending, 2);
    CHECK_EQ(view(f).expected, 2);
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 2, false, NULL), MBAR_OK);
    CHECK_EQ(view(f).phase, 1);
    CHECK_EQ(view(f).pending, 2); /* the next phase expects those that have not dropped */
    CHECK_EQ(mbar_add_pending(&somebody, f->cta, AT), MBAR_OK);
    CHECK_EQ(view(f).pending, 3);
    CHECK_EQ(view(f).expected, 2);
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 3, true, NULL), MBAR_TOO_MANY_ARRIVALS);
    CHECK_EQ(mbar_inval(&somebody, f->cta, AT), MBAR_OK);
}

static void test_memory(struct fixture *f) {
    struct mbar_view v;
    bool done;
    CHECK_EQ(mbar_init(&somebody, f->cta, AT, MAX), MBAR_OK);
    CHECK_EQ(view(f).pending, MAX);
    memset(f->cta->smem + AT, 0, 8); /* the object is 8 bytes of shared memory: a store destroys it */
    CHECK_EQ(mbar_arrive(&somebody, f->cta, AT, 1, false, NULL), MBAR_CORRUPT);
    CHECK_EQ(mbar_peek(f->cta, AT, &v), MBAR_CORRUPT);
    memset(f->cta->smem + AT, 0xff, 8);
    CHECK_EQ(mbar_test_parity(f->cta, AT, 0, &done), MBAR_CORRUPT);
    for (uint32_t i = 1; i < 100; i++)
        CHECK_EQ(mbar_init(&somebody, f->cta, AT + 8 * i, i), MBAR_OK);
    CHECK_EQ(mbar_inval(&somebody, f->cta, AT + 8 * 7), MBAR_OK);
    CHECK_EQ(mbar_peek(f->cta, AT + 8 * 7, &v), MBAR_NOT_INITIALISED);
    CHECK_EQ(mbar_peek(f->cta, AT + 8 * 99, &v), MBAR_OK);
    CHECK_EQ(v.pending, 99);
    f->cta->live_warps = 0;
    CHECK_EQ(mbar_complete_tx(&somebody, f->cta, AT + 16, 4), MBAR_CTA_EXITED);
}

static void test_messages(void) {
    for (int e = MBAR_NOT_INITIALISED; e <= MBAR_CTA_EXITED; e++) {
        const struct diag *d = mbar_error_diag((enum mbar_error)e);
        CHECK(d->id && d->rule && d->hint && !d->cuda_error);
        CHECK_HAS(d->section, "PTX ISA ");
    }
}

int main(void) {
    struct fixture f;
    setup(&f);
    test_arrivals(&f);
    test_transactions(&f);
    test_drop(&f);
    test_memory(&f);
    test_messages();
    teardown(&f);
    return check_report();
}
