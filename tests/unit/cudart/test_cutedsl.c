/* CuTe DSL's runtime library: every symbol that its versions export is here, what is refused says so, a version that is
 * not known is refused by name with those that are, and a library is made once, by whichever thread comes first. Needs
 * the built library, which lies in emulator/ beside the folder of this program. A version is a folder that pip would
 * have made, beside the package, of which any object is loaded. */
#include "check.h"
#include "cudart/cutedsl/version.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    int since;
    bool refused;
} symbols[] = {
#define FORWARD(since, name, target) {#name, since, false},
#define OWN(since, name) {#name, since, false},
#define REFUSE(since, name) {#name, since, true},
#include "cudart/cutedsl/symbols.def"
};

static const struct {
    int number;
    const char *name;
} versions[] = {
#define DSL(number, name) {number, name},
#include "cudart/cutedsl/versions.def"
};

typedef int call_fn(void);
typedef int load_fn(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
typedef int once_fn(void **, int (*)(void **), int (*)(void **, int), void (*)(const char *, const char *));

static char folder[] = "/tmp/test_cutedsl.XXXXXX", library_path[PATH_MAX + 64];
static void *library;

#define FIND(type, name)                                                                                               \
    ({                                                                                                                 \
        void *address_ = dlsym(library, name);                                                                         \
        type *f_;                                                                                                      \
        memcpy(&f_, &address_, sizeof f_);                                                                             \
        f_;                                                                                                            \
    })

static void open_library(void) {
    ssize_t n = readlink("/proc/self/exe", library_path, PATH_MAX);
    char *end = library_path + (n > 0 ? n : 0);
    for (int i = 0; i < 4; i++) { /* build, of build/tests/unit/cudart/test_cutedsl */
        *end = 0;
        end = strrchr(library_path, '/');
    }
    strcpy(end, "/emulator/libcute_dsl_runtime.so");
    library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
}

/* What a call says on stderr. */
static FILE *said;
static int own_stderr;

static void listen(void) {
    said = tmpfile();
    own_stderr = dup(2);
    dup2(fileno(said), 2);
}

static const char *heard(void) {
    static char text[1024];
    fflush(stderr);
    dup2(own_stderr, 2);
    close(own_stderr);
    rewind(said);
    text[fread(text, 1, sizeof text - 1, said)] = 0;
    fclose(said);
    return text;
}

static void check_symbols(void) {
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (!CHECK(dlsym(library, symbols[i].name) != NULL) || !symbols[i].refused)
            continue;
        listen();
        CHECK_EQ(FIND(call_fn, symbols[i].name)(), 801); /* cudaErrorNotSupported */
        char wanted[128];
        snprintf(wanted, sizeof wanted, "sm100emu: %s: not supported by the emulator\n", symbols[i].name);
        CHECK_STR(heard(), wanted);
    }
    CHECK(dlsym(library, "_cudaMalloc") != dlsym(library, "cudaMalloc"));
}

static void check_table(void) {
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        int a = 0, b = 0, c = 0;
        CHECK_EQ(sscanf(versions[i].name, "%d.%d.%d", &a, &b, &c), 3);
        CHECK_EQ(versions[i].number, 10000 * a + 100 * b + c);
        CHECK(i == 0 || versions[i - 1].number < versions[i].number);
        CHECK(cutedsl_known(versions[i].name));
        CHECK(strstr(cutedsl_versions(), versions[i].name) != NULL);
    }
    CHECK(!cutedsl_known("4.8") && !cutedsl_known("") && !cutedsl_known("4.8.1.dev0"));
    CHECK(cutedsl_versions()[0] != ',');
}

/* Loads an image that is none, by the DSL's call: 801 where the version is refused, else what becomes of the image. */
static int load(void) {
    void *module = NULL;
    return FIND(load_fn, "_cudaLibraryLoadData")(&module, "no image", NULL, NULL, 0, NULL, NULL, 0);
}

/* Makes the version in the environment another one. */
static void install(const char *version) {
    static char was[PATH_MAX];
    if (*was)
        rmdir(was);
    snprintf(was, sizeof was, "%s/nvidia_cutlass_dsl-%s.dist-info", folder, version);
    CHECK_EQ(mkdir(was, 0700), 0);
}

static void check_versions(void) {
    char version[64] = "", path[PATH_MAX + 64], wanted[256];
    CHECK(!cutedsl_version(version, sizeof version));
    listen();
    CHECK_EQ(load(), 801);
    CHECK(strstr(heard(), "a program without the Python package nvidia-cutlass-dsl is not") != NULL);

    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    snprintf(path, sizeof path, "%s/nvidia_cutlass_dsl", folder);
    CHECK_EQ(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/nvidia_cutlass_dsl/copy.so", folder);
    char copy[3 * PATH_MAX];
    snprintf(copy, sizeof copy, "cp '%s' '%s'", library_path, path);
    CHECK_EQ(system(copy), 0);
    CHECK(dlopen(path, RTLD_LAZY | RTLD_LOCAL) != NULL); /* any object will do */
    CHECK(!cutedsl_version(version, sizeof version));
    install("4.99.0");
    CHECK(cutedsl_version(version, sizeof version));
    CHECK_STR(version, "4.99.0");
    listen();
    CHECK_EQ(load(), 801);
    snprintf(wanted, sizeof wanted,
             "sm100emu: cudaLibraryLoadData: 4.99.0 is not a version of CuTe DSL that the emulator");
    const char *line = heard();
    CHECK(strncmp(line, wanted, strlen(wanted)) == 0);
    CHECK(strstr(line, cutedsl_versions()) != NULL);
    install(versions[0].name);
    listen();
    CHECK_EQ(load(), 200); /* cudaErrorInvalidKernelImage: the version is fine */
    CHECK(strstr(heard(), "neither PTX nor a fat binary") != NULL);
    install("");
    CHECK(!cutedsl_version(version, sizeof version));
    snprintf(copy, sizeof copy, "rm -r '%s'", folder);
    CHECK_EQ(system(copy), 0);
}

/* --- cuda_dialect_init_library_once ------------------------------------------------------------------------------- */

static int inits, loads, fails;
static void *state;
static char told[64];

static int init(void **made) {
    usleep(20000);
    inits++;
    *made = &inits;
    return 0;
}
static int load_to(void **made, int device) {
    loads++;
    return *made == &inits && device == 0 ? fails : 1;
}
static void set_error(const char *kind, const char *message) { snprintf(told, sizeof told, "%s: %s", kind, message); }

static void *make_once(void *unused) {
    CHECK_EQ(FIND(once_fn, "cuda_dialect_init_library_once")(&state, init, load_to, set_error), 0);
    CHECK(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == &inits); /* other threads may still ask */
    return unused;
}

static void check_once(void) {
    pthread_t threads[4];
    fails = 209;
    CHECK_EQ(FIND(once_fn, "cuda_dialect_init_library_once")(&state, init, load_to, set_error), -1);
    CHECK_STR(told, "RuntimeError: cudaErrorNoKernelImageForDevice");
    CHECK(state == NULL);
    fails = inits = loads = 0;
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, make_once, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(inits, 1);
    CHECK_EQ(loads, 1);
}

int main(void) {
    open_library();
    if (!CHECK(library != NULL))
        return check_report();
    check_symbols();
    check_table();
    check_versions();
    check_once();
    return check_report();
}
