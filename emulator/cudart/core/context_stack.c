/* The driver's contexts and each thread's stack of them. Contract in context.h. */
#include "cudart/core/context.h"

#include <string.h>

struct rt_driver_context *rt_context_create(struct rt_context *c, unsigned flags, bool primary) {
    struct rt_driver_context *d = rt_calloc(c, 1, sizeof *d);
    if (d == NULL)
        return NULL;
    d->id = ++c->num_contexts;
    d->flags = flags;
    d->primary = primary;
    d->next = c->contexts;
    c->contexts = d;
    return d;
}

int rt_context_primary(struct rt_context *c, struct rt_driver_context **out) {
    struct rt_driver_context *d = c->contexts;
    while (d != NULL && !d->primary)
        d = d->next;
    *out = d ?: rt_context_create(c, 0, true);
    return *out != NULL ? RT_SUCCESS : RT_ERROR_MEMORY_ALLOCATION;
}

bool rt_context_known(const struct rt_context *c, const void *context) {
    for (const struct rt_driver_context *d = c->contexts; d != NULL; d = d->next)
        if (d == context)
            return true;
    return false;
}

struct rt_driver_context *rt_context_current(void) {
    const struct rt_thread *t = rt_thread();
    return t->num_contexts ? t->contexts[t->num_contexts - 1] : NULL;
}

int rt_context_push(struct rt_context *c, struct rt_driver_context *d) {
    struct rt_thread *t = rt_thread();
    if (t->num_contexts == RT_CONTEXT_STACK)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED, "more than %d contexts on a thread's stack are not supported",
                      RT_CONTEXT_STACK);
    t->contexts[t->num_contexts++] = d;
    return RT_SUCCESS;
}

void rt_context_pop(void) {
    struct rt_thread *t = rt_thread();
    t->num_contexts -= t->num_contexts != 0;
}

int rt_context_set(struct rt_context *c, struct rt_driver_context *d) {
    rt_context_pop();
    return d != NULL ? rt_context_push(c, d) : RT_SUCCESS;
}

/* A library is loaded for every context (CUDA driver API, Library Management). */
static bool of_no_context(const char *call) {
    return strncmp(call, "cuLibrary", 9) == 0 || strncmp(call, "cuKernel", 8) == 0;
}

int rt_context_use_primary(struct rt_context *c) {
    struct rt_driver_context *d;
    int e = rt_context_primary(c, &d);
    c->primary_used |= e == RT_SUCCESS;
    c->driver_ready |= e == RT_SUCCESS;
    return rt_then(e, rt_context_set(c, d));
}

int rt_check_context(struct rt_context *c) {
    struct rt_driver_context *d = rt_context_current();
    if (!c->driver && (d == NULL || (rt_context_known(c, d) && d->primary)))
        return rt_context_use_primary(c);
    if (!c->driver || of_no_context(c->call))
        return RT_SUCCESS;
    if (d == NULL)
        return rt_say(c, RT_ERROR_INVALID_CONTEXT, "no context is current: cuCtxCreate makes one");
    if (!rt_context_known(c, d))
        return rt_say(c, RT_ERROR_CONTEXT_IS_DESTROYED, "another thread has destroyed the current context");
    if (d->primary && !c->primary_used && c->primary_refs == 0)
        return rt_say(c, RT_ERROR_CONTEXT_IS_DESTROYED,
                      "the primary context was reset, or released as often as retained");
    return RT_SUCCESS;
}
