/* base/poison.h - for memory that is handed out in blocks larger than what was asked for, or kept when it is given
 * back: bytes that nobody may touch, so that AddressSanitizer sees an access to them. Nothing in other builds.
 *
 * Whoever frees or unmaps the memory forgives it first. */
#ifndef BASE_POISON_H
#define BASE_POISON_H

#include <stddef.h>

#ifdef __has_feature
#define POISON_CLANG __has_feature(address_sanitizer)
#else
#define POISON_CLANG 0
#endif

#if defined(__SANITIZE_ADDRESS__) || POISON_CLANG
#include <sanitizer/asan_interface.h>
enum { POISON_GAP = 32 }; /* bytes between two blocks that would otherwise touch */
static inline void poison_forbid(const void *p, size_t bytes) { __asan_poison_memory_region(p, bytes); }
static inline void poison_forgive(const void *p, size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
#else
enum { POISON_GAP = 0 };
static inline void poison_forbid(const void *p, size_t bytes) { (void)p, (void)bytes; }
static inline void poison_forgive(const void *p, size_t bytes) { (void)p, (void)bytes; }
#endif

#endif
