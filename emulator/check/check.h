/* check/check.h - observers that look for broken ordering rules. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "machine/observer.h"

/* Missing fence.proxy.async between a thread's store to shared memory and the tensor core's read (check/proxy.c).
 * The observer belongs to the caller; check_proxy_destroy frees it. */
struct observer *check_proxy_create(void);
void check_proxy_destroy(struct observer *o);

#endif
