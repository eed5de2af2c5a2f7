/* warp/meet.h - groups of a warp's lanes: how they part at branches, meet again, wait for one another, and exit.
 *
 * Threads are independent (PTX ISA 3.1, 9.5): lanes that part at a branch become two groups that are scheduled apart.
 * They meet at the branch's post-dominator (lower/joins.c), where the first to arrive is parked until the others come
 * or exit. An instruction with `.aligned` needs all live lanes of the warp at once (9.7.13.1 and others).
 *
 * What handlers need for waits is in warp.h: warp_wait, warp_sync_lanes and others.
 */
#ifndef WARP_MEET_H
#define WARP_MEET_H

#include "warp/warp.h"

/* Splits the current group at a branch: `taken` lanes go to target, the others to fall. */
void warp_split(struct warp *w, const struct insn *in, uint32_t taken, uint32_t target, uint32_t fall);
/* For instructions that may suspend their group: where a guard excludes lanes of the group, those go on behind the
 * instruction as a group of their own. True when it split them off: return WARP_JUMP, and it runs again. */
bool warp_isolate(struct warp *w, const struct insn *in, uint32_t mask);
/* Lanes of the current group leave the warp for good. */
enum warp_status warp_lanes_exit(struct warp *w, uint32_t lanes);
/* Lets a parked group go on without the lanes it waits for (the last resort when nothing else can run). */
void warp_release_parked(struct warp *w, struct group *g);

/* --- for the loop (warp/core.c) ----------------------------------------------------------------------------------- */

/* Parks the group at its reconvergence point; it is gone from the caller's view. */
void warp_park(struct warp *w, struct group *g);
/* Called with an .aligned instruction at which not all live lanes stand. Waits for groups that may still come; those
 * parked at a reconvergence point wait for this group in turn and never will. */
enum warp_status warp_wait_aligned(struct warp *w, const struct insn *in, uint32_t mask);
/* All live lanes stand at an .aligned instruction, and some have exited. */
enum warp_status warp_pass_exited(struct warp *w, const struct insn *in);
/* After the shared instruction the riders go on by themselves; where it waits (`done` false) they come to it again. */
void warp_unride(struct warp *w, bool done);
/* Tells listeners that the group's wait is over, if it was told. */
void warp_tell_goes_on(const struct warp *w, struct group *g, enum event_wait_end end);

#endif
