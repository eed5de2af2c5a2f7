/* isa/builtin.c - device functions that have no body in PTX: vprintf, malloc, free, __assertfail.
 *
 * They follow the device ABI of CUDA's system calls (CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global
 * Memory Allocation", "Assertion"): arguments arrive in call parameters, vprintf's variadic part as a packed buffer.
 */
#include "base/heap.h"
#include "base/relaxed.h"
#include "isa/isa.h"

#include <stdio.h>

/* Value of argument i of a call, for one lane, zero-extended. */
static uint64_t arg(const struct warp *w, const struct insn *in, uint32_t i, uint32_t lane) {
    const struct warp_opnd *o = &in->o[2].more->sub[i];
    const uint32_t *lo = warp_src32(w, o->slot);
    return o->more->imm > 4 ? lo[lane] | (uint64_t)lo[MACH_WARP + lane] << 32 : lo[lane];
}

/* What a system call takes and returns. */
struct signature {
    const char *text; /* for the report */
    uint32_t num_args;
    uint8_t arg[5]; /* bytes of each */
    uint8_t ret;
};

DIAG(bad_args) = {
    .id = "builtin-arguments",
    .rule = "a call of a function that CUDA provides on the device (vprintf, malloc, free, ...) must pass the "
            "parameters that CUDA defines",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
    .reason = "the call reads parameters that are not there.",
};

static bool param_holds(const struct warp_opnd *o, uint32_t bytes) {
    return o->kind == WARP_PARAM && o->more->imm >= bytes;
}

/* False after a report. The result may be left out, as in a call of a function without one. */
static bool check_args(struct warp *w, const struct insn *in, uint32_t mask, const struct signature *s) {
    bool ok = in->o[2].num_sub == s->num_args && in->o[0].num_sub <= (s->ret != 0);
    for (uint32_t i = 0; ok && i < s->num_args; i++)
        ok = param_holds(&in->o[2].more->sub[i], s->arg[i]);
    if (ok && in->o[0].num_sub)
        ok = param_holds(&in->o[0].more->sub[0], s->ret);
    if (!ok)
        warp_fault(w, in, mask, &bad_args, "%s", s->text);
    for (uint32_t i = 0; ok && i < s->num_args; i++) {
        warp_slot slot = in->o[2].more->sub[i].slot;
        uint32_t bad = (warp_poison(w, slot) | (s->arg[i] > 4 ? warp_poison(w, slot + 1) : 0)) & mask;
        ok = !bad;
        if (bad)
            warp_fault_poison(w, in, bad, "an argument of a system call");
    }
    return ok;
}

static void set_result(struct warp *w, const struct insn *in, uint32_t lane, uint64_t value) {
    if (!in->o[0].num_sub)
        return;
    warp_slot s = in->o[0].more->sub[0].slot;
    warp_dst32(w, s)[lane] = (uint32_t)value;
    warp_set_poison(w, s, 1u << lane, 0);
    if (in->o[0].more->sub[0].more->imm > 4) {
        warp_dst32(w, s + 1)[lane] = (uint32_t)(value >> 32);
        warp_set_poison(w, s + 1, 1u << lane, 0);
    }
}

/* What a call of printf has given so far. */
struct printed {
    char *text;
    uint32_t len, cap;
    uint64_t most; /* bytes; with more, over */
    bool over;
};

/* False when there is more than the device's buffer holds. */
static bool put(struct printed *t, const char *s, size_t n) {
    t->over |= n > t->most - t->len;
    for (size_t i = 0; i < n && !t->over; i++) {
        t->text = xgrow(t->text, t->len, &t->cap, 1);
        t->text[t->len++] = s[i];
    }
    return !t->over;
}

/* One byte of device memory at a generic address; false after a report, or when the launch must stop, for strings are
 * long. */
static bool byte_at(struct warp *w, const struct insn *in, uint32_t lane, uint64_t addr, char *c) {
    struct warp_loc loc;
    if (island_late(w->island) || !warp_resolve(w, in, lane, XS_GENERIC, addr, 1, 1, false, &loc))
        return false;
    *c = (char)relaxed_load(loc.host, 1);
    return true;
}

static bool value_at(struct warp *w, const struct insn *in, uint32_t lane, uint64_t *addr, uint32_t size, uint64_t *v) {
    struct warp_loc loc;
    *addr = (*addr + size - 1) & ~(uint64_t)(size - 1);
    if (!warp_resolve(w, in, lane, XS_GENERIC, *addr, size, size, false, &loc))
        return false;
    *v = relaxed_load(loc.host, size);
    *addr += size;
    return true;
}

#define MAX_SPEC 32u  /* characters of one conversion specification */
#define MAX_DIGITS 3u /* of a width or precision */
#define MAX_FORMAT 65536u
#define MAX_CALL (1u << 30) /* bytes that a call gives, however large the buffer */

/* A conversion specification after '%': flags, width, precision, length, letter. `spec` receives it with the length
 * rewritten for the host; *size is what the argument occupies in the buffer. Returns the letter, 0 when malformed. */
static char read_spec(struct warp *w, const struct insn *in, uint32_t lane, uint64_t *fmt, char spec[MAX_SPEC + 4],
                      uint32_t *size) {
    size_t n = 0;
    unsigned longs = 0, digits = 0;
    spec[n++] = '%';
    for (unsigned k = 0; k < MAX_SPEC; k++) {
        char c;
        if (!byte_at(w, in, lane, (*fmt)++, &c) || !c)
            return 0;
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        if (c == 'l' || c == 'j' || c == 'z' || c == 't') {
            longs++;
        } else if (strchr("diouxXcpsaAeEfFgG%", c)) {
            *size = longs || strchr("spaAeEfFgG", c) ? 8 : 4;
            if (longs && strchr("diouxX", c)) {
                spec[n++] = 'l';
                spec[n++] = 'l';
            }
            spec[n++] = c;
            spec[n] = 0;
            return c;
        } else if (strchr("-+ #0123456789.h", c) && digits <= MAX_DIGITS) {
            spec[n++] = c;
        } else {
            return 0; /* '*' and anything unknown */
        }
    }
    return 0;
}

/* A string of device memory; with a width or precision at most 1023 characters of it count. */
static bool put_string(struct warp *w, const struct insn *in, uint32_t lane, struct printed *t, const char *spec,
                       uint64_t addr) {
    char part[1024] = "(null)", out[2048];
    bool plain = strcmp(spec, "%s") == 0;
    for (uint64_t n = 0; addr && (plain || n < sizeof part); n++) {
        char c;
        if (!byte_at(w, in, lane, addr + n, &c))
            return false;
        part[plain ? 0 : n] = n + 1 == sizeof part ? 0 : c;
        if (!c)
            break;
        if (plain && !put(t, &c, 1))
            return true;
    }
    if (plain && addr)
        return true;
    int n = snprintf(out, sizeof out, spec, part);
    if (n > 0)
        put(t, out, (size_t)n < sizeof out ? (size_t)n : sizeof out - 1);
    return true;
}

static bool put_value(struct warp *w, const struct insn *in, uint32_t lane, struct printed *t, uint64_t *args,
                      char letter, const char *spec, uint32_t size) {
    char out[2048]; /* 308 digits before the point and 999 behind it */
    uint64_t v;
    if (!value_at(w, in, lane, args, size, &v))
        return false;
    if (letter == 's')
        return put_string(w, in, lane, t, spec, v);
    int n;
    if (letter == 'p')
        n = snprintf(out, sizeof out, "0x%llx", (unsigned long long)v);
    else if (strchr("aAeEfFgG", letter)) {
        double d;
        memcpy(&d, &v, sizeof d);
        n = snprintf(out, sizeof out, spec, d);
    } else if (size == 8 && letter != 'c')
        n = snprintf(out, sizeof out, spec, (long long)v);
    else
        n = snprintf(out, sizeof out, spec, (int)v);
    if (n > 0)
        put(t, out, (size_t)n < sizeof out ? (size_t)n : sizeof out - 1);
    return true;
}

/* False after a fault. *result is printf's: the number of arguments printed, -1 without a format. */
static bool print_lane(struct warp *w, const struct insn *in, uint32_t lane, struct printed *t, int *result) {
    uint64_t fmt = arg(w, in, 0, lane), args = arg(w, in, 1, lane);
    *result = fmt ? 0 : -1;
    for (uint32_t n = 0; fmt && n < MAX_FORMAT && !t->over; n++) {
        char c, spec[MAX_SPEC + 4];
        uint32_t size;
        if (!byte_at(w, in, lane, fmt++, &c))
            return false;
        if (!c)
            return true;
        if (c != '%') {
            put(t, &c, 1);
            continue;
        }
        char letter = read_spec(w, in, lane, &fmt, spec, &size);
        if (w->island->fault)
            return false;
        if (letter == '%')
            put(t, "%", 1);
        else if (!letter) {
            put(t, "%?", 2);
            return true;
        } else if (!put_value(w, in, lane, t, &args, letter, spec, size))
            return false;
        else
            ++*result;
    }
    return true;
}

DIAG(too_long) = {
    .id = "printf-too-long",
    .rule = "the output of one printf() call must fit the device's buffer",
    .section = "CUDA C++ Programming Guide, Formatted Output",
    .hint = "Check that each string ends with a zero byte. If it does, call "
            "cudaDeviceSetLimit(cudaLimitPrintfFifoSize, ...) before the first kernel that prints",
    .class = DIAG_WARNING,
    .reason = "the kernel's results are right, and output is lost, as on the chip.",
};
DIAG(overwritten) = {
    .id = "printf-overwritten",
    .rule = "the device's printf() buffer is circular: new output overwrites the oldest when the buffer is full",
    .section = "CUDA C++ Programming Guide, Formatted Output",
    .hint = "Let fewer threads print, or call cudaDeviceSetLimit(cudaLimitPrintfFifoSize, ...) before the first kernel "
            "that prints",
    .class = DIAG_WARNING,
    .reason = "the kernel's results are right, and output is lost, as on the chip.",
};

/* Hands over what a lane's call gave; false after a fault. A call that gives too much prints nothing and returns -1
 * (measured on an H100). */
static bool hand_over(struct warp *w, const struct insn *in, uint32_t lane, const struct printed *t, int *result) {
    const struct mach_origin at = warp_origin(w, in, 1u << lane);
    if (t->over) {
        *result = -1;
        return mach_warn(
            w->island, &at, &too_long,
            "lane %u's call prints more than the %llu bytes of the buffer: its output is lost, and it returns -1", lane,
            (unsigned long long)t->most);
    }
    return mach_print(w->island, t->text, t->len) ||
           mach_warn(w->island, &at, &overwritten, "output is lost: more than the %llu bytes of the buffer wait for it",
                     (unsigned long long)t->most);
}

static enum warp_status do_vprintf(struct warp *w, const struct insn *in, uint32_t mask) {
    static const struct signature sig = {"vprintf takes a format and an argument buffer", 2, {8, 8}, 4};
    if (!check_args(w, in, mask, &sig))
        return WARP_FAULT;
    struct printed t = {.most = w->gpu->print_fifo < MAX_CALL ? w->gpu->print_fifo : MAX_CALL};
    bool ok = true;
    for (uint32_t l = 0; l < MACH_WARP && ok; l++) {
        if (!(mask >> l & 1))
            continue;
        int result;
        t.len = 0;
        t.over = false;
        ok = print_lane(w, in, l, &t, &result);
        if (!ok) /* what the lane gave up to its fault is shown */
            mach_print(w->island, t.text, t.len);
        else if ((ok = hand_over(w, in, l, &t, &result)))
            set_result(w, in, l, (uint32_t)result);
    }
    xfree(t.text);
    return !ok ? WARP_FAULT : w->island->printed > MACH_SAID ? WARP_YIELD : WARP_NEXT;
}

DIAG(assert_failed) = {
    .id = "device-assert",
    .rule = "a false assert() stops the grid",
    .section = "CUDA C++ Programming Guide, Assertion",
    .cuda_error = DIAG_CUDA_ASSERT,
    .reason = "the program asked for it.",
};

/* __assertfail(message, file, line, function, char size) */
static enum warp_status do_assertfail(struct warp *w, const struct insn *in, uint32_t mask) {
    static const struct signature sig = {"__assertfail takes five arguments", 5, {8, 8, 4, 8, 8}, 0};
    if (!check_args(w, in, mask, &sig))
        return WARP_FAULT;
    uint32_t lane = warp_lowest(mask);
    char text[3][256];
    const uint32_t which[3] = {0, 1, 3};
    for (int k = 0; k < 3; k++) {
        uint64_t addr = arg(w, in, which[k], lane);
        size_t n = 0;
        for (char c; n + 1 < sizeof text[k] && byte_at(w, in, lane, addr + n, &c) && c; n++)
            text[k][n] = c;
        text[k][n] = 0;
    }
    if (w->island->fault)
        return WARP_FAULT;
    return warp_fault(w, in, mask, &assert_failed, "%s:%u: %s: assertion `%s` failed", text[1],
                      (unsigned)arg(w, in, 2, lane), text[2], text[0]);
}

static void tell_heap(const struct warp *w, const struct insn *in, uint32_t l, enum event_life_kind kind,
                      uint64_t address, uint64_t bytes) {
    tell_life(w->gpu,
              &(struct event_life){
                  .by = warp_by(w, in, 1u << l), .kind = kind, .address = address, .bytes = bytes, .owner = w->cta});
}

static enum warp_status do_malloc(struct warp *w, const struct insn *in, uint32_t mask) {
    static const struct signature sig = {"malloc takes a size", 1, {8}, 8};
    if (!check_args(w, in, mask, &sig))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        const uint64_t bytes = arg(w, in, 0, l);
        const uint64_t addr = mem_heap_alloc(w->gpu->mem, bytes);
        tell_heap(w, in, l, LIFE_HEAP_ALLOC, addr, bytes);
        set_result(w, in, l, addr);
    }
    return WARP_NEXT;
}

DIAG(bad_free) = {
    .id = "device-free",
    .rule = "free() takes a pointer that the device's malloc() returned and that has not been freed since",
    .section = "CUDA C++ Programming Guide, Dynamic Global Memory Allocation",
    .cuda_error = DIAG_CUDA_ILLEGAL_ADDRESS,
    .reason = "the heap is damaged in every order.",
};

/* What is at the address instead of a block of the heap. */
static enum warp_status fault_free(struct warp *w, const struct insn *in, uint32_t lane, uint64_t addr) {
    struct mem_block b;
    const bool live = mem_is_device(w->gpu->mem, addr) && mem_nearest(w->gpu->mem, addr, &b) && addr - b.addr < b.size;
    if (live && b.kind == MEM_HEAP)
        return warp_fault(w, in, 1u << lane, &bad_free,
                          "free of 0x%llx, %llu bytes into a %llu-byte block: free its start", (unsigned long long)addr,
                          (unsigned long long)(addr - b.addr), (unsigned long long)b.size);
    if (live)
        return warp_fault(w, in, 1u << lane, &bad_free,
                          "free of 0x%llx, which is in the %llu-byte %s%s%s, not in the heap", (unsigned long long)addr,
                          (unsigned long long)b.size, mem_kind_text(b.kind), b.name ? " " : "", b.name ? b.name : "");
    if (mem_freed(w->gpu->mem, addr, &b) && b.kind == MEM_HEAP)
        return warp_fault(w, in, 1u << lane, &bad_free, "free of 0x%llx, a %llu-byte block that was freed already",
                          (unsigned long long)addr, (unsigned long long)b.size);
    return warp_fault(w, in, 1u << lane, &bad_free, "free of 0x%llx, where nothing is allocated",
                      (unsigned long long)addr);
}

static enum warp_status do_free(struct warp *w, const struct insn *in, uint32_t mask) {
    static const struct signature sig = {"free takes a pointer", 1, {8}, 0};
    if (!check_args(w, in, mask, &sig))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        uint64_t addr = arg(w, in, 0, l);
        if (addr && !mem_heap_free(w->gpu->mem, addr))
            return fault_free(w, in, l, addr);
        if (addr)
            tell_heap(w, in, l, LIFE_HEAP_FREE, addr, 0);
    }
    return WARP_NEXT;
}

warp_fn isa_builtin(const char *name) {
    static const struct {
        const char *name;
        warp_fn fn;
    } table[] = {{"vprintf", do_vprintf}, {"__assertfail", do_assertfail}, {"malloc", do_malloc}, {"free", do_free}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name))
            return table[i].fn;
    return NULL;
}
