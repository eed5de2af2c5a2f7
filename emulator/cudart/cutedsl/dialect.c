/* CuTe DSL's runtime library: loading its kernels, and its own functions, cuda_dialect_...
 *
 * The DSL compiles a Python function to machine code for the host, which calls these. Their parameters are those that
 * the DSL's intermediate code declares (compiled.ir_module prints it). A library is loaded only for a version of the
 * DSL that is known (versions.def); all else follows from a loaded library.
 */
#include "cudart/core/calls.h"
#include "cudart/cutedsl/version.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

extern const char *cudaGetErrorName(int code);
extern int cudaGetDeviceCount(int *count);

/* Whether the DSL that is loaded is one of those that are known; else the code of the call, which says why not. */
static int check_version(const char *call) {
    char version[64] = "";
    if (cutedsl_version(version, sizeof version) && cutedsl_known(version))
        return RT_SUCCESS;
    struct rt_context *c = rt_enter(call);
    return rt_leave(c, rt_say(c, RT_ERROR_NOT_SUPPORTED,
                              "%s%s is not a version of CuTe DSL that the emulator knows: install one of these, as pip "
                              "install nvidia-cutlass-dsl==VERSION does: %s",
                              *version ? "" : "a program without the Python package nvidia-cutlass-dsl", version,
                              cutedsl_versions()));
}

/* Loads by CUDA's function of that name, which has the same parameters. */
#define LOAD(name, code_type)                                                                                          \
    extern int name(void **library, code_type code, int *jit, void **jit_values, unsigned num_jit, int *options,       \
                    void **values, unsigned num_options);                                                              \
    RT_API int _##name(void **library, code_type code, int *jit, void **jit_values, unsigned num_jit, int *options,    \
                       void **values, unsigned num_options) {                                                          \
        return rt_then(check_version(#name),                                                                           \
                       name(library, code, jit, jit_values, num_jit, options, values, num_options));                   \
    }
LOAD(cudaLibraryLoadData, const void *)
LOAD(cudaLibraryLoadFromFile, const char *)
LOAD(cuLibraryLoadData, const void *)
LOAD(cuLibraryLoadFromFile, const char *)

RT_API const char *cuda_dialect_get_error_name(int code) { return cudaGetErrorName(code); }

RT_API void cuda_dialect_print_on_error(int code) {
    if (code != RT_SUCCESS)
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorName(code));
}

RT_API void cuda_dialect_assert_success(int code) {
    cuda_dialect_print_on_error(code);
    if (code != RT_SUCCESS)
        abort();
}

/* *state: NULL, MAKING while one thread makes the library, then the library. */
#define MAKING ((void *)1)

/* Makes the library once a process: `init` loads it, `load` readies it for a device. 0, or -1 with set_error told. */
RT_API int cuda_dialect_init_library_once(void **state, int (*init)(void **library),
                                          int (*load)(void **library, int device),
                                          void (*set_error)(const char *kind, const char *message)) {
    void *seen, *library = NULL;
    int devices = 0;
    for (;;) {
        seen = NULL;
        if (__atomic_compare_exchange_n(state, &seen, MAKING, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            break;
        if (seen != MAKING)
            return 0;
        sched_yield();
    }
    int e = rt_then(init(&library), cudaGetDeviceCount(&devices));
    for (int i = 0; i < devices && e == RT_SUCCESS && load != NULL; i++)
        e = load(&library, i);
    if (e != RT_SUCCESS && set_error != NULL)
        set_error("RuntimeError", cudaGetErrorName(e));
    __atomic_store_n(state, e == RT_SUCCESS ? library : NULL, __ATOMIC_RELEASE);
    return e == RT_SUCCESS ? 0 : -1;
}

RT_API void cuda_dialect_unload_library_once(void **state) {
    void *library = __atomic_exchange_n(state, NULL, __ATOMIC_ACQ_REL);
    if (library != NULL && library != MAKING)
        rt_call_unload("cudaLibraryUnload", library);
}
