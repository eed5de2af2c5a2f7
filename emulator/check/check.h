/* check/check.h - observers that look for broken ordering rules. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "machine/observer.h"

/* Missing fence.proxy.async between a thread's store to shared memory and the tensor core's read (check/proxy.c). */
const struct observer *check_proxy(void);

#endif
