/* check/grids/tasks.h - tasks: the kernels and copies of a device, and which of them are known to be over when another
 * one begins.
 *
 * A task begins when all that its stream had before it is over (CUDA C++ Programming Guide, Streams), when the events
 * are for which its stream waits, and behind all that the host has waited for. A blocking stream and the default one
 * wait for each other. A kernel with programmatic stream serialisation begins earlier: once all CTAs of the kernel
 * before it have executed griddepcontrol.launch_dependents, or have ended (PTX ISA 9.7.13.13). What is over then, and
 * what is over behind its griddepcontrol.wait, follows from what the kernel before it has waited for, and when:
 *
 *   1 launches its dependents; 2 waits for 1, then launches its own; 3 begins behind 1, and behind its wait behind 2
 *   1 launches its dependents; 2 does not wait; 3 is behind 2 when it has waited, but never behind 1
 *
 * Tasks have places in a window; a set of them is a bit for each. A task leaves when nothing can begin any more that is
 * not behind it.
 */
#ifndef CHECK_GRIDS_TASKS_H
#define CHECK_GRIDS_TASKS_H

#include "machine/events.h"

#define TASKS 64u
typedef uint64_t task_set;

enum task_kind { TASK_KERNEL, TASK_COPY, TASK_FILL };

struct task {
    uint64_t number; /* from 1; 0: the place is free */
    enum task_kind kind;
    uint64_t stream;
    char name[80];          /* of a kernel, as reports show it */
    task_set begin, waited; /* over when it begins; and behind griddepcontrol.wait */
    task_set before;        /* its own stream's prerequisite, or none */
    bool early;             /* programmatic stream serialisation */
    bool has_wait;          /* griddepcontrol.wait is among its instructions */
    bool kept;              /* its accesses are remembered, */
    atomic_bool forgotten;  /*  but not all of them */
    bool ended;             /* a kernel */
    /* a kernel, as its CTAs do it: */
    atomic_bool triggered;   /* griddepcontrol.launch_dependents */
    atomic_bool waits;       /* griddepcontrol.wait */
    atomic_bool waits_first; /* a CTA has, before it launched dependents or ended */
    _Atomic task_set seen;   /* tasks whose strong write it has read */
};

struct task_stream {
    uint64_t handle;
    bool blocking;
    task_set all;  /* over when all that it has been given is */
    task_set late; /* by events: over when its next task begins, however early */
    uint32_t last; /* place of its last task if that is a kernel, else TASKS */
};

struct task_event {
    uint64_t handle;
    task_set set;
};

struct tasks {
    struct task task[TASKS];
    uint64_t number; /* of the latest */
    task_set used;
    task_set host; /* the host has waited for them */
    struct task_stream *streams;
    uint32_t num_streams, cap_streams;
    struct task_event *events;
    uint32_t num_events, cap_events;
    uint32_t most; /* in the window */
    bool lost;     /* a kept one was dropped, because the window was full */
};

static inline task_set task_bit(uint32_t place) { return (task_set)1 << place; }

void tasks_init(struct tasks *t, uint32_t most);
void tasks_free(struct tasks *t);
/* A stream comes or goes; events, and what the host waits for: HOST_STREAM, HOST_STREAM_END, HOST_RECORD, HOST_WAIT,
 * HOST_SYNC, HOST_SYNC_DEVICE. */
void tasks_host(struct tasks *t, const struct event_host *e);
/* May tasks of two streams be under way at a time? */
bool tasks_concurrent(const struct tasks *t);
/* A task begins; its place. */
uint32_t tasks_begin(struct tasks *t, enum task_kind kind, const struct event_host *e);
/* Over behind its griddepcontrol.wait, if kernels that are under way execute theirs. */
task_set tasks_can_wait(const struct tasks *t, uint32_t place);
/* A kernel has ended: what its wait was for is over for those that wait for it. */
void tasks_end(struct tasks *t, uint32_t place);
/* All that is under way is over, for everybody. */
void tasks_all_over(struct tasks *t);

#endif
