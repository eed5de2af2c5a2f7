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

static const struct {
    const char *name; /* NULL: nobody asks for it by name */
    const char *symbol;
    int version;
    bool stub;
} driver_symbols[] = {
#define DRV(name, symbol, version) {#name, #symbol, version, false},
#define STUB(name, symbol, version) {#name, #symbol, version, true},
#define PER_THREAD(symbol) {NULL, #symbol, 0, false},
#define STUB_PER_THREAD(symbol) {NULL, #symbol, 0, true},
#include "cudart/driver/entries.def"
};
enum { DRIVER_SYMBOLS = sizeof driver_symbols / sizeof driver_symbols[0] };

typedef int call_fn(void);
typedef int ask_fn(const char *, void **, int, uint64_t, int *);

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

static call_fn *function_at(void *address) {
    call_fn *f;
    memcpy(&f, &address, sizeof f);
    return f;
}

/* Every line of the table is an exported symbol, and what its name and version are answered with. */
static void check_driver_names(void *library, ask_fn *ask) {
    for (size_t i = 0; i < DRIVER_SYMBOLS; i++) {
        void *symbol = dlsym(library, driver_symbols[i].symbol), *entry = NULL;
        int status = -1;
        if (!CHECK(symbol != NULL))
            fprintf(stderr, "    %s\n", driver_symbols[i].symbol);
        if (driver_symbols[i].name == NULL)
            continue;
        if (!CHECK_EQ(ask(driver_symbols[i].name, &entry, driver_symbols[i].version, 0, &status), 0) ||
            !CHECK(entry == symbol) || !CHECK_EQ(status, 0))
            fprintf(stderr, "    %s of CUDA %d\n", driver_symbols[i].name, driver_symbols[i].version);
    }
}

/* Calls all that is not supported, which refuses each time. */
static unsigned call_stubs(void *library) {
    unsigned n = 0;
    for (size_t i = 0; i < DRIVER_SYMBOLS; i++) {
        if (!driver_symbols[i].stub)
            continue;
        n++;
        if (!CHECK_EQ(function_at(dlsym(library, driver_symbols[i].symbol))(), 801)) /* CUDA_ERROR_NOT_SUPPORTED */
            fprintf(stderr, "    %s\n", driver_symbols[i].symbol);
    }
    return n;
}

/* What the calls wrote to stderr: one line for each function that is not supported, with its name, in the table's
 * order, and none besides. */
static void check_lines(FILE *said, unsigned stubs) {
    char line[256], wanted[256];
    unsigned n = 0;
    size_t i = 0;
    rewind(said);
    while (fgets(line, sizeof line, said) != NULL) {
        while (i < DRIVER_SYMBOLS && !driver_symbols[i].stub)
            i++;
        snprintf(wanted, sizeof wanted, "sm100emu: %s: not supported by the emulator\n",
                 i < DRIVER_SYMBOLS ? driver_symbols[i++].symbol : "");
        CHECK_STR(line, wanted);
        n++;
    }
    CHECK_EQ(n, stubs);
}

/* Asking for a name is silent, a call of what is not supported is told once for each name. */
static void check_driver(void *library) {
    ask_fn *ask;
    void *address = dlsym(library, "cuGetProcAddress_v2"), *entry = &entry;
    int status = -1;
    memcpy(&ask, &address, sizeof ask);
    FILE *said = tmpfile();
    const int own = dup(2);
    if (!CHECK(said != NULL) || !CHECK(own >= 0) || !CHECK(dup2(fileno(said), 2) == 2))
        return;
    check_driver_names(library, ask);
    CHECK_EQ(ask("cuFabricCpyBatchAsync", &entry, 13050, 0, &status),
             500); /* CUDA_ERROR_NOT_FOUND: it came with 13.5 */
    CHECK(entry == NULL);
    CHECK_EQ(status, 1); /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    entry = &entry;
    CHECK_EQ(ask("cuGraphInstantiateWithParams", &entry, 11080, 0, &status), 500);
    CHECK(entry == NULL);
    CHECK_EQ(status, 2); /* CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT */
    const unsigned stubs = call_stubs(library);
    CHECK(stubs > 0);
    CHECK_EQ(call_stubs(library), stubs);
    fflush(stderr);
    dup2(own, 2);
    close(own);
    check_lines(said, stubs);
    fclose(said);
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
    check_driver(library);
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
