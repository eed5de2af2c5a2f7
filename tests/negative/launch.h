/* launch.h - what launch_ptx and launch_tasks share: the driver, opened at run time and with a context, a module from a
 * file, and an error's end. So both are built without a CUDA header.
 */
#ifndef TESTS_NEGATIVE_LAUNCH_H
#define TESTS_NEGATIVE_LAUNCH_H

#include "../silicon/driver.h"

typedef struct Launcher {
    const char *program;
    Driver d;
    Handle module;
    Result (*error_name)(Result error, const char **name);
} Launcher;

/* An error of the API ends the program with 1. */
static inline void must(const Launcher *l, Result result, const char *call) {
    const char *name = NULL;
    if (result == 0)
        return;
    l->error_name(result, &name);
    fprintf(stderr, "%s: %s: %s (%d)\n", l->program, call, name ? name : "unknown error", result);
    exit(1);
}

/* A call that Driver does not list, by its exported name, into a pointer to it. */
static inline void find_call(const Launcher *l, const char *name, void *slot) {
    void *symbol = driver_call(&l->d, name);
    memcpy(slot, &symbol, sizeof symbol);
}

/* The device and its primary context. */
static inline Launcher open_launcher(const char *program) {
    Result (*retain)(Handle * ctx, int device), (*set)(Handle ctx);
    Launcher l = {.program = program, .d = load_driver()};
    find_call(&l, "cuGetErrorName", &l.error_name);
    find_call(&l, "cuDevicePrimaryCtxRetain", &retain);
    find_call(&l, "cuCtxSetCurrent", &set);
    must(&l, l.d.init(0), "cuInit");
    must(&l, l.d.device_get(&l.d.device, 0), "cuDeviceGet");
    must(&l, retain(&l.d.ctx, l.d.device), "cuDevicePrimaryCtxRetain");
    must(&l, set(l.d.ctx), "cuCtxSetCurrent");
    return l;
}

/* The module under the file's own name, which reports show. */
static inline void load_file(Launcher *l, const char *path) {
    Result (*load)(Handle * module, const char *path);
    find_call(l, "cuModuleLoad", &load);
    must(l, load(&l->module, path), "cuModuleLoad");
}

/* `bytes` of device memory, zeroed. */
static inline DevicePtr zeroed(const Launcher *l, size_t bytes) {
    DevicePtr p = 0;
    must(l, l->d.mem_alloc(&p, bytes), "cuMemAlloc");
    must(l, l->d.memset_d8(p, 0, bytes), "cuMemsetD8");
    return p;
}

#endif
