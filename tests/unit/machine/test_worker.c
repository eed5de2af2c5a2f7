/* Host threads: blocks of memory come back zeroed, every item of a job runs once, whoever runs it. */
#include "machine/worker.h"

#include "tests/check.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4u
#define ITEMS 1000u

static void test_blocks(void) {
    struct worker w = {0}, other = {0};
    const size_t sizes[] = {0, 1, 63, 64, 1000, 4096, 100000, 300000};
    for (unsigned round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            uint8_t *a = worker_alloc(&w, sizes[i]), *b = worker_alloc(&w, sizes[i]);
            CHECK(a != b);
            CHECK_EQ((uintptr_t)a % 64, 0);
            for (size_t k = 0; k < sizes[i]; k++)
                if (!CHECK_EQ(a[k], 0) || !CHECK_EQ(b[k], 0))
                    break;
            memset(a, 0xa5, sizes[i]);
            memset(b, 0x5a, sizes[i]);
            worker_free(&other, a); /* a cluster may end on another thread */
            worker_free(&w, b);
        }
    worker_free(&w, NULL);
    worker_close(&w);
    worker_close(&other);
}

struct job {
    uint32_t runs[ITEMS], by[ITEMS];
};

static void count(void *arg, uint32_t item, struct worker *w) {
    struct job *j = arg;
    j->runs[item]++;
    j->by[item] = w->index;
    worker_free(w, worker_alloc(w, 100 + item));
}

static bool run(struct crew **crew, struct worker *workers, uint32_t threads, uint32_t items) {
    struct job j;
    memset(&j, 0, sizeof j);
    crew_run(crew, workers, threads, items, count, &j);
    for (uint32_t i = 0; i < ITEMS; i++)
        if (!CHECK_EQ(j.runs[i], i < items) || !CHECK(j.by[i] < threads))
            return false;
    return true;
}

static void test_jobs(void) {
    struct worker workers[THREADS] = {{.index = 0}, {.index = 1}, {.index = 2}, {.index = 3}};
    for (uint32_t threads = 1; threads <= THREADS; threads++) {
        struct crew *crew = NULL;
        for (uint32_t items = 0; items < 60; items++)
            CHECK(run(&crew, workers, threads, items));
        CHECK(run(&crew, workers, threads, ITEMS));
        CHECK_EQ(crew != NULL, threads > 1);
        crew_end(crew);
    }
    crew_end(NULL);
    for (uint32_t i = 0; i < THREADS; i++)
        worker_close(&workers[i]);
}

/* A child has none of its parent's threads, and makes its own. ThreadSanitizer's runtime and qemu-user cannot
 * follow it there. */
__attribute__((unused)) static void test_fork(void) {
    struct worker workers[2] = {{.index = 0}, {.index = 1}};
    struct crew *crew = NULL;
    CHECK(run(&crew, workers, 2, 50));
    pid_t child = fork();
    if (child == 0) {
        bool ok = run(&crew, workers, 2, 50);
        crew_end(crew);
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    CHECK(run(&crew, workers, 2, 50));
    crew_end(crew);
    for (uint32_t i = 0; i < 2; i++)
        worker_close(&workers[i]);
}

int main(void) {
    CHECK(worker_host_cpus() >= 1);
    test_blocks();
    test_jobs();
#if !defined(__SANITIZE_THREAD__)
    const char *under = getenv("UNDER"); /* the emulator of the host, if any: tests/CMakeLists.txt */
    if (!under || !*under)
        test_fork();
#endif
    return check_report();
}
