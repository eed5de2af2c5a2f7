/* launch_ptx FILE.ptx KERNEL [WORD...]: loads a PTX file by the driver API and launches one kernel, so that a
 * test can hold PTX which nvcc would never write, or that ptxas would refuse.
 *
 *   grid=X[,Y[,Z]]   block=X[,Y[,Z]]   dynamic=BYTES of shared memory, 1, 32 and 0 where not given
 *   buf:BYTES        parameter: a pointer to BYTES of device memory, zeroed
 *   out:BYTES        the same, and printed after the launch: its 32-bit words in hex, eight a line
 *   freed:BYTES      parameter: the same pointer, after cuMemFree
 *   u32:N u64:N      parameter: a number
 *
 * The driver is asked for at run time (libcuda.so.1), as a program that is built on a machine without one
 * does, and the few types that are needed are written out, so that no CUDA header is. Exit code: 0 where the
 * kernel ran to its end, 1 for an error of the driver API (printed), 2 for a bad command line.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;   /* CUresult */
typedef void *Handle; /* CUcontext, CUmodule, CUfunction, CUstream */
typedef unsigned long long DevicePtr;

typedef struct Driver {
    Result (*init)(unsigned flags);
    Result (*device_get)(int *device, int ordinal);
    Result (*ctx_retain)(Handle *ctx, int device);
    Result (*ctx_set)(Handle ctx);
    Result (*ctx_sync)(void);
    Result (*module_load)(Handle *module, const char *path);
    Result (*module_function)(Handle *function, Handle module, const char *name);
    Result (*mem_alloc)(DevicePtr *out, size_t bytes);
    Result (*mem_free)(DevicePtr p);
    Result (*memset_d8)(DevicePtr dst, unsigned char value, size_t n);
    Result (*memcpy_d_to_h)(void *dst, DevicePtr src, size_t bytes);
    Result (*launch)(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                     unsigned dynamic, Handle stream, void **params, void **extra);
    Result (*error_name)(Result error, const char **name);
} Driver;

enum { MAX_PARAMS = 16 };

typedef struct Launch {
    unsigned grid[3], block[3], dynamic;
    uint64_t value[MAX_PARAMS]; /* little-endian: a u32 is its first four bytes */
    void *param[MAX_PARAMS];
    uint64_t print[MAX_PARAMS]; /* bytes to print of the buffer at value[i] */
    int params;
} Launch;

/* Stores the symbol's address; POSIX guarantees that a function pointer fits a void *. */
static void find(void *lib, const char *name, void *slot) {
    void *symbol = dlsym(lib, name);
    if (!symbol) {
        fprintf(stderr, "launch_ptx: libcuda.so.1 has no %s\n", name);
        exit(1);
    }
    memcpy(slot, &symbol, sizeof symbol);
}

static Driver open_driver(void) {
    Driver d;
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) {
        fprintf(stderr, "launch_ptx: %s\n", dlerror());
        exit(1);
    }
    find(lib, "cuInit", &d.init);
    find(lib, "cuDeviceGet", &d.device_get);
    find(lib, "cuDevicePrimaryCtxRetain", &d.ctx_retain);
    find(lib, "cuCtxSetCurrent", &d.ctx_set);
    find(lib, "cuCtxSynchronize", &d.ctx_sync);
    find(lib, "cuModuleLoad", &d.module_load);
    find(lib, "cuModuleGetFunction", &d.module_function);
    find(lib, "cuMemAlloc_v2", &d.mem_alloc);
    find(lib, "cuMemFree_v2", &d.mem_free);
    find(lib, "cuMemsetD8_v2", &d.memset_d8);
    find(lib, "cuMemcpyDtoH_v2", &d.memcpy_d_to_h);
    find(lib, "cuLaunchKernel", &d.launch);
    find(lib, "cuGetErrorName", &d.error_name);
    return d;
}

static void must(const Driver *d, Result result, const char *call) {
    const char *name = NULL;
    if (result == 0)
        return;
    d->error_name(result, &name);
    fprintf(stderr, "launch_ptx: %s: %s (%d)\n", call, name ? name : "unknown error", result);
    exit(1);
}

/* One WORD of the command line; false where it is none that is known. */
static int take_word(const Driver *d, Launch *l, const char *word) {
    unsigned *size = strncmp(word, "grid=", 5) == 0 ? l->grid : strncmp(word, "block=", 6) == 0 ? l->block : NULL;
    if (size) {
        return sscanf(strchr(word, '=') + 1, "%u,%u,%u", &size[0], &size[1], &size[2]) >= 1;
    }
    if (strncmp(word, "dynamic=", 8) == 0)
        return sscanf(word + 8, "%u", &l->dynamic) == 1;
    if (l->params == MAX_PARAMS)
        return 0;
    uint64_t *value = &l->value[l->params];
    const char *number = strchr(word, ':');
    if (!number)
        return 0;
    *value = strtoull(number + 1, NULL, 0);
    bool freed = strncmp(word, "freed:", 6) == 0;
    if (strncmp(word, "buf:", 4) == 0 || strncmp(word, "out:", 4) == 0 || freed) {
        DevicePtr p = 0;
        l->print[l->params] = word[0] == 'o' ? *value : 0;
        must(d, d->mem_alloc(&p, *value), "cuMemAlloc");
        must(d, d->memset_d8(p, 0, *value), "cuMemsetD8");
        if (freed)
            must(d, d->mem_free(p), "cuMemFree");
        *value = p;
    } else if (strncmp(word, "u32:", 4) != 0 && strncmp(word, "u64:", 4) != 0) {
        return 0;
    }
    l->param[l->params++] = value;
    return 1;
}

static void print_words(const Driver *d, DevicePtr from, uint64_t bytes) {
    uint32_t *word = malloc(bytes + 1);
    if (!word)
        exit(1);
    must(d, d->memcpy_d_to_h(word, from, bytes), "cuMemcpyDtoH");
    for (uint64_t i = 0; i < bytes / 4; i++)
        printf("%s%08x%s", i % 8 == 0 ? "out " : "", word[i], i % 8 == 7 || i + 1 == bytes / 4 ? "\n" : " ");
    free(word);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: launch_ptx FILE.ptx KERNEL [grid=X,Y,Z] [block=X,Y,Z] [dynamic=BYTES] "
                        "[buf:BYTES | out:BYTES | freed:BYTES | u32:N | u64:N]...\n");
        return 2;
    }
    Driver d = open_driver();
    Handle ctx, module, function;
    int device;
    must(&d, d.init(0), "cuInit");
    must(&d, d.device_get(&device, 0), "cuDeviceGet");
    must(&d, d.ctx_retain(&ctx, device), "cuDevicePrimaryCtxRetain");
    must(&d, d.ctx_set(ctx), "cuCtxSetCurrent");

    Launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    for (int i = 3; i < argc; i++) {
        if (!take_word(&d, &l, argv[i])) {
            fprintf(stderr, "launch_ptx: what is %s?\n", argv[i]);
            return 2;
        }
    }
    must(&d, d.module_load(&module, argv[1]), "cuModuleLoad");
    must(&d, d.module_function(&function, module, argv[2]), "cuModuleGetFunction");
    must(&d,
         d.launch(function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.dynamic, NULL,
                  l.param, NULL),
         "cuLaunchKernel");
    must(&d, d.ctx_sync(), "cuCtxSynchronize");
    for (int i = 0; i < l.params; i++)
        if (l.print[i])
            print_words(&d, l.value[i], l.print[i]);
    return 0;
}
