/* check/know/sites.h - the lines of a warp's accesses: reports name them, and they show which thread is a round ahead.
 * Its arrivals and polls, too: from them the cause of a missing order is computed (check/verdict/cause.c).
 */
#ifndef CHECK_KNOW_SITES_H
#define CHECK_KNOW_SITES_H

#include "report/diag.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The latest accesses of a warp in the order of time: a ring buffer, until the warp ends. */
struct sites {
    struct site_time {
        uint32_t time;
        const struct diag_site *site;
    } * log;
    uint32_t end, room, most; /* accesses logged so far; entries of the log; limit of `room` */
    uint32_t next;            /* place in the log of the next access */
    struct site_logs *logs;
};
/* Logs of the most entries that warps have left, for other warps: of a GPU. The host gives out memory slowly. */
#define SITE_LOGS 32u
struct site_logs {
    pthread_mutex_t lock;
    uint32_t num;
    struct site_time *log[SITE_LOGS];
};
void sites_open_logs(struct site_logs *logs);
void sites_close_logs(struct site_logs *logs);
/* The warp ends. */
void sites_end(struct sites *s);

/* At an access by an instruction of the warp, or at the issue of an operation. */
void sites_remember_other(struct sites *s, uint32_t time, const struct diag_site *site);
static inline void sites_remember(struct sites *s, uint32_t time, const struct diag_site *site) {
    if (!s->next || s->next >= s->room || s->log[s->next - 1].time == time) {
        sites_remember_other(s, time, site);
        return;
    }
    s->log[s->next++] = (struct site_time){time, site};
    s->end++;
}
/* The line of the access at that time; NULL: forgotten. */
const struct diag_site *sites_find(const struct sites *s, uint32_t time);
bool sites_is_forgotten(const struct sites *s, uint32_t time);
/* The time when the same line was executed before that; 0: not known. */
uint32_t sites_before(const struct sites *s, uint32_t time);
/* The same for a given line. */
uint32_t sites_latest(const struct sites *s, const struct diag_site *site, uint32_t before);

/* The latest arrivals of a warp's lanes on mbarriers: a ring buffer, until the warp ends. */
#define TELLS 32u
struct tells {
    struct tell {
        uint32_t time, lanes; /* lanes that arrived */
        const struct diag_site *site;
    } log[TELLS];
    uint32_t end; /* arrivals so far */
};
static inline void tells_remember(struct tells *t, uint32_t time, uint32_t lanes, const struct diag_site *site) {
    t->log[t->end++ % TELLS] = (struct tell){time, lanes, site};
}

/* The latest polls of a warp that saw the end of an mbarrier's phase: a ring buffer, until the warp ends. */
#define POLLS 16u
struct polls {
    struct poll {
        uint32_t time, off, rank, parity; /* off: shared offset of the mbarrier; rank: of its CTA */
        bool stale; /* the phase was over before: the thread had seen it end, or no phase had ended yet */
        const struct diag_site *site;
    } log[POLLS];
    uint32_t end; /* such polls so far */
};

#endif
