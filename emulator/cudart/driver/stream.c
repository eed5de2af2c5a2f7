/* Driver API: streams and events. Every operation is done when its call returns. */
#include "cudart/core/context.h"

static struct rt_context *enter(const char *call, int *e) {
    struct rt_context *c = rt_enter(call);
    *e = c->driver_ready ? rt_ready(c) : rt_say(c, RT_ERROR_NOT_INITIALIZED, "cuInit was not called");
    return c;
}

RT_API int cuStreamCreateWithPriority(void **out, unsigned flags, int priority) {
    int e;
    struct rt_context *c = enter("cuStreamCreate", &e);
    if (e == RT_SUCCESS)
        e = rt_stream_create(c, flags, priority, out);
    return rt_leave_driver(c, e);
}

RT_API int cuStreamCreate(void **out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }

RT_API int cuStreamDestroy_v2(void *stream) {
    int e;
    struct rt_context *c = enter("cuStreamDestroy", &e);
    if (e == RT_SUCCESS)
        e = rt_stream_destroy(c, stream);
    return rt_leave_driver(c, e);
}

static struct rt_context *enter_stream(const char *call, void *stream, struct rt_stream **s, int *e) {
    struct rt_context *c = enter(call, e);
    if (*e == RT_SUCCESS)
        *e = rt_stream_check(c, stream, s);
    return c;
}

RT_API int cuStreamSynchronize(void *stream) {
    int e;
    struct rt_context *c = enter_stream("cuStreamSynchronize", stream, NULL, &e);
    rt_flush_printed(c);
    return rt_leave_driver(c, e);
}

RT_API int cuStreamQuery(void *stream) {
    int e;
    struct rt_context *c = enter_stream("cuStreamQuery", stream, NULL, &e);
    return rt_leave_driver(c, e);
}

RT_API int cuStreamGetFlags(void *stream, unsigned *flags) {
    int e;
    struct rt_stream *s;
    struct rt_context *c = enter_stream("cuStreamGetFlags", stream, &s, &e);
    if (e == RT_SUCCESS && flags != NULL)
        *flags = s ? s->flags : 0;
    return rt_leave_driver(c, e);
}

RT_API int cuStreamGetPriority(void *stream, int *priority) {
    int e;
    struct rt_stream *s;
    struct rt_context *c = enter_stream("cuStreamGetPriority", stream, &s, &e);
    if (e == RT_SUCCESS && priority != NULL)
        *priority = s ? s->priority : 0;
    return rt_leave_driver(c, e);
}

RT_API int cuStreamIsCapturing(void *stream, int *status) {
    int e;
    struct rt_context *c = enter_stream("cuStreamIsCapturing", stream, NULL, &e);
    if (e == RT_SUCCESS && status != NULL)
        *status = 0; /* CU_STREAM_CAPTURE_STATUS_NONE */
    return rt_leave_driver(c, e);
}

RT_API int cuStreamGetCtx(void *stream, void **context) {
    int e;
    struct rt_context *c = enter_stream("cuStreamGetCtx", stream, NULL, &e);
    if (e == RT_SUCCESS && context != NULL)
        *context = rt_thread()->current;
    return rt_leave_driver(c, e);
}

RT_API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    int e;
    struct rt_event *found;
    (void)flags;
    struct rt_context *c = enter_stream("cuStreamWaitEvent", stream, NULL, &e);
    if (e == RT_SUCCESS)
        e = rt_event_check(c, event, &found);
    return rt_leave_driver(c, e);
}

/* The function runs outside the lock: it is the host program's own. */
RT_API int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    int e = cuStreamSynchronize(stream);
    if (e == RT_SUCCESS && function != NULL)
        function(data);
    return e;
}

RT_API int cuEventCreate(void **out, unsigned flags) {
    int e;
    struct rt_context *c = enter("cuEventCreate", &e);
    if (e == RT_SUCCESS)
        e = rt_event_create(c, flags, out);
    return rt_leave_driver(c, e);
}

RT_API int cuEventDestroy_v2(void *event) {
    int e;
    struct rt_context *c = enter("cuEventDestroy", &e);
    if (e == RT_SUCCESS)
        e = rt_event_destroy(c, event);
    return rt_leave_driver(c, e);
}

RT_API int cuEventRecord(void *event, void *stream) {
    int e;
    struct rt_context *c = enter("cuEventRecord", &e);
    if (e == RT_SUCCESS)
        e = rt_event_record(c, event, stream);
    return rt_leave_driver(c, e);
}

RT_API int cuEventRecordWithFlags(void *event, void *stream, unsigned flags) {
    (void)flags;
    return cuEventRecord(event, stream);
}

static int on_event(const char *call, void *event, bool wait) {
    int e;
    struct rt_event *found;
    struct rt_context *c = enter(call, &e);
    if (wait)
        rt_flush_printed(c);
    if (e == RT_SUCCESS)
        e = rt_event_check(c, event, &found);
    return rt_leave_driver(c, e);
}

RT_API int cuEventQuery(void *event) { return on_event("cuEventQuery", event, false); }
RT_API int cuEventSynchronize(void *event) { return on_event("cuEventSynchronize", event, true); }

RT_API int cuEventElapsedTime(float *ms, void *start, void *end) {
    int e;
    struct rt_context *c = enter("cuEventElapsedTime", &e);
    if (e == RT_SUCCESS)
        e = rt_event_elapsed(c, start, end, ms);
    return rt_leave_driver(c, e);
}
RT_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);
