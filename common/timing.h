/* timing.h - --time RUNS: how long a kernel takes, from one CUDA event to the next. Host only.
 *
 *     struct timing t = timing_make(runs, inputs, 2);
 *     while (timing_next(&t))
 *         kernel<<<...>>>(...);
 *     timing_report(&t, ...);
 *
 * With 0 runs that is one launch, and no line is printed. Otherwise the launch is repeated. Each measured launch gets
 * inputs that the GPU has not seen, and the L2 cache holds none of them. The last launch gets the inputs as they were
 * made, so that its D can be checked like any other.
 */
#ifndef COMMON_TIMING_H
#define COMMON_TIMING_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_check.h"
#include "reference.h"

enum {
    TIMING_WARM_UPS = 3, /* unmeasured launches first: they load the kernel, and the clocks rise */
    TIMING_MAX_RUNS = 1000,
    TIMING_FLUSHES = 2, /* writes of twice the L2 before a run: they take longer than the CPU's side of a launch */
    TIMING_STEP = 4096, /* bytes by which the inputs move from run to run */
    TIMING_INPUTS = 2,
};

/* An operand: `bytes` at gpu, copied from host. Each run gets fresh inputs by rotation: from run to run all bytes move
 * by TIMING_STEP, so every sum has another value, from numbers of the same kind. */
struct timing_input {
    void *gpu;
    const void *host;
    size_t bytes;
};

struct timing {
    int runs, launched; /* launched: warm-ups count */
    struct timing_input input[TIMING_INPUTS];
    int inputs;
    void *flush; /* more than the L2 cache, written before each run */
    size_t flush_bytes;
    cudaEvent_t start, stop;
    float *us; /* of each run */
};

/* runs: 0 ... TIMING_MAX_RUNS. input: of the launch, uploaded already; copied. timing_report() frees what it takes. */
static inline struct timing timing_make(int runs, const struct timing_input *input, int inputs) {
    struct timing t = {};
    int device = 0, l2 = 0;
    t.runs = runs;
    if (!runs)
        return t;
    for (t.inputs = 0; t.inputs < inputs; t.inputs++)
        t.input[t.inputs] = input[t.inputs];
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
    t.flush_bytes = 2 * (size_t)l2;
    CUDA_CHECK(cudaMalloc(&t.flush, t.flush_bytes));
    CUDA_CHECK(cudaEventCreate(&t.start));
    CUDA_CHECK(cudaEventCreate(&t.stop));
    t.us = (float *)checked_malloc((size_t)runs * sizeof(float));
    return t;
}

/* Puts the host's bytes on the GPU, rotated by `by` bytes. */
static inline void timing_rotate(const struct timing_input *in, size_t by) {
    const char *host = (const char *)in->host;
    by %= in->bytes;
    CUDA_CHECK(cudaMemcpy(in->gpu, host + by, in->bytes - by, cudaMemcpyHostToDevice));
    if (by)
        CUDA_CHECK(cudaMemcpy((char *)in->gpu + in->bytes - by, host, by, cudaMemcpyHostToDevice));
}

/* Waits for the launch before, if there was one, and reports what stopped it. Returns 1 when all is ready for the next
 * launch on the default stream; 0: there is none. The start event is queued after the writes of `flush`, which take the
 * GPU longer than the CPU needs to launch. So the time that a launch takes to reach the GPU is not measured. */
static inline int timing_next(struct timing *t) {
    const int run = t->launched - TIMING_WARM_UPS; /* the next one; below 0: a warm-up */
    if (t->launched && run > 0)
        CUDA_CHECK(cudaEventRecord(t->stop));
    if (t->launched)
        CUDA_CHECK_LAUNCH();
    if (t->launched && run > 0) {
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, t->start, t->stop));
        t->us[run - 1] = 1000 * ms;
    }
    if (run == t->runs || (!t->runs && t->launched))
        return 0;
    t->launched++;
    if (t->runs)
        for (int i = 0; i < t->inputs; i++)
            timing_rotate(&t->input[i], (size_t)TIMING_STEP * (size_t)(t->runs - 1 - run));
    if (t->runs && run >= 0) {
        for (int i = 0; i < TIMING_FLUSHES; i++)
            CUDA_CHECK(cudaMemsetAsync(t->flush, run & 0xFF, t->flush_bytes));
        CUDA_CHECK(cudaEventRecord(t->start));
    }
    return 1;
}

static inline int timing_by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Prints one line for people and for scripts/bench.sh, if anything was measured: the median, the least and the most.
 * name: of the step. size, type: of the problem, words without blanks. flops: floating-point operations of one run. */
static inline void timing_report(struct timing *t, const char *name, const char *size, const char *type, double flops) {
    struct cudaDeviceProp prop;
    if (!t->runs)
        return;
    qsort(t->us, (size_t)t->runs, sizeof *t->us, timing_by_value);
    const double median = (t->us[(t->runs - 1) / 2] + t->us[t->runs / 2]) / 2;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    printf("TIME  %s %s %s: median %.2f us, %.2f to %.2f, %d runs, %.2f TFLOPS on %s\n", name, size, type, median,
           t->us[0], t->us[t->runs - 1], t->runs, flops / median * 1e-6, prop.name);
    CUDA_CHECK(cudaEventDestroy(t->start));
    CUDA_CHECK(cudaEventDestroy(t->stop));
    CUDA_CHECK(cudaFree(t->flush));
    free(t->us);
}

#endif
