/* machine/machine.h - the state of the emulated GPU: SMs, clusters, CTAs and their memories.
 *
 * State only: who executes instructions lives in warp/ and isa/, asynchronous units in engines/. Structures are grouped
 * by who writes them and when. One host thread at a time launches on a gpu; while a kernel runs, each of its SMs and
 * what is resident there belong to the thread that runs their island (island.h), and the gpu itself is only read.
 *
 * Addresses. Global addresses are those of memory.h. A shared address is 32 bits: cluster rank << 24 | byte offset; a
 * CTA's own variables carry its rank, and offsets below MACH_SMEM_FIRST belong to the system (measured on an H200).
 * Generic addresses of shared, local and kernel-parameter memory are window base + address (PTX ISA 5.1, 9.7.9.20).
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include "machine/island.h"
#include "machine/memory.h"
#include "machine/timing.h"
#include "machine/worker.h"
#include "report/diag.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MACH_WARP 32u
#define MACH_MAX_WARPS 32u     /* a CTA has at most 1024 threads */
#define MACH_MAX_CLUSTER 16u   /* CTAs, non-portable size */
#define MACH_SMEM_FIRST 0x400u /* first byte of a CTA's shared memory that a program owns */
#define MACH_SMEM_RANK_SHIFT 24
#define MACH_MAX_GPCS 16u
#define MACH_B200_SMS 148u
#define MACH_LISTENERS 16u
#define MACH_BARRIERS 16u /* named barriers of a CTA (9.7.13.1) */
#define MACH_MAX_DEPTH 16u
#define MACH_MBAR_PLACES 64u /* a power of two */
#define MACH_FLIGHTS 4u      /* launches that overlap */

/* Above the host's user addresses, below the GPU's 49-bit limit: they never meet a device pointer. */
#define MACH_WINDOW_SHARED 0x0001000000000000ull /* 4 GiB */
#define MACH_WINDOW_LOCAL 0x0001000100000000ull  /* 4 GiB */
#define MACH_WINDOW_PARAM 0x0001000200000000ull  /* 4 GiB */
#define MACH_WINDOW_SIZE 0x100000000ull

#define TMEM_LANES 128u
#define TMEM_COLUMNS 512u
#define TMEM_GRANULE 32u /* columns, the unit of allocation (9.7.16.1.2) */

struct mach_config {
    uint32_t num_sms;
    /* SMs of each GPC, in SM order; a cluster lives inside one GPC, a CTA pair on the two SMs of a TPC (2i and 2i + 1).
     * SMs beyond the last GPC named form one more. B200's sizes are not published: the default is 148 SMs in 8 GPCs of
     * 18 or 20, so that each holds a cluster of 16. */
    uint32_t num_gpcs;
    uint32_t gpc_sms[MACH_MAX_GPCS];
    uint32_t smem_per_sm;    /* bytes, 228 KiB */
    uint32_t smem_per_cta;   /* bytes, 227 KiB opt-in limit */
    uint32_t smem_reserved;  /* bytes a CTA costs beside its own, 1 KiB */
    uint32_t regs_per_sm;    /* 65536 */
    uint32_t threads_per_sm; /* 2048 */
    uint32_t ctas_per_sm;    /* 32 */
    enum mach_schedule {
        MACH_SCHED_DEFAULT,
        MACH_SCHED_EAGER,
        MACH_SCHED_LAZY,
        MACH_SCHED_RANDOM,
        MACH_SCHED_PCT,
        MACH_SCHED_MODEL,
    } schedule;
    uint64_t seed;    /* MACH_SCHED_RANDOM and _PCT */
    uint32_t depth;   /* MACH_SCHED_PCT: 1 to MACH_MAX_DEPTH; one less is the number of changes of priority */
    uint64_t steps;   /*  over which these are spread; 0: estimated. launch/pct.c */
    uint32_t threads; /* of the host, 1 or more: how many islands run at a time */
    /* how tcgen05.mma sums: simd/multiply.h, simd/amx.h, simd/fused.h */
    enum mach_umma { MACH_UMMA_EXACT, MACH_UMMA_FAST, MACH_UMMA_B200 } umma;
    uint32_t host_vectors; /* the most that is used of the host's units, an enum simd (simd/simd.h); 0: all it has */
    uint64_t watchdog;     /* warp instructions of one launch before it is stopped */
    uint64_t timeout;      /* nanoseconds of one launch before it is stopped; 0: none */
    bool verbose;          /* reports leave nothing out */
    bool progress;         /* stderr is a terminal: who waits there is told how long a launch has taken */
    uint64_t memory;       /* bytes of the host that the emulator may take (base/budget.h); 0: budget_default */
    struct bounds bounds;  /* of what the checks keep */
    /* ordering rules: check/check.h */
    enum mach_check { MACH_CHECK_WARN, MACH_CHECK_STRICT, MACH_CHECK_ERROR, MACH_CHECK_OFF } check;
    const char *check_json, *stats_json, *suppress; /* names of files, for who makes the gpu; NULL: none */
    const char *source_root;                        /* a folder, that base/source.h asks the environment for */
    const char *trace;                              /* the same, of the log: trace/record.h, and what it keeps: */
    bool trace_some_ctas, trace_some_tiles;
    uint32_t trace_ctas[2], trace_tiles[2]; /* first and last */
    const char *follow;                     /* whose events are shown after each launch (view/follow.h); NULL: none */
    const char *clock;                      /* in which state the chip is (clock/load.h); NULL: nothing was asked */
};
struct mach_config mach_config_b200(void);

/* Tensor memory of one SM: 128 lanes x 512 columns of 32-bit cells, kept column by column so that the 32 lanes of a
 * warp, and the 128 rows of an accumulator column, are contiguous (9.7.16.1). */
struct tmem {
    uint32_t cell[TMEM_COLUMNS][TMEM_LANES];
    uint32_t poison[TMEM_COLUMNS][TMEM_LANES / 32]; /* bit per lane: never written since it was allocated */
    uint32_t clean, clean_end; /* columns that are known to have no poison; whoever sets some empties this */
};

struct sm {
    uint32_t id;
    /* residency: what the resident CTAs leave free */
    uint32_t free_threads, free_regs, free_smem, free_ctas;
    /* tensor memory */
    struct tmem *tmem;                                   /* NULL while nothing is allocated in it */
    struct cta *tmem_owner[TMEM_COLUMNS / TMEM_GRANULE]; /* NULL: free */
    struct cta *tmem_lock;         /* who may allocate now; NULL: the permit is free. See engines/tc_alloc.c */
    struct tc_state *tmem_waiters; /* CTAs that wait for the permit, first come first served */
};

/* What has come to an mbarrier in one phase, for reports. */
struct mach_mbar_phase {
    uint32_t announced, came; /* bytes: by expect_tx, by complete_tx */
    /* by the CTA's rank, a bit for each warp: who arrived, itself or by a commit, and whose copies brought bytes */
    uint32_t arrived[MACH_MAX_CLUSTER], brought[MACH_MAX_CLUSTER];
};
/* A live mbarrier object: its place, and its 8 bytes as the last mbarrier operation left them. */
struct mach_mbar {
    uint32_t off;
    uint64_t bits;
    uint64_t phases; /* completed since mbarrier.init: the object itself keeps one bit of it */
    const struct diag_site *init;
    uint32_t init_warp, init_lane;    /* who executed it, the first of them */
    bool together;                    /* several threads */
    bool used;                        /* by any other operation since */
    struct mach_mbar_phase now, last; /* of the incomplete phase, and of the one before */
    uint32_t passed[MACH_MAX_WARPS];  /* low bits of `phases` + 1 when each warp last passed a wait; 0: it never did */
    uint32_t ranks;                   /* CTAs of the cluster that ever arrived */
    uint32_t again;                   /* warps that have passed one when no phase had ended since, a bit each */
};

struct cta {
    struct gpu *gpu;
    struct island *island;
    struct cluster *cluster;
    struct sm *sm;
    struct diag_dim3 id;      /* %ctaid */
    uint32_t rank;            /* %cluster_ctarank = x + y*nx + z*nx*ny of %cluster_ctaid */
    struct diag_dim3 rank_id; /* %cluster_ctaid */
    uint64_t epoch;           /* bumped (mach_wake) whenever something changes that a warp of this CTA may wait for */
    uint32_t live_warps;      /* not yet exited; 0: the CTA has exited */
    uint32_t num_warps;

    /* shared memory: offsets [MACH_SMEM_FIRST, smem_end) belong to the program */
    uint8_t *smem;        /* smem_end bytes; index = offset */
    uint8_t *smem_poison; /* bit per byte, LSB first: never written. Only counts after smem_settle() */
    uint32_t smem_end;
    uint64_t smem_clean[4];  /* bit per KiB: known to have no poison; clear says nothing */
    uint64_t smem_filled[4]; /* likewise: smem_poison has all bits set there; if it is known clean they do not count */

    /* live mbarriers, in no order: offsets of objects that were initialised and not invalidated (machine/mbarrier.h) */
    struct mach_mbar *mbars;
    uint32_t num_mbars, cap_mbars;
    uint8_t mbar_at[MACH_MBAR_PLACES]; /* by offset / 8: number of an object that may be there */

    /* named barriers, isa/barrier.c */
    struct mach_barrier {
        uint32_t expected;                  /* threads, 0: idle */
        uint32_t arrived;                   /* threads */
        uint64_t phase;                     /* completed generations */
        uint32_t red_popc, red_and, red_or; /* bar.red accumulators */
        uint32_t last_popc, last_and, last_or;
    } bar[MACH_BARRIERS];

    bool cancel_failed; /* a thread has read that clusterlaunchcontrol.try_cancel failed: isa/grid_control.c */
    bool triggered;     /* a thread has executed griddepcontrol.launch_dependents, or all have exited */

    struct tc_state *tc;         /* engines/: tcgen05 state of this CTA, NULL until first used */
    struct async_queue *queues;  /* list of this CTA's queues, machine/async.h */
    uint64_t ops_issued;         /* into them */
    uint32_t ops_pending;        /* of those, not yet run */
    uint64_t ops_bytes;          /* and what these hold or will hold */
    struct warp *warps;          /* warp/: num_warps of them, NULL until the CTA has started */
    void *watch[MACH_LISTENERS]; /* what each listener keeps for this CTA */
    struct cta *next_woken;      /* MACH_SCHED_MODEL: in its island's list of those whose epoch was bumped, */
    bool woken;                  /*  where it is in it */
};

struct cluster {
    struct island *island;
    uint64_t number;        /* in the grid: x fastest, then y, then z */
    struct diag_dim3 id;    /* %clusterid */
    struct diag_dim3 dim;   /* %cluster_nctaid */
    struct diag_dim3 block; /* %ntid; set by launch/ */
    uint32_t num_ctas, live_ctas;
    struct cta *cta; /* num_ctas of them, index = rank */
    /* barrier.cluster (9.7.13.3), isa/barrier.c */
    uint32_t bar_arrived; /* threads */
    uint64_t bar_phase;
    uint32_t exits;       /* times that threads of the cluster have exited: barriers do not wait for those */
    struct cluster *next; /* launch/: resident list */
};

/* Where a value that nothing wrote came from. */
struct mach_story {
    struct diag_party party; /* who read or stored it; what: `text` */
    char text[800];
    const char *hint;
};

enum mach_late { MACH_IN_TIME, MACH_TIMEOUT, MACH_MEMORY };

struct gpu {
    struct mach_config config;
    struct devmem *mem;
    struct sm *sms; /* config.num_sms */
    struct diag_sink sink;
    struct findings *findings; /* gpu_destroy frees them; NULL: who made the gpu has taken them to keep */

    struct worker *workers; /* config.threads of them */
    struct crew *crew;      /* their threads, NULL until needed */

    /* who watches, machine/events.h: changed between launches only */
    struct listener *listeners; /* num_listeners of them */
    uint32_t num_listeners;
    uint32_t wanted;             /* enum event_want: what any of them wants to be told of, */
    uint32_t apart;              /*  and of that what one wants for each lane */
    void *watch[MACH_LISTENERS]; /* what each keeps for the running launch */

    /* of the last or the running launch, changed between the turns of its islands */
    uint64_t clock;          /* warp instructions issued */
    uint64_t starts;         /* what the watchdog counts beside them */
    uint64_t steps;          /* instructions and operations, of the island that took the most */
    uint32_t flight;         /* which of the launches that overlap it is, below MACH_FLIGHTS */
    int fault;               /* 0, or the cuda_error of its first fault: everything stops */
    _Atomic uint32_t unseen; /* bits of enum bound (report/bounds.h) */

    /* Where the unwritten value in [off, off + bytes) of a CTA's shared memory came from; false: not known. Set by
     * launch/, or NULL. */
    bool (*explain)(const struct cta *cta, uint32_t off, uint32_t bytes, struct mach_story *story);

    struct flights *flights; /* launch/together.c: launches under way; NULL: there never was one between two calls */

    /* MACH_SCHED_MODEL: who knows how long things take; set before the first launch by who makes the gpu */
    struct mach_timing *timing;

    /* of the running launch, looked at by the threads of all islands: island_late */
    uint64_t deadline;          /* by now_ns; 0: none */
    _Atomic uint64_t memory_at; /* when the host is asked next how much the process has in memory */
    _Atomic enum mach_late late;
    uint64_t began;                                             /* by now_ns */
    _Atomic uint64_t progress_at;                               /* config.progress: when it is told next */
    void (*progress)(const struct island *isl, double seconds); /* by whom; set by launch/ */

    /* device-side printf and asserts: bytes go to the host program's stdout/stderr. Set by the shim. */
    void (*print)(void *ctx, const char *text, size_t len);
    void *print_ctx;
    uint64_t print_fifo; /* bytes of printf's buffer (cudaLimitPrintfFifoSize): the most that an island keeps */
};

/* Before a launch: forgets what the last one left, and its time begins (island_late). */
void gpu_begin_launch(struct gpu *gpu);
/* Behind it: tells how often each bug was met, and what was cut. */
void gpu_end_launch(struct gpu *gpu);

/* GPC g's SMs are [*first, *first + *count); false when there is no such GPC. */
bool mach_gpc(const struct mach_config *config, uint32_t g, uint32_t *first, uint32_t *count);

/* Creates a GPU; NULL where the host has no memory, or not the address space. gpu_destroy frees it and its memory. */
struct gpu *gpu_create(const struct mach_config *config);
void gpu_destroy(struct gpu *gpu);

/* Fills a cluster's CTAs (rank order x fastest, then y, then z), without shared memory. `sms` has num_ctas entries, SMs
 * of the island. */
void cluster_init(struct cluster *cl, struct island *isl, struct diag_dim3 id, struct diag_dim3 dim,
                  struct sm *const *sms);
/* Frees the CTAs of a cluster and everything machine/ allocated for them (shared memory, mbarrier tables, queues). */
void cluster_release(struct cluster *cl);
/* Gives a CTA its poisoned shared memory of `bytes` (static + dynamic) program bytes. */
void cta_alloc_smem(struct cta *cta, uint32_t bytes);

/* As mach_fault, about bytes of shared memory that nothing wrote, or that a thread stored such a value to: then the
 * report says where that came from. Of 0 bytes nothing is asked. */
void mach_fault_unwritten(struct cta *cta, uint32_t off, uint32_t bytes, const struct mach_origin *origin,
                          const struct diag *proto, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The CTA executes griddepcontrol.launch_dependents, or has exited. */
static inline void cta_triggers(struct cta *cta) {
    struct island *isl = cta->island;
    if (cta->triggered)
        return;
    cta->triggered = true;
    isl->paused = --isl->closed == 0 && isl->pauses;
}

/* Something changed that warps of this CTA may wait for. Also counts as progress. */
static inline void mach_wake(struct cta *cta) {
    struct island *isl = cta->island;
    cta->epoch++;
    isl->progress++;
    if (!isl->timed || cta->woken)
        return;
    cta->woken = true;
    cta->next_woken = isl->woken;
    isl->woken = cta;
}

/* The allocation that holds addr, most often one of the two that were found last; NULL: none. */
static inline const struct mem_near *island_near(struct island *isl, uint64_t addr) {
    struct mem_near *near = isl->near, other = near[0];
    if (mem_is_near(&near[0], addr))
        return &near[0];
    if (mem_is_near(&near[1], addr))
        return &near[1];
    if (!mem_find_near(isl->gpu->mem, addr, &near[0]))
        return NULL;
    near[1] = other;
    return &near[0];
}

/* The peer of a CTA in its pair (rank ^ 1), or NULL when the cluster has no such CTA (9.7.16.5.1). */
struct cta *cta_peer(struct cta *cta);

/* --- shared memory ------------------------------------------------------------------------------------------------ */

/* The CTA that a 32-bit shared::cluster address names, seen from `cta`, with *offset the byte offset in it; NULL when
 * [addr, addr + size) is not wholly inside the program's part of a CTA of this cluster. */
struct cta *smem_resolve(struct cta *cta, uint32_t addr, uint32_t size, uint32_t *offset);
/* Any byte of [off, off + n) poisoned? The range must be inside [0, smem_end). */
bool smem_poisoned(struct cta *cta, uint32_t off, uint32_t n);
/* Marks [off, off + n) as written (clear) or as poison (set). */
void smem_clear_poison(struct cta *cta, uint32_t off, uint32_t n);
void smem_set_poison(struct cta *cta, uint32_t off, uint32_t n);

/* The KiB [first, end) as bits of word i of smem_clean. */
static inline uint64_t smem_kib(uint32_t first, uint32_t end, uint32_t i) {
    const uint64_t from = first <= 64 * i ? UINT64_MAX : first - 64 * i < 64 ? UINT64_MAX << (first - 64 * i) : 0;
    return from & (end >= 64 * i + 64 ? UINT64_MAX : end > 64 * i ? (UINT64_C(1) << (end - 64 * i)) - 1 : 0);
}
static inline bool smem_any_filled(const struct cta *cta) {
    return (cta->smem_filled[0] | cta->smem_filled[1] | cta->smem_filled[2] | cta->smem_filled[3]) != 0;
}
void smem_settle_filled(struct cta *cta, uint32_t off, uint32_t n);
/* Before the bits of [off, off + n) in smem_poison are read or written: then they tell what is poison. A copy to all of
 * a KiB, which is poison from its issue until it lands, writes no bits at either time. */
static inline void smem_settle(struct cta *cta, uint32_t off, uint32_t n) {
    const uint32_t first = off >> 10, end = (off + n + 1023) >> 10;
    for (uint32_t i = first / 64; i < (end + 63) / 64; i++)
        if (cta->smem_filled[i] & smem_kib(first, end, i))
            smem_settle_filled(cta, off, n);
}
/* To be called when bits of smem_poison were set by other means. */
void smem_doubt(struct cta *cta, uint32_t off, uint32_t n);
/* smem_poisoned is false and that is known without a look at the bytes; false says nothing. */
static inline bool smem_known_clean(const struct cta *cta, uint32_t off, uint32_t n) {
    const uint32_t first = off >> 10, end = (off + n + 1023) >> 10;
    for (uint32_t i = first / 64; n && i < (end + 63) / 64; i++)
        if (smem_kib(first, end, i) & ~cta->smem_clean[i])
            return false;
    return n != 0;
}

#endif
