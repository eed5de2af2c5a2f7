/* base/budget.c - the account of host memory; contract in budget.h. */
#include "base/budget.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LARGE (UINT64_C(1) << 20) /* bytes for which the host is asked what the process has in memory */

static _Atomic uint64_t limit = UINT64_MAX, taken;

/* A small file as a string; false where it cannot be read. */
static bool read_file(const char *root, const char *path, char *text, size_t size) {
    char whole[1024];
    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole)
        return false;
    int fd = open(whole, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* The number in a file of a cgroup; "max" is no limit. */
static uint64_t limit_in(const char *root, const char *folder, const char *name) {
    char path[768], text[64];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        !read_file(root, path, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

/* The least limit of a group and of those above it, up to where the hierarchy is mounted. In a container the group's
 * path may be the host's, which is not there: then the mount's own limit is the container's. */
static uint64_t hierarchy_limit(const char *root, const char *mount, const char *group, const char *name) {
    char folder[640];
    uint64_t least = UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%s", mount, strcmp(group, "/") == 0 ? "" : group);
    for (;;) {
        uint64_t here = limit_in(root, folder, name);
        least = here < least ? here : least;
        if (strlen(folder) <= strlen(mount))
            return least;
        *strrchr(folder, '/') = 0;
    }
}

/* Lines of /proc/self/cgroup are number:controllers:path; version 2 has one, without controllers. */
static uint64_t cgroup_limit(const char *root) {
    char text[4096], *rest = text;
    uint64_t least = UINT64_MAX;
    if (!read_file(root, "/proc/self/cgroup", text, sizeof text))
        return least;
    for (char *line; (line = strsep(&rest, "\n"));) {
        strsep(&line, ":");
        const char *controllers = line ? strsep(&line, ":") : NULL;
        if (!line || line[0] != '/' || strlen(line) > 512)
            continue;
        uint64_t here = UINT64_MAX;
        if (*controllers == 0)
            here = hierarchy_limit(root, "/sys/fs/cgroup", line, "memory.max");
        else if (strcmp(controllers, "memory") == 0)
            here = hierarchy_limit(root, "/sys/fs/cgroup/memory", line, "memory.limit_in_bytes");
        least = here < least ? here : least;
    }
    return least;
}

uint64_t budget_default(const char *root) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    const uint64_t group = cgroup_limit(root);
    bytes = group < bytes ? group : bytes;
    return bytes / 5 * 4;
}

void budget_set_limit(uint64_t bytes) { atomic_store_explicit(&limit, bytes, memory_order_relaxed); }

uint64_t budget_limit(void) { return atomic_load_explicit(&limit, memory_order_relaxed); }

/* Bytes that the process has in memory: the second number of statm, in pages. 0 where the host does not tell. */
static uint64_t resident(void) {
    char text[128];
    unsigned long long pages = 0;
    const long page = sysconf(_SC_PAGESIZE);
    if (!read_file("", "/proc/self/statm", text, sizeof text) || sscanf(text, "%*u %llu", &pages) != 1 || page <= 0)
        return 0;
    return pages * (uint64_t)page;
}

bool budget_take(uint64_t bytes) {
    const uint64_t most = budget_limit();
    uint64_t now = atomic_load_explicit(&taken, memory_order_relaxed);
    do {
        if (bytes > most || now > most - bytes)
            return false;
    } while (
        !atomic_compare_exchange_weak_explicit(&taken, &now, now + bytes, memory_order_relaxed, memory_order_relaxed));
    if (bytes < LARGE || most == UINT64_MAX || resident() <= most - bytes)
        return true;
    budget_give(bytes);
    return false;
}

void budget_give(uint64_t bytes) { atomic_fetch_sub_explicit(&taken, bytes, memory_order_relaxed); }

uint64_t budget_left(void) {
    const uint64_t most = budget_limit(), now = atomic_load_explicit(&taken, memory_order_relaxed);
    return now < most ? most - now : 0;
}

uint64_t budget_room(void) {
    const uint64_t left = budget_left(), most = budget_limit(), now = most == UINT64_MAX ? 0 : resident();
    const uint64_t room = now < most ? most - now : 0;
    return room < left ? room : left;
}

/* The most that the process ever had in memory, or more: the kernel tells it at a tenth of what statm costs. */
static uint64_t peak(void) {
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss * 1024 : UINT64_MAX;
}

bool budget_exceeded(void) {
    const uint64_t most = budget_limit();
    return most != UINT64_MAX && peak() > most && resident() > most;
}
