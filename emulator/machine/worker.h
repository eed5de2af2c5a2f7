/* machine/worker.h - host threads, and the memory each keeps for what comes and goes with CTAs.
 *
 * Thread 0 is the one that launches; the others are started when there is first work for two, and sleep in between. A
 * block of memory may be freed by another thread's worker than the one that gave it; one worker is used by one thread
 * at a time.
 */
#ifndef MACHINE_WORKER_H
#define MACHINE_WORKER_H

#include <stddef.h>
#include <stdint.h>

struct worker_block; /* free memory */
struct crew;         /* the threads of a GPU */

struct worker {
    uint32_t index;
    void *tc_scratch;              /* engines/: of tcgen05.mma; freed with the GPU */
    void *tma_maps;                /* engines/: tensor maps, decoded; likewise */
    struct worker_block *free[40]; /* by the logarithm of their size */
};

/* Zeroed memory, aligned to 64 bytes; never NULL. */
void *worker_alloc(struct worker *w, size_t bytes);
/* The same, but for what lies behind the first `zeroed` bytes. */
void *worker_alloc_zeroed(struct worker *w, size_t bytes, size_t zeroed);
/* Takes back what worker_alloc gave, NULL too. */
void worker_free(struct worker *w, void *block);
/* Frees what the worker keeps. */
void worker_close(struct worker *w);

/* CPUs that this process may use. */
uint32_t worker_host_cpus(void);

/* Calls fn(arg, item, worker) for every item below `count`, each once, on at most `num` threads, of which the caller is
 * the first; returns when all calls have. Items are begun in order. *crew is NULL before the first call; `num` is the
 * same in all calls with one crew. */
void crew_run(struct crew **crew, struct worker *workers, uint32_t num, uint32_t count,
              void (*fn)(void *arg, uint32_t item, struct worker *w), void *arg);
/* Ends the threads. NULL is allowed. */
void crew_end(struct crew *crew);

#endif
