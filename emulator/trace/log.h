/* trace/log.h - the log of a launch: every event of synchronisation, every asynchronous operation and every wait, with
 * what ended it.
 *
 * A log is tables and, for each cluster, one array of events in the order in which they took effect. Clusters stand in
 * the order of their numbers, so a log has the same bytes whatever the number of host threads. References (`site`,
 * `object`, `op`, `cause`) are numbers from 1 in the table that they name, 0 being none; objects, operations and causes
 * are those of the event's own cluster.
 *
 * trace/record.h makes logs, trace/file.h writes and reads them.
 */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include "machine/events.h"

/* To be raised with every change of what the structures here, or the enumerators that they hold, mean. */
#define TRACE_VERSION 2u
#define TRACE_NO_WARP 0xffu

/* Offsets of text in trace_log.text; 0 is "". */
typedef uint32_t trace_text;

/* --- tables ------------------------------------------------------------------------------------------------------- */

/* An instruction of the kernel. */
struct trace_site {
    trace_text file; /* of the source, "" where it is not known */
    uint32_t line, column;
    trace_text ptx; /* its name */
    uint32_t ptx_line;
    trace_text text; /* the instruction as written */
    trace_text func;
    uint32_t inlined; /* the call that brought it into `func`: a number from 1 in `calls`, or 0 */
};
/* A call that the compiler has put in place of itself. */
struct trace_call {
    trace_text file;
    uint32_t line;
    uint32_t outer; /* as `inlined` */
};

/* What warp instructions are counted by, from their opcodes. */
enum trace_run {
    RUN_ALU,     /* registers alone */
    RUN_CONTROL, /* branches, calls, votes, elect, exits */
    RUN_SHARED,  /* reads and writes of shared and local memory */
    RUN_GLOBAL,  /* the same of global memory and by generic addresses */
    RUN_ASYNC,   /* what this log has an event for: barriers, fences, tcgen05, bulk copies */
    RUN_KINDS
};

enum trace_object_kind {
    OBJECT_MBARRIER,        /* `at`: its offset in shared memory; a new object after each mbarrier.init */
    OBJECT_BARRIER,         /* of the CTA; `at`: its number */
    OBJECT_CLUSTER_BARRIER, /* of rank 0 */
    OBJECT_QUEUE,           /* operations in the order of issue; `name`: its unit */
};
struct trace_object {
    uint32_t kind; /* enum trace_object_kind */
    uint32_t rank, at;
    uint32_t count;  /* mbarriers: arrivals of a phase as initialised */
    uint32_t site;   /* mbarriers: of mbarrier.init */
    trace_text name; /* queues */
};

/* An asynchronous operation: struct event_work, with CTAs as ranks + 1 (0: none). */
struct trace_op {
    trace_text name;      /* "tcgen05.mma" */
    uint32_t agent;       /* enum event_agent */
    uint32_t rank, warp;  /* who issued it */
    uint32_t site, queue; /* queue: an object */
    uint32_t leader;      /* the first operation of the same instruction; itself where there is one alone */
    uint32_t follows;     /* the operation of which this is the second half, or 0 */
    uint32_t issued, started, completed; /* events; 0: not before the end of the log */
    uint32_t m, n, k, cta_group, kind;
    uint32_t from, from_off, to, to_off, signals, signals_off; /* ranks + 1; offsets */
    uint32_t ctas;
    uint32_t accumulate, a_in_tmem, taken;
    uint32_t sfa, sfb;
    uint32_t row;     /* bytes, or 0 */
    uint32_t dims;    /* of a tensor copy, */
    int32_t coord[5]; /*  and its box */
    uint64_t bytes, a, b, global;
    uint64_t map; /* a key of its tensor map's bytes, or 0: tells maps apart, no more */
    struct diag_dim3 first;
};

/* Addresses of an access to global memory: of so many lanes, the n-th n * step bytes from the first. */
struct trace_span {
    uint64_t first;
    int32_t step;
    uint32_t lanes;
};

/* --- events ------------------------------------------------------------------------------------------------------- */

enum trace_class {
    TRACE_SYNC,   /* kind: enum event_sync_kind */
    TRACE_OP,     /* enum event_op_stage: of `op`, in the queue `object` */
    TRACE_WAIT,   /* enum event_wait_end, `what`: enum event_wait_kind */
    TRACE_LIFE,   /* enum event_life_kind */
    TRACE_GLOBAL, /* enum event_effect: threads touch global memory, an event an instruction */
    TRACE_STEP,   /* an instruction that is the cause of something, and nothing else tells of; or, kind 1, one whose
                     result depends on time or on other clusters: it reads a clock, or takes work by an atomic */
};

struct trace_event {
    uint8_t class, kind; /* enum trace_class, and its kinds */
    uint8_t rank, warp;  /* of the threads, or who issued the operation; TRACE_NO_WARP: nobody */
    uint32_t lanes;
    uint32_t site;
    /* Without which it would not have happened here: of a phase the last arrival or the last bytes, of an answer "yes"
     * and what passes a barrier the phase, of the end of a wait what was waited for, of OP_STARTED the issue or the
     * completion of the operation before it, of what operations do OP_STARTED. Of what threads do otherwise 0: their
     * own last event, which is the one before with the same rank and warp. */
    uint32_t cause;
    uint32_t object;  /* that it is about, or 0 */
    uint32_t op;      /* that acts, 0: threads */
    uint32_t phase;   /* of mbarriers and barriers: completed before; GLOBAL: its first span, from 1 on, or 0 */
    uint32_t count;   /* arrivals; SYNC_MBAR_TEST: lanes answered yes; GLOBAL: bytes of each lane; LIFE_TMEM: columns */
    uint32_t pending; /* of an mbarrier after it: arrivals, GLOBAL: how many spans; */
    int32_t tx;       /*  and bytes */
    uint64_t value;   /* mbarriers: bytes; GLOBAL: 32-byte sectors; waits: event_wait.value; LIFE_TMEM: column */
    uint16_t what;    /* waits: enum event_wait_kind; SYNC_FENCE: enum event_fence; TEST: parity; GROUP_*: bits 0 bulk,
                            1 read, and from bit 2 on how many groups may stay pending; GLOBAL: 1 where the access is
                            strong (8.4), so that L1 does not answer it */
    uint16_t times;   /* SYNC_MBAR_TEST: failed ones in a row that it stands for; else 1 */
    uint32_t cluster; /* of the cause, where it is another cluster's: its number + 1 in the log; 0: its own */
    uint16_t ran[RUN_KINDS]; /* warp instructions of the warp since its last event, this one's included */
    uint16_t spare;
    uint32_t used; /* the latest TRACE_GLOBAL of the warp of which it has used a result since its last event, or 0 */
};

struct trace_cluster {
    uint64_t number; /* in the grid */
    struct diag_dim3 id;
    uint32_t ctas;
    uint32_t sm[16]; /* by rank */
    struct trace_object *objects;
    struct trace_op *ops;
    struct trace_event *events;
    struct trace_span *spans;
    uint32_t num_objects, num_ops, num_events, num_spans;
    uint32_t complete; /* 1: from its start to its end; 0: cut off, by a fault or a window */
};

struct trace_log {
    uint32_t version;
    uint32_t fault; /* 0, or the cudaError_t with which the launch ended */
    uint32_t cut;   /* 1: a window was chosen, or there was no more room */
    trace_text kernel, schedule;
    struct diag_dim3 grid, block, cluster;
    uint32_t smem;     /* bytes of a CTA, static and dynamic */
    uint32_t resident; /* clusters that fit the GPU at a time */
    uint64_t instructions;
    uint64_t counted; /* of them, those whose machine instructions are known and counted in `ran` */
    char *text;
    struct trace_site *sites;
    struct trace_call *calls;
    struct trace_cluster *clusters;
    uint32_t text_bytes, num_sites, num_calls, num_clusters;
};

static inline const char *trace_string(const struct trace_log *log, trace_text t) { return log->text + t; }

#endif
