/* Logs as files (trace/file.h): what is written comes back; what is damaged, cut off, of another version or no log is
 * refused in a sentence. */
#include "check.h"

#include "base/heap.h"
#include "trace/file.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static char text[] = "\0k\0a.cu\0tcgen05.commit";

/* A small log that holds something in each table. */
static struct trace_log sample(struct trace_cluster *c) {
    static struct trace_site site = {.file = 3, .line = 7, .text = 8, .inlined = 1};
    static struct trace_call call = {.file = 3, .line = 9};
    static struct trace_object objects[2] = {{.kind = OBJECT_MBARRIER, .at = 1024, .count = 1},
                                             {.kind = OBJECT_QUEUE, .name = 8}};
    static struct trace_op op = {.name = 8, .site = 1, .queue = 2, .leader = 1, .issued = 1, .started = 2};
    static struct trace_event events[4] = {
        {.class = TRACE_OP, .kind = OP_ISSUED, .site = 1, .op = 1, .object = 2},
        {.class = TRACE_OP, .kind = OP_STARTED, .site = 1, .op = 1, .object = 2, .cause = 1, .warp = TRACE_NO_WARP},
        {.class = TRACE_WAIT, .kind = WAIT_MET, .what = WAIT_MBARRIER, .object = 1, .cause = 2, .value = 1},
        {.class = TRACE_GLOBAL, .kind = EFFECT_READ, .phase = 1, .pending = 1}};
    static struct trace_span span = {.first = 64, .step = -4, .lanes = 32};
    *c = (struct trace_cluster){.ctas = 1,
                                .objects = objects,
                                .ops = &op,
                                .events = events,
                                .spans = &span,
                                .num_objects = 2,
                                .num_ops = 1,
                                .num_events = 4,
                                .num_spans = 1,
                                .complete = 1};
    return (struct trace_log){.version = TRACE_VERSION,
                              .kernel = 1,
                              .grid = {1, 1, 1},
                              .text = text,
                              .text_bytes = sizeof text,
                              .sites = &site,
                              .num_sites = 1,
                              .calls = &call,
                              .num_calls = 1,
                              .clusters = c,
                              .num_clusters = 1};
}

static char path[] = "/tmp/sm100emu-log-XXXXXX";

static void put_file(const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL && fwrite(bytes, 1, size, f) == size);
    fclose(f);
}

/* How many logs there are in these bytes; `why` where there are none. */
static uint32_t count_in(const void *bytes, size_t size, char *why, size_t room) {
    struct trace_log **logs;
    put_file(bytes, size);
    const uint32_t n = trace_read(path, &logs, why, room);
    for (uint32_t i = 0; i < n; i++)
        trace_free(logs[i]);
    xfree(logs);
    return n;
}

static void refused(const void *bytes, size_t size, const char *with) {
    char why[512];
    CHECK_EQ(count_in(bytes, size, why, sizeof why), 0);
    if (!CHECK(strstr(why, with) != NULL))
        fprintf(stderr, "%s\n", why);
}

static char *written(const struct trace_log *log, size_t *size) {
    char *bytes = NULL;
    FILE *f = open_memstream(&bytes, size);
    CHECK(f != NULL && trace_write(f, log) && trace_write(f, log));
    fclose(f);
    return bytes;
}

static void comes_back(const char *bytes, size_t size) {
    struct trace_log **logs;
    char why[512];
    put_file(bytes, size);
    if (!CHECK_EQ(trace_read(path, &logs, why, sizeof why), 2))
        return;
    for (uint32_t i = 0; i < 2; i++) {
        const struct trace_cluster *c = &logs[i]->clusters[0];
        CHECK_STR(trace_string(logs[i], logs[i]->kernel), "k");
        CHECK_EQ(logs[i]->sites[0].line, 7);
        CHECK_EQ(logs[i]->calls[0].line, 9);
        CHECK_EQ(c->objects[0].at, 1024);
        CHECK_STR(trace_string(logs[i], c->ops[0].name), "tcgen05.commit");
        CHECK_EQ(c->events[2].cause, 2);
        CHECK_EQ(c->spans[0].step, -4);
        trace_free(logs[i]);
    }
    xfree(logs);
}

static void damaged(const char *bytes, size_t size) {
    char why[512];
    char *copy = malloc(size);
    CHECK(copy != NULL);
    refused("", 0, "empty");
    refused("not a log at all, but long enough for one", 41, "not a log");
    for (size_t n = 1; n < size; n++)
        if (n != size / 2) /* the first log alone is a file */
            CHECK_EQ(count_in(bytes, n, why, sizeof why), 0);
    CHECK_EQ(count_in(bytes, size / 2, why, sizeof why), 1);
    for (size_t i = 0; i < size; i++) {
        memcpy(copy, bytes, size);
        copy[i] ^= 0x40;
        const uint32_t n = count_in(copy, size, why, sizeof why);
        CHECK(n == 0 || n == 2); /* counts and names in the head are no part of the sum */
    }
    memcpy(copy, bytes, size);
    copy[12] ^= 2;
    refused(copy, size, "version");
    free(copy);
}

/* What fits its sum and not itself. */
static void wrong(void) {
    struct trace_cluster c;
    struct trace_log log = sample(&c);
    size_t size;
    struct {
        uint32_t *at, value;
    } cases[] = {
        {&log.kernel, sizeof text}, {&log.sites[0].inlined, 2}, {&log.calls[0].outer, 1}, {&c.ctas, 17},
        {&c.objects[1].rank, 1},    {&c.ops[0].queue, 3},       {&c.ops[0].leader, 0},    {&c.ops[0].completed, 5},
        {&c.ops[0].dims, 6},        {&c.events[0].site, 2},     {&c.events[1].cause, 2},  {&c.events[2].object, 3},
        {&c.events[2].cluster, 2},  {&c.events[0].op, 0},       {&c.events[3].phase, 2},  {&c.events[3].pending, 2},
        {&c.spans[0].lanes, 33},    {&c.events[1].used, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t right = *cases[i].at;
        *cases[i].at = cases[i].value;
        char *bytes = written(&log, &size);
        refused(bytes, size, "fit together");
        free(bytes);
        *cases[i].at = right;
    }
}

int main(void) {
    struct trace_cluster c;
    const struct trace_log log = sample(&c);
    size_t size;
    const int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    char *bytes = written(&log, &size);
    comes_back(bytes, size);
    damaged(bytes, size);
    wrong();
    free(bytes);
    unlink(path);
    return check_report();
}
