/* Events in words, the timeline, and one object's events alone. */
#include "made_log.h"
#include "view/follow.h"
#include "view/timeline.h"
#include "view/times.h"

#include "base/heap.h"

struct shown {
    char *text;
    size_t size;
    FILE *f;
    struct rows rows;
};

static void open_rows(struct shown *s) {
    *s = (struct shown){0};
    s->f = open_memstream(&s->text, &s->size);
    s->rows = rows_to(s->f);
    s->rows.width = 0;
}

static const char *close_rows(struct shown *s) {
    fclose(s->f);
    return s->text;
}

static uint32_t lines_with(const char *text, const char *part) {
    uint32_t n = 0;
    for (const char *s = strstr(text, part); s; s = strstr(s + 1, part))
        n++;
    return n;
}

/* Every event has words, and every wait that was met a reason. */
static void check_words(const struct made *m, struct names *names) {
    const struct say s = say_of(&m->log, names, 0, NULL);
    char text[400];
    for (uint32_t i = 1; i <= m->cluster.num_events; i++) {
        CHECK(*say_who(&s, i, text, sizeof text));
        CHECK(*say_what(&s, i, text, sizeof text));
        const struct trace_event *e = &m->events[i - 1];
        if (e->class == TRACE_WAIT && e->kind == WAIT_MET)
            CHECK_HAS(say_why(&s, i, text, sizeof text), ", completed by cta");
    }
    CHECK_STR(say_why(&s, m->ops[0].completed, text, sizeof text), ""); /* its own course */
    CHECK_STR(say_file(&s), "ring.cu");
    CHECK_STR(say_op(&s, 2, text, sizeof text), "TMA load A stage 0 -> cta1");
    CHECK_STR(say_instruction(&s, 1, text, sizeof text), "TMA load A stage 0 -> cta0,1");
    CHECK_STR(say_where(&s, m->ops[0].site, text, sizeof text), "ring.cu:9");
    CHECK_STR(say_where(&s, 0, text, sizeof text), "");
    for (uint32_t size = 1; size < 40; size++) { /* what does not fit is cut */
        memset(text, '#', sizeof text);
        say_what(&s, 30, text, size);
        CHECK(memchr(text, 0, size) != NULL && text[size] == '#');
    }
}

/* So has every kind, also those that the made log lacks. */
static void check_kinds(struct made *m, struct names *names) {
    static const uint8_t kinds[] = {
        [TRACE_SYNC] = SYNC_GRID_LAUNCH_DEPENDENTS + 1,
        [TRACE_OP] = OP_COMPLETED + 1,
        [TRACE_WAIT] = WAIT_RELEASED + 1,
        [TRACE_LIFE] = LIFE_REGISTERS + 1,
    };
    const struct say s = say_of(&m->log, names, 0, NULL);
    const struct trace_event kept = m->events[0];
    char text[400];
    for (uint32_t class = 0; class < sizeof kinds; class ++)
        for (uint32_t kind = 0; kind < kinds[class]; kind++) {
            m->events[0].class = (uint8_t) class;
            m->events[0].kind = (uint8_t)kind;
            if (!*say_what(&s, 1, text, sizeof text))
                printf("class %u, kind %u\n", class, kind);
            CHECK(*text);
        }
    m->events[0] = kept;
}

static const char *timeline(const struct made *m, struct names *names, struct shown *s, struct timeline t) {
    char why[200] = "";
    open_rows(s);
    if (!timeline_print(&s->rows, &m->log, names, NULL, &t, why, sizeof why))
        fputs(why, s->f);
    return close_rows(s);
}

static void check_timeline(const struct made *m, struct names *names) {
    struct shown s;
    struct timeline t = timeline_default();
    const char *text = timeline(m, names, &s, t);
    CHECK_HAS(text, "ring, cluster 0 of 1 in the log: cta0,1 of 2 (by rank)\n");
    CHECK_HAS(text, "initialises 4 mbarriers");
    CHECK_HAS(text, "  cta0   load          expects 256 bytes at full[0], phase 0  :9\n");
    CHECK_HAS(text, "  cta0   load          TMA load A stage 0 -> cta0,1  :9\n");
    CHECK_HAS(text, "  cta0   full[0]       phase 0 complete  <- cta1's TMA load A stage 0 -> cta1  :9\n");
    CHECK_HAS(text, "  cta0   mma           waited for full[0], parity 0, since ");
    CHECK_HAS(text, "  cta0   mma           2 x UMMA 256x64x16, D =, columns 0-63  :10\n");
    CHECK_HAS(text, "  cta0   mma           commit -> empty[0]@cta0,1  :11\n");
    CHECK(strstr(text, "arrives at full") == NULL);  /* behind its expect_tx it says no more */
    CHECK(strstr(text, "arrives at empty") == NULL); /* an operation's: the phase has a row */
    CHECK_HAS(text, "--- tile 1\n");
    CHECK_EQ(lines_with(text, "--- tile"), 2);
    CHECK(strstr(text, "\033[") == NULL); /* no terminal, no colours */
    free(s.text);
    t.last_tile = 0;
    CHECK_HAS(timeline(m, names, &s, t), "--- left out: tile 1 (--tiles=1)\n");
    free(s.text);
    t.first_tile = t.last_tile = 1;
    text = timeline(m, names, &s, t);
    CHECK(strstr(text, "left out") == NULL);
    CHECK_HAS(text, "2 x UMMA 256x64x16, D =, columns 64-127");
    CHECK(strstr(text, "columns 0-63") == NULL && strstr(text, "initialises") == NULL);
    free(s.text);
    t = timeline_default();
    t.repeat = 1;
    text = timeline(m, names, &s, t);
    CHECK_EQ(lines_with(text, " UMMA "), 2); /* those of a tile's second K tile are told by their number */
    CHECK_HAS(text, " more like those above\n");
    free(s.text);
    t.ctas = 2;
    text = timeline(m, names, &s, t);
    CHECK(strstr(text, " cta0 ") == NULL && strstr(text, "  cta1   load  ") != NULL);
    free(s.text);
    t.first_tile = t.last_tile = 2;
    CHECK_STR(timeline(m, names, &s, t), "cluster 0 has no tile 2 in the log");
    free(s.text);
    t.cluster = 1;
    CHECK_STR(timeline(m, names, &s, t), "there is no cluster 1: the log has 1");
    free(s.text);
}

/* With times, rows stand in their order, and say for how long was waited. */
static void check_times(const struct made *m, struct names *names) {
    double *cycle = xcalloc(m->cluster.num_events, sizeof *cycle);
    for (uint32_t i = 0; i < m->cluster.num_events; i++)
        cycle[i] = 10.0 * (m->cluster.num_events - i);
    struct say_times times = times_cluster(&m->cluster, cycle, NULL);
    struct timeline t = timeline_default();
    struct shown s;
    char why[200];
    t.repeat = 0;
    open_rows(&s);
    CHECK(timeline_print(&s.rows, &m->log, names, &times, &t, why, sizeof why));
    close_rows(&s);
    CHECK_HAS(s.text, "(cycles of a model of a B200)");
    CHECK_HAS(s.text, " cycles  <- ");
    CHECK(strstr(s.text, "commit -> empty[0]") < strstr(s.text, "expects 256 bytes at full[0], phase 0"));
    free(s.text);
    open_rows(&s);
    CHECK(follow_print(&s.rows, &m->log, names, &times, "full[0]", why, sizeof why));
    close_rows(&s);
    CHECK(strstr(s.text, "phase 1 complete") < strstr(s.text, "phase 0 complete"));
    free(s.text);
    times_free_cluster(&times);
    xfree(cycle);
}

/* What an mbarrier lacks is counted in the order of time, phase by phase. */
static void check_progress(const struct made *m) {
    double *cycle = xcalloc(m->cluster.num_events, sizeof *cycle);
    uint32_t bytes[4], n = 0, arrivals[2], k = 0, phase = 0;
    for (uint32_t i = 0; i < m->cluster.num_events; i++) {
        const struct trace_event *e = &m->events[i];
        cycle[i] = i;
        if (e->object != 1 || e->phase != 0 || e->class != TRACE_SYNC)
            continue;
        if (e->kind == SYNC_MBAR_COMPLETE_TX && n < 4)
            bytes[n++] = i;
        else if (e->kind == SYNC_MBAR_ARRIVE && k < 2)
            arrivals[k++] = i;
        phase = e->kind == SYNC_MBAR_PHASE ? i : phase;
    }
    CHECK_EQ(n, 4);
    CHECK_EQ(k, 2);
    cycle[bytes[0]] = 0.5; /* the first bytes come before they are announced, and the second arrival before the first */
    cycle[arrivals[1]] = arrivals[0] - 0.5;
    struct say_times times = times_cluster(&m->cluster, cycle, NULL);
    CHECK_EQ(times.tx[bytes[0]], -(MADE_STAGE / 2));
    CHECK_EQ(times.tx[bytes[3]], 0);
    CHECK_EQ(times.pending[bytes[0]], 2);
    CHECK_EQ(times.pending[arrivals[1]], 1);
    CHECK_EQ(times.pending[arrivals[0]], 0);
    CHECK_EQ(times.pending[bytes[3]], 0);
    CHECK_EQ(times.pending[phase], 2); /* of the next one */
    CHECK_EQ(times.order[m->cluster.num_events - 1], m->cluster.num_events);
    CHECK_EQ(times.order[1], bytes[0] + 1);
    for (uint32_t i = phase + 1, left = 2; i < m->cluster.num_events; i++) { /* and so in the next one */
        const struct trace_event *e = &m->events[i];
        if (e->object == 1 && e->phase == 1 && e->class == TRACE_SYNC && e->kind == SYNC_MBAR_ARRIVE)
            CHECK_EQ(times.pending[i], --left);
    }
    times_free_cluster(&times);
    xfree(cycle);
}

/* The clock's cause counts, but not where it is what the warp itself did before. */
static void check_causes(const struct made *m, struct names *names) {
    uint32_t *causes = xcalloc(m->cluster.num_events, sizeof *causes), met = 0;
    double *cycle = xcalloc(m->cluster.num_events, sizeof *cycle);
    for (uint32_t i = 1; i <= m->cluster.num_events && !met; i++)
        if (m->events[i - 1].class == TRACE_WAIT && m->events[i - 1].kind == WAIT_MET)
            met = i;
    struct say_times times = times_cluster(&m->cluster, cycle, causes);
    const struct say s = say_of(&m->log, names, 0, &times);
    CHECK_EQ(say_cause(&s, met), m->events[met - 1].cause);
    causes[met - 1] = m->ops[1].completed;
    CHECK_EQ(say_cause(&s, met), m->ops[1].completed);
    for (uint32_t i = 1; i < met; i++)
        if (m->events[i - 1].class == TRACE_WAIT && m->events[i - 1].warp == m->events[met - 1].warp)
            causes[met - 1] = i;
    CHECK_EQ(say_cause(&s, met), m->events[met - 1].cause);
    causes[met - 1] = 9999;
    CHECK_EQ(say_cause(&s, met), m->events[met - 1].cause);
    const uint32_t began = m->ops[1].started, cause = m->events[began - 1].cause;
    CHECK_EQ(say_cause(&s, began), cause);
    cycle[cause - 1] = 1; /* it began before, on the clock */
    CHECK_EQ(say_cause(&s, began), 0);
    times_free_cluster(&times);
    xfree(causes);
    xfree(cycle);
}

static const char *follow(const struct made *m, struct names *names, struct shown *s, const char *what) {
    char why[300] = "";
    open_rows(s);
    const bool ok = follow_print(&s->rows, &m->log, names, NULL, what, why, sizeof why);
    if (!ok) {
        fprintf(s->f, "%s\n", why);
        follow_list(s->f, &m->log, names, what);
    }
    return close_rows(s);
}

static void check_follow(const struct made *m, struct names *names) {
    struct shown s;
    const char *text = follow(m, names, &s, "full[0]@cta0");
    CHECK_HAS(text, "initialises full[0] with 2 arrivals");
    CHECK_HAS(text, "  cta0   load          issues TMA load A stage 0 -> cta0  :9");
    CHECK_HAS(text,
              "  cta1   TMA           brings 128 bytes of A stage 0 to full[0]@cta0, phase 0: 0 arrivals to come");
    CHECK_HAS(text, "  cta0   full[0]       phase 1 complete  <- cta1's TMA load A stage 0 -> cta1");
    CHECK_HAS(text, "waited for full[0], parity 0  <- phase 0 of full[0]@cta0, completed by cta1's TMA load");
    CHECK(strstr(text, "full[1]") == NULL && strstr(text, "empty") == NULL && strstr(text, "UMMA") == NULL);
    struct shown same;
    const char *address = follow(m, names, &same, "0x400@cta0@cluster0");
    CHECK_STR(strchr(text, '\n'), strchr(address, '\n')); /* all but the title */
    free(same.text);
    free(s.text);
    text = follow(m, names, &s, "tmem:64-70@cta1");
    CHECK_EQ(lines_with(text, "issues UMMA"), 4);
    CHECK(strstr(text, "columns 0-63") == NULL && strstr(text, "TMA") == NULL);
    free(s.text);
    text = follow(m, names, &s, "tmem:0-127");
    CHECK_HAS(text, "has tensor memory columns 0-127");
    CHECK_EQ(lines_with(text, "issues UMMA"), 8);
    free(s.text);
    text = follow(m, names, &s, "tmem:0-127@cta1"); /* which has not allocated, but has half of D */
    CHECK(strstr(text, "has tensor memory") == NULL);
    CHECK_EQ(lines_with(text, "issues UMMA"), 8);
    free(s.text);
    text = follow(m, names, &s, "A stage 1@cta1");
    CHECK_HAS(text, "TMA load A stage 1 -> cta1");
    CHECK_EQ(lines_with(text, "issues UMMA"), 4); /* which read it through their descriptors */
    CHECK(strstr(text, "stage 0") == NULL && strstr(text, "-> cta0") == NULL);
    free(s.text);
    text = follow(m, names, &s, "tile:0");
    CHECK_EQ(lines_with(text, "issues UMMA"), 4);
    CHECK_HAS(text, "waited for full[1], parity 0");
    CHECK(strstr(text, "columns 64-127") == NULL && strstr(text, "waited for full[1], parity 1") == NULL);
    free(s.text);
    text = follow(m, names, &s, "tile:1");
    CHECK_EQ(lines_with(text, "issues UMMA"), 4);
    CHECK_EQ(lines_with(text, "issues commit"), 2);
    CHECK_HAS(text, "waited for full[1], parity 1");
    CHECK(strstr(text, "columns 0-63") == NULL);
    free(s.text);
}

static void check_unknown(const struct made *m, struct names *names) {
    struct shown s;
    const char *text = follow(m, names, &s, "fool");
    CHECK_HAS(text, "fool: nothing in the log has to do with it\n");
    CHECK_HAS(text, "cta0 of cluster 0 has full[0], empty[0], full[1], empty[1], done, ");
    CHECK_HAS(text, "A stage 0, A stage 1, D 0, D 1\n");
    free(s.text);
    CHECK_HAS(follow(m, names, &s, "full[0]@cta2"),
              "the log has no such CTA or cluster\nthe log has 1 cluster of 2 CTAs");
    free(s.text);
    CHECK_HAS(follow(m, names, &s, "full[0]@cluster7"), "no such CTA or cluster");
    free(s.text);
    static const char *const wrong[] = {
        "",      "@cta0", "full@core1", "tmem:",       "tmem:4-2",   "tmem:1-x",           "tile:1-2",
        "tile:", "0x",    "0x40g",      "full[0]@cta", "full@cta-1", "full@cta99999999999"};
    char why[300];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!CHECK(!follow_parse(wrong[i], why, sizeof why)))
            fprintf(stderr, "    %s\n", wrong[i]);
    CHECK(follow_parse("A stage 0@cta1@cluster2", why, sizeof why));
}

int main(void) {
    struct made m;
    made_open(&m, true);
    struct names *names = names_make(&m.log, 0);
    check_words(&m, names);
    check_kinds(&m, names);
    check_timeline(&m, names);
    check_times(&m, names);
    check_progress(&m);
    check_causes(&m, names);
    check_follow(&m, names);
    check_unknown(&m, names);
    names_free(names);
    made_close(&m);
    return check_report();
}
