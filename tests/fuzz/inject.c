/* inject.c - a library to preload: allocation number INJECT_AT that libsm100emu.so asks for fails, all others succeed.
 *
 * An allocation is a call out of the emulator's library to malloc, calloc, realloc, aligned_alloc, strdup, mmap,
 * memfd_create, ftruncate or pthread_create; it fails as it would for want of memory, threads or files. Who asks is
 * known by the return address. The number of allocations is written to the file INJECT_COUNT when the process exits.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static atomic_ulong asked, fail_at;
static _Atomic(uintptr_t) first, last; /* of the library's code; 0: not loaded yet */

/* The library's executable segment. */
static int look(struct dl_phdr_info *info, size_t size, void *ctx) {
    (void)size, (void)ctx;
    if (!strstr(info->dlpi_name, "libsm100emu.so") && !strstr(info->dlpi_name, "libcudart.so") &&
        !strstr(info->dlpi_name, "libcuda.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            last = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
            first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        }
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("INJECT_AT");
    dl_iterate_phdr(look, NULL);
    fail_at = at ? strtoul(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("INJECT_COUNT");
    char line[32];
    int fd = path && first ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    int n = snprintf(line, sizeof line, "%lu\n", (unsigned long)asked);
    if (write(fd, line, (size_t)n) != n)
        _exit(99);
    close(fd);
}

/* Must the call that returns to `caller` fail? */
static bool fails(const void *caller) {
    uintptr_t at = (uintptr_t)caller;
    if (!first || at < first || at >= last)
        return false;
    return atomic_fetch_add(&asked, 1) + 1 == fail_at;
}
#define FAILS() fails(__builtin_return_address(0))

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }
#define REAL(name) ((__typeof__(&name))real(#name))

void *malloc(size_t size) { return FAILS() ? no_memory() : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return FAILS() ? no_memory() : __libc_calloc(n, size); }
void *realloc(void *p, size_t size) { return FAILS() ? no_memory() : __libc_realloc(p, size); }
void *aligned_alloc(size_t align, size_t size) { return FAILS() ? no_memory() : __libc_memalign(align, size); }
char *strdup(const char *s) { return FAILS() ? no_memory() : REAL(strdup)(s); }

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset) {
    if (!FAILS())
        return REAL(mmap)(addr, len, prot, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

int memfd_create(const char *name, unsigned flags) {
    if (!FAILS())
        return REAL(memfd_create)(name, flags);
    errno = EMFILE;
    return -1;
}

int ftruncate(int fd, off_t length) {
    if (!FAILS())
        return REAL(ftruncate)(fd, length);
    errno = ENOSPC;
    return -1;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *arg) {
    return FAILS() ? EAGAIN : REAL(pthread_create)(thread, attributes, fn, arg);
}
