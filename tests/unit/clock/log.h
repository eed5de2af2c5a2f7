/* log.h - logs made by hand, for the clock's tests: one cluster of one CTA unless said otherwise. */
#ifndef TESTS_CLOCK_LOG_H
#define TESTS_CLOCK_LOG_H

#include "check.h"
#include "clock/clock.h"
#include "clock/model.h"

enum { LOG_MOST = 64 };

struct hand {
    struct trace_log log;
    struct trace_cluster clusters[4];
    struct trace_event events[4][LOG_MOST];
    struct trace_object objects[LOG_MOST];
    struct trace_op ops[LOG_MOST];
    struct trace_site sites[4];
    struct trace_span spans[LOG_MOST];
};

/* 1: no text; 2: tcgen05.commit; 3: test_wait. */
static char hand_text[] = "\0\0tcgen05.commit\0mbarrier.test_wait.parity";
enum { TEXT_COMMIT = 2, TEXT_TEST = 17, SITE_TEST = 1 };

static inline struct trace_event *hand_add(struct hand *h, uint32_t cluster, struct trace_event e) {
    struct trace_cluster *c = &h->clusters[cluster];
    struct trace_event *to = &h->events[cluster][c->num_events++];
    *to = e;
    to->times = e.times ? e.times : 1;
    if (e.class == TRACE_OP && e.op) {
        struct trace_op *op = &h->ops[e.op - 1];
        *(e.kind == OP_ISSUED ? &op->issued : e.kind == OP_STARTED ? &op->started : &op->completed) = c->num_events;
    }
    return to;
}

/* An empty log of so many clusters, and the start of each. */
static inline void hand_open(struct hand *h, uint32_t clusters, uint32_t resident) {
    memset(h, 0, sizeof *h);
    h->sites[SITE_TEST - 1].text = TEXT_TEST;
    h->log = (struct trace_log){.version = TRACE_VERSION,
                                .resident = resident,
                                .text = hand_text,
                                .sites = h->sites,
                                .clusters = h->clusters,
                                .text_bytes = sizeof hand_text,
                                .num_sites = 1,
                                .num_clusters = clusters};
    for (uint32_t i = 0; i < clusters; i++) {
        h->clusters[i] = (struct trace_cluster){.number = i,
                                                .ctas = 1,
                                                .sm = {i},
                                                .objects = h->objects,
                                                .ops = h->ops,
                                                .events = h->events[i],
                                                .spans = h->spans,
                                                .complete = 1};
        hand_add(h, i, (struct trace_event){.class = TRACE_LIFE, .kind = LIFE_CTA_START, .warp = TRACE_NO_WARP});
    }
}

/* Event of lane 0 of a warp, which has run `alu` instructions since its last. */
static inline struct trace_event *hand_thread(struct hand *h, uint32_t warp, uint32_t class, uint32_t kind,
                                              uint32_t object, uint32_t alu) {
    return hand_add(h, 0,
                    (struct trace_event){.class = (uint8_t) class,
                                         .kind = (uint8_t)kind,
                                         .warp = (uint8_t)warp,
                                         .lanes = 1,
                                         .object = object,
                                         .ran = {(uint16_t)alu}});
}
/* A stage of an operation that the warp issued; OP_ISSUED behind `alu` instructions. */
static inline struct trace_event *hand_op(struct hand *h, uint32_t warp, uint32_t op, uint32_t stage, uint32_t alu) {
    return hand_add(h, 0,
                    (struct trace_event){.class = TRACE_OP,
                                         .kind = (uint8_t)stage,
                                         .warp = (uint8_t)warp,
                                         .lanes = 1,
                                         .op = op,
                                         .ran = {(uint16_t)alu}});
}
/* What an operation does to an mbarrier. */
static inline struct trace_event *hand_signal(struct hand *h, uint32_t op, uint32_t kind, uint32_t object) {
    return hand_add(
        h, 0, (struct trace_event){.class = TRACE_SYNC, .kind = (uint8_t)kind, .lanes = 1, .op = op, .object = object});
}
static inline uint32_t hand_last(const struct hand *h) { return h->clusters[0].num_events; }

/* Round costs, from which times are easily had. */
static inline struct clock_table hand_costs(void) {
    struct clock_table t = clock_b200();
    t.alu = 10;
    t.arrive = 5;
    t.arrive_remote = 50;
    t.wake = 3;
    t.barrier = 7;
    t.launch = 1000;
    t.cta_start = 100;
    return t;
}

#endif
