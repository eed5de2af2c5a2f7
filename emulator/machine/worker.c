/* machine/worker.c - host threads and their memory; contract in worker.h. */
#include "machine/worker.h"

#include "base/heap.h"
#include "base/poison.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- memory ------------------------------------------------------------------------------------------------------- */

#define ALIGN 64u

struct worker_block { /* before the bytes that are given out */
    struct worker_block *next;
    uint32_t order; /* of its size, this header included */
};

static uint32_t order_of(size_t bytes) { /* at most SIZE_MAX / 2 */
    return bytes <= 256 ? 8 : 64 - (uint32_t)__builtin_clzll(bytes - 1);
}

void *worker_alloc(struct worker *w, size_t bytes) { return worker_alloc_zeroed(w, bytes, bytes); }

void *worker_alloc_zeroed(struct worker *w, size_t bytes, size_t zeroed) {
    uint32_t order = bytes < SIZE_MAX / 2 ? order_of(bytes + ALIGN) : 40;
    if (order >= 40)
        heap_exhausted(1, bytes);
    struct worker_block *b = w->free[order];
    if (b)
        w->free[order] = b->next;
    else
        b = xaligned(ALIGN, (size_t)1 << order);
    b->order = order;
    poison_forbid(b, (size_t)1 << order);
    poison_forgive(b, ALIGN + bytes);
    return memset((uint8_t *)b + ALIGN, 0, zeroed);
}

void worker_free(struct worker *w, void *block) {
    if (!block)
        return;
    struct worker_block *b = (struct worker_block *)(void *)((uint8_t *)block - ALIGN);
    b->next = w->free[b->order];
    w->free[b->order] = b;
    poison_forbid(block, ((size_t)1 << b->order) - ALIGN);
}

void worker_close(struct worker *w) {
    for (uint32_t i = 0; i < sizeof w->free / sizeof w->free[0]; i++)
        for (struct worker_block *b = w->free[i], *next; b; b = next) {
            next = b->next;
            poison_forgive(b, (size_t)1 << b->order);
            xfree(b);
        }
    xfree(w->tc_scratch);
    xfree(w->tma_maps);
    *w = (struct worker){.index = w->index};
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

uint32_t worker_host_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than a cpu_set_t names */
    return n > 0 ? (uint32_t)n : 1;
}

struct crew {
    pid_t process; /* a child after fork has none of the threads */
    uint32_t num;  /* threads beside the caller */
    pthread_t *thread;
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    /* the job, changed under the lock while nobody works */
    uint64_t job; /* counts them */
    bool quit;
    uint32_t count;   /* items */
    uint32_t hands;   /* threads that may still join */
    uint32_t working; /* threads that have not finished */
    void (*fn)(void *arg, uint32_t item, struct worker *w);
    void *arg;
    struct worker *workers;
    atomic_uint next; /* item */
};

static void work(struct crew *c, struct worker *w) {
    for (uint32_t i; (i = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < c->count;)
        c->fn(c->arg, i, w);
}

static void *hand(void *arg) {
    struct crew *c = arg;
    uint64_t seen = 0;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->quit && (c->job == seen || !c->hands))
            pthread_cond_wait(&c->begin, &c->lock);
        if (c->quit)
            break;
        seen = c->job;
        struct worker *w = &c->workers[c->hands--];
        pthread_mutex_unlock(&c->lock);
        work(c, w);
        pthread_mutex_lock(&c->lock);
        if (--c->working == 0)
            pthread_cond_signal(&c->end);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Fewer threads than asked for where the host has no more; signals stay with the program's own threads. */
static struct crew *crew_create(uint32_t num) {
    struct crew *c = xcalloc(1, sizeof *c);
    c->process = getpid();
    c->thread = xcalloc(num, sizeof *c->thread);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->begin, NULL);
    pthread_cond_init(&c->end, NULL);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (c->num < num && pthread_create(&c->thread[c->num], NULL, hand, c) == 0)
        c->num++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return c;
}

void crew_run(struct crew **crew, struct worker *workers, uint32_t num, uint32_t count,
              void (*fn)(void *arg, uint32_t item, struct worker *w), void *arg) {
    if (*crew && (*crew)->process != getpid())
        *crew = NULL; /* its threads and perhaps its lock are the parent's */
    if (num > 1 && count > 1 && !*crew)
        *crew = crew_create(num - 1);
    struct crew *c = *crew;
    if (num <= 1 || count <= 1 || !c->num) {
        for (uint32_t i = 0; i < count; i++)
            fn(arg, i, &workers[0]);
        return;
    }
    pthread_mutex_lock(&c->lock);
    c->fn = fn;
    c->arg = arg;
    c->workers = workers;
    c->count = count;
    c->hands = c->working = count - 1 < c->num ? count - 1 : c->num;
    atomic_store_explicit(&c->next, 0, memory_order_relaxed);
    c->job++;
    pthread_cond_broadcast(&c->begin);
    pthread_mutex_unlock(&c->lock);
    work(c, &workers[0]);
    pthread_mutex_lock(&c->lock);
    while (c->working)
        pthread_cond_wait(&c->end, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void crew_end(struct crew *c) {
    if (!c || c->process != getpid()) /* a child cannot destroy what threads of its parent wait for */
        return;
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->begin);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < c->num; i++)
        pthread_join(c->thread[i], NULL);
    pthread_cond_destroy(&c->begin);
    pthread_cond_destroy(&c->end);
    pthread_mutex_destroy(&c->lock);
    xfree(c->thread);
    xfree(c);
}
