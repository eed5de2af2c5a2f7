/* fuzz_api.c - sequences of calls: whatever a program asks of the two APIs, in any order and with any handles and
 * sizes, every call returns a code that CUDA knows; nothing crashes, hangs or grows.
 *
 * The bytes decide the calls and their arguments. Handles come from pools by kind, now and then from the wrong one;
 * pointers may be freed, NULL or beyond an allocation. What the real API would crash on too is left out: host memory is
 * always as large as said, and a device pointer does not outlive its device.
 *
 * Counts (counts.h): 0 sequences, 1 calls, 2 of them answered with an error; `fuzz_api --counts` prints them.
 */
#include "cudart/core/context.h"
#include "fuzz/counts.h"
#include "unit/cudart/containers.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *cudaGetErrorName(int code);
int cudaDeviceReset(void);
int cuDevicePrimaryCtxReset_v2(int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuCtxDestroy_v2(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cuMemcpy(uint64_t, uint64_t, size_t);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemcpy2D_v2(const struct rt_driver_copy_2d *);
int cudaLaunchKernelExC(const struct rt_launch_config *, const void *, void **);
int cudaOccupancyMaxActiveClusters(int *, const void *, const struct rt_launch_config *);
int cuLaunchKernelEx(const struct rt_driver_launch_config *, void *, void **, void **);
int cuTensorMapEncodeTiled(void *, unsigned, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                           const uint32_t *, unsigned, unsigned, unsigned, unsigned);
void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

enum { SEQUENCES, CALLS, ERRORS };
enum kind { POINTER, STREAM, EVENT, MODULE, FUNCTION, CONTEXT, LINK, MEMORY_POOL, SCRAP, KINDS };
enum { SLOTS = 8, HOST = 4096, ARGUMENTS = 64, LONGEST = 400 };

struct bytes {
    const uint8_t *p, *end;
};

/* What a program would hold. */
static void *pool[KINDS][SLOTS];
static uint8_t scratch[8192], map_bytes[256], *host_bytes[2];
static char stub_work, stub_spin, shadow;

static unsigned next(struct bytes *b) { return b->p < b->end ? *b->p++ : 0; }

/* --- arguments, by what they mean --------------------------------------------------------------------------------- */

static void *any(struct bytes *b, enum kind k) {
    unsigned v = next(b);
    if (v >= 0xf0)
        return pool[v % KINDS][next(b) % SLOTS];
    if (v >= 0xe8)
        return (void *)(uintptr_t)(v - 0xe8); /* NULL, and the handles that are numbers */
    if (k == FUNCTION && v >= 0xd0)
        return v % 2 ? &stub_work : &stub_spin;
    return pool[k][v % SLOTS];
}
static void **out(struct bytes *b, enum kind k) {
    unsigned v = next(b);
    return v >= 0xf0 ? NULL : &pool[k][v % SLOTS];
}
static void *place(void) { return scratch; }
static void *scrap(struct bytes *b) { return next(b) >= 0xf0 ? NULL : scratch; }
static void *map(struct bytes *b) { return next(b) >= 0xf0 ? NULL : map_bytes; }
static int few(struct bytes *b) {
    unsigned v = next(b);
    return v < 0xe0 ? 0 : (int)v - 0xf0;
}
static int number(struct bytes *b) {
    static const int odd[] = {INT_MAX, INT_MIN, -1, 255, 256, 1000, 1024, 1025, 65535, 65536, 232448, 49152};
    unsigned v = next(b);
    return v < 0x20 ? (int)(v % 4) : v < 0xd0 ? (int)v - 0x20 : odd[v % (sizeof odd / sizeof *odd)];
}
static size_t bytes(struct bytes *b) {
    static const size_t odd[] = {0,          1,         4,     255,     256,        257,      4095,
                                 4096,       65535,     65536, 1 << 20, 1ull << 38, SIZE_MAX, SIZE_MAX - 255,
                                 1ull << 63, 1ull << 47};
    unsigned v = next(b);
    return v < 0x80 ? v * 16 : odd[v % (sizeof odd / sizeof *odd)];
}
static size_t extent(struct bytes *b) {
    static const size_t odd[] = {0, 1, 3, 512, 1000, 1024, 1ull << 40, SIZE_MAX, 1ull << 63};
    unsigned v = next(b);
    return v < 0x80 ? v : odd[v % (sizeof odd / sizeof *odd)];
}
/* A device pointer, or what was one. */
static uint64_t device(struct bytes *b) {
    unsigned v = next(b);
    uint64_t p = (uintptr_t)pool[POINTER][v % SLOTS];
    return v >= 0xf8 ? 0 : v >= 0xc0 && p ? p + bytes(b) : p;
}
static const void *symbol(struct bytes *b) { return next(b) < 0x80 ? &shadow : any(b, POINTER); }
static const char *name(struct bytes *b) {
    static const char *const names[] = {"work", "spin", "gv", "cuMemAlloc", "cudaMalloc", "no such", "", NULL};
    return names[next(b) % 8];
}
static const char *path(struct bytes *b) {
    static const char *const paths[] = {"/nowhere/at.all", "/dev/null", "/", "", NULL};
    return paths[next(b) % 5];
}
static struct rt_dim3 dim(struct bytes *b) {
    struct rt_dim3 d = {(unsigned)number(b), 1, 1};
    if (next(b) >= 0xc0)
        d.y = (unsigned)number(b), d.z = (unsigned)number(b);
    return d;
}
static void called(void *data) { (void)data; }
static void (*host_function(struct bytes *b))(void *) { return next(b) >= 0xc0 ? NULL : called; }
/* As many as any kernel has, each larger than any parameter. */
static void **arguments(void) {
    static void *list[ARGUMENTS], *value;
    if (!value)
        value = calloc(1, 1 << 16);
    memcpy(value, &pool[POINTER][1], 8);
    for (unsigned i = 0; i < ARGUMENTS; i++)
        list[i] = value;
    return list;
}

/* --- images ------------------------------------------------------------------------------------------------------- */

static const char kernels[] =
    ".version 9.0\n.target sm_100f\n.address_size 64\n.visible .global .align 4 .u32 gv[4] = {5, 6, 7, 8};\n"
    ".visible .entry work(.param .u64 out, .param .u32 n)\n{\n.reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r6, [gv+4]; st.global.u32 [%rd1], %r6; ret;\n}\n"
    ".visible .entry pairs() .reqnctapercluster 2\n{ ret; }\n"
    ".visible .entry spin()\n{\n$again: bra $again;\n}\n";

/* Right, cut short or with a few bits changed; a container's own size, which the loader must believe, is left alone. */
static const void *image(struct bytes *b) {
    static struct container c;
    static char *copy;
    unsigned v = next(b);
    if (v >= 0xf8)
        return NULL;
    container_begin(&c);
    container_add(&c, KIND_ELF, 100, 0, "\177ELF....", 8, 0);
    container_ptx(&c, 100, kernels);
    bool text = v & 1;
    size_t size = text ? sizeof kernels - 1 : c.size, first = text ? 0 : 16;
    free(copy);
    copy = calloc(1, size + 1);
    memcpy(copy, text ? (const void *)kernels : c.bytes, size);
    if (text && v >= 0xc0)
        copy[(next(b) << 8 | next(b)) % size] = 0;
    for (unsigned n = v >= 0x60 ? v / 32 : 0; n > 0; n--) {
        size_t at = (size_t)(next(b) << 8 | next(b)) % (size - first) + first;
        copy[at] ^= (char)(1 << next(b) % 8);
        if (text && !copy[at])
            copy[at] = ' ';
    }
    return copy;
}

/* An array of one attribute, and where its value goes. */
static const int *one_number(struct bytes *b) {
    static int value;
    value = number(b);
    return &value;
}
static void **one_place(void) {
    static void *list;
    list = scratch;
    return &list;
}
static const struct rt_pool_props *pool_props(struct bytes *b) {
    static struct rt_pool_props p;
    p = (struct rt_pool_props){.type = next(b) < 0xe0, .location = {next(b) < 0xe0, few(b)}, .most = bytes(b)};
    return next(b) >= 0xf0 ? NULL : &p;
}
static const struct rt_pool_access *pool_access(struct bytes *b) {
    static struct rt_pool_access a;
    a = (struct rt_pool_access){{next(b) < 0xe0, few(b)}, number(b)};
    return next(b) >= 0xf0 ? NULL : &a;
}
/* A log for errors of as many bytes, and one more option. */
static int *jit_options(struct bytes *b) {
    static int list[3] = {5, 6};
    list[2] = number(b);
    return next(b) >= 0xf0 ? NULL : list;
}
static void **jit_values(struct bytes *b) {
    static char log[256];
    static void *list[3];
    list[0] = next(b) >= 0xe0 ? NULL : log;
    list[1] = (void *)(uintptr_t)next(b);
    list[2] = (void *)(uintptr_t)next(b);
    return list;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

#define CALL(name, parameters, ...)                                                                                    \
    int name parameters;                                                                                               \
    static int call_##name(struct bytes *b) {                                                                          \
        (void)b;                                                                                                       \
        return name(__VA_ARGS__);                                                                                      \
    }
#include "fuzz/calls.def"

static int no_device(int code) {
    memset(pool[POINTER], 0, sizeof pool[POINTER]);
    return code;
}
static int reset_runtime(struct bytes *b) {
    (void)b;
    return no_device(cudaDeviceReset());
}
static int reset_driver(struct bytes *b) { return no_device(cuDevicePrimaryCtxReset_v2(few(b))); }
static int release(struct bytes *b) { return no_device(cuDevicePrimaryCtxRelease_v2(few(b))); }
static int destroy(struct bytes *b) { return no_device(cuCtxDestroy_v2(any(b, CONTEXT))); }

/* One side of a copy: device memory, or as much host memory as `n` allows. */
static void *side(struct bytes *b, size_t n, unsigned which) {
    return next(b) < 0x80 && n <= HOST ? host_bytes[which] : (void *)(uintptr_t)pool[POINTER][next(b) % SLOTS];
}
static int copy(struct bytes *b) {
    size_t n = bytes(b);
    void *to = side(b, n, 0), *from = side(b, n, 1);
    return cudaMemcpy(to, from, n, few(b) ? number(b) : 4);
}
static int copy_async(struct bytes *b) {
    size_t n = bytes(b);
    void *to = side(b, n, 0), *from = side(b, n, 1);
    int kind = (int)(next(b) % 6) - 1;
    return cudaMemcpyAsync(to, from, n, kind, any(b, STREAM));
}
static int copy_2d(struct bytes *b) {
    size_t to_pitch = extent(b), from_pitch = extent(b), width = extent(b), height = extent(b);
    bool small = to_pitch <= 60 && from_pitch <= 60 && width <= 60 && height <= 60;
    void *to = side(b, small ? 0 : SIZE_MAX, 0), *from = side(b, small ? 0 : SIZE_MAX, 1);
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, (int)(next(b) % 5));
}
/* Never host memory, nor what may be it. */
static int copy_2d_driver(struct bytes *b) {
    static const int types[] = {2, 2, 2, 0, 3, 5};
    struct rt_driver_copy_2d c = {.src_x = extent(b), .src_y = extent(b), .src_type = types[next(b) % 6]};
    c.src_device = device(b), c.src_pitch = extent(b), c.dst_x = extent(b), c.dst_y = extent(b);
    c.dst_type = types[next(b) % 6], c.dst_device = device(b), c.dst_pitch = extent(b);
    c.width = extent(b), c.height = extent(b);
    return cuMemcpy2D_v2(next(b) >= 0xf0 ? NULL : &c);
}
static int to_symbol(struct bytes *b) {
    size_t n = bytes(b), at = bytes(b);
    return cudaMemcpyToSymbol(symbol(b), side(b, n, 1), n, at, (int)(next(b) % 6));
}
static int from_symbol(struct bytes *b) {
    size_t n = bytes(b), at = bytes(b);
    return cudaMemcpyFromSymbol(side(b, n, 0), symbol(b), n, at, (int)(next(b) % 6));
}
static int copy_unified(struct bytes *b) {
    size_t n = bytes(b);
    return cuMemcpy((uintptr_t)side(b, n, 0), (uintptr_t)side(b, n, 1), n);
}
static int to_device(struct bytes *b) {
    size_t n = bytes(b);
    return cuMemcpyHtoD_v2(device(b), side(b, n, 1), n);
}
static int from_device(struct bytes *b) {
    size_t n = bytes(b);
    return cuMemcpyDtoH_v2(side(b, n, 0), device(b), n);
}

static struct rt_launch_attribute *attributes(struct bytes *b, unsigned *n) {
    static struct rt_launch_attribute list[3];
    *n = next(b) % 4;
    for (unsigned i = 0; i < *n; i++)
        list[i] = (struct rt_launch_attribute){.id = (int)(next(b) % 20), .value.cluster = dim(b)};
    return next(b) >= 0xf0 ? NULL : list;
}
static int launch(struct bytes *b) {
    struct rt_launch_config c = {.grid = dim(b), .block = dim(b), .dynamic_shared = bytes(b), .stream = any(b, STREAM)};
    c.attrs = attributes(b, &c.num_attrs);
    return cudaLaunchKernelExC(next(b) >= 0xf8 ? NULL : &c, any(b, FUNCTION), next(b) >= 0xf0 ? NULL : arguments());
}
static int launch_driver(struct bytes *b) {
    struct rt_driver_launch_config c = {.grid = dim(b), .block = dim(b), .stream = any(b, STREAM)};
    c.dynamic_shared = (unsigned)bytes(b);
    c.attrs = attributes(b, &c.num_attrs);
    size_t size = bytes(b) % 4096;
    void *extra[] = {RT_EXTRA_BUFFER, scratch, RT_EXTRA_SIZE, &size, RT_EXTRA_END};
    bool packed = next(b) & 1;
    return cuLaunchKernelEx(&c, any(b, FUNCTION), packed ? NULL : arguments(), packed ? extra : NULL);
}
static int plain_launch(struct bytes *b) {
    struct rt_launch_config c = {.grid = {1 + next(b) % 3, 1, 1}, .block = {32, 1, 1}};
    return cudaLaunchKernelExC(&c, &stub_work, arguments());
}
static int clusters(struct bytes *b) {
    struct rt_launch_config c = {.grid = dim(b), .block = dim(b), .dynamic_shared = bytes(b)};
    c.attrs = attributes(b, &c.num_attrs);
    return cudaOccupancyMaxActiveClusters(scrap(b), any(b, FUNCTION), &c);
}
static int encode(struct bytes *b) {
    uint64_t dims[5], strides[5];
    uint32_t box[5], steps[5];
    for (unsigned i = 0; i < 5; i++)
        dims[i] = extent(b), strides[i] = extent(b), box[i] = (uint32_t)number(b), steps[i] = (uint32_t)few(b);
    void *to = map(b);
    uint32_t rank = next(b) % 8;
    return cuTensorMapEncodeTiled(to, next(b) % 20, rank, (void *)device(b), next(b) >= 0xf0 ? NULL : dims, strides,
                                  box, steps, next(b) % 4, next(b) % 9, next(b) % 5, next(b) % 3);
}

static int (*const calls[])(struct bytes *) = {
#define CALL(name, ...) call_##name,
#include "fuzz/calls.def"
    reset_runtime,  reset_driver, release,       destroy,       copy,      copy_async,  copy_2d,
    copy_2d_driver, to_symbol,    from_symbol,   copy_unified,  to_device, from_device, launch,
    launch,         launch,       launch_driver, plain_launch,  clusters,  encode,      reset_runtime,
    copy,           plain_launch, launch,        reset_runtime,
};

/* --- sequences ---------------------------------------------------------------------------------------------------- */

static void count(unsigned which, unsigned long n) {
    atomic_fetch_add_explicit(&counts_open()[which], n, memory_order_relaxed);
}

/* Those too whose handles were written over. */
static void destroy_contexts(void) {
    struct rt_context *c = rt_enter("fuzz_api");
    rt_leave(c, 0);
    for (struct rt_driver_context *d = c->contexts, *after; d; d = after) {
        after = d->next;
        if (!d->primary)
            cuCtxDestroy_v2(d);
    }
}

static void run(const uint8_t *data, size_t size) {
    struct bytes b = {data, data + size};
    memset(pool, 0, sizeof pool);
    unsigned long made = 0, errors = 0;
    for (; b.p < b.end && made < LONGEST; made++) {
        int code = calls[(next(&b) << 8 | next(&b)) % (sizeof calls / sizeof *calls)](&b);
        if (code != 0 && strcmp(cudaGetErrorName(code), "unrecognized error code") == 0) {
            fprintf(stderr, "fuzz_api: a call answered %d\n", code);
            abort();
        }
        errors += code != 0;
    }
    count(CALLS, made);
    count(ERRORS, errors);
    destroy_contexts();
    cudaDeviceReset();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    count(SEQUENCES, 1);
    run(data, size);
    if (!__sanitizer_get_current_allocated_bytes || size == 0 || data[0] % 8 != 0)
        return 0;
    run(data, size); /* what is kept from one device to the next is there by now */
    const size_t before = __sanitizer_get_current_allocated_bytes();
    run(data, size);
    const size_t after = __sanitizer_get_current_allocated_bytes();
    if (after > before) {
        fprintf(stderr, "fuzz_api: %zu bytes more after the same calls\n", after - before);
        abort();
    }
    return 0;
}

static void register_program(void) {
    static struct container c;
    static struct {
        int magic, version;
        const void *data;
        void *file;
    } wrapper = {0x466243b1, 1, c.bytes, NULL};
    container_begin(&c);
    container_ptx(&c, 100, kernels);
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub_work, NULL, "work", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &stub_spin, NULL, "spin", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, &shadow, NULL, "gv", 0, 16, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    if (*argc == 2 && strcmp((*argv)[1], "--counts") == 0) {
        atomic_ulong *c = counts_open();
        printf("%lu sequences of %lu calls, of which %lu answered with an error\n", c[SEQUENCES], c[CALLS], c[ERRORS]);
        exit(0);
    }
    setenv("SM100EMU_WATCHDOG", "20000", 1);
    host_bytes[0] = calloc(1, HOST);
    host_bytes[1] = calloc(1, HOST);
    register_program();
    return 0;
}
