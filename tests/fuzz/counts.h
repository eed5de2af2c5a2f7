/* counts.h - what a fuzzer did, added up over all its processes: in the file that FUZZ_COUNTS names, if it is set. */
#ifndef TESTS_FUZZ_COUNTS_H
#define TESTS_FUZZ_COUNTS_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COUNTS = 1024 };

/* COUNTS numbers, zero at first; in private memory where there is no file. */
static inline atomic_ulong *counts_open(void) {
    static atomic_ulong own[COUNTS], *counts;
    if (counts)
        return counts;
    const char *path = getenv("FUZZ_COUNTS");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    void *p = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof own) == 0)
        p = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return counts = p == MAP_FAILED ? own : p;
}

#endif
