/* check/grids/grids.h - order between kernels and copies: the last of the checker's questions.
 *
 * The emulator runs one task after the other, as if each were over when the next begins. On a GPU tasks of two streams
 * run side by side, and so do kernels with programmatic stream serialisation (PTX ISA 9.7.13.13). So of a task that
 * others may run beside, device memory remembers which bytes it has touched (pages.h), and each access of a later task
 * is compared with what tasks have touched that need not be over by then (tasks.h). Nothing is kept, and nothing is
 * compared, in a program of one stream whose kernels do not launch their dependents early.
 *
 * A grid is behind griddepcontrol.wait where one of its threads has executed it and is known to have: what the wait
 * makes visible it makes visible to the grid.
 */
#ifndef CHECK_GRIDS_GRIDS_H
#define CHECK_GRIDS_GRIDS_H

#include "check/know/viewer.h"

struct grids;
struct grids *grids_new(struct gpu *gpu);
void grids_free(struct grids *g);

/* A copy, a stream, an event, a wait of the host; a launch begins or ends. Between launches, from one host thread. */
void grids_host(struct grids *g, const struct event_host *e);
/* Are accesses to global memory of the running launch asked for? */
bool grids_wants(const struct grids *g);
/* Threads, or an operation with the note `n`, touch global memory. */
void grids_access(struct grids *g, struct race *r, const struct event_access *e, const struct note *n);
/* SYNC_GRID_WAIT and SYNC_GRID_LAUNCH_DEPENDENTS; LIFE_CTA_EXIT. */
void grids_sync(struct grids *g, struct race *r, const struct event_sync *e);
void grids_cta_exits(struct grids *g, struct race *r, const struct cta *cta);

#endif
