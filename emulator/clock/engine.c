/* clock/engine.c - see clock/engine.h. */
#include "clock/engine.h"

#include "base/heap.h"

#include <math.h>
#include <string.h>

void clock_place_init(struct clock_place *p, const uint32_t sm[CLOCK_RANKS]) {
    *p = (struct clock_place){.loads = xcalloc((size_t)3 * CLOCK_RANKS * CLOCK_WARPS, sizeof *p->loads)};
    p->copies = p->loads + (size_t)CLOCK_RANKS * CLOCK_WARPS;
    p->stores = p->copies + (size_t)CLOCK_RANKS * CLOCK_WARPS;
    for (uint32_t i = 0; i < CLOCK_RANKS; i++)
        p->sm[i] = sm[i] % CLOCK_MAX_SMS;
}

void clock_place_free(struct clock_place *p) {
    xfree(p->loads);
    p->loads = p->copies = p->stores = NULL;
}

bool clock_releases(const char *text) {
    if (strncmp(text, "barrier.cluster.arrive", 22) == 0)
        return !strstr(text, ".relaxed");
    if (strncmp(text, "membar", 6) == 0)
        return strstr(text, ".gl") || strstr(text, ".sys");
    return strncmp(text, "fence.", 6) == 0 &&
           (strstr(text, ".acq_rel") || strstr(text, ".sc") || strstr(text, ".release")) &&
           (strstr(text, ".cluster") || strstr(text, ".gpu") || strstr(text, ".sys"));
}

double clock_class_cycles(const struct clock_table *t, enum trace_run class) {
    const double cost[RUN_KINDS] = {t->alu, t->control, t->shared, t->global, t->async};
    return cost[class];
}

/* --- operations --------------------------------------------------------------------------------------------------- */

static uint32_t sm_of(const struct clock_place *p, uint32_t rank) { return p->sm[rank % CLOCK_RANKS]; }

/* What a copy moves in global memory. */
static struct clock_box box_of(const struct trace_op *op) {
    /* if the address is not known, the coordinates distinguish boxes of a map */
    uint64_t address = op->global;
    if (!address)
        for (uint32_t i = 0, n = op->dims < 5 ? op->dims : 5; i <= n; i++)
            address = (address ^ (i ? (uint64_t)(uint32_t)op->coord[i - 1] : op->map)) * UINT64_C(0x100000001b3);
    return (struct clock_box){address, op->bytes, op->row};
}

static void start_load(struct clock_model *m, const struct clock_place *p, const struct trace_op *op,
                       const double *leader, struct clock_start *s) {
    const struct clock_box box = box_of(op);
    s->there = leader ? *leader + m->costs->multicast : clock_fetch(m, sm_of(p, op->rank), s->at, &box);
    s->done = clock_arrive(m, sm_of(p, op->to ? op->to - 1 : op->rank), s->there, &box);
}

static void start_copy(struct clock_model *m, const struct clock_place *p, const struct trace_op *op,
                       const double *leader, struct clock_start *s) {
    const struct clock_box box = box_of(op);
    if (op->follows) {
        s->done = clock_store_write(m, s->at, &box);
    } else if (op->from && op->to) { /* from one SM to another */
        const double sent = clock_store_read(m, sm_of(p, op->from - 1), s->at, &box) + m->costs->arrive_remote;
        s->done = clock_arrive(m, sm_of(p, op->to - 1), sent, &box);
    } else if (op->from) {
        s->done = clock_store_read(m, sm_of(p, op->from - 1), s->at, &box);
    } else {
        start_load(m, p, op, leader, s);
    }
}

static void start_umma(struct clock_model *m, struct clock_place *p, const struct trace_op *op, struct clock_start *s) {
    const struct clock_umma u = {
        .m = op->m,
        .n = op->n,
        .k = op->k,
        .cta_group = op->cta_group,
        .tf32 = op->k == 8, /* 32 bytes of 4 along K */
        .a_in_tmem = op->a_in_tmem != 0,
        .peer = sm_of(p, op->rank ^ 1),
    };
    double *latest = &p->umma[op->rank % CLOCK_RANKS];
    s->at = clock_run_umma(m, sm_of(p, op->rank), s->at, &u, &s->done);
    *latest = fmax(*latest, s->done);
}

/* cp.async reads only through L2: as .cg, the form for 16 bytes (9.7.9.25.3.1). */
static double start_cp_async(struct clock_model *m, uint32_t sm, double at, const struct trace_op *op) {
    struct clock_access a = {.strong = true};
    for (uint64_t off = 0; off < op->bytes; off += 16)
        clock_touch_lane(&a, op->global + off, 16);
    return clock_thread_read(m, sm, at, &a);
}

struct clock_start clock_start(struct clock_model *m, struct clock_place *p, const struct trace_op *op,
                               const char *name, double at, const double *leader) {
    const uint32_t rank = op->rank % CLOCK_RANKS, sm = sm_of(p, rank);
    double *copies = &p->copies[clock_warp(rank, op->warp)];
    struct clock_start s = {.at = at, .done = at};
    switch (op->agent) {
    case AGENT_TMA:
    case AGENT_BULK:
        start_copy(m, p, op, leader, &s);
        break;
    case AGENT_TENSOR_CORE:
        start_umma(m, p, op, &s);
        break;
    case AGENT_TENSOR_COPY:
        s.done = clock_run_cp(m, sm, at, op->bytes);
        p->umma[rank] = fmax(p->umma[rank], s.done);
        break;
    case AGENT_TENSOR_LDST:
        s.done = clock_run_ldst(m, sm, op->warp, at, op->n);
        break;
    case AGENT_COMMIT:
        s.done = fmax(at, strcmp(name, "tcgen05.commit") == 0 ? p->umma[rank] : *copies);
        break;
    case AGENT_CP_ASYNC:
        s.done = start_cp_async(m, sm, at, op);
        *copies = fmax(*copies, s.done);
        break;
    case AGENT_CLC:
        s.done = at + m->costs->clc;
        break;
    default:
        break;
    }
    return s;
}
