/* Options of the driver's compiler and linker; contract in jit.h. */
#include "cudart/core/jit.h"

#include "cudart/core/context.h"

#include <string.h>

/* CUjit_option (CUDA driver API, Data types). */
enum {
    JIT_INFO_LOG = 3,
    JIT_INFO_LOG_SIZE = 4,
    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_SIZE = 6,
    JIT_TARGET = 9,
    JIT_SYMBOL_NAMES = 17, /* device symbols that take the place of others: three options */
    JIT_SYMBOL_COUNT = 19,
    JIT_OPTIONS = 36, /* of 13.5 */
};

enum { LIBRARY_TABLES = 0, LIBRARY_IS_PRESERVED = 1 }; /* CUlibraryOption */

static int jit_option(struct rt_context *c, int option, void **value, struct rt_jit *jit) {
    const uintptr_t number = (uintptr_t)*value;
    if (option < 0 || option >= JIT_OPTIONS)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "JIT option %d is not known", option);
    switch (option) {
    case JIT_INFO_LOG:
        jit->info.text = *value;
        break;
    case JIT_ERROR_LOG:
        jit->error.text = *value;
        break;
    case JIT_INFO_LOG_SIZE:
        jit->info.size = (unsigned)number;
        jit->info.filled = value;
        break;
    case JIT_ERROR_LOG_SIZE:
        jit->error.size = (unsigned)number;
        jit->error.filled = value;
        break;
    case JIT_TARGET: /* 100, with a bit above for 100a and 100f */
        if ((number & 0xffff) != 100)
            return rt_say(c, RT_ERROR_NO_BINARY, "JIT target %zu: the device has compute capability 10.0",
                          (size_t)(number & 0xffff));
        break;
    case JIT_SYMBOL_NAMES ... JIT_SYMBOL_COUNT:
        return rt_say(c, RT_ERROR_NOT_SUPPORTED,
                      "JIT option %d (CU_JIT_GLOBAL_SYMBOL_...) is not supported by the emulator", option);
    default:
        break;
    }
    return RT_SUCCESS;
}

static int library_option(struct rt_context *c, int option, bool from_file) {
    switch (option) {
    case LIBRARY_TABLES:
        return rt_say(c, RT_ERROR_NOT_SUPPORTED,
                      "CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE is not supported by the emulator");
    case LIBRARY_IS_PRESERVED: /* a hint about the host's memory */
        if (from_file)
            return rt_say(c, RT_ERROR_INVALID_VALUE, "CU_LIBRARY_BINARY_IS_PRESERVED is not for files");
        return RT_SUCCESS;
    default:
        return rt_say(c, RT_ERROR_INVALID_VALUE, "library option %d is not known", option);
    }
}

/* A log without a buffer, or without a size, is none. */
static void empty(struct rt_log *log) {
    if (log->text == NULL || log->size == 0)
        log->size = 0;
    else
        log->text[0] = 0;
    if (log->filled != NULL)
        *log->filled = NULL;
}

int rt_jit_open(struct rt_context *c, const struct rt_options *o, struct rt_jit *jit) {
    int e = RT_SUCCESS;
    memset(jit, 0, sizeof *jit);
    if ((o->num_jit != 0 && (o->jit == NULL || o->jit_values == NULL)) || (o->num != 0 && o->options == NULL))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%u options at a null pointer", o->num_jit ? o->num_jit : o->num);
    for (unsigned i = 0; i < o->num_jit && e == RT_SUCCESS; i++)
        e = jit_option(c, o->jit[i], &o->jit_values[i], jit);
    for (unsigned i = 0; i < o->num && e == RT_SUCCESS; i++)
        e = library_option(c, o->options[i], o->from_file);
    if (e == RT_SUCCESS) {
        empty(&jit->info);
        empty(&jit->error);
    }
    return e;
}

/* What does not fit is cut: the log ends with a zero byte. */
static void append(struct rt_log *log, const char *text, size_t len) {
    if (log->size == 0)
        return;
    const size_t room = log->size - 1 - log->used, n = len < room ? len : room;
    memcpy(log->text + log->used, text, n);
    log->used += n;
    log->text[log->used] = 0;
    if (log->filled != NULL)
        *log->filled = (void *)(uintptr_t)log->used;
}

/* A report goes where it would go without a log, too. */
static void on_report(void *ctx, const char *text, size_t len) {
    struct rt_context *c = ctx;
    c->jit_sink.write(c->jit_sink.ctx, text, len);
    append(&c->jit->error, text, len);
}

void rt_jit_resume(struct rt_context *c, struct rt_jit *jit) {
    c->jit = jit;
    c->jit_sink = c->gpu->sink;
    c->gpu->sink = (struct diag_sink){on_report, c};
}

void rt_jit_pause(struct rt_context *c) {
    if (c->jit == NULL)
        return;
    c->gpu->sink = c->jit_sink;
    c->jit = NULL;
}

void rt_jit_line(struct rt_context *c, const char *line) {
    if (c->jit == NULL)
        return;
    append(&c->jit->error, line, strlen(line));
    append(&c->jit->error, "\n", 1);
}
