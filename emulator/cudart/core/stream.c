/* Streams and events: handles whose work is done when the call that issued it returns. Contract in context.h. */
#include "cudart/core/context.h"

#include "base/heap.h"
#include "base/now.h"

int rt_stream_create(struct rt_context *c, unsigned flags, int priority, void **out) {
    if (out == NULL || (flags & ~(unsigned)RT_STREAM_NON_BLOCKING) != 0)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "stream flags 0x%x: 0 or 1 (non-blocking)", flags);
    priority = priority > RT_LEAST_PRIORITY ? RT_LEAST_PRIORITY : priority; /* cut, without an error */
    priority = priority < RT_GREATEST_PRIORITY ? RT_GREATEST_PRIORITY : priority;
    struct rt_stream *s = rt_calloc(c, 1, sizeof *s);
    if (s == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    s->flags = flags;
    s->priority = priority;
    s->id = ++c->next_stream_id + 2; /* 1 and 2 are the legacy and the per-thread stream */
    s->next = c->streams;
    c->streams = s;
    *out = s;
    tell_host(c->gpu, &(struct event_host){
                          .kind = HOST_STREAM, .stream = (uintptr_t)s, .blocks = !(flags & RT_STREAM_NON_BLOCKING)});
    return RT_SUCCESS;
}

int rt_stream_check(struct rt_context *c, void *stream, const struct rt_stream **out) {
    static const struct rt_stream legacy = {.id = 1}, per_thread = {.id = 2};
    const struct rt_stream *s = c->streams;
    if (stream == NULL || stream == RT_STREAM_LEGACY)
        s = &legacy;
    else if (stream == RT_STREAM_PER_THREAD)
        s = &per_thread;
    else
        while (s != NULL && s != stream)
            s = s->next;
    if (out != NULL)
        *out = s;
    return s != NULL ? RT_SUCCESS : rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is not a stream of this process", stream);
}

int rt_stream_destroy(struct rt_context *c, void *stream) {
    for (struct rt_stream **p = &c->streams; *p != NULL; p = &(*p)->next)
        if (*p == stream) {
            struct rt_stream *s = *p;
            *p = s->next;
            xfree(s);
            if (c->gpu)
                rt_tell(c, HOST_STREAM_END, stream, NULL);
            return RT_SUCCESS;
        }
    return rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is not a stream that cudaStreamCreate made", stream);
}

int rt_event_create(struct rt_context *c, unsigned flags, void **out) {
    const unsigned known = RT_EVENT_BLOCKING_SYNC | RT_EVENT_DISABLE_TIMING;
    if (out == NULL || (flags & ~(known | RT_EVENT_INTERPROCESS)) != 0)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "event flags 0x%x are not known", flags);
    if ((flags & RT_EVENT_INTERPROCESS) && !(flags & RT_EVENT_DISABLE_TIMING))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "cudaEventInterprocess needs cudaEventDisableTiming");
    if (flags & RT_EVENT_INTERPROCESS)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED, "cudaEventInterprocess is not supported by the emulator");
    struct rt_event *e = rt_calloc(c, 1, sizeof *e);
    if (e == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    e->flags = flags;
    e->next = c->events;
    c->events = e;
    *out = e;
    return RT_SUCCESS;
}

int rt_event_check(struct rt_context *c, void *event, struct rt_event **out) {
    struct rt_event *e = c->events;
    while (e != NULL && e != event)
        e = e->next;
    if (out != NULL)
        *out = e;
    return e != NULL ? RT_SUCCESS : rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is not an event of this process", event);
}

int rt_event_destroy(struct rt_context *c, void *event) {
    for (struct rt_event **p = &c->events; *p != NULL; p = &(*p)->next)
        if (*p == event) {
            struct rt_event *e = *p;
            *p = e->next;
            xfree(e);
            return RT_SUCCESS;
        }
    return rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is not an event of this process", event);
}

int rt_event_wait(struct rt_context *c, void *stream, void *event, unsigned flags) {
    int code = rt_stream_check(c, stream, NULL);
    code = rt_then(code, rt_event_check(c, event, NULL));
    if (code == RT_SUCCESS && flags > 1)
        code = rt_say(c, RT_ERROR_INVALID_VALUE, "flags 0x%x are not known", flags);
    if (code == RT_SUCCESS && flags == 1)
        code = rt_say(c, RT_ERROR_ILLEGAL_STATE, "an external wait (flags 1) is for streams that are being captured");
    if (code == RT_SUCCESS)
        rt_tell(c, HOST_WAIT, stream, event);
    return code;
}

int rt_event_record(struct rt_context *c, void *event, void *stream) {
    struct rt_event *e;
    int code = rt_event_check(c, event, &e);
    code = rt_then(code, rt_stream_check(c, stream, NULL));
    if (code != RT_SUCCESS)
        return code;
    e->when = now_ns();
    e->recorded = true;
    rt_tell(c, HOST_RECORD, stream, event);
    return RT_SUCCESS;
}

void rt_tell(struct rt_context *c, enum event_host_kind kind, void *stream, void *event) {
    tell_host(c->gpu, &(struct event_host){.kind = kind, .stream = (uintptr_t)stream, .object = (uintptr_t)event});
}

int rt_event_elapsed(struct rt_context *c, void *start, void *end, float *ms) {
    struct rt_event *a, *b;
    int code = rt_event_check(c, start, &a);
    code = rt_then(code, rt_event_check(c, end, &b));
    if (code == RT_SUCCESS && ms == NULL) /* the driver takes it for a third handle (measured on an H200) */
        code = rt_say(c, c->driver ? RT_ERROR_INVALID_HANDLE : RT_ERROR_INVALID_VALUE, "no place for the result");
    if (code != RT_SUCCESS)
        return code;
    if (!a->recorded || !b->recorded)
        return rt_say(c, RT_ERROR_INVALID_HANDLE, "the %s event was never recorded", a->recorded ? "end" : "start");
    if ((a->flags | b->flags) & RT_EVENT_DISABLE_TIMING)
        return rt_say(c, RT_ERROR_INVALID_HANDLE, "an event was created with cudaEventDisableTiming");
    *ms = (float)(1e-6 * (double)(int64_t)(b->when - a->when));
    return RT_SUCCESS;
}
