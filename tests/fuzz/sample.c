/* sample.c - a fuzzer without libFuzzer, for any compiler: the driver of `make test`.
 *
 *   sample [--seeds=N] [--save=DIR] FILE...   every FILE as it is, then N inputs made of them, the same in every run
 *
 * Each input has a process of its own, with limits of time and memory. One that is killed, that a sanitizer stops or
 * that takes too long is saved in DIR (the working directory), and what it said is printed; exit 1. A fuzzer with a
 * mutator of its own is asked for the inputs; to others random bytes are given.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
__attribute__((weak)) size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                                       uint8_t *out, size_t max, unsigned seed);

enum { ROOM = 1 << 18, RANDOM_BYTES = 600, SECONDS = 60 };

struct input {
    uint8_t *data; /* ROOM bytes */
    size_t size;
};

static struct input read_file(const char *path) {
    struct input in = {.data = calloc(1, ROOM)};
    FILE *f = fopen(path, "rb");
    if (!f || !in.data) {
        fprintf(stderr, "sample: %s cannot be read\n", path);
        exit(2);
    }
    in.size = fread(in.data, 1, ROOM, f);
    fclose(f);
    return in;
}

/* Input number n: a file with changes, and now and then with a piece of another. */
static struct input make(const struct input *files, unsigned count, unsigned n) {
    struct input in = {.data = calloc(1, ROOM)};
    if (!in.data)
        exit(2);
    uint32_t seed = n * 2654435761u + 12345;
    if (!LLVMFuzzerCustomMutator || !count) {
        in.size = seed % RANDOM_BYTES;
        for (size_t i = 0; i < in.size; i++, seed = seed * 1664525u + 1013904223u)
            in.data[i] = (uint8_t)(seed >> 24);
        return in;
    }
    const struct input *a = &files[seed / 7 % count], *b = &files[seed / 1777 % count];
    memcpy(in.data, a->data, in.size = a->size);
    if (n % 4 == 0)
        in.size = LLVMFuzzerCustomCrossOver(a->data, a->size, b->data, b->size, in.data, ROOM, seed);
    for (unsigned i = 0; i <= n % 3; i++)
        in.size = LLVMFuzzerCustomMutator(in.data, in.size, ROOM, seed + i);
    return in;
}

/* In a process of its own, whose output goes to `log`. True when it ended well. */
static bool run(const struct input *in, FILE *log) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit cpu = {SECONDS, SECONDS + 1}, core = {0, 0};
        setrlimit(RLIMIT_CPU, &cpu);
        setrlimit(RLIMIT_CORE, &core);
        alarm(20 * SECONDS);
        dup2(fileno(log), 1);
        dup2(fileno(log), 2);
        LLVMFuzzerTestOneInput(in->data, in->size);
        fflush(NULL);
        _exit(0);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void report(const struct input *in, unsigned number, const char *dir, FILE *log) {
    char path[512], line[400];
    snprintf(path, sizeof path, "%s/found-%u", dir, number);
    FILE *f = fopen(path, "wb");
    if (f) {
        fwrite(in->data, 1, in->size, f);
        fclose(f);
    }
    printf("FOUND: input %u, saved as %s; it said at last:\n", number, path);
    fseek(log, 0, SEEK_END);
    long end = ftell(log);
    fseek(log, end > 6000 ? end - 6000 : 0, SEEK_SET);
    while (fgets(line, sizeof line, log))
        fputs(line, stdout);
}

int main(int argc, char **argv) {
    unsigned seeds = 0, count = 0, bad = 0;
    const char *dir = ".";
    struct input *files = calloc((size_t)argc, sizeof *files);
    if (!files || (LLVMFuzzerInitialize && LLVMFuzzerInitialize(&argc, &argv)))
        return 2;
    for (int i = 1; i < argc; i++) {
        if (sscanf(argv[i], "--seeds=%u", &seeds) == 1)
            continue;
        if (strncmp(argv[i], "--save=", 7) == 0)
            dir = argv[i] + 7;
        else
            files[count++] = read_file(argv[i]);
    }
    for (unsigned i = 0; i < count + seeds; i++) {
        FILE *log = tmpfile();
        struct input in = i < count ? files[i] : make(files, count, i - count);
        if (!log)
            return 2;
        if (!run(&in, log)) {
            report(&in, i, dir, log);
            bad++;
        }
        fclose(log);
        if (i >= count)
            free(in.data);
    }
    for (unsigned i = 0; i < count; i++)
        free(files[i].data);
    free(files);
    printf("%u inputs, %u findings\n", count + seeds, bad);
    return bad != 0;
}
