/* engines/tc.h - tensor memory and the fifth-generation tensor core, seen from one CTA (PTX ISA 9.7.16).
 *
 * The executor decodes instructions and calls these functions; they know nothing of warps and registers.
 * Everything that completes later is an operation in a queue (machine/async.h): tcgen05.mma, cp, shift and
 * commit share one in-order queue per CTA, which satisfies every pipelined pair of 9.7.16.6.2; tcgen05.ld and
 * st use the queue that the caller names, one per warp. An operation checks and reads its operands when it
 * runs. Functions that return bool return false after mach_fault.
 *
 * With .cta_group::2 an operation belongs to a CTA pair: the CTAs whose ranks differ in the last bit, each on an SM of
 * its own (9.7.16.5.1). It runs in the issuer's queue; either CTA of the pair may issue it, and what belongs to which
 * CTA goes by rank: the even CTA has the first half.
 */
#ifndef ENGINES_TC_H
#define ENGINES_TC_H

#include "machine/events.h"
#include "simd/simd.h"

#include <stdbool.h>
#include <stdint.h>

/* --- state (tc_state.c) ------------------------------------------------------------------------------------------- */

#define TC_GRANULES (TMEM_COLUMNS / TMEM_GRANULE)

struct tc_allocation {
    uint32_t column, columns;
    bool closing;              /* one CTA of the pair executed tcgen05.dealloc, the other not yet */
    struct mach_origin origin; /* the tcgen05.alloc */
};

/* A collective instruction of a pair that this CTA executed and that waits for the peer, or for the warp to fetch its
 * result. */
struct tc_request {
    enum { TC_IDLE, TC_ASKED, TC_GRANTED } state;
    uint32_t warp; /* of this CTA, which executes it */
    uint32_t columns, taddr;
    struct mach_origin origin;
};

/* What the collector buffer may hold: the matrix A of the latest ::fill. tc_collector.c */
struct tc_collector {
    bool filled, was_filled;
    bool a_in_tmem, mn_major;
    uint32_t kind, elem, group, m; /* enum tc_kind, tc_elem */
    uint64_t a, sum;               /* descriptor or address, and checksum of the bytes */
    struct mach_origin origin;
};

struct tc_state {
    struct cta *cta;
    unsigned cta_group;    /* 1 or 2 once an instruction with the qualifier was executed, else 0 */
    bool relinquished;     /* tcgen05.relinquish_alloc_permit was executed */
    bool waiting;          /* in sm->tmem_waiters */
    struct tc_state *next; /* sm->tmem_waiters */
    uint32_t last_columns; /* of the latest allocation, 0: none yet */
    uint32_t num_allocs;
    struct tc_allocation allocs[TC_GRANULES];
    struct tc_request alloc, dealloc; /* of a pair */
    struct async_queue *queue;        /* mma, cp, shift, commit */
    struct tc_collector collector;    /* of a pair the even CTA's */
    enum simd simd;                   /* of the loops; SIMD_BEST unless a test chooses */
    void *scratch;                    /* MACH_SCHED_MODEL: tc_chain.c */
};

/* The tcgen05 state of a CTA, made at the first call. */
struct tc_state *tc_state_of(struct cta *cta);
/* Its tensor-core queue, made at the first call. */
struct async_queue *tc_queue(struct cta *cta);
/* Frees the state; call when the CTA's queues are idle or released. Safe when there is none. */
void tc_cta_release(struct cta *cta);
/* All warps of the CTA have exited: gives back permit and columns. False after a fault that names the
 * tcgen05.alloc whose columns were not deallocated. */
bool tc_cta_exit(struct cta *cta);

/* One .cta_group for all tcgen05 instructions of a kernel (9.7.16.7.1): the first executed one decides. */
bool tc_use_group(struct cta *cta, const struct mach_origin *origin, unsigned group);

/* The CTAs that an instruction with this .cta_group works on: pair[0] alone, or the even CTA and the odd one, of which
 * the other one must exist and not have exited (9.7.16.5, Table 46), else a fault that names both. `name`:
 * "tcgen05.mma". */
bool tc_pair(struct cta *cta, const struct mach_origin *origin, unsigned group, const char *name, struct cta *pair[2]);

/* --- allocation (tc_alloc.c, 9.7.16.7.1) -------------------------------------------------------------------------- */

enum tc_result { TC_DONE, TC_BLOCKED, TC_FAULT };

/* tcgen05.alloc: `columns` as in the register. TC_DONE: *taddr is the address and the cells are poison.
 * TC_BLOCKED: call again after the CTA was woken. */
enum tc_result tc_alloc(struct cta *cta, const struct mach_origin *origin, uint32_t columns, uint32_t *taddr);
bool tc_dealloc(struct cta *cta, const struct mach_origin *origin, uint32_t taddr, uint32_t columns);
bool tc_relinquish(struct cta *cta, const struct mach_origin *origin);
/* The same for .cta_group::2: a warp of each CTA of the pair executes them. TC_BLOCKED until the peer's warp has come
 * too (and, for alloc, the columns are free in both CTAs at the same address). `warp`: its number in the CTA; a second
 * warp of the CTA waits until the first is served. */
enum tc_result tc_pair_alloc(struct cta *cta, const struct mach_origin *origin, uint32_t warp, uint32_t columns,
                             uint32_t *taddr);
enum tc_result tc_pair_dealloc(struct cta *cta, const struct mach_origin *origin, uint32_t warp, uint32_t taddr,
                               uint32_t columns);
/* What the CTA leaves behind: its permit, or its place among those who wait for one; and its columns. */
void tc_give_up_permit(struct tc_state *tc);
void tc_free_blocks(struct tc_state *tc);

/* Are columns [column, column + n) allocated to this CTA? */
bool tc_owns(const struct cta *cta, uint32_t column, uint32_t n);
/* Cells that are used. */
struct tc_cells {
    const char *what; /* "tcgen05.ld", "accumulator D" */
    enum event_agent agent;
    enum event_effect effect;
    uint32_t column, columns;
    uint32_t lanes[4]; /* mask */
};
/* They are allocated to `cta`, which those who watch are told, or a fault. */
bool tc_use_cells(struct cta *cta, const struct mach_origin *origin, const struct tc_cells *cells);

/* --- load and store (tc_ldst.c, 9.7.16.2.3, 9.7.16.8) ------------------------------------------------------------- */

enum tc_shape { TC_32X32B, TC_16X64B, TC_16X128B, TC_16X256B, TC_16X32BX2 };

/* Registers per thread of shape.xNUM (Table 49); 0: the combination does not exist. */
uint32_t tc_image_regs(enum tc_shape shape, uint32_t num);
/* Lanes that a warp touches: 16 or 32. */
uint32_t tc_image_lanes(enum tc_shape shape);

struct tc_access {
    enum tc_shape shape;
    uint32_t num;
    bool pack;      /* .pack::16b or .unpack::16b */
    uint32_t split; /* immHalfSplitoff, columns */
    uint32_t taddr;
    uint32_t threads; /* mask of the threads that take part */
};
/* The 32 lanes of the warp (9.7.16.8.1), which an address of other lanes becomes, and the extent of tensor memory.
 * `name`: "tcgen05.ld". */
bool tc_check_window(struct cta *cta, const struct mach_origin *origin, const char *name, struct tc_access *a,
                     uint32_t warp);
/* Moves data at once: word reg * 32 + thread of `data`; poison: a thread mask per register. */
bool tc_load(struct cta *cta, const struct mach_origin *origin, const struct tc_access *a, uint32_t *data,
             uint32_t *poison);
bool tc_store(struct cta *cta, const struct mach_origin *origin, const struct tc_access *a, const uint32_t *data,
              const uint32_t *poison);
/* The asynchronous forms. ld fills data and poison, which must live until *done. st copies its input and
 * counts *outstanding up now and down when it has run. */
/* Returns the number of the operation. */
uint64_t tc_issue_ld(struct async_queue *q, const struct mach_origin *origin, const struct tc_access *a, uint32_t *data,
                     uint32_t *poison, bool *done);
void tc_issue_st(struct async_queue *q, const struct mach_origin *origin, const struct tc_access *a,
                 const uint32_t *data, const uint32_t *poison, uint32_t *outstanding);

/* --- cp, shift, commit (tc_cp.c, 9.7.16.9, 9.7.16.12) ------------------------------------------------------------- */

enum tc_cp_shape {
    TC_CP_128X256B,
    TC_CP_4X256B,
    TC_CP_128X128B,
    TC_CP_64X128B_02_13,
    TC_CP_64X128B_01_23,
    TC_CP_32X128B
};
enum tc_cp_format { TC_CP_RAW, TC_CP_B6X16_P32, TC_CP_B4X16_P64 };

/* group 2: each CTA of the pair copies from its own shared memory into its own tensor memory. */
void tc_issue_cp(struct cta *cta, const struct mach_origin *origin, unsigned group, enum tc_cp_shape shape,
                 enum tc_cp_format format, uint32_t taddr, uint64_t desc);
/* tcgen05.shift.down: 8 columns, lanes taddr.lane .. + 31: lane i takes the cells of lane i + 1, the last
 * keeps its own. */
void tc_issue_shift(struct cta *cta, const struct mach_origin *origin, unsigned group, uint32_t taddr);
/* Arrives (count 1) on the mbarrier at offset `off` of every CTA in `ctas` (bit = rank in the cluster) once
 * all earlier operations of the queue are done. */
void tc_issue_commit(struct cta *cta, const struct mach_origin *origin, uint32_t ctas, uint32_t off);

/* --- products put off (tc_chain.c) -------------------------------------------------------------------------------- */

/* The products of tcgen05.mma that have run are computed later, many at once. Columns [column, column + n) of this
 * CTA's tensor memory, and of its peer's, hold them after tc_sync: to be called before those cells are read, written,
 * or given back. Nothing in tensor memory is read or written without it. */
void tc_sync(const struct cta *cta, uint32_t column, uint32_t n);
/* Computes whatever the host thread that runs this cluster has put off: at the end of the cluster's turn, before
 * another thread may run it. */
void tc_flush(const struct cluster *cl);
/* Forgets what was put off for a CTA that goes away without having deallocated its tensor memory. */
void tc_drop(struct cta *cta);

/* --- mma (tc_mma.c, 9.7.16.10) ------------------------------------------------------------------------------------ */

enum tc_kind {
    TC_KIND_F16,
    TC_KIND_TF32,
    TC_KIND_F8F6F4,
    TC_KIND_I8,
    TC_KIND_MXF8F6F4, /* with block scaling from here on */
    TC_KIND_MXF4,
    TC_KIND_MXF4NVF4
};
static inline bool tc_is_scaled(enum tc_kind kind) { return kind >= TC_KIND_MXF8F6F4; }

/* .collector_usage, for matrix A: tc_collector.c. */
enum tc_collector_usage { TC_COLLECTOR_DISCARD, TC_COLLECTOR_FILL, TC_COLLECTOR_USE, TC_COLLECTOR_LASTUSE };

struct tc_mma {
    enum tc_kind kind;
    enum tc_collector_usage collector;
    unsigned group; /* 1 or 2 */
    uint32_t d;     /* TMEM address */
    bool a_in_tmem;
    uint64_t a; /* descriptor, or TMEM address */
    uint64_t b; /* descriptor */
    uint32_t idesc;
    bool accumulate; /* enable-input-d */
    bool ashift;
    uint32_t block;      /* block scaling: elements along K for each scale factor, 16 or 32 */
    uint32_t sfa, sfb;   /* and the TMEM addresses of scale_A and scale_B */
    uint32_t scale_d;    /* D enters as D * 2^-scale_d, 0 .. 15 */
    uint32_t disable[8]; /* lanes of D that keep their content, bit per lane; of a pair, the even CTA's 128 first */
};
void tc_issue_mma(struct cta *cta, const struct mach_origin *origin, const struct tc_mma *mma);

#endif
