/* tcgen05.alloc, dealloc, relinquish_alloc_permit, and the end of a CTA (PTX ISA 9.7.16.7). */
#include "fixture.h"

static void sizes(void) {
    struct fixture f;
    uint32_t taddr;
    fixture_open(&f, 1, 1024);
    for (uint32_t n = 0; n <= 1056; n++) {
        bool legal = n == 32 || n == 64 || n == 128 || n == 256 || n == 512;
        enum tc_result r = tc_alloc(f.cta, NULL, n, &taddr);
        if (legal) {
            CHECK_EQ(r, TC_DONE);
            CHECK(tc_owns(f.cta, taddr, n));
            CHECK(tc_dealloc(f.cta, NULL, taddr, n));
            CHECK(!tc_owns(f.cta, taddr, n));
            f.cta->tc->last_columns = 0;
        } else {
            CHECK_EQ(r, TC_FAULT);
            CHECK(fixture_faulted(&f, "tcgen05-alloc-columns"));
        }
    }
    CHECK(tc_cta_exit(f.cta));
    fixture_close(&f);
}

/* Blocks never overlap, and fill the SM when sizes fall. */
static void packing(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    uint32_t sizes[] = {256, 128, 64, 32, 32}, at[5], seen[TMEM_COLUMNS] = {0};
    for (int i = 0; i < 5; i++) {
        at[i] = fixture_alloc(&f, f.cta, sizes[i]);
        CHECK_EQ(at[i] % sizes[i], 0);
        CHECK(at[i] + sizes[i] <= TMEM_COLUMNS);
        for (uint32_t c = at[i]; c < at[i] + sizes[i] && c < TMEM_COLUMNS; c++)
            seen[c]++;
    }
    for (int c = 0; c < (int)TMEM_COLUMNS; c++)
        CHECK_EQ(seen[c], 1);
    uint32_t taddr;
    CHECK_EQ(tc_alloc(f.cta, NULL, 32, &taddr), TC_BLOCKED);
    CHECK(tc_dealloc(f.cta, NULL, at[2], 64));
    CHECK_EQ(tc_alloc(f.cta, NULL, 32, &taddr), TC_DONE);
    CHECK_EQ(taddr, at[2]);
    CHECK_EQ(tc_alloc(f.cta, NULL, 64, &taddr), TC_FAULT);
    CHECK(fixture_faulted(&f, "tcgen05-alloc-increase"));
    fixture_close(&f);
}

static void deallocation(void) {
    struct fixture f;
    fixture_open(&f, 2, 1024);
    struct cta *other = &f.cluster.cta[1];
    uint32_t taddr = fixture_alloc(&f, f.cta, 64);
    tc_relinquish(f.cta, NULL);
    uint32_t theirs = fixture_alloc(&f, other, 32);
    CHECK(theirs != taddr);
    CHECK(!tc_owns(f.cta, theirs, 32) && tc_owns(other, theirs, 32));
    CHECK(!tc_dealloc(f.cta, NULL, taddr, 32));
    CHECK(fixture_faulted(&f, "tcgen05-dealloc-mismatch"));
    CHECK(!tc_dealloc(f.cta, NULL, taddr + 32, 32));
    CHECK(fixture_faulted(&f, "tcgen05-dealloc-mismatch"));
    CHECK(!tc_dealloc(f.cta, NULL, taddr | 32u << 16, 64));
    CHECK(fixture_faulted(&f, "tcgen05-dealloc-mismatch"));
    CHECK(!tc_dealloc(f.cta, NULL, theirs, 32));
    CHECK(fixture_faulted(&f, "tcgen05-dealloc-mismatch"));
    CHECK(!tc_dealloc(f.cta, NULL, taddr, 48));
    CHECK(fixture_faulted(&f, "tcgen05-alloc-columns"));
    CHECK(tc_dealloc(f.cta, NULL, taddr, 64));
    CHECK(!tc_dealloc(f.cta, NULL, taddr, 64));
    CHECK(fixture_faulted(&f, "tcgen05-dealloc-mismatch"));
    CHECK(tc_cta_exit(f.cta));
    CHECK(tc_dealloc(other, NULL, theirs, 32));
    CHECK(tc_cta_exit(other));
    fixture_close(&f);
}

/* A block starts at a multiple of its size, though the SM is free from an earlier column on. */
static void alignment(void) {
    struct fixture f;
    fixture_open(&f, 3, 1024);
    CHECK_EQ(fixture_alloc(&f, &f.cluster.cta[0], 32), 0);
    tc_relinquish(&f.cluster.cta[0], NULL);
    CHECK_EQ(fixture_alloc(&f, &f.cluster.cta[1], 128), 128);
    tc_relinquish(&f.cluster.cta[1], NULL);
    CHECK_EQ(fixture_alloc(&f, &f.cluster.cta[2], 64), 64);
    fixture_close(&f);
}

/* The permit: exclusive until it is relinquished or its CTA exits; waiting CTAs are woken and served in
 * order. */
static void permit(void) {
    struct fixture f;
    fixture_open(&f, 3, 1024);
    struct cta *a = f.cta, *b = &f.cluster.cta[1], *c = &f.cluster.cta[2];
    uint32_t ta = fixture_alloc(&f, a, 256), tb, tc;
    CHECK_EQ(tc_alloc(b, NULL, 256, &tb), TC_BLOCKED);
    CHECK_EQ(tc_alloc(c, NULL, 32, &tc), TC_BLOCKED);
    uint64_t epoch_b = b->epoch, epoch_c = c->epoch;
    tc_relinquish(a, NULL);
    CHECK(b->epoch != epoch_b && c->epoch != epoch_c);
    CHECK_EQ(tc_alloc(c, NULL, 32, &tc), TC_BLOCKED);  /* b came first */
    CHECK_EQ(tc_alloc(b, NULL, 512, &tb), TC_BLOCKED); /* has the permit, waits for columns */
    epoch_b = b->epoch;
    CHECK(tc_dealloc(a, NULL, ta, 256));
    CHECK(b->epoch != epoch_b);
    CHECK_EQ(tc_alloc(b, NULL, 512, &tb), TC_DONE);
    CHECK_EQ(tc_alloc(c, NULL, 32, &tc), TC_BLOCKED);
    CHECK_EQ(tc_alloc(a, NULL, 32, &ta), TC_FAULT);
    CHECK(fixture_faulted(&f, "tcgen05-alloc-after-relinquish"));
    CHECK(tc_dealloc(b, NULL, tb, 512));
    CHECK_EQ(tc_alloc(c, NULL, 32, &tc), TC_BLOCKED); /* b still holds the permit */
    epoch_c = c->epoch;
    CHECK(tc_cta_exit(b));
    CHECK(c->epoch != epoch_c);
    CHECK_EQ(tc_alloc(c, NULL, 32, &tc), TC_DONE);
    CHECK(tc_dealloc(c, NULL, tc, 32));
    CHECK(tc_cta_exit(c));
    fixture_close(&f);
}

static void missing_dealloc(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    struct diag_site site = {.ptx_name = "k.ptx", .ptx_line = 4711, .ptx_text = "tcgen05.alloc"};
    struct mach_origin origin = {.site = &site, .thread = {.warp = DIAG_NO_WARP}};
    uint32_t taddr;
    CHECK_EQ(tc_alloc(f.cta, &origin, 128, &taddr), TC_DONE);
    CHECK(!tc_cta_exit(f.cta));
    CHECK_HAS(fixture_report(&f), "4711");
    CHECK_HAS(fixture_report(&f), "128 columns");
    CHECK(fixture_faulted(&f, "tcgen05-dealloc-missing"));
    CHECK_EQ(f.gpu->sms[0].tmem_owner[0], NULL);
    fixture_close(&f);
}

static void groups(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    CHECK(tc_use_group(f.cta, NULL, 1));
    CHECK(tc_use_group(f.cta, NULL, 1));
    CHECK(!tc_use_group(f.cta, NULL, 2));
    CHECK(fixture_faulted(&f, "tcgen05-cta-group-mixed"));
    fixture_close(&f);
}

/* Freshly allocated cells are poison, also where an earlier owner wrote. */
static void fresh_is_poison(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    uint32_t taddr = fixture_alloc(&f, f.cta, 32), data[32], poison = 0;
    struct tc_access a = {.shape = TC_32X32B, .num = 1, .taddr = taddr, .threads = UINT32_MAX};
    memset(data, 0, sizeof data);
    CHECK(tc_store(f.cta, NULL, &a, data, &poison));
    CHECK(tc_load(f.cta, NULL, &a, data, &poison));
    CHECK_EQ(poison, 0);
    CHECK(tc_dealloc(f.cta, NULL, taddr, 32));
    CHECK(!tc_load(f.cta, NULL, &a, data, &poison));
    CHECK(fixture_faulted(&f, "tcgen05-tmem-unallocated"));
    CHECK_EQ(fixture_alloc(&f, f.cta, 32), taddr);
    CHECK(tc_load(f.cta, NULL, &a, data, &poison));
    CHECK_EQ(poison, UINT32_MAX);
    fixture_close(&f);
}

int main(void) {
    sizes();
    packing();
    deallocation();
    alignment();
    permit();
    missing_dealloc();
    groups();
    fresh_is_poison();
    return check_report();
}
