/* launch_ptx FILE.ptx KERNEL [WORD...]: loads a PTX file by the driver API and launches one kernel, so that a
 * test can hold PTX which nvcc would never write, or that ptxas would refuse.
 *
 *   grid=X[,Y[,Z]]   block=X[,Y[,Z]]   dynamic=BYTES of shared memory, 1, 32 and 0 where not given
 *   buf:BYTES        parameter: a pointer to BYTES of device memory, zeroed
 *   out:BYTES        the same, and printed after the launch: its 32-bit words in hex, eight a line
 *   freed:BYTES      parameter: the same pointer, after cuMemFree
 *   u32:N u64:N      parameter: a number
 *
 * Exit code: 0 where the kernel ran to its end, 1 for an error of the driver API (printed), 2 for a bad command line or
 * without a driver.
 */
#include "launch.h"

enum { MAX_PARAMS = 16 };

typedef struct Launch {
    unsigned grid[3], block[3], dynamic;
    uint64_t value[MAX_PARAMS]; /* little-endian: a u32 is its first four bytes */
    void *param[MAX_PARAMS];
    uint64_t print[MAX_PARAMS]; /* bytes to print of the buffer at value[i] */
    int params;
} Launch;

/* One WORD of the command line; false where it is none that is known. */
static int take_word(const Launcher *on, Launch *l, const char *word) {
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
        const DevicePtr p = zeroed(on, *value);
        l->print[l->params] = word[0] == 'o' ? *value : 0;
        if (freed)
            must(on, on->d.mem_free(p), "cuMemFree");
        *value = p;
    } else if (strncmp(word, "u32:", 4) != 0 && strncmp(word, "u64:", 4) != 0) {
        return 0;
    }
    l->param[l->params++] = value;
    return 1;
}

static void print_words(const Launcher *on, DevicePtr from, uint64_t bytes) {
    uint32_t *word = malloc(bytes + 1);
    if (!word)
        exit(1);
    must(on, on->d.memcpy_d_to_h(word, from, bytes), "cuMemcpyDtoH");
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
    Launcher on = open_launcher("launch_ptx");
    Handle function;
    Launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    for (int i = 3; i < argc; i++) {
        if (!take_word(&on, &l, argv[i])) {
            fprintf(stderr, "launch_ptx: what is %s?\n", argv[i]);
            return 2;
        }
    }
    load_file(&on, argv[1]);
    must(&on, on.d.module_function(&function, on.module, argv[2]), "cuModuleGetFunction");
    must(&on,
         on.d.launch(function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.dynamic, NULL,
                     l.param, NULL),
         "cuLaunchKernel");
    must(&on, on.d.ctx_sync(), "cuCtxSynchronize");
    for (int i = 0; i < l.params; i++)
        if (l.print[i])
            print_words(&on, l.value[i], l.print[i]);
    return 0;
}
