/* check/grids/tasks.h - tasks: the kernels and copies of a device, and which of them are complete when another one
 * begins.
 *
 * A task begins after everything before it in its stream (CUDA C++ Programming Guide, Streams), after the events for
 * which its stream waits, and after everything for which the host has waited. A blocking stream and the default one
 * wait for each other. A kernel with programmatic stream serialisation begins earlier: once all CTAs of the kernel
 * before it have executed griddepcontrol.launch_dependents, or have ended (PTX ISA 9.7.13.13). What is complete then,
 * and what is complete after its griddepcontrol.wait, depends on the waits of the kernel before it:
 *
 *   1 launches its dependents; 2 waits for 1, then launches its own; 3 begins after 1, and after its wait it is after 2
 *   1 launches its dependents; 2 does not wait; 3 is after 2 when it has waited, but never after 1
 *
 * Tasks have places in a window, and a set of tasks has a bit for each place. A task leaves the window when every task
 * that can still begin comes after it.
 */
#ifndef CHECK_GRIDS_TASKS_H
#define CHECK_GRIDS_TASKS_H

#include "machine/events.h"

#define TASKS 64u
typedef uint64_t task_set;

enum task_kind { TASK_KERNEL, TASK_COPY, TASK_FILL };

/* A kernel, copy or memset; until it leaves the window. */
struct task {
    uint64_t number; /* in order of their begin, from 1; 0: the place is free */
    enum task_kind kind;
    uint64_t stream;        /* handle */
    char name[80];          /* of a kernel, as reports show it */
    task_set begin, waited; /* complete when it begins; and after its griddepcontrol.wait */
    task_set before;        /* the task before it in its stream, or none */
    bool early;             /* programmatic stream serialisation */
    bool has_wait;          /* it contains griddepcontrol.wait */
    bool kept;              /* its accesses are remembered; */
    atomic_bool forgotten;  /* but some were dropped */
    bool ended;             /* it is a kernel that has ended */
    /* of a kernel, set by its CTAs: */
    atomic_bool triggered;   /* griddepcontrol.launch_dependents */
    atomic_bool waits;       /* griddepcontrol.wait */
    atomic_bool waits_first; /* a CTA did so before it launched dependents or ended */
    _Atomic task_set seen;   /* tasks with a strong write that it has read */
};

/* A stream, until it is destroyed. */
struct task_stream {
    uint64_t handle;
    bool blocking; /* it and the default stream wait for each other; not with cudaStreamNonBlocking */
    task_set all;  /* complete when all its tasks are */
    task_set late; /* from events: complete when its next task begins, however early */
    uint32_t last; /* place of its last task if that is a kernel, otherwise TASKS */
};

/* An event that was recorded. */
struct task_event {
    uint64_t handle;
    task_set set; /* complete when the event is */
};

/* The tasks of a device, as long as it is checked. */
struct tasks {
    struct task task[TASKS];
    uint64_t number; /* number of the latest */
    task_set used;
    task_set host; /* tasks for which the host has waited */
    struct task_stream *streams;
    uint32_t num_streams, cap_streams;
    struct task_event *events;
    uint32_t num_events, cap_events;
    uint32_t most; /* limit of tasks in the window */
    bool lost;     /* a remembered task was dropped, because the window was full */
};

static inline task_set task_bit(uint32_t place) { return (task_set)1 << place; }

void tasks_init(struct tasks *t, uint32_t most);
void tasks_free(struct tasks *t);
/* On HOST_STREAM, HOST_STREAM_END, HOST_RECORD, HOST_WAIT, HOST_SYNC, HOST_SYNC_DEVICE: streams, events, waits of the
 * host. */
void tasks_host(struct tasks *t, const struct event_host *e);
/* May tasks of two streams overlap? */
bool tasks_concurrent(const struct tasks *t);
/* A task begins. Returns its place. */
uint32_t tasks_begin(struct tasks *t, enum task_kind kind, const struct event_host *e);
/* The tasks that are complete after its griddepcontrol.wait, if running kernels execute theirs. */
task_set tasks_can_wait(const struct tasks *t, uint32_t place);
/* A kernel has ended: the tasks for which it waited are complete for those that wait for it. */
void tasks_end(struct tasks *t, uint32_t place);
/* All running tasks are complete, for all others. */
void tasks_all_over(struct tasks *t);

#endif
