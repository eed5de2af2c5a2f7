/* sm100emu-log - shows the logs that sm100emu --trace=FILE writes.
 *
 *   sm100emu-log [OPTIONS] LOG
 *
 * Exit status: 0, 1 where the log cannot be read, the output not be written or what was asked for is not in it, 2 for
 * wrong use.
 */
#include "base/source.h"
#include "trace/file.h"
#include "view/follow.h"
#include "view/json.h"
#include "view/perfetto.h"
#include "view/timeline.h"
#include "view/times.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FAILED = 1, WRONG_USE = 2 };

static const char help_text[] =
    "usage: sm100emu-log [OPTIONS] LOG\n"
    "Shows a log that sm100emu --trace=LOG PROGRAM has written.\n"
    "\n"
    "What to show:\n"
    "  --timeline      who does what and when in the first tiles, and why (the default)\n"
    "  --follow=WHAT   the events of one thing: a barrier or buffer by its name as full[0], a shared address\n"
    "                  as 0x418, columns of tensor memory as tmem:0-255, or a tile as tile:3; after it the place:\n"
    "                  @ctaN, its rank in the cluster (default: 0), @clusterM (default: the first of the log)\n"
    "  --perfetto=FILE write the log to FILE in the trace-event format, which https://ui.perfetto.dev opens\n"
    "  --json          the whole log as JSON, on stdout; emulator/view/json.h explains it\n"
    "\n"
    "  --like=LOG      name warps as in LOG, another run of the same kernels: if a run ended early, warps have not reached\n"
    "                  the lines that name them\n"
    "  --warps=NAME,NAME,...\n"
    "                  names of warps 0, 1, ... of a CTA, for a kernel whose lines name no role\n"
    "  --order         the order of the events, without cycles (default: cycles on a model of a B200, if it has them)\n"
    "  --launch=N      the launch, in the order of the log (default: the first with a tcgen05.mma, otherwise 1; --json:\n"
    "                  all)\n"
    "  --cluster=N     the timeline's cluster, by its number in the grid (default: the first of the log)\n"
    "  --ctas=FIRST-LAST\n"
    "                  the timeline's CTAs, by their ranks in the cluster (default: 0-1)\n"
    "  --tiles=FIRST-LAST\n"
    "                  the timeline's tiles (default: 0-1)\n"
    "  --repeat=N      how often the timeline shows an event that repeats in the first tile (default: 2; 0: always);\n"
    "                  in later tiles it shows it once\n"
    "  --source-root=FOLDER\n"
    "                  also read names from files below FOLDER without the name of a source file\n"
    "  --width=N       columns of a line; 0: never cut (default: the terminal's, otherwise 160)\n"
    "  --version       version of the emulator\n"
    "  --help          this text\n";

__attribute__((format(printf, 2, 3))) static _Noreturn void stop(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("sm100emu-log: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(status);
}

/* --- options ------------------------------------------------------------------------------------------------------ */

struct options {
    bool json, text, order; /* text: --timeline */
    const char *follow, *perfetto, *path, *like, *warps;
    uint32_t launch; /* from 1; 0: not said */
    bool has_cluster, has_width;
    uint32_t cluster, width;
    struct timeline timeline;
};

/* The value of "--name=value", or NULL when the argument is another option. */
static const char *value_of(const char *arg, const char *name) {
    const size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

/* FIRST-LAST or one number, each from `least` to `most`. */
static void range_of(const char *name, const char *value, uint32_t least, uint32_t most, uint32_t range[2]) {
    const char *at = value;
    for (int i = 0; i < 2; i++) {
        char *end;
        errno = 0;
        const unsigned long n = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : (end = NULL, 0);
        if (!end || errno || n < least || n > most || (i && n < range[0]))
            stop(WRONG_USE, "%s=%s: expected a number, %u to %u, or two as 0-1", name, value, least, most);
        range[i] = (uint32_t)n;
        if (i == 0 && *end == 0) {
            range[1] = range[0];
            return;
        }
        if ((i == 0 && *end != '-') || (i == 1 && *end != 0))
            stop(WRONG_USE, "%s=%s: expected a number, %u to %u, or two as 0-1", name, value, least, most);
        at = end + 1;
    }
}

static uint32_t number_of(const char *name, const char *value, uint32_t least, uint32_t most) {
    uint32_t range[2];
    range_of(name, value, least, most, range);
    if (range[0] != range[1])
        stop(WRONG_USE, "%s=%s: expected a number, %u to %u", name, value, least, most);
    return range[0];
}

/* Options with a value: false for another. */
static bool take_value(const char *arg, struct options *o) {
    const char *v;
    char why[256];
    uint32_t range[2];
    if ((v = value_of(arg, "--follow"))) {
        if (!follow_parse(v, why, sizeof why))
            stop(WRONG_USE, "--follow=%s: %s", v, why);
        o->follow = v;
    } else if ((v = value_of(arg, "--perfetto"))) {
        o->perfetto = v;
    } else if ((v = value_of(arg, "--like"))) {
        o->like = v;
    } else if ((v = value_of(arg, "--warps"))) {
        if (!*v || *v == ',' || v[strlen(v) - 1] == ',' || strstr(v, ",,"))
            stop(WRONG_USE, "--warps=%s: expected names with commas between them, as load,mma", v);
        o->warps = v;
    } else if ((v = value_of(arg, "--launch"))) {
        o->launch = number_of("--launch", v, 1, UINT32_MAX - 1);
    } else if ((v = value_of(arg, "--cluster"))) {
        o->cluster = number_of("--cluster", v, 0, UINT32_MAX - 1);
        o->has_cluster = true;
    } else if ((v = value_of(arg, "--ctas"))) {
        range_of("--ctas", v, 0, 15, range);
        o->timeline.ctas = (2u << range[1]) - (1u << range[0]);
    } else if ((v = value_of(arg, "--tiles"))) {
        range_of("--tiles", v, 0, UINT32_MAX - 2, range);
        o->timeline.first_tile = range[0];
        o->timeline.last_tile = range[1];
    } else if ((v = value_of(arg, "--repeat"))) {
        o->timeline.repeat = number_of("--repeat", v, 0, UINT32_MAX - 1);
    } else if ((v = value_of(arg, "--source-root"))) {
        if (setenv(SOURCE_ROOT, v, 1) != 0)
            stop(FAILED, "--source-root: %s", strerror(errno));
    } else if ((v = value_of(arg, "--width"))) {
        o->width = number_of("--width", v, 0, 1000);
        o->has_width = true;
    } else {
        return false;
    }
    return true;
}

/* Prints what was asked for, and ends. */
static _Noreturn void tell(const char *text) {
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
        stop(FAILED, "stdout takes no more: %s", strerror(errno));
    exit(0);
}

static void take(const char *arg, struct options *o) {
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)
        tell(help_text);
    if (strcmp(arg, "--version") == 0)
        tell("sm100emu-log " VERSION "\n");
    if (strcmp(arg, "--json") == 0)
        o->json = true;
    else if (strcmp(arg, "--timeline") == 0)
        o->text = true;
    else if (strcmp(arg, "--order") == 0)
        o->order = true;
    else if (arg[0] == '-' && arg[1] && !take_value(arg, o))
        stop(WRONG_USE, "%s is no option; --help lists them", arg);
    else if (arg[0] != '-' && o->path)
        stop(WRONG_USE, "one log at a time: %s and %s", o->path, arg);
    else if (arg[0] != '-')
        o->path = arg;
}

/* --- what is shown ------------------------------------------------------------------------------------------------ */

/* When the log was made: source files that are newer have other lines. */
static int64_t time_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_mtime : 0;
}

static void find_cluster(const struct options *o, const struct trace_log *log, struct timeline *t) {
    for (t->cluster = 0; o->has_cluster && t->cluster < log->num_clusters; t->cluster++)
        if (log->clusters[t->cluster].number == o->cluster)
            return;
    if (o->has_cluster)
        stop(FAILED, "--cluster=%u: the log of this launch has %u clusters, and not this one", o->cluster,
             log->num_clusters);
}

static void show_text(struct options *o, const struct trace_log *log, struct names *names,
                      const struct say_times *times) {
    struct rows rows = rows_to(stdout);
    char why[512];
    rows.width = o->has_width ? o->width : rows.width;
    if (o->follow && !follow_print(&rows, log, names, times, o->follow, why, sizeof why)) {
        fflush(stdout);
        fprintf(stderr, "sm100emu-log: --follow: %s\n", why);
        follow_list(stderr, log, names, o->follow);
        exit(FAILED);
    }
    if (o->follow && !o->text)
        return;
    find_cluster(o, log, &o->timeline);
    if (!timeline_print(&rows, log, names, times, &o->timeline, why, sizeof why))
        stop(FAILED, "%s", why);
}

static void write_perfetto(const char *path, const struct trace_log *log, struct names *names,
                           const struct say_times *times) {
    FILE *f = fopen(path, "wbe");
    if (!f)
        stop(FAILED, "%s: %s", path, strerror(errno));
    const bool ok = perfetto_write(f, log, names, times);
    if ((fclose(f) != 0) | !ok)
        stop(FAILED, "%s takes no more: %s", path, strerror(errno));
}

static bool has_umma(const struct trace_log *log) {
    for (uint32_t c = 0; c < log->num_clusters; c++)
        for (uint32_t i = 0; i < log->clusters[c].num_ops; i++)
            if (log->clusters[c].ops[i].agent == AGENT_TENSOR_CORE)
                return true;
    return false;
}

static void show(struct options *o, const struct view_run *run, const struct view_run *like) {
    const uint32_t count = run->count;
    for (uint32_t i = count; i > 0 && !o->launch; i--)
        o->launch = has_umma(run->logs[count - i]) ? count - i + 1 : i == 1 ? 1 : 0;
    if (o->launch > count)
        stop(FAILED, "--launch=%u: the log has %u launches", o->launch, count);
    const struct trace_log *log = run->logs[o->launch - 1];
    struct names *names = names_make(log, run->newest),
                 *other = o->launch <= like->count ? names_make(like->logs[o->launch - 1], like->newest) : NULL;
    names_like(names, other);
    names_call_warps(names, run->warps);
    struct times times;
    char why[256] = "";
    const bool text = o->text || o->follow || !(o->json || o->perfetto);
    const bool clock = !o->order && (text || o->perfetto) && times_make(&times, log, why, sizeof why);
    if (*why)
        fprintf(stderr, "sm100emu-log: the order of events, without cycles: %s\n", why);
    if (o->perfetto)
        write_perfetto(o->perfetto, log, names, clock ? times.say : NULL);
    if (text)
        show_text(o, log, names, clock ? times.say : NULL);
    if (clock && *times.doubts && fflush(stdout) == 0)
        fprintf(stderr, "sm100emu-log: the cycles may be off: %s\n", times.doubts);
    if (clock)
        times_free(&times, log);
    names_free(names);
    names_free(other);
}

static struct view_run read_run(const char *path, struct trace_log ***logs) {
    char why[512];
    const uint32_t count = trace_read(path, logs, why, sizeof why);
    if (!count)
        stop(FAILED, "%s", why);
    return (struct view_run){*logs, count, time_of(path), NULL};
}

static void free_run(struct trace_log **logs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        trace_free(logs[i]);
    free(logs);
}

int main(int argc, char **argv) {
    struct options o = {.timeline = timeline_default()};
    struct trace_log **logs, **its = NULL;
    struct view_run like = {0};
    for (int i = 1; i < argc; i++)
        take(argv[i], &o);
    if (!o.path)
        stop(WRONG_USE, "no log given; --help says how");
    if (o.json && (o.text || o.follow))
        stop(WRONG_USE, "--json has stdout to itself");
    struct view_run run = read_run(o.path, &logs);
    run.warps = o.warps;
    if (o.like)
        like = read_run(o.like, &its);
    show(&o, &run, &like);
    if (o.json && !view_json(stdout, &run, &like, !o.order))
        stop(FAILED, "stdout takes no more: %s", strerror(errno));
    if (fflush(stdout) != 0)
        stop(FAILED, "stdout takes no more: %s", strerror(errno));
    free_run(logs, run.count);
    free_run(its, like.count);
    return 0;
}
