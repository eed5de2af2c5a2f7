/* fuzz_exec.c - PTX that is loaded and run: a kernel, whatever it holds, ends in success or in a report and an error.
 *
 * Every kernel of a text is launched by the runtime's own calls in a device of its own, with arguments and a shape that
 * the 16 hex digits of its first line ("//! 0123456789abcdef") choose: small blocks, grids and clusters, a schedule, 1
 * to 3 threads, pointers to small buffers, tensor maps, wild numbers. `fuzz_exec FILE` replays one.
 *
 * Counts (counts.h): 0 texts, 1 texts that load, 2 launches, 3 those that ran to their end, 4 faults; from 16 on an
 * opcode each, how often it was executed; `fuzz_exec --counts` prints them.
 */
#include "cudart/core/context.h"
#include "fuzz/counts.h"
#include "fuzz/mutate.h"
#include "isa/isa.h"

#include <sys/prctl.h>

int cudaLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cudaLibraryGetKernel(void **, void *, const char *);
int cudaLibraryGetGlobal(void **, size_t *, void *, const char *);
int cudaFuncSetAttribute(const void *, int, int);
int cudaLaunchKernelExC(const struct rt_launch_config *, const void *, void **);
int cudaMalloc(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaFree(void *);
int cudaMemset(void *, int, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cuTensorMapEncodeTiled(void *, unsigned, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                           const uint32_t *, unsigned, unsigned, unsigned, unsigned);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max, unsigned seed);

enum {
    TEXTS,
    LOADED,
    LAUNCHES,
    RAN,
    FAULTS,
    OPCODES = 16,
    MAX_TEXT = 1 << 18,
    MAX_PARAMS = 32,
    BUFFERS = 5,
    MEMORY = 1 << 28
};
_Static_assert(OPCODES + PTX_OP_COUNT <= COUNTS, "a count for every opcode");

static const char *const opcode_names[] = {
#define OP(name, text, section, ...) text,
#include "ptx/opcodes.def"
#undef OP
};

static void count(unsigned which) { atomic_fetch_add_explicit(&counts_open()[which], 1, memory_order_relaxed); }

/* --- a device with arguments in it -------------------------------------------------------------------------------- */

struct device {
    uint64_t r; /* chance */
    void *buffer[BUFFERS];
    uint8_t map[128];
};

static void on_step(const struct listener *self, const struct event_step *e) {
    (void)self;
    const struct ptx_insn *in = (const void *)((const char *)e->by.site - offsetof(struct ptx_insn, site));
    if (e->by.lanes)
        count(OPCODES + in->op);
}

static void set_options(uint64_t *r) {
    static const char *const schedules[] = {"default", "eager", "lazy", "random:7", "random:99"};
    static const char *const checks[] = {"warn", "error", "off"};
    static const char *const threads[] = {"1", "2", "3"};
    setenv("SM100EMU_SCHEDULE", CHOOSE(r, schedules), 1);
    setenv("SM100EMU_CHECK", CHOOSE(r, checks), 1);
    setenv("SM100EMU_THREADS", CHOOSE(r, threads), 1);
    static const char *const vectors[] = {"portable", "avx2", "avx512", "amx"};
    setenv("SM100EMU_HOST_VECTORS", CHOOSE(r, vectors), 1);
    setenv("SM100EMU_UMMA", below(r, 8) ? "exact" : "fast", 1);
    setenv("SM100EMU_WATCHDOG", "20000", 1);
    setenv("SM100EMU_MEMORY", "1G", 1);
}

/* A map of a small array, right more often than not; what is refused stays zero. */
static void make_map(struct device *d) {
    static const uint32_t boxes[] = {1, 4, 8, 16, 64, 256}, steps[] = {1, 1, 1, 2, 3};
    uint64_t *r = &d->r, dims[5], strides[5] = {0};
    uint32_t box[5], step[5], rank = 1 + below(r, below(r, 4) ? 2 : 5);
    for (uint32_t i = 0; i < 5; i++) {
        dims[i] = i ? 1 + below(r, 8) : 16u << below(r, 4);
        strides[i] = i ? strides[i - 1] * dims[i] : 512;
        box[i] = i ? 1 + below(r, 4) : CHOOSE(r, boxes);
        step[i] = CHOOSE(r, steps);
    }
    memset(d->map, 0, sizeof d->map);
    cuTensorMapEncodeTiled(d->map, below(r, 14), rank, d->buffer[2 + below(r, 3)], dims, strides, box, step, 0,
                           below(r, 7), below(r, 4), below(r, 2));
}

static bool open_device(struct device *d) {
    static const size_t bytes[BUFFERS] = {64, 1000, 8192, 65536, 4096};
    for (unsigned i = 0; i < BUFFERS; i++) {
        int e = i == 4 ? cudaMallocManaged(&d->buffer[i], bytes[i], 1) : cudaMalloc(&d->buffer[i], bytes[i]);
        if (e || cudaMemset(d->buffer[i], (int)below(&d->r, 3), bytes[i]))
            return false;
    }
    if (below(&d->r, 16) == 0)
        cudaFree(d->buffer[0]);
    struct rt_context *c = rt_enter("fuzz_exec");
    const struct listener l = {.name = "opcodes", .wants = WANT_STEP, .step = on_step};
    events_attach(c->gpu, &l);
    rt_leave(c, 0);
    make_map(d);
    return true;
}

static uint64_t any_argument(struct device *d, uint64_t size) {
    static const uint64_t wild[] = {0,         1, 0xdeadbeef, 1ull << 48, 0x0001000000000400ull, 0x0001000100000000ull,
                                    UINT64_MAX};
    if (size < 8)
        return below(&d->r, 4) ? below(&d->r, 70) : chance(&d->r);
    if (below(&d->r, 12) == 0)
        return CHOOSE(&d->r, wild);
    return (uintptr_t)d->buffer[below(&d->r, BUFFERS)] + (below(&d->r, 8) ? 0 : 16 * below(&d->r, 70));
}

/* --- a launch ----------------------------------------------------------------------------------------------------- */

static void launch(struct device *d, struct rt_function *f) {
    static const unsigned blocks[] = {1, 32, 32, 32, 32, 64, 64, 96, 128, 128, 33, 160, 256, 1024};
    static const unsigned clusters[] = {1, 1, 1, 1, 2, 2, 2, 4, 16};
    const struct lower_kernel_info *k = &f->info;
    uint8_t bytes[MAX_PARAMS][256];
    void *args[MAX_PARAMS] = {0}, *big = NULL;
    if (k->ptx->num_params > MAX_PARAMS)
        return;
    for (uint32_t i = 0; i < k->ptx->num_params; i++) {
        uint64_t size = k->ptx->params[i].size;
        args[i] = bytes[i];
        if (size > sizeof bytes[i])
            args[i] = big ? big : (big = calloc(1, 1 << 16));
        if (size > 1 << 16)
            return free(big);
        if (size == 128)
            memcpy(bytes[i], d->map, 128);
        for (uint64_t at = 0; size != 128 && at < size && at < sizeof bytes[i]; at += 8)
            memcpy(bytes[i] + at, &(uint64_t){any_argument(d, size)}, 8);
    }
    unsigned n = CHOOSE(&d->r, clusters);
    struct rt_launch_attribute cluster = {.id = RT_LAUNCH_CLUSTER_DIMENSION, .value.cluster = {n, 1, 1}};
    struct rt_launch_config c = {.block = {CHOOSE(&d->r, blocks), 1, 1}, .attrs = &cluster, .num_attrs = n > 1};
    if (k->ptx->reqntid.x)
        c.block = (struct rt_dim3){k->ptx->reqntid.x, k->ptx->reqntid.y, k->ptx->reqntid.z};
    else if (c.block.x > k->max_threads)
        c.block.x = k->max_threads;
    if (k->cluster.x) {
        n = k->cluster.x;
        c.num_attrs = 0;
    }
    c.grid =
        (struct rt_dim3){n * (1 + below(&d->r, 3)), k->cluster.x ? k->cluster.y : 1, k->cluster.x ? k->cluster.z : 1};
    if (c.block.x * c.grid.x > 1024) /* the watchdog comes soon */
        c.grid.x = n;
    c.dynamic_shared = below(&d->r, 3) ? 0 : 16 * below(&d->r, 4096);
    cudaFuncSetAttribute(f, RT_FUNC_NON_PORTABLE_CLUSTER, 1);
    cudaFuncSetAttribute(f, RT_FUNC_MAX_DYNAMIC_SHARED, (int)c.dynamic_shared);
    count(LAUNCHES);
    if (cudaLaunchKernelExC(&c, f, args) == 0)
        count(cudaDeviceSynchronize() ? FAULTS : RAN);
    free(big);
}

/* One kernel of the text in a device of its own; false where the text is none. */
static bool run_kernel(struct device *d, const char *text, const char *name) {
    void *library, *kernel, *map;
    size_t bytes;
    set_options(&d->r);
    bool loaded = cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0) == 0 &&
                  cudaLibraryGetKernel(&kernel, library, name) == 0;
    if (loaded && open_device(d)) {
        if (cudaLibraryGetGlobal(&map, &bytes, library, "zmap") == 0 && bytes >= sizeof d->map)
            cudaMemcpy(map, d->map, sizeof d->map, RT_HOST_TO_DEVICE);
        launch(d, kernel);
    }
    cudaDeviceReset();
    return loaded;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > MAX_TEXT)
        return 0;
    char *text = malloc(size + 1), name[128];
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    struct device d = {.r = strncmp(text, "//! ", 4) == 0 ? strtoull(text + 4, NULL, 16) : 0};
    count(TEXTS);
    bool loaded = false;
    const char *at = text;
    for (int kernels = 0; kernels < 4 && (at = strstr(at, ".entry")) != NULL; kernels++) {
        at += 6;
        if (sscanf(at, " %127[A-Za-z0-9_$]", name) != 1 || !run_kernel(&d, text, name))
            break;
        loaded = true;
    }
    if (loaded)
        count(LOADED);
    free(text);
    return loaded ? 0 : -1; /* -1: not for the corpus */
}

/* --- the fuzzer's side -------------------------------------------------------------------------------------------- */

static void hush(void *ctx, const char *text, size_t len) { (void)ctx, (void)text, (void)len; }

/* How many instructions of a text are refused by name; UINT32_MAX where it does not load. */
static uint32_t refused(const char *text, size_t len) {
    static struct gpu *gpu;
    if (!gpu) {
        const struct mach_config config = mach_config_b200();
        gpu = gpu_create(&config);
        gpu->sink = (struct diag_sink){.write = hush};
    }
    struct ptx_module *ptx = ptx_parse(text, len, "fuzz.ptx", &gpu->sink);
    uint64_t bytes = 0; /* of variables, which loading fills */
    for (uint32_t i = 0; ptx && i < ptx->num_vars; i++)
        bytes += bytes < MEMORY ? ptx->vars[i]->size : 0;
    if (bytes >= MEMORY) {
        ptx_module_free(ptx);
        return UINT32_MAX;
    }
    struct warp_module *m = ptx ? lower_module_load(gpu, ptx) : NULL;
    struct insn none;
    uint32_t n = 0;
    isa_bind_refused(&none);
    for (uint32_t f = 0; m && f < m->ptx->num_funcs; f++)
        for (uint32_t i = 0; i < m->funcs[f].num_insns; i++)
            n += m->funcs[f].code[i].fn == none.fn;
    if (!m)
        return UINT32_MAX;
    lower_module_unload(m);
    return n;
}

/* What does not load is for fuzz_ptx.c, and what is refused stops a kernel early: both seldom. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    char *before = malloc(size + 1);
    if (!before)
        return size;
    memcpy(before, data, size);
    const uint32_t most = seed % 16 ? refused(before, size) : UINT32_MAX;
    size_t changed = mutate_ptx(data, size, max, seed);
    for (uint64_t tries = 1; tries < 6 && refused((const char *)data, changed) > most; tries++) {
        memcpy(data, before, size);
        changed = mutate_ptx(data, size, max, seed + (tries << 32));
    }
    free(before);
    return changed;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max, unsigned seed) {
    const uint32_t most = seed % 16 ? refused((const char *)a, a_size) : UINT32_MAX;
    size_t size = cross_ptx(a, a_size, b, b_size, out, max, seed);
    for (uint64_t tries = 1; tries < 4 && refused((const char *)out, size) > most; tries++)
        size = cross_ptx(a, a_size, b, b_size, out, max, seed + (tries << 32));
    return size;
}

static void print_counts(void) {
    atomic_ulong *c = counts_open();
    unsigned reached = 0;
    for (unsigned op = 0; op < PTX_OP_COUNT; op++)
        reached += c[OPCODES + op] != 0;
    printf("%lu texts run, %lu of them load; %lu launches: %lu to their end, %lu ended by a report; %u of %u opcodes "
           "executed\n",
           c[TEXTS], c[LOADED], c[LAUNCHES], c[RAN], c[FAULTS], reached, (unsigned)PTX_OP_COUNT);
    for (unsigned op = 0; getenv("FUZZ_OPCODES") && op < PTX_OP_COUNT; op++)
        printf("%12lu %s\n", c[OPCODES + op], opcode_names[op]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* small memories that come and go: huge pages would be zeroed for nothing */
    if (*argc == 2 && strcmp((*argv)[1], "--counts") == 0) {
        print_counts();
        exit(0);
    }
    return 0;
}
