/* machine/island.c - faults, warnings, printf, lateness and randomness of an island; contracts in island.h. */
#include "machine/island.h"

#include "base/budget.h"
#include "base/heap.h"
#include "base/now.h"
#include "machine/machine.h"

#include <string.h>

struct said {
    struct said *next;
    enum { SAID_PRINT, SAID_WARNING, SAID_FAULT } kind;
    uint64_t key; /* SAID_WARNING: what it is about */
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

void island_close(struct island *isl) {
    for (struct said *s = isl->said, *next; s; s = next) {
        next = s->next;
        xfree(s);
    }
    isl->said = NULL;
    isl->said_tail = &isl->said;
    isl->said_bytes = isl->printed = 0;
}

/* A piece of text at the end; where a report's text goes. */
struct pen {
    struct island *isl;
    int kind;
    uint64_t key;
};

static void write_said(void *ctx, const char *text, size_t len) {
    const struct pen *p = ctx;
    struct said *s = xcalloc(1, sizeof *s + len);
    s->kind = p->kind;
    s->key = p->key;
    s->len = len;
    memcpy(s->text, text, len);
    *p->isl->said_tail = s;
    p->isl->said_tail = &s->next;
    p->isl->said_bytes += sizeof *s + len;
}

static void drop_oldest_print(struct island *isl) {
    for (struct said **p = &isl->said, *s; (s = *p); p = &s->next) {
        if (s->kind != SAID_PRINT)
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
    struct pen p = {.isl = isl, .kind = SAID_PRINT};
    const size_t bytes = sizeof(struct said) + len;
    bool all = true;
    if (!len)
        return true;
    for (; isl->printed && isl->printed + bytes > isl->gpu->print_fifo; all = false)
        drop_oldest_print(isl);
    write_said(&p, text, len);
    isl->printed += bytes;
    return all;
}

static void say(struct pen *p, const struct mach_origin *origin, const struct diag *proto, const char *fmt,
                va_list ap) {
    struct diag d = *proto;
    d.warning = p->kind == SAID_WARNING;
    d.site = origin ? origin->site : NULL;
    d.thread = origin ? &origin->thread : NULL;
    if (!d.warning && d.cuda_error != DIAG_CUDA_LAUNCH_TIMEOUT) /* these name their own cause */
        d.after = p->isl->first_warning;
    diag_vreport(&(struct diag_sink){write_said, p}, &d, fmt, ap);
}

void mach_fault(struct island *isl, const struct mach_origin *origin, const struct diag *proto, const char *fmt, ...) {
    if (isl->fault)
        return;
    isl->fault = proto->cuda_error ? proto->cuda_error : DIAG_CUDA_LAUNCH_FAILURE;
    struct pen p = {.isl = isl, .kind = SAID_FAULT};
    va_list ap;
    va_start(ap, fmt);
    say(&p, origin, proto, fmt, ap);
    va_end(ap);
}

/* Notes a warning about `key`; false when it was given before, or enough were. */
static bool note_warning(uint64_t *warned, uint32_t *count, uint64_t key) {
    for (uint32_t i = 0; i < *count; i++)
        if (warned[i] == key)
            return false;
    if (*count == MACH_MAX_WARNINGS)
        return false;
    warned[(*count)++] = key;
    return true;
}

/* Is a finding of that class told, and as what? False: not at this level. */
static bool is_told(enum mach_check check, enum diag_class class, int *kind) {
    *kind = class == DIAG_ERROR || check == MACH_CHECK_ERROR ? SAID_FAULT : SAID_WARNING;
    return check != MACH_CHECK_OFF && (class != DIAG_STRICT || check == MACH_CHECK_STRICT);
}

static bool warn(struct island *isl, const struct mach_origin *origin, const struct diag *proto, const char *fmt,
                 va_list ap) {
    struct pen p = {.isl = isl};
    if (isl->fault)
        return false;
    if (!is_told(isl->gpu->config.check, proto->class, &p.kind))
        return true;
    /* the same rule broken in the same function again */
    p.key = (uint64_t)(uintptr_t)proto->id * 31 + (uintptr_t)(origin && origin->site ? origin->site->func : NULL);
    if (p.kind == SAID_WARNING && !note_warning(isl->warned, &isl->warnings, p.key))
        return true;
    say(&p, origin, proto, fmt, ap);
    if (p.kind == SAID_FAULT)
        isl->fault = proto->cuda_error;
    else if (!isl->first_warning)
        isl->first_warning = proto->id;
    return p.kind == SAID_WARNING;
}

bool mach_warn(struct island *isl, const struct mach_origin *origin, const struct diag *proto, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const bool goes_on = warn(isl, origin, proto, fmt, ap);
    va_end(ap);
    return goes_on;
}

bool mach_warn_pair(struct island *isl, const struct mach_origin *origin, const struct mach_origin *other,
                    const char *what, const struct diag *proto, const char *fmt, ...) {
    const struct diag_party party = {what, other->site, &other->thread};
    struct diag both = *proto;
    both.other = &party;
    va_list ap;
    va_start(ap, fmt);
    const bool goes_on = warn(isl, origin, &both, fmt, ap);
    va_end(ap);
    return goes_on;
}

void island_tell(struct island *isl) {
    struct gpu *gpu = isl->gpu;
    for (const struct said *s = isl->said; s && !gpu->fault; s = s->next) {
        if (s->kind == SAID_PRINT) {
            if (gpu->print)
                gpu->print(gpu->print_ctx, s->text, s->len);
            continue;
        }
        if (s->kind == SAID_FAULT)
            gpu->fault = isl->fault;
        else if (!note_warning(gpu->warned, &gpu->warnings, s->key))
            continue;
        gpu->sink.write(gpu->sink.ctx, s->text, s->len);
    }
    island_close(isl);
}

uint64_t mach_random(struct island *isl) {
    uint64_t x = isl->rng;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    isl->rng = x;
    return x * 0x2545F4914F6CDD1Dull;
}

/* --- time and memory ---------------------------------------------------------------------------------------------- */

#define ASKED 8u               /* questions between two looks at the clock */
#define MEMORY_EVERY 10000000u /* nanoseconds between two looks at the process's memory, which take microseconds */

void gpu_begin_launch(struct gpu *gpu) {
    gpu->fault = 0;
    gpu->warnings = 0;
    gpu->clock = gpu->starts = 0;
    gpu->deadline = gpu->config.timeout ? now_ns() + gpu->config.timeout : 0;
    atomic_store(&gpu->memory_at, 0);
    atomic_store(&gpu->late, MACH_IN_TIME);
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
    if (late != MACH_IN_TIME) /* the first reason is the one that is told */
        atomic_compare_exchange_strong(&gpu->late, &(enum mach_late){MACH_IN_TIME}, late);
    return late != MACH_IN_TIME;
}
