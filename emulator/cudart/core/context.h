/* The shim's one context: everything that CUDA keeps for a process and a device, behind one mutex.
 *
 * Contract. An entry point (runtime/, driver/, and calls.h for what both have) calls rt_enter, works on the context,
 * and returns through rt_leave. Everything between the two runs under the lock, so nothing there may call an entry
 * point again. The name that an entry point gives decides which API is served: cu and a capital is the driver's, whose
 * calls need a cuInit, answer with the driver's spelling of a code and leave the thread's last error alone. A failing
 * call says why on stderr in one line, by rt_say, at the place that knows why. Functions that return an int return a
 * CUDA error code, 0 for success.
 *
 * Who may not enter. A call that would wait for its own thread, or for one that is no more, is refused: rt_enter gives
 * it an empty context of its own, and rt_leave answers the refusal's code whatever the call has done there. So it is
 * for a call in a signal handler, a host function or a handler of pthread_atfork while a call, or a fork, of the same
 * thread runs (800, cudaErrorNotPermitted), in a child that was forked while a call of its parent ran (3,
 * cudaErrorInitializationError), and in an exit handler while another thread's call runs (4, cudaErrorCudartUnloading):
 * the process ends at once, even beside an endless kernel. An exit handler that was registered after the device's first
 * use comes before CUDA's own, and waits, as on a GPU.
 *
 * A child that was forked while no call ran has the device as its parent left it, with memory of its own but for
 * managed memory, which both share. On a GPU it may not use CUDA at all.
 *
 * Order. Streams and events are handles only: every operation is done when its call returns, which is one of the orders
 * that CUDA allows. Under --schedule=random a kernel that lets its dependents start may be under way until the next
 * call that looks at the device or is a launch without the attribute; not where the host may look without a call. A
 * kernel's fault is reported as CUDA reports it: the launch succeeds and every later call that reaches the
 * device answers the fault's code until cudaDeviceReset (measured on an H200, CUDA 13.0). After that one the device
 * serves the process again; the H200 does not (error 46).
 */
#ifndef CUDART_CORE_CONTEXT_H
#define CUDART_CORE_CONTEXT_H

#include "clock/load.h"
#include "clock/online.h"
#include "cudart/core/abi.h"
#include "cudart/core/jit.h"
#include "cudart/loader/fatbin.h"
#include "launch/launch.h"
#include "lower/lower.h"
#include "machine/events.h"
#include "report/report.h"
#include "stats/stats.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct rt_module;

/* A kernel, registered by a host stub or asked for by name. Its address is the cudaKernel_t, CUkernel, cudaFunction_t
 * and CUfunction that programs hold. */
struct rt_function {
    struct rt_function *next; /* all functions of the context */
    struct rt_module *module;
    const void *host;               /* the stub's address, which `k<<<>>>` names; NULL for the driver API */
    char *name;                     /* mangled name in the PTX; owned */
    const struct warp_func *kernel; /* NULL until the function is first needed */
    struct lower_kernel_info info;
    /* attributes (CUfunction_attribute); cluster is 0 when not set at run time */
    int max_dynamic_shared, carveout, non_portable_cluster, cluster_policy, shared_mode;
    struct rt_dim3 cluster;
    struct rt_legacy *legacy; /* NULL: no such call was made; owned */
};

/* What the driver's calls of before CUDA 4 keep of the launch to come. */
struct rt_legacy {
    struct rt_dim3 block;
    unsigned shared;
    size_t param_bytes;
    uint8_t params[];
};

/* A __device__, __constant__ or __managed__ variable that host code names by the address of its shadow. */
struct rt_variable {
    struct rt_variable *next; /* of its module */
    const void *host;
    void **managed; /* where the host program keeps its pointer to a managed variable; else NULL */
    char *name;     /* owned */
    size_t size;    /* as registered; the PTX's size decides */
    void *stand_in; /* what a managed variable is to the host while its module is not loaded; owned */
};

/* A fat binary, PTX text or library. Loaded when first needed, as CUDA does by default (CUDA_MODULE_LOADING=LAZY). */
struct rt_module {
    struct rt_module *next;
    unsigned number;                      /* in order of registration, from 1: for the name in diagnostics */
    bool registered;                      /* by __cudaRegisterFatBinary: unloaded with the program only */
    const struct fatbin_wrapper *wrapper; /* registered ones */
    struct fatbin_choice choice;          /* the PTX; text freed once parsed */
    uint8_t *code;                        /* machine code beside it, for its register counts; freed once read */
    size_t code_len;
    char *name; /* of the PTX in diagnostics; owned */
    bool tried; /* loading was tried; `status` is its outcome */
    int status;
    struct warp_module *exec;
    struct rt_variable *variables;
};

struct rt_stream {
    struct rt_stream *next;
    unsigned flags;
    int priority;
    uint64_t id;
};

struct rt_event {
    struct rt_event *next;
    unsigned flags;
    bool recorded;
    uint64_t when; /* by now_ns */
};

/* A pending call of the driver's linker: a CUlinkState. */
struct rt_link {
    struct rt_link *next;
    struct rt_jit jit; /* its logs, which the program keeps until the state is destroyed */
    char *text;        /* the PTX that was added, ends with a zero byte; NULL: none yet; owned */
    size_t len;
};

/* A pool of stream-ordered allocations: a cudaMemPool_t. */
struct rt_pool {
    struct rt_pool *next;
    size_t most; /* 0: no limit */
    size_t used, used_most, reserved_most;
    uint64_t threshold;
    int reuse[3];
};

/* An allocation that came from a pool, NULL once that is destroyed. */
struct rt_pool_block {
    struct rt_pool_block *next;
    struct rt_pool *pool;
    uint64_t address;
    size_t size;
};

/* A driver-API context. All contexts share the device's memory and modules, and a fault is all contexts'. */
struct rt_driver_context {
    struct rt_driver_context *next;
    uint64_t id;
    unsigned flags;
    bool primary;
    unsigned attached; /* by cuCtxAttach, beside its maker */
};

/* Counters of launches (stats/stats.h), and where they go. */
struct rt_statistics {
    bool shown;         /* on stderr, after each kernel */
    char *json;         /* the file of --stats-json, NULL: none; owned */
    long pid;           /* whose launches they are: a forked child tells of none */
    unsigned turn;      /* of the processes of the run that write it, which this one is; 0: it is alone */
    bool begun;         /* it has the file's beginning */
    bool json_lost;     /* that it cannot be written was said */
    struct stats *last; /* of the launch that has ended */
    struct stats_sink sink;
    struct trace_log *log; /* of the same launch, as --trace and --follow have it */
};

/* Where the logs of the process's launches go. */
struct rt_trace {
    FILE *file;       /* NULL: none is wanted */
    char follow[160]; /* whose events are shown after each launch; empty: nobody's */
    long pid;         /* whose launches they are: a forked child writes none */
    bool lost;        /* that the file takes no more, or that a log is cut, was said */
    char schedule[48];
    struct trace_sink sink;
};

enum { RT_MAX_STUBS = 512 }; /* of one API */

struct rt_context {
    const char *call;  /* entry point that holds the lock, for rt_say */
    bool driver;       /* it is one of the driver API */
    bool driver_ready; /* cuInit or any runtime call was made */
    int refused;       /* code of a call that may not enter, whose context is empty; else 0 */
    int entered;       /* of a call that entered by rt_enter_ready or one built on it: what its checks found */
    bool watches_fork, watches_exit;

    struct gpu *gpu;  /* NULL until the first call that needs it */
    bool time;        /* say after each kernel how long it took */
    bool gpu_refused; /* options in the environment make no sense: every call fails */
    int sticky;       /* code of the kernel fault that broke the context, 0 when none did */
    struct report report;
    struct rt_statistics statistics;
    struct rt_trace trace;
    int unwritten;              /* what a launch returns, once, whose log or counters could not be written; 0 */
    struct clock_online *clock; /* --schedule=model; else NULL */
    struct clock_state state;   /* of the chip, as --clock says */
    bool clock_asked;           /* it does */
    size_t limits[RT_LIMIT_COUNT];

    struct rt_module *modules;
    unsigned num_modules;
    struct rt_function *functions;
    struct rt_stream *streams;
    uint64_t next_stream_id;
    uint64_t blocks_before; /* allocations before the last reset, whose numbers are not given again */
    struct rt_event *events;
    struct rt_link *links;
    struct rt_pool *pools, *default_pool;
    struct rt_pool *current_pool; /* NULL: the default one */
    struct rt_pool_block *pool_blocks;
    struct rt_driver_context *contexts;
    uint64_t num_contexts; /* that were made */
    unsigned primary_refs;
    bool primary_used; /* by the runtime */

    struct rt_jit *jit;        /* whose log takes the call's lines (jit.h), NULL: none is open */
    struct diag_sink jit_sink; /* the device's own, meanwhile */

    bool stub_told[2][RT_MAX_STUBS]; /* unsupported calls that have named themselves: the runtime's, the driver's */

    bool table_told; /* the same of cuGetExportTable */

    char *printed; /* device printf output that waits for the next synchronisation */
    size_t printed_len, printed_cap;
    bool has_printed;  /* a kernel did, since the last reset */
    bool printed_lost; /* that stdout takes no more of it was said */
};

/* --- context.c ---------------------------------------------------------------------------------------------------- */

/* Takes the lock. `call` is the entry point's name and outlives the call. Never NULL: see "Who may not enter". */
struct rt_context *rt_enter(const char *call);
/* rt_enter for a call that needs the device: c->entered is the answer of rt_check_init, rt_check_context, rt_ready. */
struct rt_context *rt_enter_ready(const char *call);
/* The same for a call that launches may be under way beside, as it touches nothing of theirs. */
struct rt_context *rt_enter_beside(const char *call);
/* Releases the lock and returns the code. Runtime: one other than 0 becomes the thread's last error; driver: it is
 * spelled the driver's way. */
int rt_leave(struct rt_context *c, int code);
/* The next step of a call, taken where all went well so far: its code, or the code of the step that failed. */
#define rt_then(code, step) ((code) ?: (step))
/* A result of a call: *out is `value` where all went well so far and the caller has a place for it. The code again. */
#define rt_give(code, out, value)                                                                                      \
    ({                                                                                                                 \
        const int code_ = (code);                                                                                      \
        if (code_ == RT_SUCCESS && (out) != NULL)                                                                      \
            *(out) = (value);                                                                                          \
        code_;                                                                                                         \
    })
/* The driver API wants cuInit, or any runtime call, first. */
int rt_check_init(struct rt_context *c);
/* rt_check_init, and `device` must be 0. */
int rt_check_device(struct rt_context *c, int device);
/* A result needs a place. */
int rt_check_out(struct rt_context *c, const void *out);
int rt_check_limit(struct rt_context *c, int limit); /* enum rt_limit */
/* Sizes of the device's heap and of printf's buffer, which must not be in use yet, bound what kernels do; the others
 * are remembered and answered. */
int rt_set_limit(struct rt_context *c, int limit, size_t value);
/* The context must be able to work: creates the GPU at need, ends what is under way, and answers the sticky error if
 * there is one. */
int rt_ready(struct rt_context *c);
/* Launches that overlap under --schedule=random (launch/together.c) run to their ends. The sticky error, or 0. */
int rt_finish(struct rt_context *c);
/* The work of every synchronisation: printf's output appears, a kernel's fault is told. */
int rt_synchronize(struct rt_context *c);
/* Tells those who watch (machine/events.h) of a stream, or of an event. */
void rt_tell(struct rt_context *c, enum event_host_kind kind, void *stream, void *event);
/* rt_say(c, code, format, ...): one line on stderr, "sm100emu: CALL: sentence", and `code` back. A macro, so that a
 * reader of one file (clang's analyzer) knows which code comes back. */
int rt_say_line(struct rt_context *c, const char *format, ...) __attribute__((format(printf, 2, 3))); /* 0 */
static inline int rt_said(int line, int code) {
    (void)line;
    return code;
}
#define rt_say(c, code, ...) rt_said(rt_say_line(c, __VA_ARGS__), code)
/* Zeroed memory for a call, or NULL with a line on stderr: the call answers RT_ERROR_MEMORY_ALLOCATION. */
void *rt_calloc(struct rt_context *c, size_t n, size_t size);
/* A copy of a string; otherwise the same. */
char *rt_strdup(struct rt_context *c, const char *text);
/* Gives device printf's output to stdout: at launches, synchronisations and blocking copies, as CUDA does. */
void rt_flush_printed(struct rt_context *c);
/* cudaDeviceReset: forgets allocations and their pools, streams, events, loaded modules, linkers' states and the sticky
 * error. Registrations stay. */
void rt_reset(struct rt_context *c);

enum { RT_CONTEXT_STACK = 64 };

/* What CUDA keeps for each host thread. */
struct rt_thread {
    const char *volatile call; /* the entry point that it is in, NULL when in none; a signal handler may look */
    int cancel_state;          /* what it had before; in a call it cannot be cancelled */
    bool fork_holds;           /* it took the lock for the time of a fork */
    int last_error;
    struct rt_driver_context *contexts[RT_CONTEXT_STACK]; /* the last is the current one */
    unsigned num_contexts;
    unsigned depth; /* of the launch configurations that <<<>>> pushed */
    struct rt_call_config {
        struct rt_dim3 grid, block;
        size_t dynamic_shared;
        void *stream;
    } config[16];
};
struct rt_thread *rt_thread(void);

/* --- statistics.c ------------------------------------------------------------------------------------------------- */

/* Reads what --stats and --stats-json ask for, before the device is made; begins the file. */
int rt_statistics_open(struct rt_context *c, const struct mach_config *config);
/* Attaches the counters to the device, where they were asked for. */
void rt_statistics_attach(struct rt_context *c);
/* A launch has ended: shows and writes its counters. `fault`: 0, or its cudaError_t. */
void rt_statistics_tell(struct rt_context *c, const char *kernel, int fault);
/* A line of --time: what the launch took on the model. */
void rt_time_tell(const char *kernel, double cycles, struct stats_time time);

/* --- trace.c ------------------------------------------------------------------------------------------------------ */

/* --time is to print what a launch takes on the model, and its log has to say it. */
bool rt_time_wanted(const struct rt_context *c);

/* Before the first device: begins the file of --trace, and notes what --follow shows. */
int rt_trace_open(struct rt_context *c, const struct mach_config *config);
/* A new device's launches are logged, where that is asked for. */
void rt_trace_attach(struct rt_context *c);

/* --- context_stack.c ---------------------------------------------------------------------------------------------- */

/* A new context, in the list of all. NULL as from rt_calloc. */
struct rt_driver_context *rt_context_create(struct rt_context *c, unsigned flags, bool primary);
/* The primary one, which the runtime works in; made at need. */
int rt_context_primary(struct rt_context *c, struct rt_driver_context **out);
/* The runtime works in it, and it is current. */
int rt_context_use_primary(struct rt_context *c);
bool rt_context_known(const struct rt_context *c, const void *context);
/* The stack of the calling thread: the current context (NULL: none; it may be one that another thread has destroyed),
 * one more, one less, another in its place (NULL: none). */
struct rt_driver_context *rt_context_current(void);
int rt_context_push(struct rt_context *c, struct rt_driver_context *d);
void rt_context_pop(void);
int rt_context_set(struct rt_context *c, struct rt_driver_context *d);
/* The driver's calls work in the current context, and there must be one; the runtime's make the primary one current
 * where there is none. */
int rt_check_context(struct rt_context *c);

/* --- module.c ----------------------------------------------------------------------------------------------------- */

/* A fresh module, not loaded, at the end of the context's list; NULL as from rt_calloc. */
struct rt_module *rt_module_create(struct rt_context *c);
/* Loads a module if that was not tried yet: chooses its PTX, parses and places it. */
int rt_module_ready(struct rt_context *c, struct rt_module *m);
/* The host program reads a managed variable through a pointer that the runtime sets (nvcc's host stubs), to its device
 * address, and does not ask whether that worked: where the module is not loaded it gets memory of its own. */
void rt_publish_managed(struct rt_module *m);
/* Unloads a module, which may be loaded again; the values of its managed variables are kept. Has it any? */
bool rt_module_unload(struct rt_module *m);
/* Makes a module of an image given to the driver or library API: a PTX text, a fat binary or its wrapper. */
int rt_module_from_image(struct rt_context *c, const void *image, void **out);
/* The PTX that a program's image of at most `limit` bytes offers a B200, in m->choice: a text or a fat binary. */
int rt_image_choose(struct rt_context *c, const void *image, size_t limit, struct rt_module *m);
/* The bytes of a file, with a zero byte after them; the caller frees them. */
int rt_read_image(struct rt_context *c, const char *path, char **bytes, size_t *size);
/* Reads a file that holds such an image. */
int rt_module_from_file(struct rt_context *c, const char *path, void **out);
/* Unloads and forgets a module with its functions and variables. */
void rt_module_drop(struct rt_context *c, struct rt_module *m);
bool rt_module_known(const struct rt_context *c, const struct rt_module *m);
/* rt_enter_ready for a call about a module, which must be known. */
struct rt_context *rt_enter_module(const char *call, const void *module);

/* A function entry for a kernel of a module; not looked up yet. NULL as from rt_calloc. */
struct rt_function *rt_function_create(struct rt_context *c, struct rt_module *m, const char *name, const void *host);
/* The function behind a host stub's address or a handle, or NULL. */
struct rt_function *rt_function_find(struct rt_context *c, const void *host_or_handle);
/* A kernel of a loaded module by name; RT_ERROR_NOT_FOUND when it has none. */
int rt_function_by_name(struct rt_context *c, struct rt_module *m, const char *name, void **out);
/* The number of a module's kernels; the first `most` of them go to `out`, not looked up yet (rt_function_create). */
int rt_module_kernels(struct rt_context *c, struct rt_module *m, void **out, unsigned most, unsigned *count);
/* A variable of a module, which is loaded for it: device address and size in bytes, each where it is asked for (not
 * NULL); RT_ERROR_NOT_FOUND when the module has none of that name. */
int rt_variable_by_name(struct rt_context *c, struct rt_module *m, const char *name, uint64_t *address, size_t *bytes);
/* rt_enter_ready for a call about a function, a host stub's address or a handle, whose kernel is loaded for it. CUDA's
 * codes: 98 for NULL, 400 for an unknown address. */
struct rt_context *rt_enter_function(const char *call, const void *function, struct rt_function **f);
/* Device address and size of the variable behind a host shadow. */
int rt_symbol(struct rt_context *c, const void *host, uint64_t *address, uint64_t *size);

/* --- link.c ------------------------------------------------------------------------------------------------------- */

int rt_link_create(struct rt_context *c, const struct rt_options *options, void **out);
/* One that rt_link_create made, or NULL. */
struct rt_link *rt_link_find(const struct rt_context *c, const void *state);
/* The one input of a link, as rt_image_choose takes it. `name`: of the input in messages; NULL: none. */
int rt_link_add(struct rt_context *c, struct rt_link *l, const void *data, size_t size, const char *name);
void rt_link_destroy(struct rt_context *c, struct rt_link *l);

/* --- launch.c ----------------------------------------------------------------------------------------------------- */

struct rt_launch {
    struct rt_launch_config config;
    void **args;     /* one pointer per parameter, or NULL */
    void **extra;    /* or cuLaunchKernel's list: keys and values up to RT_EXTRA_END; NULL: none */
    int shape_error; /* code for impossible grid and block sizes: 9 from libcudart.so.12, 1 from 13 and the driver */
};

/* Checks a launch as the driver does and runs it. A fault of the kernel becomes the sticky error; the result is 0. */
int rt_launch(struct rt_context *c, struct rt_function *f, const struct rt_launch *l);
/* Dynamic shared memory a launch may ask for: 48 KB less the static part, or what the attribute allows. */
size_t rt_dynamic_limit(const struct rt_function *f);
/* Clusters of the function that fit on the device; the largest size of which one does. */
typedef int rt_max_fn(struct rt_context *c, struct rt_function *f, const struct rt_launch_config *l, int *out);
rt_max_fn rt_max_clusters, rt_max_cluster_size;
/* enum rt_func_attribute */
int rt_func_get_attribute(struct rt_context *c, struct rt_function *f, int attribute, int *value);
int rt_func_set_attribute(struct rt_context *c, struct rt_function *f, int attribute, int value);

/* --- occupancy.c -------------------------------------------------------------------------------------------------- */

/* Threads of a CTA for whose registers an SM has room, 1024 at most. */
unsigned rt_max_threads(const struct mach_config *m, const struct rt_function *f);
/* CTAs of the function that fit on one SM. */
int rt_max_ctas_per_sm(struct rt_context *c, struct rt_function *f, int block_size, size_t dynamic_shared, int *out);
/* Dynamic shared memory that a CTA may have where `ctas` of `threads` threads are to fit on one SM. */
int rt_available_shared(struct rt_context *c, struct rt_function *f, int ctas, int threads, size_t *out);
/* The CTA with which an SM has the most threads, the largest of several, and how many of these fill the device.
 * `limit`: no more threads than this, 0: none. `shared_of`: dynamic shared memory by threads; NULL: `shared` always. */
int rt_best_block(struct rt_context *c, struct rt_function *f, size_t (*shared_of)(int threads), size_t shared,
                  int limit, int *ctas, int *threads);

/* --- memory.c ----------------------------------------------------------------------------------------------------- */

/* Device, managed or page-locked host memory, the latter two at the same address for host and device. 0 bytes: NULL
 * from the runtime, an error from the driver. */
int rt_malloc(struct rt_context *c, size_t size, enum rt_memory_type type, void **out);
/* Frees an allocation of the given class: device (cudaFree) or host (cudaFreeHost). NULL is fine. */
int rt_free(struct rt_context *c, void *p, bool host);
/* Copies `bytes`, or `height` rows of `width` bytes; `kind` (enum rt_memcpy_kind) must fit both sides. */
int rt_copy(struct rt_context *c, void *dst, const void *src, size_t bytes, int kind, void *stream);
int rt_copy_2d(struct rt_context *c, void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
               size_t height, int kind, void *stream);
/* Fills `height` rows of `width` elements of 1, 2 or 4 bytes at device address p. */
int rt_fill_2d(struct rt_context *c, void *p, size_t pitch, uint32_t value, unsigned element, size_t width,
               size_t height, void *stream);
/* Type, base and size of what p points to; false for ordinary host memory. */
bool rt_pointer(struct rt_context *c, const void *p, int *type, struct mem_block *block);

/* --- pool.c ------------------------------------------------------------------------------------------------------- */

/* The device's own pool, made at need, and the one that cudaMallocAsync takes from. */
int rt_pool_default(struct rt_context *c, struct rt_pool **out);
int rt_pool_current(struct rt_context *c, struct rt_pool **out);
/* One that is known, else RT_ERROR_INVALID_VALUE. The functions below check theirs by it. */
int rt_pool_check(struct rt_context *c, const void *pool);
int rt_pool_create(struct rt_context *c, const struct rt_pool_props *props, void **out);
int rt_pool_destroy(struct rt_context *c, void *pool);
/* An attribute (cudaMemPoolAttr): an int or 64 bits. */
int rt_pool_get(struct rt_context *c, void *pool, int attribute, void *value);
int rt_pool_set(struct rt_context *c, void *pool, int attribute, const void *value);
int rt_pool_set_access(struct rt_context *c, void *pool, const struct rt_pool_access *list, size_t count);
int rt_pool_get_access(struct rt_context *c, void *pool, const struct rt_mem_location *location, int *flags);
/* rt_malloc of device memory, from a pool. */
int rt_pool_malloc(struct rt_context *c, struct rt_pool *p, size_t size, void **out);
/* Memory was freed, which may have come from a pool. */
void rt_pool_freed(struct rt_context *c, uint64_t address);
/* The pool that the allocation at this address came from, or NULL. */
struct rt_pool *rt_pool_of(const struct rt_context *c, uint64_t address);
/* Forgets all of them: the device is reset. */
void rt_pools_drop(struct rt_context *c);

/* --- stream.c ----------------------------------------------------------------------------------------------------- */

int rt_stream_create(struct rt_context *c, unsigned flags, int priority, void **out);
typedef int rt_destroy_fn(struct rt_context *c, void *handle);
rt_destroy_fn rt_stream_destroy, rt_event_destroy;
/* NULL, the two special handles, or one that rt_stream_create made; else RT_ERROR_INVALID_HANDLE. `out` may be NULL. */
int rt_stream_check(struct rt_context *c, void *stream, const struct rt_stream **out);
int rt_event_create(struct rt_context *c, unsigned flags, void **out);
/* One that rt_event_create made, else RT_ERROR_INVALID_HANDLE. `out` may be NULL. */
int rt_event_check(struct rt_context *c, void *event, struct rt_event **out);
int rt_event_record(struct rt_context *c, void *event, void *stream);
/* A stream waits for an event. */
int rt_event_wait(struct rt_context *c, void *stream, void *event, unsigned flags);
int rt_event_elapsed(struct rt_context *c, void *start, void *end, float *ms);

#endif
