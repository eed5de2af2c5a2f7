/* view/follow.h - the events of one object of a log alone.
 *
 * What is followed: WHAT[@ctaN][@clusterM], N being a rank in its cluster and M the cluster's number; without them
 * those of rank 0 and of the first cluster of the log. In a grid without clusters ctaN is the CTA of that number.
 *
 *   full[0]          an mbarrier, a barrier of the CTA, a queue, or a buffer, by its name (view/names.h)
 *   0x418            a shared address: the mbarrier there, or what copies, UMMAs and stores touch there
 *   tmem:0-255       columns of tensor memory
 *   tile:3           a tile of D (trace/record.h): its UMMAs, and what their warp waited for and committed
 */
#ifndef VIEW_FOLLOW_H
#define VIEW_FOLLOW_H

#include "view/event_rows.h"

/* False where nothing has that name: `why` says so; follow_list says what there is. */
bool follow_print(struct rows *r, const struct trace_log *log, struct names *names, const struct say_times *times,
                  const char *what, char *why, size_t size);

/* Is it of the form above? `why` says what is wrong. */
bool follow_parse(const char *what, char *why, size_t size);

/* The names that a cluster has, one a line: for a reader who has asked for another. */
void follow_list(FILE *out, const struct trace_log *log, struct names *names, const char *what);

#endif
