/* Which sectors were touched: over edges of words and pages, pages that share a place in a view, several threads. */
#include "check.h"
#include "stats/footprint.h"

#define PAGE (UINT64_C(131072))

static struct footprint f;

static void starts(struct footprint_view *v) {
    footprint_init(&f);
    *v = (struct footprint_view){.of = &f};
}

/* Sectors read and written so far, which ends it. */
static void ends(uint64_t read, uint64_t written) {
    CHECK_EQ(footprint_count(&f, false), read);
    CHECK_EQ(footprint_count(&f, true), written);
    footprint_free(&f);
}

static void edges(void) {
    struct footprint_view v;
    starts(&v);
    ends(0, 0);
    starts(&v);
    footprint_add(&v, false, 5, 0, 1, 0); /* nothing */
    footprint_add(&v, false, 31, 1, 1, 0);
    footprint_add(&v, false, 31, 2, 1, 0); /* and the next */
    footprint_add(&v, true, 63, 1, 1, 0);
    ends(2, 1);
    starts(&v);
    footprint_add(&v, false, 64 * 32 - 32, 64, 1, 0);   /* two words */
    footprint_add(&v, false, 7 * PAGE - 32, 64, 1, 0);  /* two pages */
    footprint_add(&v, true, PAGE, 3 * PAGE, 1, 0);      /* three whole ones */
    footprint_add(&v, true, PAGE + 64, 2 * PAGE, 1, 0); /* again */
    ends(4, 3 * 4096);
    starts(&v);
    footprint_add(&v, false, 1 << 20, 32, 100, 4096);
    footprint_add(&v, false, 1 << 20, 64, 100, 4096);
    footprint_add(&v, false, 1 << 20, 64, 10, 0);
    ends(200, 0);
}

/* Pages FOOTPRINT_SEEN apart take turns in the view; more pages than the table has at first. */
static void pages(void) {
    struct footprint_view v;
    starts(&v);
    for (unsigned round = 0; round < 3; round++)
        for (uint64_t p = 0; p < 300; p++)
            footprint_add(&v, p % 2, p * FOOTPRINT_SEEN * PAGE + round * 32, 32, 1, 0);
    ends(3 * 150, 3 * 150);
}

enum { THREADS = 4, EACH = 400000 };
static pthread_barrier_t together;

/* Thread t: every THREADS-th sector, so that all of them set bits of the same words. */
static void *run(void *arg) {
    struct footprint_view v = {.of = &f};
    for (uint64_t i = 0; i < EACH; i++) {
        if (i % 256 == 0)
            pthread_barrier_wait(&together);
        footprint_add(&v, false, (THREADS * i + *(const unsigned *)arg) * 32, 32, 1, 0);
    }
    return NULL;
}

static void threads(void) {
    pthread_t thread[THREADS];
    unsigned number[THREADS];
    footprint_init(&f);
    pthread_barrier_init(&together, NULL, THREADS);
    for (unsigned t = 0; t < THREADS; t++) {
        number[t] = t;
        CHECK_EQ(pthread_create(&thread[t], NULL, run, &number[t]), 0);
    }
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    ends(THREADS * EACH, 0);
}

int main(void) {
    edges();
    pages();
    threads();
    return check_report();
}
