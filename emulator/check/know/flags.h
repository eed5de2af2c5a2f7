/* check/know/flags.h - flags: words of memory through which threads synchronise.
 *
 * A release pattern on a word (8.8) passes on what its thread knows to each thread that reads the value in an acquire
 * pattern. Memory is sequentially consistent in the emulator: a read finds the latest write. An atomic operation
 * continues the release sequences that it finds (8.9.2). A plain strong store begins a new one, unless its thread was
 * the last writer of the word. A weak store would end the sequence, but it races with the read, and that race is
 * reported.
 *
 * Formally a fence releases only its own thread's earlier accesses, and what that thread knew. Kernels rely on more:
 * every thread fences, then comes a barrier, then one thread's relaxed store (LAYER_PERFORMED). By then everything has
 * reached the device, and chips cannot undo it.
 */
#ifndef CHECK_KNOW_FLAGS_H
#define CHECK_KNOW_FLAGS_H

#include "check/know/know.h"
#include "check/vclock/far.h"

struct gift;  /* what a release sequence passes on */
struct giver; /* what a warp released last */

/* A word that strong accesses use, and its gift: what its readers get, all that its release sequence has released.
 * Lives with its table. A thread may release many words while it learns nothing from others. Then it gives each the
 * same, except for the time, so these words share one gift until a thread takes it. */
struct flag {
    uint64_t key;              /* address / 4; for shared memory with KEY_SHARED and the CTA's rank; 0: none */
    struct gift *gift;         /* NULL: nothing since the sequence began */
    struct flag_taker *taker;  /* some threads that have taken it, or NULL */
    uint32_t cluster, version; /* cluster: of the last writer; version: of the gift, from 1 */
    uint32_t time;             /* if the gift is shared: when it was given */
    uint16_t warp;             /* the last writer: warp in its cluster, */
    uint8_t lane;              /* and lane */
};

/* The latest writes of a word of global memory that released nothing: a store, and the atomics that changed its value
 * since. Kept by the word's hash, until another word takes the place. They order nothing: a report's hint names them.
 */
#define HINTS 64u
#define HINT_WRITERS 6u
struct flag_hint {
    uint64_t key; /* 0: none */
    uint32_t num; /* writes so far; the latest HINT_WRITERS are kept */
    struct hint_writer {
        uint32_t cluster, time, warp;
        const struct diag_site *site; /* NULL: none */
    } by[HINT_WRITERS];
};

/* A table of flags. A cluster's table holds words in shared memory and words used at .cta or .cluster scope; it lives
 * as long as the cluster. The launch's table holds all others, and lives as long as the launch. */
struct flags {
    struct flag *flag; /* hash table of 1 << bits entries */
    uint32_t num, bits;
    uint64_t bytes; /* approximate size, without clocks */
};

/* On a strong access to words of shared or global memory: what the threads learn and pass on. */
void flags_sync(struct race *r, const struct event_access *e);
/* At the end of a warp, of the cluster, of the launch. */
void flags_end_warp(struct race *r, struct giver *g);
void flags_end(struct race *r);
void flags_end_launch(struct flags *w, struct vclock_pool *far);

#endif
