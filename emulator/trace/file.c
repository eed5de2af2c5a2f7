/* trace/file.c - logs as files; contract in file.h.
 *
 * A log in a file is a head, then its parts as they are in memory, each a multiple of 8 bytes. Writer and reader must
 * have the same byte order, which the head shows.
 */
#include "trace/file.h"

#include "base/heap.h"
#include "base/source.h"

#include <errno.h>
#include <string.h>

#define MAGIC "SM100LOG"
#define ORDER UINT32_C(0x01020304)

struct head {
    char magic[8];
    uint32_t order, version;
    uint64_t bytes; /* after the head */
    uint64_t sum;   /* FNV-1a of them */
    struct trace_log log;
};

static uint64_t padded(uint64_t bytes) { return (bytes + 7) & ~UINT64_C(7); }

/* FNV-1a over words of 8 bytes. */
static uint64_t mix(uint64_t key, const void *bytes, uint64_t n) {
    const unsigned char *p = bytes;
    for (; n; p += 8, n -= n < 8 ? n : 8) {
        uint64_t word = 0;
        memcpy(&word, p, n < 8 ? n : 8);
        key = (key ^ word) * UINT64_C(0x100000001B3);
    }
    return key;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* The parts of a log, one after the other. */
struct part {
    const void *bytes;
    uint64_t size;
};

static uint32_t parts_of(const struct trace_log *log, struct part *parts) {
    uint32_t n = 0;
    parts[n++] = (struct part){log->text, log->text_bytes};
    parts[n++] = (struct part){log->sites, log->num_sites * sizeof *log->sites};
    parts[n++] = (struct part){log->calls, log->num_calls * sizeof *log->calls};
    parts[n++] = (struct part){log->clusters, log->num_clusters * sizeof *log->clusters};
    for (uint32_t i = 0; i < log->num_clusters; i++) {
        const struct trace_cluster *c = &log->clusters[i];
        parts[n++] = (struct part){c->objects, c->num_objects * sizeof *c->objects};
        parts[n++] = (struct part){c->ops, c->num_ops * sizeof *c->ops};
        parts[n++] = (struct part){c->events, c->num_events * sizeof *c->events};
        parts[n++] = (struct part){c->spans, c->num_spans * sizeof *c->spans};
    }
    return n;
}

static bool put(FILE *file, const void *bytes, uint64_t size) {
    static const char zeros[8];
    const uint64_t rest = padded(size) - size;
    return fwrite(bytes ? bytes : zeros, 1, size, file) == size && fwrite(zeros, 1, rest, file) == rest;
}

bool trace_write(FILE *file, const struct trace_log *log) {
    /* the clusters' pointers in the file mean nothing */
    struct trace_log copy = *log;
    copy.clusters = xcalloc(log->num_clusters + 1, sizeof *copy.clusters);
    struct part *parts = xcalloc(4 + 4 * (size_t)log->num_clusters, sizeof *parts);
    for (uint32_t i = 0; i < log->num_clusters; i++)
        copy.clusters[i] = log->clusters[i];
    const uint32_t n = parts_of(&copy, parts);
    for (uint32_t i = 0; i < log->num_clusters; i++) {
        struct trace_cluster *c = &copy.clusters[i];
        c->objects = NULL;
        c->ops = NULL;
        c->events = NULL;
        c->spans = NULL;
    }
    struct head head = {.order = ORDER, .version = TRACE_VERSION, .log = *log};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    head.log.text = NULL;
    head.log.sites = NULL;
    head.log.calls = NULL;
    head.log.clusters = NULL;
    for (uint32_t i = 0; i < n; i++) {
        head.bytes += padded(parts[i].size);
        head.sum = mix(head.sum, parts[i].bytes, parts[i].size);
    }
    bool ok = put(file, &head, sizeof head);
    for (uint32_t i = 0; i < n && ok; i++)
        ok = put(file, parts[i].bytes, parts[i].size);
    ok = ok && fflush(file) == 0;
    xfree(copy.clusters);
    xfree(parts);
    return ok;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

struct reader {
    FILE *file;
    const char *path;
    uint64_t left, sum;
    char *why;
    size_t size;
};

static bool fails(struct reader *r, const char *what) {
    snprintf(r->why, r->size, "%s: %s", r->path, what);
    return false;
}

/* The next n elements; NULL if the file has fewer. */
static void *take(struct reader *r, uint64_t n, size_t size) {
    const uint64_t bytes = n * size;
    if (n > r->left / size || padded(bytes) > r->left)
        return NULL;
    char *p = try_calloc(padded(bytes) + 8, 1);
    if (!p || fread(p, 1, padded(bytes), r->file) != padded(bytes)) {
        xfree(p);
        return NULL;
    }
    r->left -= padded(bytes);
    r->sum = mix(r->sum, p, bytes);
    return p;
}

static bool read_parts(struct reader *r, struct trace_log *log) {
    const uint32_t clusters = log->num_clusters;
    log->num_clusters = 0;
    if (!(log->text = take(r, log->text_bytes, 1)) || !(log->sites = take(r, log->num_sites, sizeof *log->sites)) ||
        !(log->calls = take(r, log->num_calls, sizeof *log->calls)) ||
        !(log->clusters = take(r, clusters, sizeof *log->clusters)))
        return false;
    for (uint32_t i = 0; i < clusters; i++) {
        struct trace_cluster *c = &log->clusters[i];
        c->objects = NULL;
        c->ops = NULL;
        c->events = NULL;
        c->spans = NULL;
    }
    log->num_clusters = clusters;
    for (uint32_t i = 0; i < clusters; i++) {
        struct trace_cluster *c = &log->clusters[i];
        if (!(c->objects = take(r, c->num_objects, sizeof *c->objects)) ||
            !(c->ops = take(r, c->num_ops, sizeof *c->ops)) ||
            !(c->events = take(r, c->num_events, sizeof *c->events)) ||
            !(c->spans = take(r, c->num_spans, sizeof *c->spans)))
            return false;
    }
    return r->left == 0;
}

/* --- what was read may be anybody's ------------------------------------------------------------------------------- */

static bool is_text(const struct trace_log *log, trace_text t) { return t < log->text_bytes; }

static bool tables_hold(const struct trace_log *log) {
    if (!log->text_bytes || log->text[0] || log->text[log->text_bytes - 1] || !is_text(log, log->kernel) ||
        !is_text(log, log->schedule))
        return false;
    for (uint32_t i = 0; i < log->num_calls; i++)
        if (!is_text(log, log->calls[i].file) || log->calls[i].outer > i)
            return false;
    for (uint32_t i = 0; i < log->num_sites; i++) {
        const struct trace_site *s = &log->sites[i];
        if (!is_text(log, s->file) || !is_text(log, s->ptx) || !is_text(log, s->text) || !is_text(log, s->func) ||
            s->inlined > log->num_calls)
            return false;
    }
    return true;
}

static bool op_holds(const struct trace_log *log, const struct trace_cluster *c, uint32_t i) {
    const struct trace_op *o = &c->ops[i];
    return is_text(log, o->name) && o->rank < c->ctas && o->warp < MACH_MAX_WARPS && o->site <= log->num_sites &&
           o->queue - 1 < c->num_objects && o->leader - 1 <= i && o->follows <= i && o->issued <= c->num_events &&
           o->started <= c->num_events && o->completed <= c->num_events && o->from <= c->ctas && o->to <= c->ctas &&
           o->signals <= c->ctas && o->dims <= 5;
}

static bool spans_hold(const struct trace_cluster *c, const struct trace_event *e) {
    if (e->phase > c->num_spans || e->pending > (e->phase ? c->num_spans - e->phase + 1 : 0))
        return false;
    for (uint32_t i = 0; i < e->pending; i++)
        if (c->spans[e->phase - 1 + i].lanes > MACH_WARP)
            return false;
    return true;
}

static bool event_holds(const struct trace_log *log, const struct trace_cluster *c, uint32_t i) {
    const struct trace_event *e = &c->events[i];
    const uint32_t events = e->cluster ? log->clusters[e->cluster - 1].num_events : i;
    return e->class <= TRACE_STEP && e->rank < c->ctas && (e->warp < MACH_MAX_WARPS || e->warp == TRACE_NO_WARP) &&
           e->site <= log->num_sites && e->cause <= events && e->object <= c->num_objects && e->op <= c->num_ops &&
           e->used <= i && (e->class != TRACE_GLOBAL || spans_hold(c, e)) &&
           (e->class != TRACE_OP || (e->op && e->object && e->kind <= OP_COMPLETED)) &&
           (e->class != TRACE_WAIT || (e->kind <= WAIT_RELEASED && e->what < WAIT_LAST));
}

static bool cluster_holds(const struct trace_log *log, const struct trace_cluster *c) {
    if (c->ctas == 0 || c->ctas > MACH_MAX_CLUSTER)
        return false;
    for (uint32_t i = 0; i < c->num_objects; i++)
        if (!is_text(log, c->objects[i].name) || c->objects[i].rank >= c->ctas || c->objects[i].kind > OBJECT_QUEUE ||
            c->objects[i].site > log->num_sites)
            return false;
    for (uint32_t i = 0; i < c->num_ops; i++)
        if (!op_holds(log, c, i))
            return false;
    for (uint32_t i = 0; i < c->num_events; i++)
        if (c->events[i].cluster > log->num_clusters || !event_holds(log, c, i))
            return false;
    return true;
}

static bool log_holds(const struct trace_log *log) {
    bool holds = tables_hold(log);
    for (uint32_t i = 0; i < log->num_clusters && holds; i++)
        holds = cluster_holds(log, &log->clusters[i]);
    return holds;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/* The next log; NULL with a reason, or without one at the end of the file. */
static struct trace_log *read_one(struct reader *r) {
    struct head head;
    const size_t n = fread(&head, 1, sizeof head, r->file);
    if (n == 0 && feof(r->file))
        return NULL;
    if (n < sizeof head.magic || memcmp(head.magic, MAGIC, sizeof head.magic) != 0)
        return fails(r, "not a log of sm100emu --trace"), NULL;
    if (n < 16 || head.order != ORDER)
        return fails(r, "a log of a machine with another order of bytes, or cut off"), NULL;
    if (head.version != TRACE_VERSION) {
        snprintf(r->why, r->size, "%s: a log of version %u; this reads version %u: make it again", r->path,
                 head.version, TRACE_VERSION);
        return NULL;
    }
    if (n < sizeof head)
        return fails(r, "cut off: the run that wrote it did not end"), NULL;
    struct trace_log *log = xcalloc(1, sizeof *log);
    *log = head.log;
    log->text = NULL;
    log->sites = NULL;
    log->calls = NULL;
    log->clusters = NULL;
    r->left = head.bytes;
    r->sum = 0;
    const char *wrong = !read_parts(r, log)  ? "cut off, or larger than --memory allows"
                        : r->sum != head.sum ? "damaged: its sum is not that of its bytes"
                        : !log_holds(log)    ? "damaged: what it says does not fit together"
                                             : NULL;
    if (!wrong) {
        source_plain(log->text, log->text_bytes); /* readers print this text */
        return log;
    }
    fails(r, wrong);
    trace_free(log);
    return NULL;
}

uint32_t trace_read(const char *path, struct trace_log ***logs, char *why, size_t size) {
    struct reader r = {.path = path, .why = why, .size = size};
    uint32_t count = 0, cap = 0;
    struct trace_log *log;
    why[0] = 0;
    *logs = NULL;
    r.file = fopen(path, "rb");
    if (!r.file)
        return fails(&r, strerror(errno));
    while ((log = read_one(&r))) {
        *logs = xgrow(*logs, count, &cap, sizeof **logs);
        (*logs)[count++] = log;
    }
    fclose(r.file);
    if (!count && !why[0])
        fails(&r, "empty: no kernel was launched");
    if (!why[0])
        return count;
    while (count)
        trace_free((*logs)[--count]);
    xfree(*logs);
    *logs = NULL;
    return 0;
}

void trace_free(struct trace_log *log) {
    for (uint32_t i = 0; log && log->clusters && i < log->num_clusters; i++) {
        xfree(log->clusters[i].objects);
        xfree(log->clusters[i].ops);
        xfree(log->clusters[i].events);
        xfree(log->clusters[i].spans);
    }
    if (!log)
        return;
    xfree(log->text);
    xfree(log->sites);
    xfree(log->calls);
    xfree(log->clusters);
    xfree(log);
}
