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

/* Zeroed memory, aligned to 16 bytes. Never NULL: exhaustion of host memory ends the process with a sentence. */
void *arena_alloc(struct arena *a, size_t bytes);
/* Zeroed array; overflow of n * size is treated as exhaustion. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* A NUL-terminated copy of s[0..len). */
char *arena_strndup(struct arena *a, const char *s, size_t len);
/* A list of `count` elements with room for one more: `list` itself, or a copy of twice its *cap, zeroed behind. */
void *arena_grow(struct arena *a, void *list, uint32_t count, uint32_t *cap, size_t size);
void arena_free(struct arena *a);

/* malloc/realloc that never return NULL; xrealloc_array checks n * size for overflow. Freed with free(). */
void *xcalloc(size_t n, size_t size);
void *xrealloc_array(void *p, size_t n, size_t size);
/* As arena_grow, on the C heap, and not zeroed. */
void *xgrow(void *list, uint32_t count, uint32_t *cap, size_t size);

#endif
