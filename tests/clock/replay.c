/* replay.c - what a log takes on the clock's B200.
 *
 *   replay [--launches=N] [--events=CLUSTER] [--fit] [NAME=VALUE]... LOG...
 *
 * One line a launch: cycles, and what there is to doubt. NAME=VALUE sets a cost of emulator/clock/table.def. With --fit
 * the logs are read once, and each line of stdin, NAME=VALUE words, gives a line of their cycles. */
#include "clock/clock.h"
#include "trace/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    struct trace_log *logs[4096];
    const char *paths[4096];
    uint32_t num;
    struct clock_table table;
    struct clock_options options;
    long events; /* of this cluster; -1: none */
};

static _Noreturn void stop(const char *what, const char *why) {
    fprintf(stderr, "replay: %s: %s\n", what, why);
    exit(1);
}

static void set(struct clock_table *table, const char *word) {
    char name[64];
    const char *value = strchr(word, '=');
    if (!value || (size_t)(value - word) >= sizeof name)
        stop(word, "NAME=VALUE is meant");
    memcpy(name, word, (size_t)(value - word));
    name[value - word] = 0;
    if (!clock_table_set(table, name, strtod(value + 1, NULL)))
        stop(name, "no such cost");
}

static void read_logs(struct job *job, const char *path) {
    struct trace_log **logs;
    char why[512];
    const uint32_t count = trace_read(path, &logs, why, sizeof why);
    if (!count)
        stop(path, why);
    for (uint32_t i = 0; i < count; i++) {
        if (job->num == sizeof job->logs / sizeof job->logs[0])
            stop(path, "too many logs");
        job->paths[job->num] = path;
        job->logs[job->num++] = logs[i];
    }
    free(logs);
}

static void show_events(const struct job *job, const struct trace_log *log, const struct clock_result *r) {
    const struct trace_cluster *c = &log->clusters[job->events];
    for (uint32_t i = 0; i < c->num_events; i++) {
        const struct trace_event *e = &c->events[i];
        printf("%10.1f %6u <- %6u  class %u kind %2u rank %u warp %3u op %5u object %3u %s\n",
               r->clusters[job->events].cycle[i], i + 1, r->clusters[job->events].cause[i], e->class, e->kind, e->rank,
               e->warp, e->op, e->object,
               e->op     ? trace_string(log, c->ops[e->op - 1].name)
               : e->site ? trace_string(log, log->sites[e->site - 1].text)
                         : "");
    }
}

static void show(const struct job *job, uint32_t n) {
    struct clock_result r;
    char why[512], doubts[256];
    const struct trace_log *log = job->logs[n];
    if (!clock_replay_with(log, &job->table, &job->options, &r, why, sizeof why))
        stop(job->paths[n], why);
    clock_doubts_text(&r.doubts, doubts, sizeof doubts);
    printf("%s %s: %.0f cycles%s, tensor cores busy %.2f %% of %.0f SMs, HBM %" PRIu64 " bytes, L2 %" PRIu64 "%s%s\n",
           job->paths[n], trace_string(log, log->kernel), r.cycles, r.fault ? " up to the fault" : "",
           100 * r.busy.tensor / (r.cycles * job->table.sms), job->table.sms, r.busy.hbm_bytes, r.busy.l2_bytes,
           *doubts ? "; " : "", doubts);
    if (job->events >= 0)
        show_events(job, log, &r);
    clock_result_free(&r, log);
}

static void fit(struct job *job) {
    char line[4096], why[512];
    while (fgets(line, sizeof line, stdin)) {
        struct clock_table table = job->table;
        for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
            set(&table, word);
        for (uint32_t i = 0; i < job->num; i++) {
            struct clock_result r;
            if (!clock_replay_with(job->logs[i], &table, &job->options, &r, why, sizeof why))
                stop(job->paths[i], why);
            printf("%.1f ", r.cycles);
        }
        printf("\n");
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    static struct job job;
    bool fitting = false;
    job.table = clock_b200();
    job.options = (struct clock_options){1, true};
    job.events = -1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--launches=", 11) == 0)
            job.options.launches = (uint32_t)strtoul(argv[i] + 11, NULL, 10);
        else if (strncmp(argv[i], "--events=", 9) == 0) {
            job.events = strtol(argv[i] + 9, NULL, 10);
            job.options.cycles_alone = false;
        } else if (strcmp(argv[i], "--fit") == 0)
            fitting = true;
        else if (strchr(argv[i], '=') && !strchr(argv[i], '/'))
            set(&job.table, argv[i]);
        else
            read_logs(&job, argv[i]);
    }
    if (fitting)
        fit(&job);
    for (uint32_t i = 0; i < job.num && !fitting; i++)
        show(&job, i);
    for (uint32_t i = 0; i < job.num; i++)
        trace_free(job.logs[i]);
    return 0;
}
