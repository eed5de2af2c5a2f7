/* What both APIs tell of memory, copies, streams and events (machine/events.h: struct event_host). */
#include "check.h"
#include "cudart/core/context.h"

int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemsetAsync(void *, int, size_t, void *);
int cudaStreamCreate(void **);
int cudaStreamDestroy(void *);
int cudaStreamSynchronize(void *);
int cudaStreamQuery(void *);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaEventCreate(void **);
int cudaEventRecord(void *, void *);
int cudaEventSynchronize(void *);
int cudaDeviceSynchronize(void);
int cuStreamWaitEvent(void *, void *, unsigned);

static struct told {
    struct event_host e[16];
    unsigned num;
} told;

static void host(const struct listener *self, const struct event_host *e) {
    struct told *t = self->ctx;
    if (CHECK(t->num < 16))
        t->e[t->num++] = *e;
}

/* The one event since the last call, of that kind; a zeroed one where there is none. */
static struct event_host only(enum event_host_kind kind) {
    const struct event_host e = told.e[0];
    if (!CHECK_EQ(told.num, 1) || !CHECK_EQ(e.kind, kind))
        return (struct event_host){0};
    told.num = 0;
    return e;
}

static void listen(void) {
    struct rt_context *c = rt_enter_ready("cudaMalloc");
    CHECK_EQ(c->entered, 0);
    CHECK(events_attach(c->gpu, &(struct listener){.name = "host", .wants = WANT_HOST, .ctx = &told, .host = host}));
    CHECK_EQ(rt_leave(c, c->entered), 0);
}

static void memory(char *p) {
    char buffer[64] = {0};
    CHECK_EQ(cudaMemcpy(p, buffer, 64, 1), 0);
    struct event_host e = only(HOST_COPY);
    CHECK(e.dst == (uintptr_t)p && e.src == (uintptr_t)buffer && e.bytes == 64 && e.rows == 1 && e.stream == 0);
    CHECK(e.blocks);
    CHECK_EQ(cudaMemcpy(p, buffer, 0, 1), 0); /* nothing is copied */
    CHECK_EQ(cudaMemcpy(NULL, buffer, 8, 1), 1);
    CHECK_EQ(told.num, 0);
    CHECK_EQ(cudaMemcpy2D(p, 32, buffer, 16, 8, 4, 1), 0);
    CHECK_EQ(told.num, 2); /* it synchronises first */
    CHECK_EQ(told.e[0].kind, HOST_SYNC_DEVICE);
    told.e[0] = told.e[1];
    told.num = 1;
    e = only(HOST_COPY);
    CHECK(e.bytes == 8 && e.rows == 4 && e.dst_pitch == 32 && e.src_pitch == 16);
}

static void streams(char *p) {
    void *stream, *event;
    CHECK_EQ(cudaStreamCreate(&stream), 0);
    struct event_host e = only(HOST_STREAM);
    CHECK(e.stream == (uintptr_t)stream && e.blocks);
    CHECK_EQ(cudaEventCreate(&event), 0);
    CHECK_EQ(told.num, 0);
    CHECK_EQ(cudaMemsetAsync(p, 1, 32, stream), 0);
    e = only(HOST_COPY);
    CHECK(e.dst == (uintptr_t)p && e.src == 0 && e.bytes == 32 && e.stream == (uintptr_t)stream);
    CHECK_EQ(cudaEventRecord(event, stream), 0);
    e = only(HOST_RECORD);
    CHECK(e.stream == (uintptr_t)stream && e.object == (uintptr_t)event);
    CHECK_EQ(cudaStreamWaitEvent(NULL, event, 0), 0);
    e = only(HOST_WAIT);
    CHECK(e.stream == 0 && e.object == (uintptr_t)event);
    CHECK_EQ(cuStreamWaitEvent(stream, event, 0), 0);
    CHECK(only(HOST_WAIT).stream == (uintptr_t)stream);
    CHECK_EQ(cudaStreamQuery(stream), 0); /* the host knows then, too */
    CHECK(only(HOST_SYNC).stream == (uintptr_t)stream);
    CHECK_EQ(cudaStreamSynchronize(stream), 0);
    CHECK(only(HOST_SYNC).stream == (uintptr_t)stream);
    CHECK_EQ(cudaEventSynchronize(event), 0);
    CHECK(only(HOST_SYNC).object == (uintptr_t)event);
    CHECK_EQ(cudaDeviceSynchronize(), 0);
    only(HOST_SYNC_DEVICE);
    CHECK_EQ(cudaStreamDestroy(stream), 0);
    CHECK(only(HOST_STREAM_END).stream == (uintptr_t)stream);
}

int main(void) {
    void *p;
    listen();
    CHECK_EQ(cudaMalloc(&p, 128), 0);
    struct event_host e = only(HOST_ALLOC);
    CHECK(e.dst == (uintptr_t)p && e.bytes == 128);
    memory(p);
    streams(p);
    CHECK_EQ(cudaFree(p), 0);
    CHECK(only(HOST_FREE).dst == (uintptr_t)p);
    CHECK(cudaFree(p) != 0);
    CHECK_EQ(told.num, 0);
    return check_report();
}
