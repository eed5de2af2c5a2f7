/* check/grids/tasks.c - which tasks are complete when another one begins; contract in tasks.h. */
#include "check/grids/tasks.h"

#include "base/heap.h"

#include <string.h>

/* --- streams ------------------------------------------------------------------------------------------------------ */

/* Handles with a meaning in the API: the default stream has two, and each thread may have its own. */
enum { STREAM_DEFAULT, STREAM_LEGACY, STREAM_PER_THREAD };

/* A new stream without tasks. */
static struct task_stream *add_stream(struct tasks *t, uint64_t handle, bool blocking) {
    t->streams = xgrow(t->streams, t->num_streams, &t->cap_streams, sizeof *t->streams);
    struct task_stream *s = &t->streams[t->num_streams++];
    *s = (struct task_stream){.handle = handle, .blocking = blocking, .last = TASKS};
    return s;
}

/* The stream with that handle, new if there is none. streams[0] is the default stream. */
static struct task_stream *stream_of(struct tasks *t, uint64_t handle) {
    if (handle == STREAM_LEGACY)
        handle = STREAM_DEFAULT;
    for (uint32_t i = 0; i < t->num_streams; i++)
        if (t->streams[i].handle == handle)
            return &t->streams[i];
    return add_stream(t, handle, true);
}

/* Removes a stream; its tasks stay in the window until the host has waited for them. */
static void remove_stream(struct tasks *t, uint64_t handle) {
    for (uint32_t i = 1; i < t->num_streams; i++)
        if (t->streams[i].handle == handle)
            t->streams[i--] = t->streams[--t->num_streams];
}

static bool is_default(const struct tasks *t, const struct task_stream *s) { return s == t->streams; }

/* The tasks for which a blocking stream and the default one must wait. */
static task_set of_others(const struct tasks *t, const struct task_stream *s) {
    task_set set = 0;
    if (!is_default(t, s))
        return s->blocking ? t->streams->all : 0;
    for (uint32_t i = 1; i < t->num_streams; i++)
        set |= t->streams[i].blocking ? t->streams[i].all : 0;
    return set;
}

void tasks_init(struct tasks *t, uint32_t most) {
    memset(t, 0, sizeof *t);
    t->most = most < TASKS ? most : TASKS;
    add_stream(t, STREAM_DEFAULT, true);
}

void tasks_free(struct tasks *t) {
    xfree(t->streams);
    xfree(t->events);
}

bool tasks_concurrent(const struct tasks *t) {
    for (uint32_t i = 1; i < t->num_streams; i++)
        if (!t->streams[i].blocking)
            return true;
    return t->num_streams > 2;
}

/* --- sets --------------------------------------------------------------------------------------------------------- */

/* What is complete when the task is: itself, and everything that it came after. */
static task_set when_over(const struct task *k, uint32_t place) {
    return task_bit(place) | k->begin | (k->waits ? k->waited : 0);
}

/* The tasks that are complete when the stream's next task begins. */
static task_set next_begins(const struct tasks *t, const struct task_stream *s, bool early) {
    const task_set given = t->host | s->late | of_others(t, s);
    if (!early || s->last == TASKS)
        return given | s->all;
    const struct task *before = &t->task[s->last];
    if (!before->triggered) /* so it has ended */
        return given | when_over(before, s->last);
    return given | before->begin | (before->waits_first ? before->waited : 0);
}

/* Removes the tasks from the window. */
static void forget(struct tasks *t, task_set gone) {
    t->used &= ~gone;
    t->host &= ~gone;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct task *k = &t->task[i];
        k->number = gone & task_bit(i) ? 0 : k->number;
        k->begin &= ~gone;
        k->waited &= ~gone;
        k->before &= ~gone;
    }
    for (uint32_t i = 0; i < t->num_streams; i++) {
        struct task_stream *s = &t->streams[i];
        s->all &= ~gone;
        s->late &= ~gone;
        if (s->last < TASKS && gone & task_bit(s->last))
            s->last = TASKS;
    }
    for (uint32_t i = 0; i < t->num_events; i++)
        t->events[i].set &= ~gone;
}

/* Removes tasks that come before every task that can still begin. The last task of a stream stays, because it says what
 * is complete when the next one begins. */
static void forget_old(struct tasks *t) {
    task_set old = t->used, last = 0;
    for (uint32_t i = 0; i < t->num_streams; i++) {
        old &= next_begins(t, &t->streams[i], true);
        last |= t->streams[i].last < TASKS ? task_bit(t->streams[i].last) : 0;
    }
    forget(t, (old & ~last) | (t->used & t->host));
}

/* The place of the oldest task, or TASKS. */
static uint32_t oldest(const struct tasks *t) {
    uint32_t at = TASKS;
    for (uint32_t i = 0; i < TASKS; i++)
        if (t->task[i].number && (at == TASKS || t->task[i].number < t->task[at].number))
            at = i;
    return at;
}

/* A free place in the window; drops the oldest task if there is none. */
static uint32_t free_place(struct tasks *t) {
    forget_old(t);
    while (t->used && (uint32_t)__builtin_popcountll(t->used) >= t->most) {
        const uint32_t old = oldest(t);
        t->lost |= t->task[old].kept;
        forget(t, task_bit(old));
    }
    return (uint32_t)__builtin_ctzll(~t->used);
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

uint32_t tasks_begin(struct tasks *t, enum task_kind kind, const struct event_host *e) {
    const uint32_t place = free_place(t);
    struct task_stream *s = stream_of(t, e->stream);
    struct task *k = &t->task[place];
    memset(k, 0, sizeof *k);
    k->kind = kind;
    k->number = ++t->number;
    k->stream = s->handle;
    k->early = kind == TASK_KERNEL && e->early && s->last < TASKS;
    k->has_wait = e->waits;
    k->begin = next_begins(t, s, k->early);
    k->waited = k->begin;
    if (k->early) {
        k->before = task_bit(s->last);
        k->waited |= when_over(&t->task[s->last], s->last);
    }
    if (kind == TASK_KERNEL)
        diag_function(e->kernel, k->name, sizeof k->name);
    t->used |= task_bit(place);
    s->all |= task_bit(place) | k->begin;
    s->last = kind == TASK_KERNEL ? place : TASKS;
    if (kind == TASK_COPY && e->blocks)
        t->host |= s->all;
    return place;
}

task_set tasks_can_wait(const struct tasks *t, uint32_t place) {
    const struct task *k = &t->task[place];
    for (uint32_t i = 0; i < TASKS; i++)
        if (k->before & task_bit(i) && !t->task[i].ended)
            return k->waited | task_bit(i) | (t->task[i].has_wait ? tasks_can_wait(t, i) : t->task[i].begin);
    return k->waited;
}

void tasks_end(struct tasks *t, uint32_t place) {
    t->task[place].ended = true;
    for (uint32_t i = 0; i < TASKS; i++)
        if (t->task[i].number && t->task[i].before & task_bit(place))
            t->task[i].waited |= when_over(&t->task[place], place);
}

void tasks_all_over(struct tasks *t) { forget(t, t->used); }

/* --- the host ----------------------------------------------------------------------------------------------------- */

/* The event with that handle, new if there is none. */
static struct task_event *event_of(struct tasks *t, uint64_t handle) {
    for (uint32_t i = 0; i < t->num_events; i++)
        if (t->events[i].handle == handle)
            return &t->events[i];
    t->events = xgrow(t->events, t->num_events, &t->cap_events, sizeof *t->events);
    t->events[t->num_events] = (struct task_event){.handle = handle};
    return &t->events[t->num_events++];
}

void tasks_host(struct tasks *t, const struct event_host *e) {
    struct task_stream *s;
    switch (e->kind) {
    case HOST_STREAM:
        stream_of(t, e->stream)->blocking = e->blocks;
        break;
    case HOST_STREAM_END:
        remove_stream(t, e->stream);
        break;
    case HOST_RECORD:
        s = stream_of(t, e->stream);
        event_of(t, e->object)->set = s->all | of_others(t, s);
        break;
    case HOST_WAIT:
        s = stream_of(t, e->stream);
        s->late |= event_of(t, e->object)->set;
        s->all |= s->late;
        break;
    case HOST_SYNC:
        s = stream_of(t, e->stream);
        t->host |= e->object ? event_of(t, e->object)->set : s->all | (is_default(t, s) ? of_others(t, s) : 0);
        break;
    case HOST_SYNC_DEVICE:
        tasks_all_over(t);
        break;
    default:
        break;
    }
}
