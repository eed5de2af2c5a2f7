/* base/heap, base/budget: the account, its limit, what a cgroup leaves, and the end of a process that has none. */
#include "base/arena.h"
#include "base/budget.h"
#include "base/heap.h"

#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

/* Asked for too much, the sanitizers' allocators are to answer as the host's does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

static void gives(void) {
    void *p = xcalloc(0, 8);
    CHECK(p);
    p = xrealloc_array(p, 0, 8);
    CHECK(p);
    p = xrealloc_array(p, 100, 8);
    memset(p, 1, 800);
    xfree(p);
    xfree(NULL);
    CHECK(!try_calloc(SIZE_MAX, 2));
    CHECK(!try_calloc(1, SIZE_MAX - 4096));
    uint8_t *a = xaligned(64, 128);
    CHECK_EQ((uintptr_t)a % 64, 0);
    xfree(a);
}

/* All that was taken comes back, whatever the blocks' true sizes are. */
static void account(void) {
    budget_set_limit(64 * MIB);
    const uint64_t left = budget_left();
    CHECK(left <= 64 * MIB);
    struct arena a = {0};
    arena_alloc(&a, 10 * MIB);
    CHECK(budget_left() <= left - 10 * MIB);
    uint32_t cap = 0;
    void *list = NULL;
    for (uint32_t i = 0; i < 100000; i++)
        list = xgrow(list, i, &cap, 8);
    CHECK(budget_left() <= left - 10 * MIB - 800000);
    xfree(list);
    arena_free(&a);
    CHECK_EQ(budget_left(), left);

    CHECK(!budget_take(left + 1));
    CHECK(!budget_take(UINT64_MAX));
    CHECK_EQ(budget_left(), left);
    CHECK(budget_take(MIB / 2));
    CHECK(!budget_take(left - MIB / 2 + 1));
    budget_give(MIB / 2);
    CHECK(!try_calloc(1, 65 * MIB));
    CHECK_EQ(budget_left(), left);
    budget_set_limit(UINT64_MAX);
}

/* The program's own memory counts where much is asked for. What the process has before may be much: under
 * qemu it has the emulator's memory too. */
static void resident(void) {
    budget_set_limit(INT64_MAX);
    const uint64_t before = INT64_MAX - budget_room();
    volatile uint8_t *own = malloc(48 * MIB);
    for (uint64_t i = 0; i < 48 * MIB; i += 4096)
        own[i] = 1;
    budget_set_limit(before + 64 * MIB);
    CHECK(!budget_take(32 * MIB));
    CHECK(!budget_exceeded());
    budget_set_limit(before + 40 * MIB);
    CHECK(budget_exceeded());
    budget_set_limit(UINT64_MAX);
    CHECK(!budget_exceeded());
    free((void *)own);
}

static void write_at(const char *root, const char *path, const char *text) {
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *p = whole + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        mkdir(whole, 0777);
    }
    FILE *f = fopen(whole, "w");
    if (CHECK(f)) {
        fputs(text, f);
        fclose(f);
    }
}

static void cgroups(void) {
    char root[] = "/tmp/test_heap.XXXXXX", command[64];
    if (!CHECK(mkdtemp(root)))
        return;
    const uint64_t physical = budget_default(root);
    CHECK(physical > 0 && physical < UINT64_MAX / 2);
    write_at(root, "/proc/self/cgroup", "0::/a/b\n");
    CHECK_EQ(budget_default(root), physical); /* a group that is not there */
    write_at(root, "/sys/fs/cgroup/a/b/memory.max", "max\n");
    CHECK_EQ(budget_default(root), physical);
    write_at(root, "/sys/fs/cgroup/a/memory.max", "10000000\n"); /* one above it */
    CHECK_EQ(budget_default(root), 8000000);
    write_at(root, "/sys/fs/cgroup/a/b/memory.max", "5000000\n");
    CHECK_EQ(budget_default(root), 4000000);
    write_at(root, "/sys/fs/cgroup/memory.max", "1000000\n"); /* a container's own root */
    CHECK_EQ(budget_default(root), 800000);
    write_at(root, "/proc/self/cgroup", "12:cpu:/x\n5:memory:/m\n0::/\n");
    CHECK_EQ(budget_default(root), 800000);
    write_at(root, "/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "500000\n"); /* version 1 */
    CHECK_EQ(budget_default(root), 400000);
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK_EQ(system(command), 0);
}

static void no_handler(void) { _exit(99); }

/* One sentence and exit code 1, past the exit handlers, and what was printed before is not lost: in one with `own`
 * bytes of its own under a limit, which takes `size` bytes until it ends. */
static void exhaustion(size_t own, uint64_t limit, size_t size, const char *sentence) {
    int out[2];
    if (!CHECK(pipe(out) == 0))
        return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        atexit(no_handler);
        printf("printed before.\n");
        volatile uint8_t *touched = malloc(own);
        for (size_t i = 0; i < own; i += 4096)
            touched[i] = 1;
        budget_set_limit(limit);
        for (;;)
            xcalloc(1, size);
    }
    close(out[1]);
    char text[512];
    size_t len = 0;
    for (ssize_t n; len < sizeof text - 1 && (n = read(out[0], text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = 0;
    close(out[0]);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(strstr(text, sentence));
    CHECK(strstr(text, "printed before.\n"));
}

int main(void) {
    gives();
    account();
    resident();
    cgroups();
    exhaustion(0, MIB, 100000,
               "sm100emu: memory: 100000 bytes are wanted, and of the 1048576 that the process may take ");
    exhaustion(48 * MIB, 64 * MIB, 32 * MIB,
               "sm100emu: memory: 33554432 bytes are wanted, and of the 67108864 that the process may take ");
    return check_report();
}
