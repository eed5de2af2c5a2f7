/* base/arena.h - memory that is freed all at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;
struct arena {
    struct arena_block *head; /* zero-initialise to make an empty arena */
    size_t bytes;             /* handed out so far */
};

/* Zeroed memory, aligned to 16 bytes. Never NULL: exhaustion ends the process with a
 * sentence (base/heap.h). */
void *arena_alloc(struct arena *a, size_t bytes);
/* Zeroed array; overflow of n * size is treated as exhaustion. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* A NUL-terminated copy of s[0..len). */
char *arena_strndup(struct arena *a, const char *s, size_t len);
/* A list of `count` elements with room for one more: `list` itself, or a copy of twice its *cap, zeroed behind. */
void *arena_grow(struct arena *a, void *list, uint32_t count, uint32_t *cap, size_t size);
void arena_free(struct arena *a);

#endif
