/* check/check.c - the listeners together; contract in check.h. */
#include "check/check.h"

void check_attach(struct gpu *gpu) {
    const struct listener all[] = {check_race(), check_tmem(), check_mbarrier()};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (!events_attach(gpu, &all[i]))
            diag_broken("no room for the listener %s", all[i].name);
}

void *check_watch(const struct listener *self, struct cta *cta, size_t size) {
    void **watch = event_watch(self, cta);
    if (!*watch)
        *watch = worker_alloc(cta->island->worker, size);
    return *watch;
}

void check_forget(const struct listener *self, struct cta *cta) {
    void **watch = event_watch(self, cta);
    worker_free(cta->island->worker, *watch);
    *watch = NULL;
}
