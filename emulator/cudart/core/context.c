/* Context, lock, errors and options; contract in context.h. */
#include "cudart/core/context.h"

#include "base/budget.h"
#include "base/fatal.h"
#include "base/heap.h"
#include "check/check.h"
#include "cudart/core/device.h"
#include "cudart/core/errors.h"
#include "cudart/core/options.h"
#include "num/num.h"
#include "report/diag.h"
#include "simd/simd.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one mutable global of the emulator, its lock, and the part of it that belongs to each host thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rt_context context;
static _Thread_local struct rt_thread thread_state;
static _Thread_local struct rt_context nothing; /* what a refused call works on */
static atomic_bool ending;                      /* the process runs its exit handlers */
static bool orphan;                             /* forked while a call of the parent held the lock */

struct rt_thread *rt_thread(void) {
    return &thread_state;
}

/* --- who may enter ------------------------------------------------------------------------------------------------ */

static const char in_fork[] = "fork";

/* A fork waits for no call. Where none runs, none begins before both processes have the same context: not of this
 * thread either, which a signal handler or another handler of pthread_atfork might try. */
static void before_fork(void) {
    thread_state.call = thread_state.call ?: in_fork;
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    thread_state.fork_holds = true;
    rt_finish(&context);
}

static void after_fork(void) {
    if (thread_state.fork_holds)
        pthread_mutex_unlock(&lock);
    thread_state.fork_holds = false;
    if (thread_state.call == in_fork)
        thread_state.call = NULL;
}

static void in_child(void) {
    orphan = !thread_state.fork_holds;
    context.printed_len = 0; /* the parent shows it */
    if (!orphan)
        report_fork(&context.report);
    after_fork();
}

static void at_exit(int status, void *unused) {
    (void)unused;
    atomic_store(&ending, true);
    if (orphan || thread_state.call != NULL || pthread_mutex_trylock(&lock) != 0)
        return;
    rt_finish(&context);
    report_end(&context.report, status);
    pthread_mutex_unlock(&lock);
}

static void name_call(struct rt_context *c, const char *call) {
    c->call = call;
    c->driver = strncmp(call, "cu", 2) == 0 && call[2] >= 'A' && call[2] <= 'Z';
}

static void leave_thread(void) {
    thread_state.call = NULL;
    pthread_setcancelstate(thread_state.cancel_state, NULL);
}

static struct rt_context *refuse(const char *call, int code) {
    struct rt_context *c = &nothing;
    memset(c, 0, sizeof *c);
    name_call(c, call);
    if (code == RT_ERROR_NOT_INITIALIZED)
        rt_say(c, 0, "this process was forked while a CUDA call of its parent ran, and has no device");
    else if (code == RT_ERROR_NOT_PERMITTED)
        rt_say(c, 0, "%s still runs on this thread: a host function or a signal handler may not call CUDA",
               thread_state.call);
    c->refused = code;
    return c;
}

struct rt_context *rt_enter(const char *call) {
    const bool ends = atomic_load(&ending);
    if (orphan)
        return refuse(call, ends ? RT_ERROR_UNLOADING : RT_ERROR_NOT_INITIALIZED);
    if (thread_state.call != NULL)
        return refuse(call, ends ? RT_ERROR_UNLOADING : RT_ERROR_NOT_PERMITTED);
    thread_state.call = call;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &thread_state.cancel_state);
    if (!ends) {
        pthread_mutex_lock(&lock);
    } else if (pthread_mutex_trylock(&lock) != 0) {
        leave_thread();
        return refuse(call, RT_ERROR_UNLOADING);
    }
    if (!context.watches_fork)
        context.watches_fork = pthread_atfork(before_fork, after_fork, in_child) == 0;
    name_call(&context, call);
    return &context;
}

static int ready_beside(struct rt_context *c);

struct rt_context *rt_enter_beside(const char *call) {
    struct rt_context *c = rt_enter(call);
    c->entered = rt_then(rt_check_init(c), c->driver ? rt_check_context(c) : RT_SUCCESS);
    c->entered = rt_then(c->entered, ready_beside(c));
    return c;
}

struct rt_context *rt_enter_ready(const char *call) {
    struct rt_context *c = rt_enter_beside(call);
    c->entered = rt_then(c->entered, rt_finish(c));
    return c;
}

int rt_leave(struct rt_context *c, int code) {
    code = c->refused ?: code;
    if (c->driver)
        code = rt_driver_code(code);
    else if (code != RT_SUCCESS)
        thread_state.last_error = code;
    if (c->refused == RT_SUCCESS) {
        pthread_mutex_unlock(&lock);
        leave_thread();
    }
    return code;
}

/* --- checks and words --------------------------------------------------------------------------------------------- */

int rt_check_init(struct rt_context *c) {
    if (c->refused != RT_SUCCESS)
        return c->refused;
    return !c->driver || c->driver_ready ? RT_SUCCESS : rt_say(c, RT_ERROR_NOT_INITIALIZED, "cuInit was not called");
}

int rt_check_device(struct rt_context *c, int device) {
    int e = rt_check_init(c);
    if (e == RT_SUCCESS && device != 0)
        e = rt_say(c, RT_ERROR_INVALID_DEVICE, "device %d; there is only device 0", device);
    return e;
}

int rt_check_out(struct rt_context *c, const void *out) {
    return out != NULL ? RT_SUCCESS : rt_say(c, RT_ERROR_INVALID_VALUE, "no place for the result");
}

int rt_check_limit(struct rt_context *c, int limit) {
    if (limit < 0 || limit >= RT_LIMIT_COUNT)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "limit %d is not known", limit);
    if (limit == RT_LIMIT_SYNC_DEPTH || limit == RT_LIMIT_CIG_FALLBACK) /* measured on an H200 */
        return rt_say(c, RT_ERROR_UNSUPPORTED_LIMIT, "limit %d is none of compute capability 9.0 and up", limit);
    return RT_SUCCESS;
}

/* The driver takes no less (measured on an H100), and no more. */
enum { LEAST_FIFO = 512 << 10, LEAST_HEAP = 4 << 20, MOST_STACK = 512 << 10, MOST_FETCH = 128, STACK_UNIT = 16 };

int rt_set_limit(struct rt_context *c, int limit, size_t value) {
    static const size_t least[RT_LIMIT_COUNT] = {
        [RT_LIMIT_PRINTF_FIFO] = LEAST_FIFO, [RT_LIMIT_MALLOC_HEAP] = LEAST_HEAP};
    int e = rt_check_limit(c, limit);
    if (e != RT_SUCCESS)
        return e;
    value = value < least[limit] ? least[limit] : value;
    if (limit == RT_LIMIT_SHMEM_SIZE || limit == RT_LIMIT_CIG_ENABLED)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "limit %d can only be asked for", limit);
    if ((limit == RT_LIMIT_STACK_SIZE && value > MOST_STACK) || (limit == RT_LIMIT_L2_FETCH && value > MOST_FETCH))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "limit %d: %zu; the most is %d", limit, value,
                      limit == RT_LIMIT_STACK_SIZE ? MOST_STACK : MOST_FETCH);
    if (limit == RT_LIMIT_STACK_SIZE)
        value = (value + STACK_UNIT - 1) / STACK_UNIT * STACK_UNIT;
    if (limit == RT_LIMIT_PRINTF_FIFO && c->has_printed)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "a kernel has called printf() already: set its buffer's size before");
    if (limit == RT_LIMIT_MALLOC_HEAP && !mem_set_heap(c->gpu->mem, value))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "a kernel has called malloc() already: set the heap's size before");
    c->limits[limit] = value;
    c->gpu->print_fifo = c->limits[RT_LIMIT_PRINTF_FIFO];
    return RT_SUCCESS;
}

int rt_say_line(struct rt_context *c, const char *format, ...) {
    char line[640];
    va_list args;
    if (c->refused != RT_SUCCESS) /* has had its line */
        return 0;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    diag_api(c->call, "%s", line);
    rt_jit_line(c, line);
    return 0;
}

void *rt_calloc(struct rt_context *c, size_t n, size_t size) {
    void *p = try_calloc(n, size);
    if (p == NULL)
        rt_say(c, RT_ERROR_MEMORY_ALLOCATION, "the host has no memory for %zu x %zu bytes; %llu are left (--memory)", n,
               size, (unsigned long long)budget_room());
    return p;
}

char *rt_strdup(struct rt_context *c, const char *text) {
    const size_t size = strlen(text) + 1;
    char *copy = rt_calloc(c, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Output of one launch is kept until the host synchronises; past this much it goes out at once. */
enum { PRINTED_MAX = 1 << 20 };

/* A stdout that takes no more (a full disk, a reader that is gone) loses output, as the program's own printf does. */
static void show(struct rt_context *c, const char *text, size_t len) {
    const bool all = fwrite(text, 1, len, stdout) == len;
    if ((fflush(stdout) != 0 || !all) && !c->printed_lost) {
        c->printed_lost = true;
        rt_say(c, 0, "the kernels' printf output cannot be written to stdout: %s", strerror(errno));
    }
}

static void on_print(void *ctx, const char *text, size_t len) {
    struct rt_context *c = ctx;
    c->has_printed = true;
    if (len > PRINTED_MAX || c->printed_len + len > PRINTED_MAX)
        rt_flush_printed(c);
    if (len > PRINTED_MAX) {
        show(c, text, len);
        return;
    }
    if (c->printed_len + len > c->printed_cap) {
        c->printed_cap = 2 * c->printed_cap + len;
        c->printed = xrealloc_array(c->printed, c->printed_cap, 1);
    }
    memcpy(c->printed + c->printed_len, text, len);
    c->printed_len += len;
}

void rt_flush_printed(struct rt_context *c) {
    if (c->printed_len == 0)
        return;
    show(c, c->printed, c->printed_len);
    c->printed_len = 0;
}

/* The launcher's options arrive in the environment (emulator/sm100emu.c). */
static int read_options(struct rt_context *c, struct mach_config *config) {
    for (unsigned i = 0; i < RT_NUM_OPTIONS; i++) {
        const struct rt_option *o = &rt_options[i];
        const char *text = getenv(o->env);
        if (text != NULL && !rt_option_take(o, text, config))
            return rt_say(c, RT_ERROR_NOT_INITIALIZED, "%s=%s: expected %s", o->env, text, o->expects);
    }
    return RT_SUCCESS;
}

static int lower_bounds(struct rt_context *c, struct mach_config *config) {
    const char *text = getenv(BOUNDS_VARIABLE);
    const bool ok = text == NULL || bounds_lower(&config->bounds, text);
    return ok ? RT_SUCCESS : rt_say(c, RT_ERROR_NOT_INITIALIZED, "%s=%s: no lower bounds", BOUNDS_VARIABLE, text);
}

static int open_report(struct rt_context *c, const struct mach_config *config) {
    char why[600];
    const bool ok = report_open(&c->report, &c->call, config->suppress, config->check_json, why, sizeof why);
    return ok ? RT_SUCCESS : rt_say(c, RT_ERROR_NOT_INITIALIZED, "%s", why);
}

static int create_gpu(struct rt_context *c) {
    struct mach_config config = mach_config_b200();
    config.threads = worker_host_cpus();
    if (c->gpu_refused)
        return RT_ERROR_NOT_INITIALIZED;
    int e = rt_then(read_options(c, &config), open_report(c, &config));
    e = rt_then(e, lower_bounds(c, &config));
    e = rt_then(e, rt_trace_open(c, &config));
    e = rt_then(e, rt_statistics_open(c, &config));
    if (e != RT_SUCCESS) {
        c->gpu_refused = true;
        return e;
    }
    c->clock_asked = config.clock && clock_state_parse(config.clock, &c->state);
    config.progress = isatty(STDERR_FILENO);
    config.verbose = getenv("SM100EMU_VERBOSE") != NULL;
    budget_set_limit(config.memory ?: budget_default(""));
    if (!num_env_is_default())
        rt_say(c, 0,
               "note: the program changed its processor's rounding or flushing (as -ffast-math does), "
               "which changes what the emulated GPU computes");
    c->gpu = gpu_create(&config);
    if (c->gpu == NULL)
        return rt_say(c, RT_ERROR_MEMORY_ALLOCATION, "the host gives no memory, or no address space, for a device");
    findings_free(c->gpu->findings);
    c->gpu->findings = c->report.findings;
    c->time = c->statistics.shown || getenv("SM100EMU_TIME") != NULL;
    if (c->time && config.umma == MACH_UMMA_FAST)
        rt_say(c, 0, "--umma=fast: %s",
               simd_best((enum simd)config.host_vectors) == SIMD_AMX
                   ? "this CPU's matrix unit sums"
                   : "this host has no matrix unit for bf16; sums are exact");
    if (config.check != MACH_CHECK_OFF)
        check_attach(c->gpu);
    if (config.schedule == MACH_SCHED_MODEL) {
        const struct clock_table costs = clock_b200_in(&c->state);
        c->clock = clock_online_attach(c->gpu, &costs);
        if (c->clock == NULL)
            fatal_broken("no room for the listener of --schedule=model");
    }
    rt_trace_attach(c);
    rt_statistics_attach(c);
    c->gpu->print = on_print;
    c->gpu->print_ctx = c;
    if (c->limits[RT_LIMIT_STACK_SIZE] == 0)
        rt_device_default_limits(c->limits);
    mem_set_heap(c->gpu->mem, c->limits[RT_LIMIT_MALLOC_HEAP]);
    c->gpu->print_fifo = c->limits[RT_LIMIT_PRINTF_FIFO];
    return RT_SUCCESS;
}

int rt_finish(struct rt_context *c) {
    const int fault = c->gpu ? launch_finish(c->gpu) : 0;
    c->sticky = fault ?: c->sticky;
    return c->sticky;
}

static int ready_beside(struct rt_context *c) {
    if (c->refused != RT_SUCCESS)
        return c->refused;
    c->driver_ready = true;
    if (!c->watches_exit) /* before the exit handlers of the fat binaries registered so far */
        c->watches_exit = on_exit(at_exit, NULL) == 0;
    int e = c->driver ? RT_SUCCESS : rt_check_context(c);
    e = rt_then(e, c->gpu == NULL ? create_gpu(c) : RT_SUCCESS);
    return rt_then(e, c->sticky);
}

int rt_ready(struct rt_context *c) { return rt_then(ready_beside(c), rt_finish(c)); }

int rt_synchronize(struct rt_context *c) {
    int code = rt_ready(c);
    rt_flush_printed(c);
    if (code == RT_SUCCESS)
        rt_tell(c, HOST_SYNC_DEVICE, NULL, NULL);
    return code;
}

/* True when one of the modules has managed variables. */
static bool unload_modules(struct rt_context *c) {
    bool managed = false;
    for (struct rt_function *f = c->functions; f != NULL; f = f->next)
        f->kernel = NULL;
    struct rt_module *next;
    for (struct rt_module *m = c->modules; m != NULL; m = next) {
        next = m->next;
        if (!m->registered) {
            rt_module_drop(c, m);
            continue;
        }
        managed |= rt_module_unload(m);
    }
    return managed;
}

/* Managed variables outlive a reset with their values (measured on an H100), and the host's code, which has asked for
 * their addresses once, does not ask again before it uses them. */
static void reload_managed(struct rt_context *c) {
    if (rt_ready(c) != RT_SUCCESS)
        return;
    for (struct rt_module *m = c->modules; m != NULL; m = m->next)
        for (struct rt_variable *v = m->variables; v != NULL; v = v->next)
            if (v->stand_in != NULL)
                rt_module_ready(c, m);
}

void rt_reset(struct rt_context *c) {
    rt_finish(c);
    rt_flush_printed(c);
    const bool managed = unload_modules(c);
    while (c->streams != NULL)
        rt_stream_destroy(c, c->streams);
    while (c->events != NULL)
        rt_event_destroy(c, c->events);
    rt_pools_drop(c);
    while (c->links != NULL)
        rt_link_destroy(c, c->links);
    if (c->gpu != NULL) {
        c->gpu->findings = NULL; /* the report keeps them */
        c->blocks_before += mem_placed(c->gpu->mem);
    }
    gpu_destroy(c->gpu);
    c->gpu = NULL;
    clock_online_free(c->clock);
    c->clock = NULL;
    c->gpu_refused = false;
    c->sticky = RT_SUCCESS;
    c->has_printed = false;
    c->primary_used = false;
    memset(c->limits, 0, sizeof c->limits);
    if (managed)
        reload_managed(c);
}
