/* Runtime API: streams, events, host functions. Every operation is done when its call returns. */
#include "cudart/core/calls.h"

RT_API int cudaStreamCreate(void **out) { return rt_call_stream_create("cudaStreamCreate", 0, 0, out); }

RT_API int cudaStreamCreateWithFlags(void **out, unsigned flags) {
    return rt_call_stream_create("cudaStreamCreateWithFlags", flags, 0, out);
}

RT_API int cudaStreamCreateWithPriority(void **out, unsigned flags, int priority) {
    return rt_call_stream_create("cudaStreamCreateWithPriority", flags, priority, out);
}

RT_API int cudaStreamDestroy(void *stream) { return rt_call_destroy("cudaStreamDestroy", stream, rt_stream_destroy); }

RT_API int cudaStreamSynchronize(void *stream) { return rt_call_on_stream("cudaStreamSynchronize", stream, true); }
RT_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize);

RT_API int cudaStreamQuery(void *stream) { return rt_call_on_stream("cudaStreamQuery", stream, false); }
RT_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery);

RT_API int cudaStreamWaitEvent(void *stream, void *event, unsigned flags) {
    struct rt_context *c = rt_enter_ready("cudaStreamWaitEvent");
    return rt_leave(c, rt_then(c->entered, rt_event_wait(c, stream, event, flags)));
}
RT_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent);

RT_API int cudaStreamGetFlags(void *stream, unsigned *flags) {
    struct rt_context *c = rt_enter("cudaStreamGetFlags");
    const struct rt_stream *s;
    int e = rt_stream_check(c, stream, &s);
    return rt_leave(c, rt_give(e, flags, s->flags));
}
RT_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags);

RT_API int cudaStreamGetPriority(void *stream, int *priority) {
    struct rt_context *c = rt_enter("cudaStreamGetPriority");
    const struct rt_stream *s;
    int e = rt_stream_check(c, stream, &s);
    return rt_leave(c, rt_give(e, priority, s->priority));
}
RT_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority);

RT_API int cudaStreamGetId(void *stream, unsigned long long *id) {
    struct rt_context *c = rt_enter("cudaStreamGetId");
    const struct rt_stream *s;
    int e = rt_stream_check(c, stream, &s);
    return rt_leave(c, rt_give(e, id, s->id));
}
RT_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId);

RT_API int cudaStreamGetDevice(void *stream, int *device) {
    struct rt_context *c = rt_enter("cudaStreamGetDevice");
    int e = rt_stream_check(c, stream, NULL);
    return rt_leave(c, rt_give(e, device, 0));
}
RT_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice);

/* Nothing can capture, because cudaStreamBeginCapture is refused. The calls for more about a capture write the status
 * alone where there is none, and so are this one. */
RT_API int cudaStreamIsCapturing(void *stream, int *status) {
    struct rt_context *c = rt_enter("cudaStreamIsCapturing");
    int e = rt_stream_check(c, stream, NULL);
    return rt_leave(c, rt_give(e, status, 0)); /* cudaStreamCaptureStatusNone */
}
RT_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing);
RT_ALIAS(cudaStreamGetCaptureInfo, cudaStreamIsCapturing);
RT_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamIsCapturing);
RT_ALIAS(cudaStreamGetCaptureInfo_v2, cudaStreamIsCapturing);
RT_ALIAS(cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamIsCapturing);
RT_ALIAS(cudaStreamGetCaptureInfo_v3, cudaStreamIsCapturing);
RT_ALIAS(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamIsCapturing);

RT_API int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    return rt_call_host_function("cudaLaunchHostFunc", stream, function, data);
}
RT_ALIAS(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc);

RT_API int cudaStreamAddCallback(void *stream, rt_callback_fn *function, void *data, unsigned flags) {
    (void)flags;
    return rt_call_callback("cudaStreamAddCallback", stream, function, data);
}
RT_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback);

RT_API int cudaEventCreate(void **out) { return rt_call_event_create("cudaEventCreate", 0, out); }

RT_API int cudaEventCreateWithFlags(void **out, unsigned flags) {
    return rt_call_event_create("cudaEventCreateWithFlags", flags, out);
}

RT_API int cudaEventDestroy(void *event) { return rt_call_destroy("cudaEventDestroy", event, rt_event_destroy); }

RT_API int cudaEventRecord(void *event, void *stream) { return rt_call_event_record("cudaEventRecord", event, stream); }
RT_ALIAS(cudaEventRecord_ptsz, cudaEventRecord);

RT_API int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags) {
    (void)flags; /* 1: external, which matters to graphs only */
    return cudaEventRecord(event, stream);
}
RT_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags);

RT_API int cudaEventQuery(void *event) { return rt_call_on_event("cudaEventQuery", event, false); }
RT_API int cudaEventSynchronize(void *event) { return rt_call_on_event("cudaEventSynchronize", event, true); }

RT_API int cudaEventElapsedTime(float *ms, void *start, void *end) {
    return rt_call_event_elapsed("cudaEventElapsedTime", ms, start, end);
}
RT_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime);
