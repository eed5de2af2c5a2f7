/* check/grids/touches.h - what device memory remembers of tasks: which bytes each has read and written, and from which
 * lines.
 *
 * It is kept by pages of 4096 bytes. Each task, kind of access and line has one entry there, with a bit for each byte.
 * Islands access pages side by side, so each shard of pages has a lock.
 */
#ifndef CHECK_GRIDS_TOUCHES_H
#define CHECK_GRIDS_TOUCHES_H

#include "check/grids/tasks.h"

#define TOUCH_PAGE 4096u

enum touch_flag { TOUCH_WRITE = 1, TOUCH_STRONG = 2 }; /* strong: its scope includes other kernels (8.5) */

/* The bytes of a page that a task has accessed from one line. Lives until the task leaves the window. */
struct touch {
    struct touch *next;
    uint64_t page;   /* address / TOUCH_PAGE */
    uint64_t number; /* of the task */
    uint32_t place;  /* in the window */
    uint32_t flags;  /* enum touch_flag */
    const char *what;
    const struct diag_site *site;
    struct diag_thread thread;      /* the first thread */
    const struct diag_site *told;   /* the later line of a reported conflict, */
    uint64_t told_to;               /* and the number of that line's task */
    uint64_t bits[TOUCH_PAGE / 64]; /* bit for each byte */
    uint32_t bytes;                 /* number of set bits */
};

/* What is remembered of all tasks of a device; `most`: limit of its memory in bytes (BOUND_TASK_BYTES). */
struct touches;
struct touches *touches_new(uint64_t most);
void touches_free(struct touches *p);

/* An access to [at, at + size) and its task, during its check. */
struct touching {
    uint64_t at;
    uint64_t size;
    uint32_t place;   /* of the task, in the window */
    uint64_t number;  /* of the task */
    uint32_t flags;   /* enum touch_flag */
    const char *what; /* for a kernel: the instruction or operation */
    const struct diag_site *site;
    const struct diag_thread *thread;
};
/* Remembers the access. False: no room. */
bool touches_put(struct touches *p, const struct touching *t);
/* Calls fn for each entry of a task in `of` that shares bytes with the access, if one of the two writes and not both
 * are strong. `at`: the first shared byte. */
typedef void touches_fn(void *ctx, struct touch *earlier, const struct touching *t, uint64_t at);
void touches_meet(struct touches *p, const struct tasks *tasks, task_set of, const struct touching *t, touches_fn *fn,
                  void *ctx);
/* Drops the entries of tasks that have left the window. */
void touches_sweep(struct touches *p, const struct tasks *tasks);
/* Copies the lines of the task's entries: a report may need them after the module is gone. */
void touches_keep_sites(struct touches *p, uint64_t number);

#endif
