/* base/heap.h - the C heap, in the account of base/budget.h.
 *
 * What these give goes back through xfree. Exhaustion, of the host or of the budget, ends the process with a sentence
 * (fatal_host), except where a function says that it returns NULL.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for n elements. */
void *xcalloc(size_t n, size_t size);
/* The same, or NULL. */
void *try_calloc(size_t n, size_t size);
/* A copy of a text. */
char *xstrdup(const char *text);
/* Memory that is not zeroed, aligned to a power of two that divides `bytes`. */
void *xaligned(size_t align, size_t bytes);
/* realloc; what is new is not zeroed. */
void *xrealloc_array(void *p, size_t n, size_t size);
/* A list of `count` elements with room for one more: `list` itself, or its content in twice the place; not zeroed. */
void *xgrow(void *list, uint32_t count, uint32_t *cap, size_t size);
/* NULL is allowed. */
void xfree(void *p);
/* Gives the host back the pages that are free, also those between blocks in use: for after much was freed. */
void heap_trim(void);
/* Says that n elements of `size` bytes cannot be had, and ends the process. */
_Noreturn void heap_exhausted(size_t n, size_t size);

#endif
