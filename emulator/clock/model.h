/* clock/model.h - the agents of a B200: what each has to do, and since when it is free.
 *
 * A function gets the time `at` at which its work can begin. It returns the time at which the work is done, if nothing
 * else is said. Times are cycles of an SM; callers (clock/clock.h, clock/online.h) ask in the order of `at`.
 */
#ifndef CLOCK_MODEL_H
#define CLOCK_MODEL_H

#include "base/later.h"
#include "clock/load.h"
#include "clock/table.h"

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_MAX_SMS 256u

/* A unit of the chip that does one thing after the other. */
struct clock_server {
    double free, busy; /* when its work so far is done; cycles of that work */
};

enum { CLOCK_ARRIVALS = 16 };

/* The agents of an SM, until the launch ends; what L1 holds, too. */
struct clock_sm {
    struct clock_server issue[4];      /* sub-partitions */
    struct clock_server tmem[4];       /* the way of each to tensor memory */
    struct clock_server tma;           /* its requests */
    struct clock_server out;           /* its reads of shared memory, for stores */
    struct clock_server port;          /* bytes that arrive for the TMA, */
    double arrives[CLOCK_ARRIVALS][2]; /* and of the latest boxes the first and last cycle */
    uint32_t arrivals;
    struct clock_server tensor;
    struct clock_server threads; /* their accesses to global memory, */
    struct clock_l1 *l1;         /*  and what L1 holds of it; NULL: nothing yet */
};

/* What threads touch of a line of 128 bytes, with a bit for each word of 4. */
struct clock_touch {
    uint64_t line;         /* its address / 128 */
    uint32_t words, whole; /* any byte of the word is touched; every byte is */
};
enum { CLOCK_TOUCHES = 64 }; /* of an instruction: 32 lanes of at most 32 bytes, each in two lines at most */

/* What L2 holds, by the address of a box or a granule of HBM. The least recently used leaves first. */
struct clock_line {
    uint64_t key;
    double ready; /* when its bytes are there */
    uint32_t bytes;
    uint32_t next_hash, newer, older; /* numbers from 1; 0: none */
};
struct clock_l2 {
    struct clock_line *lines;
    uint32_t *table;
    uint32_t num, cap, mask, newest, oldest, spare;
    uint64_t bytes;
};

/* The GPC of an SM. TPCs, of two SMs each, are numbered round the GPCs. A B200 has 74 of them, 5 in the first GPC and 9
 * or 10 in each other: learn-cuda's trace of v5 shows that (tests/clock/reduce.py). */
enum { CLOCK_GPCS = 8 };
static inline uint32_t clock_gpc(uint32_t sm) {
    const uint32_t tpc = sm / 2;
    return tpc < 5 * CLOCK_GPCS ? tpc % CLOCK_GPCS : 1 + (tpc - 5 * CLOCK_GPCS) % (CLOCK_GPCS - 1);
}

/* The latest box at an address that SMs of a GPC asked L2 for, and when L2 has sent it. A slot by a hash of it. */
struct clock_asked {
    uint64_t address, bytes;
    double sent;
};
enum { CLOCK_ASKED = 1024 };

struct clock_model {
    const struct clock_table *costs;
    struct clock_sm sm[CLOCK_MAX_SMS];
    struct clock_asked asked[CLOCK_GPCS][CLOCK_ASKED];
    bool single; /* the launch has no clusters: see clock_l2_send */
    struct clock_server l2, hbm;
    double unwritten; /* cycles that HBM needs for what was written to L2 and not yet to HBM */
    struct clock_l2 held;
    uint64_t l2_bytes, hbm_bytes;
};

struct clock_model *clock_model_create(const struct clock_table *costs);
void clock_model_free(struct clock_model *m);
/* A launch is over: all agents are free at 0 again; what L2 holds stays. */
void clock_model_rewind(struct clock_model *m);

/* The share of `cycles` in which tensor cores worked. */
struct clock_load clock_load_of(const struct clock_model *m, double cycles);

/* Takes `work` cycles of a server from `at` on; returns the end. All who share a server must ask in the order of time.
 * So work that is needed only later is taken from now on: it would block those who come in between. */
static inline double clock_take(struct clock_server *s, double at, double work) {
    s->free = later(s->free, at) + work;
    s->busy += work;
    return s->free;
}

/* A warp issues `slots` instructions from `at` on. Each waits for the one before; all take `cycles` at least. */
double clock_issue(struct clock_model *m, uint32_t sm, uint32_t warp, double at, double slots, double cycles);

struct clock_umma {
    uint32_t m, n, k, cta_group;
    bool tf32, a_in_tmem;
    uint32_t peer; /* the pair's other SM */
};
/* Cycles from the start of an UMMA until the next may start, if bytes arrive in shared memory for a part `sharing`
 * (0 to 1) of that time; and until the arrival of a commit after it. */
double clock_umma_interval(const struct clock_table *t, const struct clock_umma *u, double sharing);
double clock_umma_latency(const struct clock_table *t, const struct clock_umma *u);
/* Returns when the tensor core starts the UMMA; *done: when D is written. */
double clock_run_umma(struct clock_model *m, uint32_t sm, double at, const struct clock_umma *u, double *done);
/* tcgen05.cp of so many bytes, in the tensor core's queue: returns its end. */
double clock_run_cp(struct clock_model *m, uint32_t sm, double at, uint64_t bytes);
/* tcgen05.ld or .st of so many columns: returns its end. */
double clock_run_ldst(struct clock_model *m, uint32_t sm, uint32_t warp, double at, uint32_t columns);

/* A box or a block of bytes in global memory. */
struct clock_box {
    uint64_t address, bytes;
    uint32_t row; /* bytes of a row, which are contiguous; 0: all bytes are */
};
static inline uint64_t clock_row(const struct clock_box *box) {
    return box->row && box->row < box->bytes ? box->row : box->bytes;
}
/* The number of lines of 128 bytes, or parts of one, in which its rows are asked for. */
static inline double clock_lines(const struct clock_box *box) {
    const uint64_t row = clock_row(box), lines = (row + 127) / 128;
    return row ? (double)box->bytes / (double)row * (double)lines : 0;
}
/* The TMA of an SM asks for a box: returns when L2 has sent the last of it. Then clock_arrive() for each SM that gets
 * it: returns when it is in shared memory. */
double clock_fetch(struct clock_model *m, uint32_t sm, double at, const struct clock_box *box);
double clock_arrive(struct clock_model *m, uint32_t sm, double at, const struct clock_box *box);
/* A store, in two calls: returns when the TMA has read the bytes from shared memory; when they are in global memory. */
double clock_store_read(struct clock_model *m, uint32_t sm, double at, const struct clock_box *box);
double clock_store_write(struct clock_model *m, double at, const struct clock_box *box);
/* An access of a warp's threads to global memory (clock/l1.c). */
struct clock_access {
    struct clock_touch touches[CLOCK_TOUCHES];
    uint64_t highest; /* of their lines */
    uint32_t num;
    bool strong; /* L1 does not answer it (PTX ISA 8.4) */
};
static inline void clock_touch_none(struct clock_access *a, bool strong) {
    a->highest = a->num = 0;
    a->strong = strong;
}
/* Adds a lane's `size` bytes at `address`. */
void clock_touch_lane(struct clock_access *a, uint64_t address, uint32_t size);
/* Returns when a read's data are there; when a write has left the SM. */
double clock_thread_read(struct clock_model *m, uint32_t sm, double at, const struct clock_access *a);
double clock_thread_write(struct clock_model *m, uint32_t sm, double at, const struct clock_access *a);
/* Threads of an SM will access these lines: prefetches for the host what is known of them, or with `further` what that
 * names. */
void clock_thread_expect(struct clock_model *m, uint32_t sm, const struct clock_touch *touches, uint32_t num,
                         bool further);
void clock_l1_free(struct clock_l1 *l1);
void clock_l1_clear(struct clock_l1 *l1);

/* A box will be asked of L2 at `asked`, which is known at the earlier time `at`. Returns when its bytes are in L2. */
double clock_l2_look(struct clock_model *m, double at, double asked, const struct clock_box *box);
/* The same for a line of 128 bytes. */
double clock_l2_line(struct clock_model *m, double at, double asked, uint64_t line);
/* L2 sends to an SM a box that it was asked for at `asked` and has at `there`. Returns when the last of it has been
 * sent. SMs of one GPC that ask for the same before L2 has sent it share one answer. */
double clock_l2_send(struct clock_model *m, uint32_t sm, double at, double asked, double there,
                     const struct clock_box *box);
/* A line of 128 bytes will be looked for: prefetches for the host its place in the table, or with `further` the entry
 * there. */
void clock_l2_expect(const struct clock_model *m, uint64_t line, bool further);
/* A line of 128 bytes has been written to it. */
void clock_l2_put(struct clock_model *m, uint64_t line, double at);
/* `bytes` are written to L2, and to HBM sooner or later. */
void clock_write_out(struct clock_model *m, double at, uint64_t bytes, uint64_t sectors);
void clock_l2_free(struct clock_l2 *l2);

#endif
