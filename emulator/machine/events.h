/* machine/events.h - the one stream of what happens in the machine: what each event means and who sends it.
 *
 * Whoever watches (order checks, log, clock, statistics) is a listener: a list of functions, each of which may be NULL,
 * and `wants`, the kinds it is to be told of. Listeners read the machine and never change it; they report through
 * mach_warn. Events of one island come in the order in which they take effect, from whichever host thread runs the
 * island; those of different islands come side by side, so what a listener keeps hangs on the CTA (event_watch) or is
 * its own to lock. What it is given is valid during the call.
 *
 * A sender asks events_wanted(gpu, WANT_...) before it makes the event: one predictable test when nobody listens.
 * Every event says who (struct event_by): the threads of a warp, by lanes, or an operation of an asynchronous engine,
 * with the instruction that caused it.
 */
#ifndef MACHINE_EVENTS_H
#define MACHINE_EVENTS_H

#include "machine/async.h"
#include "machine/machine.h"
#include "machine/mbarrier.h"

/* --- who ---------------------------------------------------------------------------------------------------------- */

/* Memory order and scope of an instruction (8.1-8.5), as written or by default; scopes from narrow to wide. */
enum event_order { ORDER_WEAK, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL, ORDER_SC };
enum event_scope { SCOPE_NONE, SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };

struct event_by {
    struct cta *cta;              /* of the threads, or that issued the operation */
    const struct async_op *op;    /* the operation that acts; NULL: the threads themselves */
    const struct diag_site *site; /* of their instruction */
    const char *what;             /* the instruction, "mbarrier.arrive"; of an operation its name, "tcgen05.commit" */
    uint32_t warp, lanes;
    enum event_order order;
    enum event_scope scope;
};
/* Who `origin` (NULL: not known) says: the operation that it belongs to, by its name, or threads of `cta` that an
 * engine serves at once and whose instruction is `what`; orders as it says towards an mbarrier (8.9.1.1). */
struct event_by event_by_origin(struct cta *cta, const struct mach_origin *origin, const char *what,
                                enum event_order order, enum event_scope scope);
static inline struct event_by event_by_op(const struct async_op *op, enum event_order order, enum event_scope scope) {
    return event_by_origin(op->cta, &op->origin, op->name, order, scope);
}
/* The same for a report. */
struct mach_origin event_origin(const struct event_by *by);

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* Who touches memory: enum event_agent, machine/async.h. */
enum event_space { SPACE_SHARED, SPACE_TENSOR, SPACE_GLOBAL };
enum event_effect { EFFECT_READ = 1, EFFECT_WRITE = 2, EFFECT_ATOMIC = 4 | EFFECT_READ | EFFECT_WRITE };
/* 8.6; and loads of data that none writes, through a cache that may see no stores (ld.global.nc, ldu; 9.7.9.9, .10) */
enum event_proxy { PROXY_GENERIC, PROXY_ASYNC, PROXY_TENSORMAP, PROXY_NONCOHERENT };

/* Rows of operand A of tcgen05.mma, row r of which decides row r of D alone. Row r of D lies in lane
 * lane + r / 16 * stride + r % 16 of tensor memory and, unless `twin` is 0, also so many lanes further. The pieces come
 * in the order of the rows, `line` of them to each, piece i of repetition g as number g * pieces + i; or, with
 * `per_piece` rows in each, in that of k (MN-major). */
struct event_rows {
    uint32_t lane, stride, twin, line, per_piece;
};

/* Memory is read or written. In shared and global memory threads (also those of cp.async) touch [at[l], at[l] + size)
 * for each lane l of by.lanes; engines touch `pieces` of `size` bytes each, at[0] and so on, and the same again `rows`
 * times, `stride` apart. Shared addresses are offsets in `owner`'s memory, global ones device addresses.
 * In tensor memory the cells of `columns` columns from at[0] on, in the lanes of `tmem_lanes`, of the SM of `owner`.
 * Sent by isa/ (threads, cp.async, try_cancel) and engines/ (the other operations), when they run, right after the
 * access was found legal. One access may be told in several events: pieces of an operand in any order, the matrices
 * of ldmatrix and stmatrix and, with .trans, the two elements of a lane, lanes of cp.async that copy less than the
 * others.
 *
 * Bytes are exact, but the source of a bulk store is told in one block, with the gaps of a byte mask or of a narrow
 * swizzled box, and atom.cas writes also where it finds another value. Not told: parameters and local memory, which
 * have one thread, the 8 bytes of an mbarrier (SYNC_MBAR_*, LIFE_MBAR_*), and what the host and the device's system
 * calls (printf, malloc, assert) touch. That a tensor copy reads a map in global memory is told once, with
 * PROXY_TENSORMAP, behind OP_ISSUED. */
struct event_access {
    struct event_by by;
    enum event_agent agent;
    enum event_space space;
    enum event_effect effect;
    enum event_proxy proxy;
    struct cta *owner; /* NULL: global memory */
    const char *what;  /* "operand A of tcgen05.mma"; NULL: by.what */
    const uint64_t *at;
    uint32_t size;
    bool affine; /* threads: all 32 lanes, lane l at at[0] + l * step; not always told */
    bool halves; /* the same of lanes 0 to 15, and lane l of the others at at[16] + (l - 16) * high */
    int64_t step, high;
    uint64_t *spread;      /* not NULL: of at[], which it is, only at[0] and at[16] are written; see event_spread */
    uint32_t pieces, rows; /* engines; 0 pieces: one */
    uint64_t stride;
    const struct event_rows *of_a; /* operand A; NULL: another, or not known */
    uint32_t columns;              /* tensor memory */
    const uint32_t *tmem_lanes;
    /* Strong reads and atomics (red too) of threads: what each lane found, of larger ones the first 8 bytes; or NULL */
    const uint64_t *value;
    uint32_t load; /* WANT_LOADS: the number of the instruction among the warp's loads of global memory */
};

/* Most accesses have a short form: a weak one of a whole warp to shared memory of its CTA, `size` bytes for each lane.
 * Lane l of the first half accesses them at `first` + l * size or, without HALVES_FIRST, at `first`; the other half
 * likewise from `second` on. `how` is the warp | size << 16 | these; HALVES_ROW: all lanes, one after the other. */
enum event_halves { HALVES_FIRST = 1 << 24, HALVES_SECOND = 1 << 25, HALVES_ROW = 1 << 26, HALVES_WRITE = 1 << 27 };
/* The same of a matrix of ldmatrix or stmatrix, whose 8 rows of 16 bytes may be anywhere: lanes 4 r to 4 r + 3 have a
 * word each of row r. With MATRIX_TRANS there are two accesses: lane l has element l / 4 of row l % 4 * 2, and of the
 * next row. */
enum event_matrix { MATRIX_TRANS = 1 << 28 };

/* --- synchronisation ---------------------------------------------------------------------------------------------- */

/* In an order that many rely on: mbarriers, barriers of a CTA, those of a cluster, SYNC_WARP, and the others. */
enum event_sync_kind {
    /* mbarriers (9.7.13.15): `owner`, `off`, and `phase`, how many phases of the object had completed before. Sent by
     * machine/mbarrier.c when the operation takes effect. */
    SYNC_MBAR_ARRIVE,      /* `count` arrivals; of tcgen05.commit and cp.async.mbarrier.arrive too: by.op. By one
                              thread; if all listeners say `joins`, by lanes of a warp together, each as often */
    SYNC_MBAR_DROP,        /* the same, and as many fewer in the phases to come: arrive_drop */
    SYNC_MBAR_EXPECT_TX,   /* `bytes` more are expected; an arrive.expect_tx of more than 0 bytes sends this first */
    SYNC_MBAR_COMPLETE_TX, /* `bytes` have come */
    SYNC_MBAR_PENDING,     /* one arrival more is awaited: cp.async.mbarrier.arrive without .noinc */
    SYNC_MBAR_PHASE,       /* the phase has completed, by the operation told before */
    SYNC_MBAR_TEST, /* test_wait or try_wait was answered, an event for each object and parity asked for: `done` are the
                       lanes for which the phase of `parity` is over, phase - 1 where it was the latest. A wait that
                       sees a phase though the next one is over, too, is told as if asked in between. By
                       isa/mbarrier.c */
    /* barriers of the CTA (9.7.13.1), `number`, `phase` its generation; by isa/barrier.c */
    SYNC_BAR_ARRIVE, /* warps count as 32 threads; `count` are expected */
    SYNC_BAR_PHASE,  /* complete, by the threads told before, or since the others exited (by.lanes 0) */
    SYNC_BAR_PASS,   /* threads go on behind it; not those of bar.arrive */
    /* barrier.cluster (9.7.13.3), `phase`; by isa/barrier.c */
    SYNC_CLUSTER_ARRIVE,
    SYNC_CLUSTER_PHASE, /* complete: told once, by the threads told before, or since the others exited (by.lanes 0) */
    SYNC_CLUSTER_PASS,
    /* the lanes of `members` meet: bar.warp.sync (9.7.13.2); by isa/warp_ops.c. shfl, vote, match, redux and elect.sync
     * wait for their members too, but order no memory: they are a step, and a wait where they did wait */
    SYNC_WARP,
    /* fence and membar (9.7.13.4): `fence` says which, by.order and by.scope how; by isa/barrier.c. The one in
     * tensormap.cp_fenceproxy (9.7.13.16), behind its write, by isa/tensormap.c */
    SYNC_FENCE,
    /* async-groups of a thread (9.7.9.25.3.2-3, 9.7.9.27.2): `bulk` or cp.async; by isa/async_group.c */
    SYNC_GROUP_COMMIT, /* of what the lanes issued since the last: cp.async, or bulk operations that signal nobody */
    SYNC_GROUP_WAIT,   /* passed: all but the latest `count` groups are complete, or have read their sources: `read` */
    /* tensor memory (9.7.16.6, 9.7.16.8.5, 9.7.16.11); by isa/tcgen05*.c */
    SYNC_TCGEN05_LD,      /* issued: its cells are read some time before the wait is passed */
    SYNC_TCGEN05_WAIT_LD, /* passed */
    SYNC_TCGEN05_WAIT_ST,
    SYNC_TCGEN05_USE, /* a thread uses a register that a tcgen05.ld loads and waits for that load: `awaited` */
    SYNC_TCGEN05_FENCE_BEFORE,
    SYNC_TCGEN05_FENCE_AFTER,
    /* grids (9.7.13.13); by isa/grid_control.c */
    SYNC_GRID_WAIT,
    SYNC_GRID_LAUNCH_DEPENDENTS,
};
/* Listeners ask for a family by its first or last kind. */
_Static_assert(SYNC_MBAR_ARRIVE == 0 && SYNC_MBAR_TEST == SYNC_MBAR_PHASE + 1 &&
                   SYNC_BAR_ARRIVE == SYNC_MBAR_TEST + 1 && SYNC_CLUSTER_ARRIVE == SYNC_BAR_PASS + 1 &&
                   SYNC_WARP == SYNC_CLUSTER_PASS + 1 && SYNC_FENCE == SYNC_WARP + 1,
               "a family's kinds follow each other");
/* What a fence orders beside memory operations of the generic proxy. */
enum event_fence {
    FENCE_MEMORY,        /* fence, membar */
    FENCE_SYNC_RESTRICT, /* fence.{acquire,release}.sync_restrict */
    FENCE_MBARRIER_INIT,
    FENCE_PROXY_ALIAS,
    FENCE_PROXY_ASYNC,         /* generic and async proxy, `space`: all, shared or global memory */
    FENCE_PROXY_ASYNC_GENERIC, /* `space`: shared, as of FENCE_SYNC_RESTRICT */
    FENCE_PROXY_TENSORMAP,
};
enum event_fence_space { FENCE_ALL, FENCE_SHARED, FENCE_GLOBAL };

struct event_sync {
    struct event_by by;
    enum event_sync_kind kind;
    struct cta *owner; /* mbarriers: whose memory; CTA barriers: whose barrier */
    uint32_t off;
    uint32_t number;
    uint64_t phase;
    uint32_t count;
    uint32_t bytes;
    uint32_t pending; /* mbarriers: arrivals still awaited in the phase, and bytes, after the operation */
    int32_t tx;
    uint32_t parity;
    uint32_t done, members; /* lanes */
    enum event_fence fence;
    enum event_fence_space space;
    bool bulk, read;
    uint64_t awaited; /* number of the tcgen05.ld */
    uint64_t map;     /* tensor map that a fence names, or 0 */
};

/* --- asynchronous operations -------------------------------------------------------------------------------------- */

enum event_op_stage {
    OP_ISSUED,    /* queued */
    OP_STARTED,   /* its engine has taken it up: its operands are read now */
    OP_COMPLETED, /* done: what it signals has been told before */
};
/* What an operation is; its kind's `describe` fills it. Shapes are the instruction's. */
struct event_work {
    uint32_t m, n, k;      /* tcgen05.mma; tcgen05.cp, .shift, .ld and .st: m lanes by n columns */
    uint32_t cta_group;    /* 0: the operation has none; 2: the peer's memory, too, at the same offsets */
    uint64_t bytes;        /* moved: of a load those that arrive, of a store those that leave */
    struct cta *from, *to; /* shared memory, or tensor memory, that it reads and writes; NULL: none */
    uint32_t from_off;     /* shared offset, or tensor memory address (d, taddr) */
    uint32_t to_off;       /*  the same of what it writes */
    uint32_t kind;         /* tcgen05.mma: enum tc_kind, engines/tc.h */
    bool accumulate;       /* and whether D is read, */
    uint32_t sfa, sfb;     /*  and the TMEM addresses of the scale factors */
    uint64_t a, b;         /* tcgen05.mma, .cp: descriptors as given */
    bool a_in_tmem;        /*  and a is a tensor memory address */
    uint64_t global;       /* device address of a bulk copy; of a tensor copy, of its box's first byte that exists */
    const uint8_t *map;    /* tensor map of a tensor copy (engines/tensormap.h), and its box: */
    const int32_t *coord;  /* `rank` of them; gather4: x and four y */
    uint32_t rank;
    uint32_t row;        /* bytes of the box along its first dimension: one behind the other in global memory */
    struct cta *signals; /* whose mbarrier, or NULL: none */
    uint32_t signals_off;
    uint32_t ctas;          /* tcgen05.commit, try_cancel: bit = rank; these CTAs' in place of `signals` and `to` */
    uint64_t follows;       /* number of the operation of which this is the second half (stores), or 0 */
    bool taken;             /* try_cancel, completed: it took a cluster off the launch, */
    struct diag_dim3 first; /*  whose first CTA has this %ctaid */
};
/* Sent by machine/async.c. The operation is by.op; one instruction may issue several: a multicast copy one for each CTA
 * that it reaches, a store its second half (`follows`) between the start and the completion of the first. */
struct event_op {
    struct event_by by;
    enum event_op_stage stage;
    const struct async_queue *queue; /* "tensor core" */
};

/* --- waits -------------------------------------------------------------------------------------------------------- */

/* A group of lanes of a warp is suspended, or goes on. What ended a wait is the latest event about its object: the
 * SYNC_..._PHASE of the same barrier and phase, the OP_COMPLETED of an operation, LIFE_TMEM_DEALLOC, another group's
 * arrival. The lanes that begin a wait end it together, before the CTA has exited unless the launch faults; what the
 * instruction tells once it has its answer comes before the end. Sent by warp/core.c and warp/meet.c. */
enum event_wait_end {
    WAIT_BEGINS,
    WAIT_MET,       /* what it waited for has come */
    WAIT_TIMED_OUT, /* nothing else could run: the instruction answers "not yet" (try_wait's time limit) */
    WAIT_RELEASED,  /* it was a meeting with lanes that did not come: reconvergence given up */
};
/* What for. `off` and `value` of the event as said here. */
enum event_wait_kind {
    WAIT_NONE = 0,
    WAIT_MBARRIER,   /* try_wait / test_wait polling; addr, parity or state */
    WAIT_BARRIER,    /* bar.sync: named barrier `addr`, phase in `value` */
    WAIT_CLUSTER,    /* barrier.cluster.wait */
    WAIT_WARP_SYNC,  /* *.sync: waits for the other lanes of membermask `value` */
    WAIT_TMEM_ALLOC, /* columns or permit: `value` columns */
    WAIT_PAIR,       /* a warp of the pair's other CTA must execute the same instruction */
    WAIT_REGISTERS,  /* setmaxnreg.inc to `value` registers; the CTA's pool has `addr` */
    WAIT_TMEM_LDST,  /* tcgen05.wait::ld / ::st */
    WAIT_ASYNC,      /* cp.async / bulk wait_group */
    WAIT_JOIN,       /* parked at a reconvergence point */
    WAIT_ALIGNED,    /* at an .aligned instruction until the warp's other lanes come */
    WAIT_RIDING,     /* executing one .sync instruction as part of another group */
    WAIT_ROOM,       /* clusterlaunchcontrol.try_cancel, until fewer than ASYNC_MAX_OPS are in flight */
    WAIT_GRID,       /* griddepcontrol.wait, until the grid before it has completed */
    WAIT_LAST
};

struct event_wait {
    struct event_by by;
    enum event_wait_end end;
    enum event_wait_kind kind;
    struct cta *owner; /* of the mbarrier */
    uint32_t off;      /* of the mbarrier, or number of the barrier */
    uint64_t value;    /* parity, generation, columns, lanes */
};

/* --- instructions ------------------------------------------------------------------------------------------------- */

/* A warp executes an instruction for the first time (not again after a wait). Sent by warp/core.c. */
struct event_step {
    struct event_by by; /* lanes whose guard is true; 0: none, and nothing is executed */
    uint32_t family;    /* enum ptx_family: its class */
    uint32_t uses;  /* WANT_LOADS: the latest of the warp's loads that it waits for, by event_access.load; 0: none */
    uint32_t live;  /* lanes of the warp that have not exited */
    uint32_t group; /* lanes that have come to it together, whatever their guard is */
};

/* --- lifetimes ---------------------------------------------------------------------------------------------------- */

/* The CTAs of a cluster start before the cluster does and end after it. After a fault those that still ran end without
 * LIFE_CTA_EXIT. */
enum event_life_kind {
    LIFE_CLUSTER_START, /* launch/resident.c, after its CTAs: their memories and warps exist */
    LIFE_CLUSTER_END,   /* its CTAs are about to go; told, as LIFE_CTA_END is, of those too that never started */
    LIFE_CTA_START,     /* `bytes` of shared memory */
    LIFE_CTA_EXIT,      /* its last warp has exited; launch/sched.c */
    LIFE_CTA_END,       /* machine/machine.c: its memory is about to be released, its warps are; drop what is kept */
    LIFE_LANES_EXIT,    /* warp/meet.c */
    LIFE_TMEM_ALLOC,    /* `columns` from `column` on; engines/tc_alloc.c */
    LIFE_TMEM_CLOSING,  /* a pair's dealloc, executed by one CTA of two; told for each `owner` */
    LIFE_TMEM_DEALLOC,
    LIFE_TMEM_RELINQUISH,
    LIFE_MBAR_INIT, /* at `off` with `count` arrivals; machine/mbarrier.c */
    LIFE_MBAR_INVAL,
    LIFE_HEAP_ALLOC, /* the device's malloc: `bytes` from `address` on, 0: none were left; isa/builtin.c */
    LIFE_HEAP_FREE,
    LIFE_REGISTERS, /* setmaxnreg: `count` a thread from now on; isa/grid_control.c */
};
struct event_life {
    struct event_by by; /* lanes 0: no thread did it */
    enum event_life_kind kind;
    struct cta *owner;
    uint32_t off, count;
    uint32_t column, columns;
    uint64_t address;
    uint64_t bytes;
};

/* --- launches and streams ----------------------------------------------------------------------------------------- */

enum event_host_kind {
    HOST_LAUNCH,     /* a grid begins; by launch/run.c */
    HOST_LAUNCH_END, /* all of its CTAs have ended, or it faulted. Launches that overlap (launch/launch.h) nest */
    HOST_COPY,       /* memcpy or memset on a stream; by cudart/ */
    HOST_ALLOC,      /* `bytes` of device, managed or pinned memory from `dst` on; by cudart/core/memory.c */
    HOST_FREE,       /* all from `dst` on */
    HOST_RECORD,     /* an event is recorded on a stream, or a stream waits for one: `object` */
    HOST_WAIT,
    HOST_SYNC, /* the host waits for a stream or, with an `object`, an event; or has asked, and all was done */
    HOST_SYNC_DEVICE,
    HOST_STREAM_END, /* it is destroyed, though its work may go on */
    HOST_STREAM,     /* a stream is made; `blocks`: it waits for the default one, and that for it */
};
struct event_host {
    enum event_host_kind kind;
    struct gpu *gpu; /* of launches */
    uint64_t stream; /* handle; 0: the legacy default stream */
    uint64_t object;
    uint64_t dst, src, bytes, rows; /* copies: host or device addresses; src 0: filled */
    uint64_t dst_pitch, src_pitch;  /* bytes from row to row */
    const char *kernel;             /* launches */
    struct diag_dim3 grid, block, cluster;
    uint32_t static_smem, dynamic_smem; /* bytes */
    uint32_t resident;                  /* launches: clusters that the empty GPU holds at a time */
    bool early;    /* programmatic stream serialisation: may begin before its stream's last grid ends */
    bool triggers; /* launches: the kernel has griddepcontrol.launch_dependents, */
    bool waits;    /*  and griddepcontrol.wait */
    bool plain;    /* launches: threads alone touch shared memory, and synchronise without mbarriers */
    bool blocks;   /* copies: the host goes on when it is done; see HOST_STREAM */
};

/* --- listeners ---------------------------------------------------------------------------------------------------- */

enum event_want {
    WANT_SHARED_READ = 1 << 0,  /* accesses of threads and of cp.async, by space */
    WANT_SHARED_WRITE = 1 << 1, /* atomics too */
    WANT_GLOBAL = 1 << 2,
    WANT_ENGINE_READ = 1 << 3, /* accesses of engines to shared memory */
    WANT_ENGINE_WRITE = 1 << 4,
    WANT_ENGINE_GLOBAL = 1 << 5, /* to global memory */
    WANT_TENSOR = 1 << 6,        /* accesses to tensor memory */
    WANT_MBARRIER = 1 << 7,      /* SYNC_MBAR_* but TEST */
    WANT_POLL = 1 << 8,          /* SYNC_MBAR_TEST */
    WANT_BARRIER = 1 << 9,       /* SYNC_BAR_*, SYNC_CLUSTER_*, SYNC_WARP */
    WANT_FENCE = 1 << 10,        /* all other SYNC_* */
    WANT_OP = 1 << 11,
    WANT_WAIT = 1 << 12,
    WANT_STEP = 1 << 13,
    WANT_LIFE = 1 << 14,
    WANT_HOST = 1 << 15,
    WANT_ALL = (1 << 16) - 1,
    WANT_LOADS = 1 << 16, /* no event of its own: fields of WANT_STEP and WANT_GLOBAL */
    WANT_ACCESS = WANT_SHARED_READ | WANT_SHARED_WRITE | WANT_GLOBAL | WANT_ENGINE_READ | WANT_ENGINE_WRITE |
                  WANT_ENGINE_GLOBAL | WANT_TENSOR,
    WANT_SYNC = WANT_MBARRIER | WANT_POLL | WANT_BARRIER | WANT_FENCE,
};

struct listener {
    const char *name;
    uint32_t wants; /* enum event_want */
    void *ctx;
    uint32_t slot; /* set by events_attach: its place in cta->watch */
    bool spreads;  /* its `access` calls event_spread itself, if it looks at addresses other than at[0] and at[16] */
    bool joins;    /* it takes arrivals of lanes together, SYNC_MBAR_ARRIVE */
    void (*access)(const struct listener *self, const struct event_access *e);
    /* Takes an access in its short form, or leaves it to `access`: false. NULL: it takes none. If others listen, too,
     * it is not asked. */
    bool (*halves)(const struct listener *self, struct cta *cta, const struct diag_site *site, uint32_t first,
                   uint32_t second, uint32_t how);
    /* The same; returns how many of the accesses it takes, of which the first ones. */
    uint32_t (*matrix)(const struct listener *self, struct cta *cta, const struct diag_site *site,
                       const uint64_t row[8], uint32_t how);
    void (*sync)(const struct listener *self, const struct event_sync *e);
    void (*op)(const struct listener *self, const struct event_op *e);
    void (*wait)(const struct listener *self, const struct event_wait *e);
    void (*step)(const struct listener *self, const struct event_step *e);
    void (*life)(const struct listener *self, const struct event_life *e);
    void (*host)(const struct listener *self, const struct event_host *e);
    void (*close)(const struct listener *self); /* the GPU goes: for ctx */
};

/* Adds a copy of *l to the listeners, told in the order of being added. Between launches only, and not to be undone;
 * false when there are MACH_LISTENERS already. */
bool events_attach(struct gpu *gpu, const struct listener *l);
/* The GPU is about to be destroyed. */
void events_close(struct gpu *gpu);

/* What a listener keeps for a CTA: its own to make, and to free at LIFE_CTA_END. */
static inline void **event_watch(const struct listener *self, struct cta *cta) { return &cta->watch[self->slot]; }

/* What it keeps for the running launch: to make at HOST_LAUNCH, and to free at HOST_LAUNCH_END. */
static inline void **event_launch_watch(const struct listener *self, struct gpu *gpu) {
    return &gpu->watch[self->slot];
}

/* What it keeps for an operation, to be freed at OP_COMPLETED or, of those that are still queued, when the CTA ends. */
static inline void **event_op_watch(const struct listener *self, const struct async_op *op) {
    return (void **)(uintptr_t)&op->watch[self->slot];
}

/* At most so much a listener keeps of it; and by a listener, in any thread of the launch: it kept no more, and a
 * finding may have needed it. */
static inline uint64_t event_bound(const struct gpu *gpu, enum bound b) { return gpu->config.bounds.most[b]; }
static inline void event_tell_unseen(struct gpu *gpu, enum bound what) {
    if (!(atomic_load_explicit(&gpu->unseen, memory_order_relaxed) >> what & 1))
        atomic_fetch_or_explicit(&gpu->unseen, 1u << what, memory_order_relaxed);
}

/* Writes all addresses of an access, if that was left to those who look at them; any number of times. */
void event_spread(const struct event_access *e);

static inline bool events_wanted(const struct gpu *gpu, uint32_t wants) {
    return __builtin_expect((gpu->wanted & wants) != 0, 0);
}

/* An access in its short form. The sender asks events_wanted first, and if this is false, sends it as another one. */
static inline bool events_took_halves(const struct gpu *gpu, struct cta *cta, const struct diag_site *site,
                                      uint32_t first, uint32_t second, uint32_t how) {
    const struct listener *l = gpu->listeners;
    return gpu->num_listeners == 1 && l->halves && l->halves(l, cta, site, first, second, how);
}
static inline uint32_t events_took_matrix(const struct gpu *gpu, struct cta *cta, const struct diag_site *site,
                                          const uint64_t row[8], uint32_t how) {
    const struct listener *l = gpu->listeners;
    return gpu->num_listeners == 1 && l->matrix ? l->matrix(l, cta, site, row, how) : 0;
}

/* The senders' side: tells those who want it. A sender whose event costs something to make asks events_wanted first. */
void events_send_access(const struct gpu *gpu, const struct event_access *e);
void events_send_sync(const struct gpu *gpu, const struct event_sync *e);
void events_send_op(const struct gpu *gpu, const struct event_op *e);
void events_send_wait(const struct gpu *gpu, const struct event_wait *e);
void events_send_step(const struct gpu *gpu, const struct event_step *e);
void events_send_life(const struct gpu *gpu, const struct event_life *e);
void events_send_host(const struct gpu *gpu, const struct event_host *e);

#define EVENTS_TELL(kind, wants)                                                                                       \
    static inline void tell_##kind(const struct gpu *gpu, const struct event_##kind *e) {                              \
        if (events_wanted(gpu, wants))                                                                                 \
            events_send_##kind(gpu, e);                                                                                \
    }
EVENTS_TELL(access, WANT_ACCESS)
EVENTS_TELL(sync, WANT_SYNC)
EVENTS_TELL(op, WANT_OP)
EVENTS_TELL(wait, WANT_WAIT)
EVENTS_TELL(step, WANT_STEP)
EVENTS_TELL(life, WANT_LIFE)
EVENTS_TELL(host, WANT_HOST)
#undef EVENTS_TELL

#endif
