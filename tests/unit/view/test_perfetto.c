/* The trace-event format: what tests/tools/trace_event.py does not see, since it knows nothing of the log. */
#include "made_log.h"
#include "view/perfetto.h"
#include "view/times.h"

#include "base/heap.h"

static char *write_trace(const struct made *m, const struct say_times *times) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    struct names *names = names_make(&m->log, 0);
    CHECK(perfetto_write(f, &m->log, names, times));
    names_free(names);
    fclose(f);
    return text;
}

static uint32_t count_of(const char *text, const char *part) {
    uint32_t n = 0;
    for (const char *s = strstr(text, part); s; s = strstr(s + 1, part))
        n++;
    return n;
}

static void check_events(const struct made *m) {
    char *text = write_trace(m, NULL);
    uint32_t waits = 0, starts = 0, phases = 0, counters = 0;
    for (uint32_t i = 0; i < m->cluster.num_events; i++) {
        const struct trace_event *e = &m->events[i];
        waits += e->class == TRACE_WAIT && e->kind == WAIT_MET;
        starts += e->class == TRACE_OP && e->kind == OP_STARTED;
        phases += e->class == TRACE_SYNC && e->kind == SYNC_MBAR_PHASE;
        counters += (e->class == TRACE_SYNC && e->object) || (e->class == TRACE_LIFE && e->kind == LIFE_MBAR_INIT);
    }
    /* every wait, the start of every operation and every phase has its arrow, and a wait that never ended has none */
    CHECK_EQ(count_of(text, "\"ph\":\"s\""), waits + starts + phases);
    CHECK_EQ(count_of(text, "\"ph\":\"f\""), waits + starts + phases);
    CHECK_EQ(count_of(text, "\"cat\":\"wait\""), waits + 1);
    CHECK_EQ(count_of(text, "it did not end before the end of the log"), 1);
    CHECK_EQ(count_of(text, "\"cat\":\"operation\""), m->cluster.num_ops);
    CHECK_EQ(count_of(text, "\"cat\":\"phase\""), phases);
    CHECK_EQ(count_of(text, "\"ph\":\"C\""), counters);
    CHECK_HAS(text, "\"displayTimeUnit\":\"ns\"");
    CHECK_HAS(text, "1 ns is an event");
    CHECK_HAS(text, "\"name\":\"cluster 0 cta1\"");
    CHECK_HAS(text, "\"name\":\"warp 0: mma\"");
    CHECK_HAS(text, "\"name\":\"full[0]\"");
    CHECK_HAS(text, "\"name\":\"TMA load A stage 0 -> cta1\"");
    CHECK_HAS(text, "\"line\":\"ring.cu:9\"");
    CHECK_HAS(text, "{\"arrivals to come\":1,\"bytes to come\":256}");
    free(text);
}

static void check_cycles(const struct made *m) {
    double *cycle = xcalloc(m->cluster.num_events, sizeof *cycle);
    for (uint32_t i = 0; i < m->cluster.num_events; i++)
        cycle[i] = 1000.0 * i + 105.5;
    struct say_times times = times_cluster(&m->cluster, cycle, NULL);
    char *text = write_trace(m, &times);
    CHECK_HAS(text, "1 ns is a cycle of a model of a B200");
    CHECK_HAS(text, "\"ts\":0.105");
    CHECK_HAS(text, "\"ts\":12.105");
    free(text);
    times_free_cluster(&times);
    xfree(cycle);
}

int main(void) {
    struct made m;
    made_open(&m, true);
    check_events(&m);
    check_cycles(&m);
    made_close(&m);
    return check_report();
}
