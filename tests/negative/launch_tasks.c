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
 *   grid:N     so many CTAs from here on, not 2
 *   pinned     makes a page of memory that host and device see
 *
 * At the end it waits for all and prints the first word of each buffer. Exit code: 0 where all ran to the end, 1 for an
 * error of the driver API (printed), 2 for a bad command line or without a driver.
 */
#include "launch.h"

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

static struct Calls {
    Result (*memset_async)(DevicePtr dst, unsigned char value, size_t n, Handle stream);
    Result (*copy)(DevicePtr dst, DevicePtr src, size_t bytes, Handle stream);
    Result (*launch)(const Config *config, Handle f, void **params, void **extra);
    Result (*stream_create)(Handle *stream, unsigned flags);
    Result (*stream_sync)(Handle stream);
    Result (*stream_query)(Handle stream);
    Result (*event_create)(Handle *event, unsigned flags);
    Result (*record)(Handle event, Handle stream);
    Result (*wait)(Handle stream, Handle event, unsigned flags);
    Result (*alloc_host)(void **out, size_t bytes);
} d;

static const struct {
    const char *symbol;
    void *slot;
} symbols[] = {{"cuMemsetD8Async", &d.memset_async},    {"cuMemcpyDtoDAsync_v2", &d.copy},
               {"cuLaunchKernelEx", &d.launch},         {"cuStreamCreate", &d.stream_create},
               {"cuStreamSynchronize", &d.stream_sync}, {"cuStreamQuery", &d.stream_query},
               {"cuEventCreate", &d.event_create},      {"cuEventRecord", &d.record},
               {"cuStreamWaitEvent", &d.wait},          {"cuMemAllocHost_v2", &d.alloc_host}};

static Launcher on_gpu;
static DevicePtr buffer[BUFFERS];
static Handle event, stream[STREAMS];
static unsigned ctas = 2;

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
    const Config config = {{ctas, 1, 1}, {64, 1, 1}, 0, on, &serialization, (unsigned)early};
    must(&on_gpu, on_gpu.d.module_function(&function, on_gpu.module, name), name);
    must(&on_gpu, d.launch(&config, function, params, NULL), name);
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
            must(&on_gpu, d.stream_create(&stream[i], name[0] == 'n'), name);
    } else if (strncmp(name, "run:", 4) == 0) {
        run(name + 4, on, 0);
    } else if (strncmp(name, "early:", 6) == 0) {
        run(name + 6, on, 1);
    } else if (strncmp(name, "copy:", 5) == 0 && length == 7) {
        must(&on_gpu, d.copy(buffer_of(name[6]), buffer_of(name[5]), BYTES, on), name);
    } else if (strncmp(name, "clear:", 6) == 0 && length == 7) {
        must(&on_gpu, d.memset_async(buffer_of(name[6]), 0, BYTES, on), name);
    } else if (strncmp(name, "get:", 4) == 0 && length == 5) {
        must(&on_gpu, on_gpu.d.memcpy_d_to_h(host, buffer_of(name[4]), BYTES), name);
    } else if (strcmp(name, "record") == 0) {
        must(&on_gpu, d.record(event, on), name);
    } else if (strcmp(name, "wait") == 0) {
        must(&on_gpu, d.wait(on, event, 0), name);
    } else if (strcmp(name, "sync") == 0) {
        must(&on_gpu, d.stream_sync(on), name);
    } else if (strcmp(name, "done") == 0) {
        must(&on_gpu, d.stream_query(on), name);
    } else if (strncmp(name, "grid:", 5) == 0) {
        ctas = (unsigned)strtoul(name + 5, NULL, 10);
    } else if (strcmp(name, "pinned") == 0) {
        void *page;
        must(&on_gpu, d.alloc_host(&page, BYTES), name);
    } else {
        fprintf(stderr, "launch_tasks: what is %s?\n", word);
        exit(2);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: launch_tasks FILE.ptx WORD...\n");
        return 2;
    }
    on_gpu = open_launcher("launch_tasks");
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        find_call(&on_gpu, symbols[i].symbol, symbols[i].slot);
    load_file(&on_gpu, argv[1]);
    must(&on_gpu, d.event_create(&event, 0), "cuEventCreate");
    for (unsigned i = 0; i < BUFFERS; i++)
        buffer[i] = zeroed(&on_gpu, BYTES);
    for (int i = 2; i < argc; i++)
        do_word(argv[i]);
    must(&on_gpu, on_gpu.d.ctx_sync(), "cuCtxSynchronize");
    for (unsigned i = 0; i < BUFFERS; i++) {
        uint32_t word;
        must(&on_gpu, on_gpu.d.memcpy_d_to_h(&word, buffer[i], sizeof word), "cuMemcpyDtoH");
        printf("%c %08x\n", 'a' + (int)i, word);
    }
    return 0;
}
