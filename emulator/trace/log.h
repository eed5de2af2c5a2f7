/* trace/log.h - the log of a launch: every synchronisation event, every asynchronous operation, and every wait with
 * what ended it.
 *
 * A log has tables and, for each cluster, one array of events in the order in which they took effect. Clusters are in
 * the order of their numbers, so a log has the same bytes with any number of host threads. References (`site`,
 * `object`, `op`, `cause`) are numbers from 1 in their table; 0 is none. Objects, operations and causes are those of
 * the event's own cluster. trace/record.h makes logs, trace/file.h writes and reads them.
 */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include "machine/events.h"

/* Raise it with every change of the meaning of the structures here, or of the enumerators in them. */
#define TRACE_VERSION 2u
#define TRACE_NO_WARP 0xffu

/* Offsets of text in trace_log.text; 0 is "". */
typedef uint32_t trace_text;

/* --- tables ------------------------------------------------------------------------------------------------------- */

/* An instruction of the kernel. */
struct trace_site {
    trace_text file; /* of the source; "": not known */
    uint32_t line, column;
    trace_text ptx; /* its name */
    uint32_t ptx_line;
    trace_text text; /* the instruction as written */
    trace_text func;
    uint32_t inlined; /* the call that brought it into `func`: a number from 1 in `calls`, or 0 */
};
/* A call that the compiler has inlined. */
struct trace_call {
    trace_text file;
    uint32_t line;
    uint32_t outer; /* as `inlined` */
};

/* Kinds by which warp instructions are counted, from their opcodes. */
enum trace_run {
    RUN_ALU,     /* registers only */
    RUN_CONTROL, /* branches, calls, votes, elect, exits */
    RUN_SHARED,  /* reads and writes of shared and local memory */
    RUN_GLOBAL,  /* the same of global memory and by generic addresses */
    RUN_ASYNC,   /* instructions with an event in this log: barriers, fences, tcgen05, bulk copies */
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
    trace_text name;                     /* "tcgen05.mma" */
    uint32_t agent;                      /* enum event_agent */
    uint32_t rank, warp;                 /* the issuer */
    uint32_t site, queue;                /* queue: an object */
    uint32_t leader;                     /* the first operation of the same instruction, perhaps itself */
    uint32_t follows;                    /* the operation of which this is the second half, or 0 */
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
    uint64_t map; /* a key of its tensor map's bytes, only to compare maps; or 0 */
    struct diag_dim3 first;
};

/* Addresses of an access to global memory: of `lanes` lanes, the n-th n * step bytes from the first. */
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
    TRACE_GLOBAL, /* enum event_effect: threads access global memory, one event for each instruction */
    TRACE_STEP,   /* an instruction that is a cause and has no other event; kind 1: its result depends on time or on
                     other clusters (it reads a clock, or takes work by an atomic) */
};

struct trace_event {
    uint8_t class, kind; /* enum trace_class, and its kinds */
    uint8_t rank, warp;  /* of the threads, or of the operation's issuer; TRACE_NO_WARP: none */
    uint32_t lanes;
    uint32_t site;
    /* The event without which this one would not have happened here. For a phase: the last arrival or the last bytes.
     * For an answer "yes", or for passing a barrier: the phase. For the end of a wait: what the wait was for. For
     * OP_STARTED: the issue, or the completion of the operation before it. For the acts of operations: OP_STARTED. For
     * other acts of threads 0: their cause is their own last event, the one before with the same rank and warp. */
    uint32_t cause;
    uint32_t object; /* its object, or 0 */
    uint32_t op;     /* the acting operation; 0: threads */
    uint32_t phase;  /* mbarriers and barriers: phases completed before; GLOBAL: its first span, from 1, or 0 */
    uint32_t count;  /* arrivals; SYNC_MBAR_TEST: lanes that got true; GLOBAL: bytes of each lane; LIFE_TMEM: columns */
    uint32_t pending; /* mbarriers: arrivals still pending after it; GLOBAL: number of spans */
    int32_t tx;       /* mbarriers: bytes still pending after it */
    uint64_t value;   /* mbarriers: bytes; GLOBAL: 32-byte sectors; waits: event_wait.value; LIFE_TMEM: column */
    uint16_t what;    /* waits: enum event_wait_kind; SYNC_FENCE: enum event_fence; TEST: parity; GROUP_*: bits 0 bulk,
                            1 read, and from bit 2 on how many groups may stay pending; GLOBAL: 1 if the access is
                            strong (8.4), so that L1 does not answer it */
    uint16_t times;   /* SYNC_MBAR_TEST: number of failed polls in a row that it represents; otherwise 1 */
    uint32_t cluster; /* if the cause is in another cluster: that cluster's number in the log + 1; 0: its own */
    uint16_t ran[RUN_KINDS]; /* warp instructions of the warp since its last event, this one's included */
    uint16_t spare;
    uint32_t used; /* the warp's latest TRACE_GLOBAL whose result it has used since its last event, or 0 */
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
    uint32_t complete; /* 1: from start to end; 0: cut off by a fault or a window */
};

/* The log of a launch. */
struct trace_log {
    uint32_t version; /* TRACE_VERSION */
    uint32_t fault;   /* 0, or the cudaError_t with which the launch ended */
    uint32_t cut;     /* 1: a window was chosen, or there was no more room */
    trace_text kernel, schedule;
    struct diag_dim3 grid, block, cluster;
    uint32_t smem;         /* bytes of a CTA, static and dynamic */
    uint32_t resident;     /* clusters that fit the GPU at a time */
    uint64_t instructions; /* instructions and operations that the launch ran */
    uint64_t counted;      /* those with known machine instructions, counted in `ran` */
    char *text;
    struct trace_site *sites;
    struct trace_call *calls;
    struct trace_cluster *clusters;
    uint32_t text_bytes, num_sites, num_calls, num_clusters;
};

static inline const char *trace_string(const struct trace_log *log, trace_text t) { return log->text + t; }

#endif
