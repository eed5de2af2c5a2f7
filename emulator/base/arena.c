/* base/arena.c - see arena.h.
 *
 * Small requests share blocks; a request larger than a quarter of a block gets its own, from calloc, so that pages of
 * a big array that nobody touches are never resident. The block in use is always the head of the list.
 */
#include "base/arena.h"

#include "base/heap.h"
#include "base/poison.h"

#include <stdbool.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define ALIGNMENT 16
#define FIRST_CAP 16u /* elements of a list that grows */

struct arena_block {
    struct arena_block *next;
    size_t used; /* bytes of `data` handed out */
    size_t cap;
    _Alignas(ALIGNMENT) unsigned char data[];
};

static struct arena_block *new_block(size_t cap) {
    if (cap > SIZE_MAX - sizeof(struct arena_block))
        heap_exhausted(1, cap);
    struct arena_block *b = xcalloc(1, sizeof(struct arena_block) + cap);
    b->cap = cap;
    return b;
}

void *arena_alloc(struct arena *a, size_t bytes) {
    if (bytes > SIZE_MAX - ALIGNMENT - POISON_GAP)
        heap_exhausted(1, bytes);
    const size_t asked = bytes;
    bytes = (bytes ? (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1) : ALIGNMENT) + POISON_GAP;
    a->bytes += bytes;
    struct arena_block *head = a->head;
    if (head && head->cap - head->used >= bytes) {
        void *p = head->data + head->used;
        head->used += bytes;
        poison_forgive(p, asked);
        return p;
    }
    bool own = bytes > BLOCK_BYTES / 4;
    struct arena_block *b = new_block(own ? bytes : BLOCK_BYTES);
    b->used = bytes;
    if (own && head) { /* the head's free space stays in use */
        b->next = head->next;
        head->next = b;
    } else {
        b->next = head;
        a->head = b;
    }
    poison_forbid(b->data, b->cap);
    poison_forgive(b->data, asked);
    return b->data;
}

void *arena_array(struct arena *a, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        heap_exhausted(n, size);
    return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t len) {
    if (len == SIZE_MAX)
        heap_exhausted(1, len);
    char *copy = arena_alloc(a, len + 1);
    if (len)
        memcpy(copy, s, len);
    return copy;
}

void *arena_grow(struct arena *a, void *list, uint32_t count, uint32_t *cap, size_t size) {
    if (count < *cap)
        return list;
    *cap = *cap ? 2 * *cap : FIRST_CAP;
    void *copy = arena_array(a, *cap, size);
    if (count)
        memcpy(copy, list, count * size);
    return copy;
}

void arena_free(struct arena *a) {
    for (struct arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        poison_forgive(b->data, b->cap);
        xfree(b);
    }
    a->head = NULL;
    a->bytes = 0;
}
