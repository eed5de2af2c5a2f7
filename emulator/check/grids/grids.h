/* check/grids/grids.h - the order between kernels and copies.
 *
 * The emulator runs one task after the other, as if each were complete when the next begins. On a GPU tasks of two
 * streams run side by side, and so do kernels with programmatic stream serialisation (PTX ISA 9.7.13.13). So if another
 * task may run beside a task, device memory remembers which bytes that task has accessed (touches.h). Each access of a
 * later task is compared with the accesses of tasks that need not be complete by then (tasks.h). In a program of one
 * stream whose kernels do not launch their dependents early, nothing is kept or compared.
 *
 * An access counts as after griddepcontrol.wait if its maker knows that a thread of the grid has executed that wait. It
 * may be any thread: what the wait makes visible it makes visible to the whole grid.
 */
#ifndef CHECK_GRIDS_GRIDS_H
#define CHECK_GRIDS_GRIDS_H

#include "check/know/viewer.h"

struct grids;
struct grids *grids_new(struct gpu *gpu);
void grids_free(struct grids *g);

/* On a copy, a stream, an event, a wait of the host, the begin or end of a launch. Called between launches, by one host
 * thread. */
void grids_host(struct grids *g, const struct event_host *e);
/* Does it need the running launch's accesses to global memory? */
bool grids_wants(const struct grids *g);
/* On an access to global memory, by threads or by the operation with the note `n`. */
void grids_access(struct grids *g, struct race *r, const struct event_access *e, const struct note *n);
/* On SYNC_GRID_WAIT and SYNC_GRID_LAUNCH_DEPENDENTS; on LIFE_CTA_EXIT. */
void grids_sync(struct grids *g, struct race *r, const struct event_sync *e);
void grids_cta_exits(struct grids *g, struct race *r, const struct cta *cta);

#endif
