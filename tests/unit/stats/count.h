/* count.h - runs a kernel with the listener of stats/ and gives its counters.
 *
 *     struct counted c;
 *     if (count(&c, (struct run_shape){.block = 32}, LOG_HEAD "..." LOG_END))
 *         CHECK_EQ(c.s->mbar_polls, 3);
 *     count_free(&c);
 *
 * The kernel is k, its parameter 64 KiB of global memory, as event_log.h attaches it, with a tensor map in it.
 */
#ifndef TESTS_STATS_COUNT_H
#define TESTS_STATS_COUNT_H

#include "stats/stats.h"
#include "unit/event_log.h"

struct counted {
    struct run r;
    struct event_log log; /* which wants nothing */
    struct stats_sink sink;
    struct stats *s;
};

static inline void count_take(void *ctx, struct stats *s) {
    struct counted *c = ctx;
    stats_free(c->s);
    c->s = s;
}

static inline bool count_under(struct counted *c, struct run_shape shape, const char *ptx,
                               const struct mach_config *config) {
    memset(c, 0, sizeof *c);
    if (!run_open_config(&c->r, ptx, config))
        return false;
    c->sink = (struct stats_sink){count_take, c};
    log_attach(&c->r, &c->log);
    return CHECK(stats_attach(c->r.gpu, &c->sink)) && run_ok(&c->r, "k", shape, 1, &c->log.base) && CHECK(c->s != NULL);
}

static inline bool count(struct counted *c, struct run_shape shape, const char *ptx) {
    struct mach_config config = mach_config_b200();
    config.watchdog = 1000000;
    return count_under(c, shape, ptx, &config);
}

static inline void count_free(struct counted *c) {
    stats_free(c->s);
    c->s = NULL;
    run_close(&c->r);
}

/* The counters of the instruction of that opcode which stands as number `nth` (from 0) in the PTX. */
static inline struct stats_site count_of(const struct counted *c, const char *what, unsigned nth) {
    for (uint32_t i = 0; c->s && i < c->s->num_sites; i++)
        if (strcmp(c->s->sites[i].what, what) == 0 && nth-- == 0)
            return c->s->sites[i];
    CHECK(!"an instruction of that name");
    return (struct stats_site){0};
}

static inline uint64_t count_kind(const struct counted *c, enum stats_kind kind) {
    uint64_t n = 0;
    for (uint32_t i = 0; c->s && i < c->s->num_sites; i++)
        n += stats_kind_of(&c->s->sites[i]) == kind ? c->s->sites[i].issued : 0;
    return n;
}

static inline struct stats_op count_op(const struct counted *c, const char *name) {
    for (uint32_t i = 0; c->s && i < c->s->num_ops; i++)
        if (strcmp(c->s->ops[i].name, name) == 0)
            return c->s->ops[i];
    CHECK(!"an operation of that name");
    return (struct stats_op){0};
}

#endif
