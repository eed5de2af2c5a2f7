/* check/know/sites.c - the lines of a warp's accesses; contract in sites.h. */
#include "check/know/sites.h"

#include "base/heap.h"

#include <string.h>

#define LOOKS 4096u /* accesses that sites_before searches */

void sites_open_logs(struct site_logs *logs) {
    logs->num = 0;
    pthread_mutex_init(&logs->lock, NULL);
}

void sites_close_logs(struct site_logs *logs) {
    while (logs->num)
        xfree(logs->log[--logs->num]);
    pthread_mutex_destroy(&logs->lock);
}

void sites_end(struct sites *s) {
    pthread_mutex_lock(&s->logs->lock);
    const bool keep = s->room && s->room == s->most && s->logs->num < SITE_LOGS;
    if (keep)
        s->logs->log[s->logs->num++] = s->log;
    pthread_mutex_unlock(&s->logs->lock);
    if (!keep)
        xfree(s->log);
}

/* Makes room for more. */
static void grow(struct sites *s) {
    const uint32_t more = s->room ? 4 * s->room : 256;
    struct site_time *log = NULL;
    if (more < s->most / 2) {
        s->log = xrealloc_array(s->log, s->room = more, sizeof *s->log);
        return;
    }
    pthread_mutex_lock(&s->logs->lock);
    if (s->logs->num)
        log = s->logs->log[--s->logs->num];
    pthread_mutex_unlock(&s->logs->lock);
    if (!log)
        log = xrealloc_array(NULL, s->most, sizeof *log);
    if (s->log)
        memcpy(log, s->log, s->room * sizeof *log);
    xfree(s->log);
    s->log = log;
    s->room = s->most;
}

void sites_remember_other(struct sites *s, uint32_t time, const struct diag_site *site) {
    if (!s->most || (s->end && s->log[(s->next ? s->next : s->room) - 1].time == time))
        return;
    if (s->end == s->room && s->room < s->most)
        grow(s);
    s->next = s->next < s->room ? s->next : 0;
    s->log[s->next++] = (struct site_time){time, site};
    s->end++;
}

/* The number of the oldest access in the log. */
static uint32_t oldest(const struct sites *s) { return s->end > s->room ? s->end - s->room : 0; }

const struct diag_site *sites_find(const struct sites *s, uint32_t time) {
    uint32_t low = oldest(s), high = s->end;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct site_time *p = &s->log[middle % s->room];
        if (p->time == time)
            return p->site;
        if (p->time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool sites_is_forgotten(const struct sites *s, uint32_t time) {
    return oldest(s) && time < s->log[oldest(s) % s->room].time;
}

uint32_t sites_latest(const struct sites *s, const struct diag_site *site, uint32_t before) {
    for (uint32_t i = s->end; site && i > oldest(s) && s->end - i < LOOKS; i--) {
        const struct site_time *p = &s->log[(i - 1) % s->room];
        if (p->site == site && p->time < before)
            return p->time;
    }
    return 0;
}

uint32_t sites_before(const struct sites *s, uint32_t time) { return sites_latest(s, sites_find(s, time), time); }
