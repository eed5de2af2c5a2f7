/* Driver API: streams and events. Every operation is done when its call returns. */
#include "cudart/core/calls.h"

RT_API int cuStreamCreateWithPriority(void **out, unsigned flags, int priority) {
    return rt_call_stream_create("cuStreamCreate", flags, priority, out);
}

RT_API int cuStreamCreate(void **out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }
RT_API int cuStreamDestroy_v2(void *stream) { return rt_call_destroy("cuStreamDestroy", stream, rt_stream_destroy); }
RT_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);
RT_API int cuStreamSynchronize(void *stream) { return rt_call_on_stream("cuStreamSynchronize", stream, true); }
RT_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize);
RT_API int cuStreamQuery(void *stream) { return rt_call_on_stream("cuStreamQuery", stream, false); }
RT_ALIAS(cuStreamQuery_ptsz, cuStreamQuery);

static struct rt_context *enter_stream(const char *call, void *stream, const struct rt_stream **s) {
    struct rt_context *c = rt_enter_ready(call);
    c->entered = rt_then(c->entered, rt_stream_check(c, stream, s));
    return c;
}

RT_API int cuStreamGetFlags(void *stream, unsigned *flags) {
    const struct rt_stream *s;
    struct rt_context *c = enter_stream("cuStreamGetFlags", stream, &s);
    int e = rt_then(c->entered, rt_check_out(c, flags));
    return rt_leave(c, rt_give(e, flags, s->flags));
}
RT_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags);

RT_API int cuStreamGetPriority(void *stream, int *priority) {
    const struct rt_stream *s;
    struct rt_context *c = enter_stream("cuStreamGetPriority", stream, &s);
    int e = rt_then(c->entered, rt_check_out(c, priority));
    return rt_leave(c, rt_give(e, priority, s->priority));
}
RT_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority);

RT_API int cuStreamGetId(void *stream, unsigned long long *id) {
    const struct rt_stream *s;
    struct rt_context *c = enter_stream("cuStreamGetId", stream, &s);
    int e = rt_then(c->entered, rt_check_out(c, id));
    return rt_leave(c, rt_give(e, id, s->id));
}
RT_ALIAS(cuStreamGetId_ptsz, cuStreamGetId);

RT_API int cuStreamGetDevice(void *stream, int *device) {
    struct rt_context *c = enter_stream("cuStreamGetDevice", stream, NULL);
    int e = rt_then(c->entered, rt_check_out(c, device));
    return rt_leave(c, rt_give(e, device, 0));
}
RT_ALIAS(cuStreamGetDevice_ptsz, cuStreamGetDevice);

/* Nothing can capture, because cuStreamBeginCapture is refused. The calls for more about a capture write the status
 * alone where there is none, and so are this one. */
RT_API int cuStreamIsCapturing(void *stream, int *status) {
    struct rt_context *c = enter_stream("cuStreamIsCapturing", stream, NULL);
    return rt_leave(c, rt_give(c->entered, status, 0)); /* CU_STREAM_CAPTURE_STATUS_NONE */
}
RT_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);
RT_ALIAS(cuStreamGetCaptureInfo, cuStreamIsCapturing);
RT_ALIAS(cuStreamGetCaptureInfo_ptsz, cuStreamIsCapturing);
RT_ALIAS(cuStreamGetCaptureInfo_v2, cuStreamIsCapturing);
RT_ALIAS(cuStreamGetCaptureInfo_v2_ptsz, cuStreamIsCapturing);
RT_ALIAS(cuStreamGetCaptureInfo_v3, cuStreamIsCapturing);
RT_ALIAS(cuStreamGetCaptureInfo_v3_ptsz, cuStreamIsCapturing);

RT_API int cuStreamGetCtx(void *stream, void **context) {
    struct rt_context *c = enter_stream("cuStreamGetCtx", stream, NULL);
    return rt_leave(c, rt_give(c->entered, context, rt_context_current()));
}
RT_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx);

/* There are no green contexts. */
RT_API int cuStreamGetCtx_v2(void *stream, void **context, void **green) {
    int e = cuStreamGetCtx(stream, context);
    return rt_give(e, green, NULL);
}
RT_ALIAS(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx_v2);

RT_API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    struct rt_context *c = rt_enter_ready("cuStreamWaitEvent");
    return rt_leave(c, rt_then(c->entered, rt_event_wait(c, stream, event, flags)));
}
RT_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);

RT_API int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    return rt_call_host_function("cuLaunchHostFunc", stream, function, data);
}
RT_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);

RT_API int cuStreamAddCallback(void *stream, rt_callback_fn *function, void *data, unsigned flags) {
    (void)flags;
    return rt_call_callback("cuStreamAddCallback", stream, function, data);
}
RT_ALIAS(cuStreamAddCallback_ptsz, cuStreamAddCallback);

RT_API int cuEventCreate(void **out, unsigned flags) { return rt_call_event_create("cuEventCreate", flags, out); }
RT_API int cuEventDestroy_v2(void *event) { return rt_call_destroy("cuEventDestroy", event, rt_event_destroy); }
RT_ALIAS(cuEventDestroy, cuEventDestroy_v2);

RT_API int cuEventRecord(void *event, void *stream) { return rt_call_event_record("cuEventRecord", event, stream); }
RT_ALIAS(cuEventRecord_ptsz, cuEventRecord);

RT_API int cuEventRecordWithFlags(void *event, void *stream, unsigned flags) {
    (void)flags;
    return cuEventRecord(event, stream);
}
RT_ALIAS(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags);

RT_API int cuEventQuery(void *event) { return rt_call_on_event("cuEventQuery", event, false); }
RT_API int cuEventSynchronize(void *event) { return rt_call_on_event("cuEventSynchronize", event, true); }

RT_API int cuEventElapsedTime(float *ms, void *start, void *end) {
    return rt_call_event_elapsed("cuEventElapsedTime", ms, start, end);
}
RT_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);
