/* check/grids/touches.h - what device memory remembers of tasks: which bytes each has read and written, and where.
 *
 * By pages of 4096 bytes: for each task, kind of access and line one entry with a bit for each byte, or none where all
 * bytes are meant. Islands touch pages side by side: a page's shard has a lock.
 */
#ifndef CHECK_GRIDS_TOUCHES_H
#define CHECK_GRIDS_TOUCHES_H

#include "check/grids/tasks.h"

#define TOUCH_PAGE 4096u

enum touch_flag { TOUCH_WRITE = 1, TOUCH_STRONG = 2 }; /* strong: of a scope that takes in other kernels (8.5) */

/* Bytes of a page that a task has touched from one line. */
struct touch {
    struct touch *next;
    uint64_t page;   /* address / TOUCH_PAGE */
    uint64_t number; /* of the task */
    uint32_t place;  /* in the window */
    uint32_t flags;  /* enum touch_flag */
    const char *what;
    const struct diag_site *site;
    struct diag_thread thread;      /* the first */
    const struct diag_site *told;   /* a later line for which a conflict was reported, */
    uint64_t told_to;               /*  and the number of its task */
    uint64_t bits[TOUCH_PAGE / 64]; /* by byte */
    uint32_t bytes;                 /* that are set */
};

struct touches;
struct touches *touches_new(uint64_t most);
void touches_free(struct touches *p);

/* An access to [at, at + size), and its task. */
struct touching {
    uint64_t at;
    uint64_t size;
    uint32_t place;
    uint64_t number;
    uint32_t flags;
    const char *what; /* of a kernel: the instruction or operation */
    const struct diag_site *site;
    const struct diag_thread *thread;
};
/* Remembers it. False: there is no room. */
bool touches_put(struct touches *p, const struct touching *t);
/* Calls fn for each entry of a task in `of` that shares bytes with it, if one of the two writes and not both are
 * strong. `at`: the first such byte. */
typedef void touches_fn(void *ctx, struct touch *earlier, const struct touching *t, uint64_t at);
void touches_meet(struct touches *p, const struct tasks *tasks, task_set of, const struct touching *t, touches_fn *fn,
                  void *ctx);
/* Drops the entries of tasks that have left the window. */
void touches_sweep(struct touches *p, const struct tasks *tasks);
/* Lines of the task will be asked for when its module may be gone: they are copied. */
void touches_keep_sites(struct touches *p, uint64_t number);

#endif
