/* launch_tasks FILE.ptx WORD...: kernels and copies on several streams, so that a test can say what orders them.
 *
 * There are three buffers of 4096 bytes, a, b and c, zeroed; each kernel takes their addresses and runs as two CTAs of
 * 64 threads. A word may end in @N: on stream N, 1 to 3; 0, without it, is the default one.
 *
 *   streams    makes those three; nonblocking: such as do not wait for the default one
 *   run:NAME   launches a kernel; early:NAME: with programmatic stream serialisation
 *   copy:XY    copies buffer x to y; clear:X: zeroes it; get:X: copies it to the host, which waits
 *   record     records the event; wait: the stream waits for it
 *   sync       the host waits for the stream; done: it asks whether the stream is done
 *
 * At the end it waits for all and prints the first word of each buffer. The driver is asked for at run time, as
 * launch_ptx does. Exit code: 0 where all ran to the end, 1 for an error of the driver API (printed), 2 for a bad
 * command line.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;   /* CUresult */
typedef void *Handle; /* CUcontext, CUmodule, CUfunction, CUstream, CUevent */
typedef unsigned long long DevicePtr;

typedef struct Attribute { /* CUlaunchAttribute */
    int id;
    char pad[4];
    union {
        char bytes[64];
        int number;
    } value;
} Attribute;

typedef struct Config { /* CUlaunchConfig */
    unsigned grid[3], block[3], dynamic;
    Handle stream;
    Attribute *attrs;
    unsigned num_attrs;
} Config;

enum { PROGRAMMATIC_STREAM_SERIALIZATION = 6, BUFFERS = 3, BYTES = 4096, STREAMS = 4 };

static struct Driver {
    Result (*init)(unsigned flags);
    Result (*device_get)(int *device, int ordinal);
    Result (*ctx_retain)(Handle *ctx, int device);
    Result (*ctx_set)(Handle ctx);
    Result (*ctx_sync)(void);
    Result (*module_load)(Handle *module, const char *path);
    Result (*module_function)(Handle *function, Handle module, const char *name);
    Result (*mem_alloc)(DevicePtr *out, size_t bytes);
    Result (*memset_d8)(DevicePtr dst, unsigned char value, size_t n);
    Result (*memset_async)(DevicePtr dst, unsigned char value, size_t n, Handle stream);
    Result (*copy)(DevicePtr dst, DevicePtr src, size_t bytes, Handle stream);
    Result (*get)(void *dst, DevicePtr src, size_t bytes);
    Result (*launch)(const Config *config, Handle f, void **params, void **extra);
    Result (*stream_create)(Handle *stream, unsigned flags);
    Result (*stream_sync)(Handle stream);
    Result (*stream_query)(Handle stream);
    Result (*event_create)(Handle *event, unsigned flags);
    Result (*record)(Handle event, Handle stream);
    Result (*wait)(Handle stream, Handle event, unsigned flags);
} d;

static const struct {
    const char *symbol;
    void *slot;
} symbols[] = {{"cuInit", &d.init},
               {"cuDeviceGet", &d.device_get},
               {"cuDevicePrimaryCtxRetain", &d.ctx_retain},
               {"cuCtxSetCurrent", &d.ctx_set},
               {"cuCtxSynchronize", &d.ctx_sync},
               {"cuModuleLoad", &d.module_load},
               {"cuModuleGetFunction", &d.module_function},
               {"cuMemAlloc_v2", &d.mem_alloc},
               {"cuMemsetD8_v2", &d.memset_d8},
               {"cuMemsetD8Async", &d.memset_async},
               {"cuMemcpyDtoDAsync_v2", &d.copy},
               {"cuMemcpyDtoH_v2", &d.get},
               {"cuLaunchKernelEx", &d.launch},
               {"cuStreamCreate", &d.stream_create},
               {"cuStreamSynchronize", &d.stream_sync},
               {"cuStreamQuery", &d.stream_query},
               {"cuEventCreate", &d.event_create},
               {"cuEventRecord", &d.record},
               {"cuStreamWaitEvent", &d.wait}};

static void open_driver(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = lib ? dlsym(lib, symbols[i].symbol) : NULL;
        if (!symbol) {
            fprintf(stderr, "launch_tasks: %s: %s\n", symbols[i].symbol, dlerror());
            exit(1);
        }
        memcpy(symbols[i].slot, &symbol, sizeof symbol);
    }
}

static void must(Result result, const char *what) {
    if (result == 0)
        return;
    fprintf(stderr, "launch_tasks: %s: error %d\n", what, result);
    exit(1);
}

static DevicePtr buffer[BUFFERS];
static Handle module, event, stream[STREAMS];

static DevicePtr buffer_of(char name) {
    if (name < 'a' || name >= 'a' + BUFFERS) {
        fprintf(stderr, "launch_tasks: there is no buffer %c\n", name);
        exit(2);
    }
    return buffer[name - 'a'];
}

static void run(const char *name, Handle on, int early) {
    Handle function;
    void *params[BUFFERS] = {&buffer[0], &buffer[1], &buffer[2]};
    Attribute serialization = {.id = PROGRAMMATIC_STREAM_SERIALIZATION, .value.number = 1};
    const Config config = {{2, 1, 1}, {64, 1, 1}, 0, on, &serialization, (unsigned)early};
    must(d.module_function(&function, module, name), name);
    must(d.launch(&config, function, params, NULL), name);
}

static void do_word(const char *word) {
    char name[64];
    const char *at = strchr(word, '@');
    const unsigned number = at ? (unsigned)(at[1] - '0') : 0;
    const size_t length = at ? (size_t)(at - word) : strlen(word);
    uint32_t host[BYTES / 4];
    if (length >= sizeof name || number >= STREAMS) {
        fprintf(stderr, "launch_tasks: what is %s?\n", word);
        exit(2);
    }
    memcpy(name, word, length);
    name[length] = 0;
    const Handle on = stream[number];
    if (strcmp(name, "streams") == 0 || strcmp(name, "nonblocking") == 0) {
        for (unsigned i = 1; i < STREAMS; i++)
            must(d.stream_create(&stream[i], name[0] == 'n'), name);
    } else if (strncmp(name, "run:", 4) == 0) {
        run(name + 4, on, 0);
    } else if (strncmp(name, "early:", 6) == 0) {
        run(name + 6, on, 1);
    } else if (strncmp(name, "copy:", 5) == 0 && length == 7) {
        must(d.copy(buffer_of(name[6]), buffer_of(name[5]), BYTES, on), name);
    } else if (strncmp(name, "clear:", 6) == 0 && length == 7) {
        must(d.memset_async(buffer_of(name[6]), 0, BYTES, on), name);
    } else if (strncmp(name, "get:", 4) == 0 && length == 5) {
        must(d.get(host, buffer_of(name[4]), BYTES), name);
    } else if (strcmp(name, "record") == 0) {
        must(d.record(event, on), name);
    } else if (strcmp(name, "wait") == 0) {
        must(d.wait(on, event, 0), name);
    } else if (strcmp(name, "sync") == 0) {
        must(d.stream_sync(on), name);
    } else if (strcmp(name, "done") == 0) {
        must(d.stream_query(on), name);
    } else {
        fprintf(stderr, "launch_tasks: what is %s?\n", word);
        exit(2);
    }
}

int main(int argc, char **argv) {
    Handle ctx;
    int device;
    if (argc < 3) {
        fprintf(stderr, "usage: launch_tasks FILE.ptx WORD...\n");
        return 2;
    }
    open_driver();
    must(d.init(0), "cuInit");
    must(d.device_get(&device, 0), "cuDeviceGet");
    must(d.ctx_retain(&ctx, device), "cuDevicePrimaryCtxRetain");
    must(d.ctx_set(ctx), "cuCtxSetCurrent");
    must(d.module_load(&module, argv[1]), "cuModuleLoad");
    must(d.event_create(&event, 0), "cuEventCreate");
    for (unsigned i = 0; i < BUFFERS; i++) {
        must(d.mem_alloc(&buffer[i], BYTES), "cuMemAlloc");
        must(d.memset_d8(buffer[i], 0, BYTES), "cuMemsetD8");
    }
    for (int i = 2; i < argc; i++)
        do_word(argv[i]);
    must(d.ctx_sync(), "cuCtxSynchronize");
    for (unsigned i = 0; i < BUFFERS; i++) {
        uint32_t word;
        must(d.get(&word, buffer[i], sizeof word), "cuMemcpyDtoH");
        printf("%c %08x\n", 'a' + (int)i, word);
    }
    return 0;
}
