/* cudart/core/statistics.c - where the counters of launches go: stderr (--stats) and a file (--stats-json); contract in
 * context.h. */
#include "base/fatal.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/source.h"
#include "cudart/core/context.h"
#include "cudart/core/cycles.h"
#include "report/record.h"
#include "stats/stats.h"
#include "trace/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL "\n]}\n"

/* Goes to the end of the list in a file that has one: what stands before the end, or -1. */
static int find_end(FILE *f) {
    const long size = sizeof TAIL - 1;
    char text[sizeof TAIL] = "";
    if (fseek(f, -size - 1, SEEK_END) != 0)
        return -1;
    const int before = fgetc(f);
    const bool ours = fread(text, 1, (size_t)size, f) == (size_t)size && strcmp(text, TAIL) == 0;
    errno = EINVAL;
    return ours && fseek(f, -size, SEEK_END) == 0 ? before : -1;
}

/* The file is whole after every launch: the next one is written over the end of the list. */
static bool write_launch(struct rt_statistics *t, const char *to, int fault) {
    const bool begins = !t->begun && t->turn <= 1;
    FILE *f = fopen(to, begins ? "we" : "r+e");
    int before = '[';
    if (f && begins)
        fprintf(f, "{\"version\":%u,\"emulator\":\"sm100emu " VERSION "\",\"launches\":[", STATS_VERSION);
    else if (f)
        before = find_end(f);
    bool ok = f != NULL && before >= 0;
    if (ok && t->last) {
        fputs(before == '[' ? "\n" : ",\n", f);
        stats_json(t->last, fault, t->turn ? t->turn : 1, f);
    }
    ok = ok && fputs(TAIL, f) >= 0 && !ferror(f);
    if (f)
        ok &= fclose(f) == 0;
    t->begun |= ok;
    return ok;
}

/* The first process of a run begins the file anew, the others add to it. */
static bool write_in_turn(struct rt_statistics *t, int fault, char *why, size_t size) {
    char to[PATH_MAX];
    struct stat st;
    path_of_option(t->json, to, sizeof to);
    if (stat(to, &st) == 0 && !S_ISREG(st.st_mode)) {
        snprintf(why, size, "%s: no regular file", to);
        return false;
    }
    const int lock = record_lock(getenv(RECORD_RUN_VARIABLE));
    if (lock >= 0 && t->turn == 0)
        t->turn = record_turn(lock, to);
    const bool ok = write_launch(t, to, fault);
    if (!ok)
        snprintf(why, size, "%s: %s", to, strerror(errno));
    record_unlock(lock);
    return ok;
}

/* That the file cannot be written is told once. */
static bool write_json(struct rt_context *c, int fault) {
    struct rt_statistics *t = &c->statistics;
    char why[PATH_MAX + 256];
    const bool ok = t->json == NULL || t->json_lost || write_in_turn(t, fault, why, sizeof why);
    if (!ok)
        c->unwritten = rt_say(c, RT_ERROR_OPERATING_SYSTEM, "--stats-json: %s", why);
    t->json_lost |= !ok;
    return ok;
}

int rt_statistics_open(struct rt_context *c, const struct mach_config *config) {
    struct rt_statistics *t = &c->statistics;
    t->shown = getenv("SM100EMU_STATS") != NULL;
    t->pid = (long)getpid();
    if (t->json != NULL || config->stats_json == NULL)
        return RT_SUCCESS;
    if ((t->json = rt_strdup(c, config->stats_json)) == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    return write_json(c, 0) ? RT_SUCCESS : RT_ERROR_NOT_INITIALIZED;
}

static void take(void *ctx, struct stats *s) {
    struct rt_statistics *t = ctx;
    stats_free(t->last);
    t->last = s;
}

void rt_statistics_attach(struct rt_context *c) {
    struct rt_statistics *t = &c->statistics;
    t->sink = (struct stats_sink){.take = take, .ctx = t};
    if ((t->shown || t->json) && !stats_attach(c->gpu, &t->sink))
        fatal_broken("no room for the listener of --stats");
}

void rt_time_tell(const char *kernel, double cycles, struct stats_time time) {
    fprintf(stderr, "sm100emu: %s: modelled: %.0f cycles, ", kernel, cycles);
    stats_time_print(&time, stderr);
    fputc('\n', stderr);
}

/* What the launch's log gives. */
static void add_cycles(struct rt_context *c, const char *kernel) {
    struct rt_statistics *t = &c->statistics;
    struct stats_cycles *s = rt_cycles(t->log, &c->state, source_program_time());
    trace_free(t->log);
    t->log = NULL;
    if (rt_time_wanted(c) && s->why[0])
        fprintf(stderr, "sm100emu: %s: modelled: none: %s\n", kernel, s->why);
    else if (rt_time_wanted(c))
        rt_time_tell(kernel, s->cycles, s->time);
    if (t->last) {
        t->last->cycles = s;
        return;
    }
    xfree(s->waits);
    xfree(s);
}

void rt_statistics_tell(struct rt_context *c, const char *kernel, int fault) {
    struct rt_statistics *t = &c->statistics;
    if (t->log)
        add_cycles(c, kernel);
    if (!t->last)
        return;
    if (t->pid == (long)getpid()) {
        if (t->shown)
            stats_print(t->last, stderr);
        write_json(c, fault);
    }
    stats_free(t->last);
    t->last = NULL;
}
