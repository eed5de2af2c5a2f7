/* base/budget.h - the host's memory that the emulator of this process may take.
 *
 * One account for the process, since the host has one memory: what base/heap.h gives is in it, and device memory from
 * its allocation on, touched or not. Any thread may call.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* What a process should leave to others: 80 % of the smaller of physical memory and the limit of its cgroup or of one
 * above it (version 2, or 1). `root` stands before /proc and /sys: "" but for tests. */
uint64_t budget_default(const char *root);
/* Sets the limit, in bytes. Before the first call there is none. */
void budget_set_limit(uint64_t bytes);
uint64_t budget_limit(void);
/* Enters `bytes` into the account: false, and nothing has changed, where that passes the limit. Large amounts are also
 * held against what the process has in memory, the program's own data included. */
bool budget_take(uint64_t bytes);
/* Takes back what budget_take entered. */
void budget_give(uint64_t bytes);
/* What the account has left. */
uint64_t budget_left(void);
/* What a large amount finds left beside all that the process has in memory. Asks the host: some microseconds. */
uint64_t budget_room(void);
/* Has the process more in memory than the limit? Asks the host: some microseconds. */
bool budget_exceeded(void);

#endif
