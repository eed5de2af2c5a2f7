/* check/know/sites.h - the lines of a warp's accesses: what a report names, and who is a round ahead. */
#ifndef CHECK_KNOW_SITES_H
#define CHECK_KNOW_SITES_H

#include "report/diag.h"

#include <stdbool.h>
#include <stdint.h>

/* The latest accesses of a warp, in the order of their times: a ring, until the warp ends. */
struct sites {
    struct site_time {
        uint32_t time;
        const struct diag_site *site;
    } * log;
    uint32_t end, room, most; /* most: room for so many */
};

/* An instruction of the warp accesses memory, or issues an operation, at that time. */
void sites_remember(struct sites *s, uint32_t time, const struct diag_site *site);
/* The line of the access at that time, or NULL if it is forgotten. */
const struct diag_site *sites_find(const struct sites *s, uint32_t time);
bool sites_is_forgotten(const struct sites *s, uint32_t time);
/* When the same line was executed before that; 0: not known. */
uint32_t sites_before(const struct sites *s, uint32_t time);
/* The same of a line. */
uint32_t sites_latest(const struct sites *s, const struct diag_site *site, uint32_t before);

/* The latest arrivals of a warp's lanes on mbarriers: a ring, until the warp ends. */
#define TELLS 32u
struct tells {
    struct tell {
        uint32_t time, lanes;
        const struct diag_site *site;
    } log[TELLS];
    uint32_t end;
};
static inline void tells_remember(struct tells *t, uint32_t time, uint32_t lanes, const struct diag_site *site) {
    t->log[t->end++ % TELLS] = (struct tell){time, lanes, site};
}

/* The latest polls of a warp that saw a phase of an mbarrier complete: a ring, until the warp ends. */
#define POLLS 16u
struct polls {
    struct poll {
        uint32_t time, off, rank, parity; /* rank: of the CTA that has the mbarrier */
        bool stale;                       /* the phase was over before: the thread had seen it, or there was none yet */
        const struct diag_site *site;
    } log[POLLS];
    uint32_t end;
};

#endif
