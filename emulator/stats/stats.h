/* stats/stats.h - exact counters of a launch: what its warps executed, which bytes took which path, and at what price.
 *
 * A listener counts (stats/count.c) and, when the launch has ended, hands the sums to whoever asked. They are counts
 * of what the kernel asked for, not of time: the same on any number of host threads, and the same run after run. Rules
 * that turn addresses into wavefronts and sectors are in stats/wavefronts.h. stats/text.c shows a launch to a person,
 * stats/json.c to a program.
 */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include "machine/events.h"

#include <stdio.h>

/* Raised whenever a key of the JSON goes or means something else; keys may be added. */
#define STATS_VERSION 1u

/* Accesses of a warp instruction to shared memory of its own CTA. */
struct stats_shared {
    uint64_t requests;   /* warp instructions; of ldmatrix and stmatrix: matrices */
    uint64_t bytes;      /* of all lanes */
    uint64_t wavefronts; /* times that the banks are accessed */
    uint64_t least;      /*  and without bank conflicts: the difference is what they cost */
};

/* Accesses of a warp instruction to global memory. */
struct stats_global {
    uint64_t requests, bytes;
    uint64_t sectors; /* of 32 bytes, that the lanes touch */
    uint64_t least;   /*  and that hold as many bytes as they touch */
};

/* An instruction of the kernel. */
struct stats_site {
    const struct diag_site *site;
    const char *what; /* its opcode */
    uint64_t issued;  /* warps executed it */
    uint64_t lanes;   /*  with so many lanes in all, their guards being true */
    uint64_t idle;    /* of `issued`: no lane's guard was true */
    uint64_t partial; /* of `issued`: with a part of the warp's live lanes, the others being elsewhere */
    uint64_t splits;  /* branches that some of the lanes took and others did not */
    struct stats_shared shared;
    struct stats_global global;
    uint64_t waits, polls, failed; /* mbarriers: suspended, questions asked, and answered "not yet" */
};

/* tcgen05.mma of one shape. */
struct stats_umma {
    const char *kind; /* "f16": the word behind .kind:: */
    uint32_t kind_len;
    uint32_t m, n, k, cta_group;
    uint64_t count;
    double flop; /* 2 m n k each */
};

/* Asynchronous operations of one name. */
struct stats_op {
    const char *name;
    uint64_t instructions; /* by threads */
    uint64_t count;        /* operations: of a multicast copy one for each CTA that it reaches */
    uint64_t bytes;        /* that they move; 0: they move none, or it is not theirs to say */
};

/* Warps of one task waited for one thing: on the model clock. */
struct stats_wait {
    char role[48], what[48]; /* "epilogue", "acc_full" */
    uint64_t warps, waits;   /* so many of the task's warps, and waits */
    double cycles, share;    /* in all; of the time from these warps' first event to their last */
};

/* Its time, where the chip is in this state. */
struct stats_time {
    char state[24]; /* as in --clock */
    double ghz, ns;
    double low, high; /* of ns: eight of ten kernels lie between; low == high: nobody knows */
    bool ptx; /* most instructions are counted as PTX has them, for want of machine code with a table of lines */
};
void stats_time_print(const struct stats_time *t, FILE *f);

/* What a launch took on a model of a B200. Not counted here: cudart/core fills it in, from the launch's log. */
struct stats_cycles {
    char why[256]; /* why there is no more than this; "": there is */
    double cycles;
    struct stats_time time;
    double tensor, tma, hbm; /* shares of them in which tensor cores and TMAs of `sms` SMs and HBM were busy */
    uint32_t sms;
    uint64_t l2_bytes, hbm_bytes; /* asked of L2, and of HBM */
    char doubts[256];             /* what the model may have wrong, or "" */
    struct stats_wait *waits;     /* most cycles first */
    uint32_t num_waits, cap_waits;
};

enum { STATS_READ, STATS_WRITE, STATS_ATOMIC, STATS_EFFECTS };
enum { STATS_SPACES = SPACE_GLOBAL + 1, STATS_AGENTS = AGENT_CLC + 1 };

struct stats {
    /* of the launch */
    const char *kernel;
    struct diag_dim3 grid, block, cluster;
    uint32_t static_smem, dynamic_smem;
    uint64_t ctas, warps; /* that ran */

    /* bytes by who touched them, where and how; of multicast copies a byte read counts once */
    uint64_t bytes[STATS_AGENTS][STATS_SPACES][STATS_EFFECTS];
    uint64_t remote;            /* of those of threads in shared memory: in another CTA's */
    uint64_t multicast_saved;   /* bytes of global memory that multicast copies brought without reading them again */
    uint64_t footprint_read;    /* different sectors of global memory that were read, by whomever, in bytes, */
    uint64_t footprint_written; /*  and written: what a memory behind a cache that forgets nothing has to move */

    uint64_t mbar_inits, mbar_phases, mbar_arrivals; /* arrivals: of threads */
    uint64_t mbar_op_arrivals, mbar_bytes;           /*  of operations; bytes that completed */
    uint64_t mbar_waits, mbar_polls, mbar_failed, mbar_timed_out;
    uint64_t bar_phases, cluster_phases;

    uint32_t unseen; /* bits of enum bound */

    struct stats_cycles *cycles; /* NULL: not modelled */
    struct stats_umma *ummas;    /* by kind and shape */
    struct stats_op *ops;        /* by name */
    struct stats_site *sites;    /* by their lines in the PTX; those that were executed */
    uint32_t num_ummas, cap_ummas, num_ops, cap_ops, num_sites, cap_sites;
};

/* Who takes them: called when a launch has ended, by the thread that launched; `s` is its own then, to be freed with
 * stats_free. What it points to lives as long as the kernel's module. */
struct stats_sink {
    void (*take)(void *ctx, struct stats *s);
    void *ctx;
};

/* Attaches the listener, before the first launch; false when there are MACH_LISTENERS already. *sink outlives it. */
bool stats_attach(struct gpu *gpu, const struct stats_sink *sink);
void stats_free(struct stats *s);

/* Adds the counters of *s. */
void stats_add_site(struct stats_site *to, const struct stats_site *s);
/* Sums over all sites. */
struct stats_site stats_total(const struct stats *s);

/* --- kinds.c: instructions as the field sorts them ---------------------------------------------------------------- */

enum stats_kind {
    STATS_INTEGER,
    STATS_FLOAT,
    STATS_CONVERT,
    STATS_MOVE,
    STATS_LD_ST_GLOBAL,
    STATS_LD_ST_SHARED,
    STATS_LD_ST_LOCAL,
    STATS_LD_PARAM,
    STATS_MATRIX,
    STATS_CONTROL,
    STATS_WARP,
    STATS_BARRIER,
    STATS_MBARRIER,
    STATS_COPY,
    STATS_TCGEN05,
    STATS_OTHER,
    STATS_KINDS
};
/* From the opcode and the instruction's text; of generic addresses from what was accessed. */
enum stats_kind stats_kind_of(const struct stats_site *s);
/* "floating point" for people, "floating_point" in JSON. */
const char *stats_kind_name(enum stats_kind kind);
const char *stats_kind_key(enum stats_kind kind);

/* --- by_line.c: the same by lines of the source ------------------------------------------------------------------- */

/* All instructions of a line of the source with the same calls inlined around it; the PTX line where there is none. */
struct stats_line {
    char *where;             /* as diag_where says it */
    struct stats_site total; /* `site` and `what`: of its instruction that accesses most */
};
struct stats_lines {
    struct stats_line *line; /* by `where` */
    uint32_t num;
};
struct stats_lines stats_lines_of(const struct stats *s);
void stats_lines_free(struct stats_lines *l);

/* --- text.c, json.c ----------------------------------------------------------------------------------------------- */

void stats_print(const struct stats *s, FILE *f);
/* One object, the element of "launches" (emulator/sm100emu.1, FILES). `fault`: as cudaError_t, or 0.
 * `process`: which of those that write the file, from 1. */
void stats_json(const struct stats *s, int fault, unsigned process, FILE *f);

#endif
