/* The shared library exports every symbol of libcudart.so.12 and .13 under its version, and the names that programs
 * ask for (libcudart.so.12, libcudart.so.13, libcuda.so.1) are one library, which stays once it is loaded. Needs the
 * built library, which lies in emulator/ beside the folder of this program. */
#include "check.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

static const struct {
    const char *name;
    bool in12, in13, differs;
} symbols[] = {
#define BOTH(name) {#name, true, true, false},
#define DIFFER(name) {#name, true, true, true},
#define ONLY12(name) {#name, true, false, false},
#define STUB(name) {#name, true, true, false},
#define STUB12(name) {#name, true, false, false},
#define STUB13(name) {#name, false, true, false},
#include "cudart/runtime/symbols.def"
};

static const char *const driver_symbols[] = {
#define DRV(name, symbol, version) #symbol,
#include "cudart/driver/entries.def"
};

static void *open_library(const char *name) {
    char path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    if (n <= 0)
        return NULL;
    path[n] = 0;
    char *end = path + n;
    for (int i = 0; i < 4; i++) { /* build, of build/tests/unit/cudart/test_exports */
        *end = 0;
        end = strrchr(path, '/');
    }
    snprintf(end, sizeof path - (size_t)(end - path), "/emulator/%s", name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    return library;
}

int main(void) {
    void *library = open_library("libsm100emu.so");
    if (!CHECK(library != NULL))
        return check_report();
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *v12 = dlvsym(library, symbols[i].name, "libcudart.so.12");
        void *v13 = dlvsym(library, symbols[i].name, "libcudart.so.13");
        if (!CHECK_EQ(v12 != NULL, symbols[i].in12) || !CHECK_EQ(v13 != NULL, symbols[i].in13))
            fprintf(stderr, "    %s\n", symbols[i].name);
    }
    for (size_t i = 0; i < sizeof driver_symbols / sizeof driver_symbols[0]; i++)
        if (!CHECK(dlsym(library, driver_symbols[i]) != NULL))
            fprintf(stderr, "    %s\n", driver_symbols[i]);
    CHECK(dlsym(library, "warp_launch") == NULL); /* the emulator's own names stay inside */
    CHECK(dlsym(library, "rt_enter") == NULL);
    CHECK(dlsym(library, "rt12_jump_cudaMalloc") == NULL);
    CHECK(open_library("libcudart.so.12") == library);
    CHECK(open_library("libcudart.so.13") == library);
    CHECK(open_library("libcuda.so.1") == library);
    Dl_info place;
    void *code = dlsym(library, "cuInit");
    for (int i = 0; i < 4; i++)
        CHECK_EQ(dlclose(library), 0);
    CHECK(dladdr(code, &place) != 0); /* its threads may still run there */
    return check_report();
}
