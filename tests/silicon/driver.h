/* driver.h - the CUDA driver API for the programs of tests/silicon and tests/negative. It is opened while they run: a
 * GPU's libcuda.so.1, or the emulator's under its launcher. So they are built without a CUDA toolkit, and their PTX is
 * translated by whatever runs it. A program has one driver and one context at a time.
 */
#ifndef TESTS_SILICON_DRIVER_H
#define TESTS_SILICON_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>

#include "record.h"

typedef int Result;   /* CUresult */
typedef void *Handle; /* CUcontext, CUmodule, CUfunction, CUstream */
typedef unsigned long long DevicePtr;

typedef struct Driver {
    Result (*init)(unsigned flags);
    Result (*device_get)(int *device, int ordinal);
    Result (*ctx_create)(Handle *ctx, void *params, unsigned flags, int device);
    Result (*ctx_destroy)(Handle ctx);
    Result (*ctx_sync)(void);
    Result (*module_load)(Handle *module, const void *image);
    Result (*module_unload)(Handle module);
    Result (*module_function)(Handle *function, Handle module, const char *name);
    Result (*function_set)(Handle function, int attribute, int value);
    Result (*mem_alloc)(DevicePtr *out, size_t bytes);
    Result (*mem_free)(DevicePtr at);
    Result (*memset_d8)(DevicePtr dst, unsigned char value, size_t n);
    Result (*memcpy_h_to_d)(DevicePtr dst, const void *src, size_t bytes);
    Result (*memcpy_d_to_h)(void *dst, DevicePtr src, size_t bytes);
    Result (*launch)(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                     unsigned dynamic, Handle stream, void **params, void **extra);
    void *library;
    Handle ctx; /* NULL before open_context */
    int device;
} Driver;

/* A call by its exported name, for what Driver does not list; the program ends where there is none. */
static inline void *driver_call(const Driver *d, const char *name) {
    void *symbol = dlsym(d->library, name);
    if (!symbol)
        die("libcuda.so.1 lacks", name);
    return symbol;
}

/* Its calls. */
static inline Driver load_driver(void) {
    Driver d = {.library = dlopen("libcuda.so.1", RTLD_NOW)};
    if (!d.library)
        die("libcuda.so.1", dlerror());
    const struct {
        const char *name;
        void *slot;
    } calls[] = {{"cuInit", &d.init},
                 {"cuDeviceGet", &d.device_get},
                 {"cuCtxCreate_v4", &d.ctx_create},
                 {"cuCtxDestroy_v2", &d.ctx_destroy},
                 {"cuCtxSynchronize", &d.ctx_sync},
                 {"cuModuleLoadData", &d.module_load},
                 {"cuModuleUnload", &d.module_unload},
                 {"cuModuleGetFunction", &d.module_function},
                 {"cuFuncSetAttribute", &d.function_set},
                 {"cuMemAlloc_v2", &d.mem_alloc},
                 {"cuMemFree_v2", &d.mem_free},
                 {"cuMemsetD8_v2", &d.memset_d8},
                 {"cuMemcpyHtoD_v2", &d.memcpy_h_to_d},
                 {"cuMemcpyDtoH_v2", &d.memcpy_d_to_h},
                 {"cuLaunchKernel", &d.launch}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *symbol = driver_call(&d, calls[i].name);
        memcpy(calls[i].slot, &symbol, sizeof symbol);
    }
    return d;
}

/* And the device. */
static inline Driver open_driver(void) {
    Driver d = load_driver();
    if (d.init(0) || d.device_get(&d.device, 0))
        die("libcuda.so.1", "no device");
    return d;
}

/* Makes the context, or a new one, without the memory and modules of the one before. Behind a fault an H200 gives the
 * process no other: what may fault has a process of its own (child.h). */
static inline void open_context(Driver *d) {
    if (d->ctx)
        d->ctx_destroy(d->ctx);
    if (d->ctx_create(&d->ctx, NULL, 0, d->device))
        die("libcuda.so.1", "no context");
}

#endif
