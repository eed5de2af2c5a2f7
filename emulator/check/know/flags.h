/* check/know/flags.h - flags: words of memory through which threads synchronise.
 *
 * A release pattern on a word (8.8) gives what its thread knows to whoever reads the value in an acquire pattern.
 * Memory is sequentially consistent in the emulator: a read finds the latest write. An atomic operation continues the
 * release sequences that it finds (8.9.2). A plain strong store begins a new one, unless its thread wrote the word
 * last. A weak store would end it, but it races with the read, which is reported for the access itself.
 *
 * Formally a fence releases the accesses before it of its own thread, and what that thread knew then. Kernels rely on
 * more: every thread fences, then a barrier, then one thread's relaxed store (LAYER_PERFORMED). All has reached the
 * device by then, and chips have no way to undo it.
 */
#ifndef CHECK_KNOW_FLAGS_H
#define CHECK_KNOW_FLAGS_H

#include "check/know/know.h"
#include "check/vclock/far.h"

struct gift;  /* what a release sequence has released */
struct giver; /* what a warp released last */

/* A word that strong accesses use. Those who read it get all that its release sequence has released. A thread that
 * releases many words, and learns nothing from others meanwhile, gives them all the same but for the time: they share
 * one gift until somebody takes it. */
struct flag {
    uint64_t key; /* 0: none */
    struct gift *gift;
    struct flag_taker *taker;  /* some that have taken it, or NULL */
    uint32_t cluster, version; /* of what it gives, from 1 */
    uint32_t time;             /* of a shared gift: when it was given */
    uint16_t warp;             /* who wrote it last */
    uint8_t lane;
};

/* Writes of words of global memory that release nothing, by the hash of the word: the latest of each, and of atomic
 * operations those that its value goes back to. They order nothing; they say what lacks. */
#define HINTS 64u
#define HINT_WRITERS 6u
struct flag_hint {
    uint64_t key; /* 0: none */
    uint32_t num;
    struct hint_writer {
        uint32_t cluster, time, warp;
        const struct diag_site *site; /* NULL: none */
    } by[HINT_WRITERS];
};

/* A table of flags: of a cluster, those in shared memory or used at .cta or .cluster scope; of a launch, all others.
 * It lives as long as the cluster, or the launch. */
struct flags {
    struct flag *flag; /* hashed: 1 << bits of them */
    uint32_t num, bits;
    uint64_t bytes; /* that they take, about, but for clocks */
};

/* Threads touch words of shared or global memory by a strong access: what they learn, and give on. */
void flags_sync(struct race *r, const struct event_access *e);
/* A warp ends; the cluster ends; the launch ends. */
void flags_end_warp(struct race *r, struct giver *g);
void flags_end(struct race *r);
void flags_end_launch(struct flags *w, struct vclock_pool *far);

#endif
