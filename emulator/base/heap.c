/* base/heap.c - the C heap, accounted by what its blocks can hold; contract in heap.h. */
#include "base/heap.h"

#include "base/budget.h"
#include "base/fatal.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 16u /* elements of a list that grows */

_Noreturn void heap_exhausted(size_t n, size_t size) {
    size_t bytes;
    if (!__builtin_mul_overflow(n, size, &bytes) && bytes > budget_room())
        fatal_host("memory", "%zu bytes are wanted, and of the %llu that the process may take %llu are left (--memory)",
                   bytes, (unsigned long long)budget_limit(), (unsigned long long)budget_room());
    fatal_host("memory", "the host cannot give %zu x %zu bytes", n, size);
}

/* Enters a fresh block into the account; NULL where it does not fit. */
static void *entered(void *p) {
    if (p && !budget_take(malloc_usable_size(p))) {
        free(p);
        return NULL;
    }
    return p;
}

void *try_calloc(size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > budget_left())
        return NULL;
    return entered(calloc(n ? n : 1, size ? size : 1));
}

void *xcalloc(size_t n, size_t size) {
    void *p = try_calloc(n, size);
    if (!p)
        heap_exhausted(n, size);
    return p;
}

char *xstrdup(const char *text) {
    const size_t size = strlen(text) + 1;
    return memcpy(xcalloc(size, 1), text, size);
}

void *xaligned(size_t align, size_t bytes) {
    void *p = bytes <= budget_left() ? entered(aligned_alloc(align, bytes)) : NULL;
    if (!p)
        heap_exhausted(1, bytes);
    return p;
}

void *xrealloc_array(void *p, size_t n, size_t size) {
    size_t bytes;
    const size_t before = p ? malloc_usable_size(p) : 0;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > budget_left())
        heap_exhausted(n, size);
    void *q = realloc(p, bytes ? bytes : 1);
    if (!q)
        heap_exhausted(n, size);
    budget_give(before);
    if (!budget_take(malloc_usable_size(q)))
        heap_exhausted(n, size);
    return q;
}

void *xgrow(void *list, uint32_t count, uint32_t *cap, size_t size) {
    if (count < *cap)
        return list;
    *cap = *cap ? 2 * *cap : FIRST_CAP;
    return xrealloc_array(list, *cap, size);
}

void xfree(void *p) {
    if (p)
        budget_give(malloc_usable_size(p));
    free(p);
}

void heap_trim(void) { malloc_trim(0); }
