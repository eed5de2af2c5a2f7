/* Logs may be anybody's: what trace_read lets through, every view shows without a crash. */
#include "made_log.h"
#include "trace/file.h"
#include "view/follow.h"
#include "view/json.h"
#include "view/perfetto.h"
#include "view/timeline.h"
#include "view/times.h"

#include "base/heap.h"

enum { RUNS = 3000 };

static uint64_t state = 88172645463325252u;
static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (uint32_t)(state >> 16) % below : 0;
}

/* Changes a bit, a byte, or a word to a small or a very large number. */
static void damage(void *table, size_t size) {
    unsigned char *bytes = table;
    const uint32_t word = draw(2) ? draw(40) : UINT32_MAX - draw(3), at = draw((uint32_t)size);
    if (!size)
        return;
    if (draw(3) == 0)
        bytes[at] ^= (unsigned char)(1u << draw(8));
    else if (draw(2) == 0)
        bytes[at] = (unsigned char)draw(256);
    else
        memcpy(bytes + at / 4 * 4, &word, at / 4 * 4 + 4 <= size ? 4 : 0);
}

/* Another reference, kind or place of one event or operation, mostly one that trace_read finds well. */
static void redirect(struct made *m) {
    struct trace_event *e = &m->events[draw(m->cluster.num_events)];
    struct trace_op *o = &m->ops[draw(m->cluster.num_ops)];
    uint32_t *const words[] = {&e->object, &e->object,      &e->object, &e->op,      &e->site,   &e->cause,
                               &e->phase,  &o->site,        &o->queue,  &o->leader,  &o->issued, &o->started,
                               &o->agent,  &o->signals_off, &o->to,     &o->from_off};
    uint8_t *const bytes[] = {&e->class, &e->kind, &e->rank, &e->warp};
    if (draw(3) == 0)
        *bytes[draw(4)] = (uint8_t)draw(20);
    else
        *words[draw(sizeof words / sizeof *words)] = draw(2) ? 0 : draw(24);
}

static void damage_some(struct made *m) {
    for (uint32_t n = 1 + draw(5); n; n--)
        switch (draw(9)) {
        case 0:
            damage(m->sites, m->log.num_sites * sizeof *m->sites);
            break;
        case 1:
            damage(m->calls, m->log.num_calls * sizeof *m->calls);
            break;
        case 2:
            damage(m->objects, m->cluster.num_objects * sizeof *m->objects);
            break;
        case 3:
            damage(m->ops, m->cluster.num_ops * sizeof *m->ops);
            break;
        case 4:
            damage(m->events, m->cluster.num_events * sizeof *m->events);
            break;
        case 5:
            damage(&m->log.grid, 3 * sizeof m->log.grid);
            break;
        default:
            redirect(m);
            break;
        }
}

static void show(FILE *out, const struct trace_log *log, struct names *names, const struct say_times *times) {
    static const char *const whom[] = {"full[0]",   "empty[1]@cta1", "0x400", "0x800@cta1",      "tmem:0-255", "tile:1",
                                       "A stage 0", "done",          "D 0",   "cluster barrier", "tile:0@cta1"};
    struct rows rows = rows_to(out);
    struct timeline t = timeline_default();
    char why[400];
    rows.width = draw(2) ? draw(200) : 0;
    t.repeat = draw(3);
    t.last_tile = draw(4);
    timeline_print(&rows, log, names, times, &t, why, sizeof why);
    for (size_t i = 0; i < sizeof whom / sizeof *whom; i++)
        if (!follow_print(&rows, log, names, times, whom[i], why, sizeof why))
            follow_list(out, log, names, whom[i]);
    CHECK(perfetto_write(out, log, names, times));
}

static bool show_all(FILE *out, const char *path) {
    struct trace_log **logs;
    struct times times;
    char why[400];
    const uint32_t count = trace_read(path, &logs, why, sizeof why);
    for (uint32_t i = 0; i < count; i++) {
        struct names *names = names_make(logs[i], 0);
        show(out, logs[i], names, NULL);
        if (times_make(&times, logs[i], why, sizeof why)) {
            show(out, logs[i], names, times.say);
            times_free(&times, logs[i]);
        }
        names_free(names);
    }
    const struct view_run run = {logs, count, 0, NULL};
    CHECK(!count || view_json(out, &run, &run, true));
    for (uint32_t i = 0; i < count; i++)
        trace_free(logs[i]);
    xfree(logs);
    return count != 0;
}

int main(void) {
    static struct made whole, m;
    char path[120];
    uint32_t shown = 0;
    FILE *out = fopen("/dev/null", "w");
    made_open(&whole, true);
    snprintf(path, sizeof path, "%s/log", whole.folder);
    for (uint32_t run = 0; run < RUNS; run++) {
        m = whole;
        m.log.text = m.text;
        m.log.sites = m.sites;
        m.log.calls = m.calls;
        m.log.clusters = &m.cluster;
        m.cluster.objects = m.objects;
        m.cluster.ops = m.ops;
        m.cluster.events = m.events;
        if (run)
            damage_some(&m);
        FILE *f = fopen(path, "wb");
        CHECK(f != NULL && trace_write(f, &m.log));
        fclose(f);
        shown += show_all(out, path);
    }
    printf("%u of %d logs were shown\n", shown, RUNS);
    CHECK(shown > RUNS / 4 && shown < RUNS);
    fclose(out);
    unlink(path);
    made_close(&whole);
    return check_report();
}
