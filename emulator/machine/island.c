/* machine/island.c - faults, warnings, printf, lateness and randomness of an island; contracts in island.h. */
#include "machine/island.h"

#include "base/budget.h"
#include "base/heap.h"
#include "base/now.h"
#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

struct said {
    struct said *next;
    struct finding *finding; /* NULL: of printf, text */
    size_t len;
    char text[];
};

void island_init(struct island *isl, struct gpu *gpu, uint32_t number) {
    memset(isl, 0, sizeof *isl);
    isl->gpu = gpu;
    isl->worker = &gpu->workers[0];
    isl->rng = (gpu->config.seed + number * UINT64_C(0xD1B54A32D192ED03)) * 0x9E3779B97F4A7C15ull + 1;
    isl->said_tail = &isl->said;
}

static void drop_said(struct island *isl) {
    for (struct said *s = isl->said, *next; s; s = next) {
        next = s->next;
        xfree(s);
    }
    isl->said = NULL;
    isl->said_tail = &isl->said;
    isl->said_bytes = isl->printed = 0;
}

void island_close(struct island *isl) {
    drop_said(isl);
    findings_clear(&isl->found);
}

/* A piece of text at the end, or a report. */
static void append_said(struct island *isl, struct finding *finding, const char *text, size_t len) {
    struct said *s = xcalloc(1, sizeof *s + len);
    s->finding = finding;
    s->len = len;
    if (len)
        memcpy(s->text, text, len);
    *isl->said_tail = s;
    isl->said_tail = &s->next;
    isl->said_bytes += sizeof *s + len;
}

static void drop_oldest_print(struct island *isl) {
    for (struct said **p = &isl->said, *s; (s = *p); p = &s->next) {
        if (s->finding)
            continue;
        if (!(*p = s->next))
            isl->said_tail = p;
        isl->said_bytes -= sizeof *s + s->len;
        isl->printed -= sizeof *s + s->len;
        xfree(s);
        return;
    }
}

bool mach_print(struct island *isl, const char *text, size_t len) {
    const size_t bytes = sizeof(struct said) + len;
    bool all = true;
    if (!len)
        return true;
    for (; isl->printed && isl->printed + bytes > isl->gpu->print_fifo; all = false)
        drop_oldest_print(isl);
    append_said(isl, NULL, text, len);
    isl->printed += bytes;
    return all;
}

/* --- reports ------------------------------------------------------------------------------------------------------ */

/* `proto` as `origin`, and before it `other`, met it. */
static void describe(struct diag *d, const struct mach_origin *origin, const struct diag_party *other,
                     const struct diag *proto) {
    *d = *proto;
    d->site = origin ? origin->site : NULL;
    d->thread = origin ? &origin->thread : NULL;
    d->other = other ? other : proto->other;
    d->after = NULL;
}

/* An entry of the island for what it meets for the first time, to be told. NULL where there is no room. */
static struct finding *note(struct island *isl, uint64_t key, const struct diag *d, const char *fmt, va_list ap) {
    char message[1024];
    vsnprintf(message, sizeof message, fmt, ap);
    struct finding *f = findings_add(&isl->found, key, d, message);
    if (f)
        append_said(isl, f, NULL, 0);
    return f;
}

static void count(struct island *isl, struct finding *f, const struct diag *d) {
    if (!f) {
        isl->found.lost++;
        return;
    }
    f->count++;
    if (d->thread)
        f->last = *d->thread;
}

void mach_fault(struct island *isl, const struct mach_origin *origin, const struct diag *proto, const char *fmt, ...) {
    if (isl->fault)
        return;
    isl->fault = proto->cuda_error ? proto->cuda_error : DIAG_CUDA_LAUNCH_FAILURE;
    struct diag d;
    describe(&d, origin, NULL, proto);
    if (proto->cuda_error != DIAG_CUDA_LAUNCH_TIMEOUT) /* these name their own cause */
        d.after = isl->first_warning;
    va_list ap;
    va_start(ap, fmt);
    count(isl, note(isl, diag_key(&d), &d, fmt, ap), &d);
    va_end(ap);
}

static bool warn(struct island *isl, const struct mach_origin *origin, const struct diag_party *other,
                 const struct diag *proto, const char *fmt, va_list ap) {
    if (isl->fault)
        return false;
    if (isl->gpu->config.check == MACH_CHECK_OFF)
        return true;
    struct diag d;
    describe(&d, origin, other, proto);
    const uint64_t key = diag_key(&d);
    struct finding *f = findings_find(&isl->found, key);
    if (!f) {
        const struct suppression *by = NULL;
        const bool strict = isl->gpu->config.check == MACH_CHECK_STRICT;
        const enum finding_state state = findings_judge(isl->gpu->findings, &d, strict, &by);
        d.warning = state != FINDING_TOLD || (d.class != DIAG_ERROR && isl->gpu->config.check != MACH_CHECK_ERROR);
        f = note(isl, key, &d, fmt, ap);
        if (f) {
            f->state = state;
            f->suppression = by;
        }
        if (state == FINDING_TOLD && d.warning && !isl->first_warning)
            isl->first_warning = proto->id;
    }
    count(isl, f, &d);
    if (!f || f->diag->warning)
        return true;
    isl->fault = proto->cuda_error ? proto->cuda_error : DIAG_CUDA_LAUNCH_FAILURE;
    return false;
}

bool mach_warn(struct island *isl, const struct mach_origin *origin, const struct diag *proto, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const bool goes_on = warn(isl, origin, NULL, proto, fmt, ap);
    va_end(ap);
    return goes_on;
}

bool mach_warn_pair(struct island *isl, const struct mach_origin *origin, const struct mach_origin *other,
                    const char *what, const struct diag *proto, const char *fmt, ...) {
    const struct diag_party party = {what, other->site, &other->thread};
    va_list ap;
    va_start(ap, fmt);
    const bool goes_on = warn(isl, origin, &party, proto, fmt, ap);
    va_end(ap);
    return goes_on;
}

void island_tell(struct island *isl) {
    struct gpu *gpu = isl->gpu;
    struct findings *all = gpu->findings;
    const uint64_t changes = all->changes;
    const bool in_time = !gpu->fault; /* else it is dropped */
    for (const struct said *s = isl->said; s && !gpu->fault; s = s->next) {
        if (s->finding)
            findings_tell(all, &gpu->sink, s->finding);
        else if (gpu->print)
            gpu->print(gpu->print_ctx, s->text, s->len);
        if (s->finding && !s->finding->diag->warning)
            gpu->fault = isl->fault;
    }
    if (in_time)
        findings_take_counts(all, &isl->found);
    if (all->changed && all->changes != changes)
        all->changed(all->ctx);
    drop_said(isl);
}

uint64_t mach_random(struct island *isl) {
    uint64_t x = isl->rng;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    isl->rng = x;
    return x * 0x2545F4914F6CDD1Dull;
}

uint64_t mach_priority(struct island *isl) {
    return isl->gpu->config.schedule == MACH_SCHED_PCT ? mach_random(isl) | UINT64_C(1) << 63 : 0;
}

/* --- time and memory ---------------------------------------------------------------------------------------------- */

#define ASKED 8u                   /* questions between two looks at the clock */
#define PROGRESS_EVERY 2000000000u /* nanoseconds before a launch says that it goes on, and between two such lines */
#define MEMORY_EVERY 10000000u     /* nanoseconds between two looks at the process's memory, which take microseconds */

void gpu_begin_launch(struct gpu *gpu) {
    gpu->fault = 0;
    atomic_store(&gpu->unseen, 0);
    findings_begin_launch(gpu->findings);
    gpu->clock = gpu->starts = gpu->steps = 0;
    gpu->began = now_ns();
    gpu->deadline = gpu->config.timeout ? gpu->began + gpu->config.timeout : 0;
    atomic_store(&gpu->progress_at, gpu->began + PROGRESS_EVERY);
    atomic_store(&gpu->memory_at, 0);
    atomic_store(&gpu->late, MACH_IN_TIME);
}

void gpu_end_launch(struct gpu *gpu) {
    if (gpu->config.progress && atomic_load(&gpu->progress_at) > gpu->began + PROGRESS_EVERY)
        fputs("\033[K", stderr);
    findings_end_launch(gpu->findings, &gpu->sink, atomic_load(&gpu->unseen));
}

bool island_late(struct island *isl) {
    struct gpu *gpu = isl->gpu;
    if (atomic_load_explicit(&gpu->late, memory_order_relaxed) != MACH_IN_TIME)
        return true;
    if (++isl->asked < ASKED)
        return false;
    isl->asked = 0;
    const uint64_t now = now_ns();
    enum mach_late late = gpu->deadline && now >= gpu->deadline ? MACH_TIMEOUT : MACH_IN_TIME;
    if (late == MACH_IN_TIME && now >= atomic_load_explicit(&gpu->memory_at, memory_order_relaxed)) {
        atomic_store_explicit(&gpu->memory_at, now + MEMORY_EVERY, memory_order_relaxed);
        late = budget_exceeded() ? MACH_MEMORY : MACH_IN_TIME;
    }
    uint64_t next = atomic_load_explicit(&gpu->progress_at, memory_order_relaxed);
    if (gpu->config.progress && now >= next &&
        atomic_compare_exchange_strong(&gpu->progress_at, &next, now + PROGRESS_EVERY))
        gpu->progress(isl, (double)(now - gpu->began) / 1e9);
    if (late != MACH_IN_TIME) /* the first reason is the one that is told */
        atomic_compare_exchange_strong(&gpu->late, &(enum mach_late){MACH_IN_TIME}, late);
    return late != MACH_IN_TIME;
}
