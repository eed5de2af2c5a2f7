/* base/relaxed.h - bytes that other host threads may touch meanwhile, in no order: device memory while a kernel runs.
 *
 * An access is one relaxed atomic access of the host, of 1, 2, 4 or 8 bytes at their natural alignment: it comes whole,
 * and a race is none of the language's. Copies are made of such pieces, as large as the alignment of the shared side
 * allows, and may find or leave some old and some new. So what is read here is read once, and judged in the copy: the
 * bytes may be others at the next look.
 */
#ifndef BASE_RELAXED_H
#define BASE_RELAXED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of bytes that have any type. */
typedef uint16_t __attribute__((may_alias)) relaxed_u16;
typedef uint32_t __attribute__((may_alias)) relaxed_u32;
typedef uint64_t __attribute__((may_alias)) relaxed_u64;

/* `size` bytes, 1, 2, 4 or 8, zero-extended. */
static inline uint64_t relaxed_load(const uint8_t *p, size_t size) {
    switch (size) {
    case 1:
        return __atomic_load_n(p, __ATOMIC_RELAXED);
    case 2:
        return __atomic_load_n((const relaxed_u16 *)p, __ATOMIC_RELAXED);
    case 4:
        return __atomic_load_n((const relaxed_u32 *)p, __ATOMIC_RELAXED);
    default:
        return __atomic_load_n((const relaxed_u64 *)p, __ATOMIC_RELAXED);
    }
}

/* The low `size` bytes of v, 1, 2, 4 or 8. */
static inline void relaxed_store(uint8_t *p, size_t size, uint64_t v) {
    switch (size) {
    case 1:
        __atomic_store_n(p, (uint8_t)v, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n((relaxed_u16 *)p, (uint16_t)v, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((relaxed_u32 *)p, (uint32_t)v, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((relaxed_u64 *)p, v, __ATOMIC_RELAXED);
        break;
    }
}

/* Stores the low `size` bytes of v, 2, 4 or 8, where *old still is what is there, in one step; else false, and *old is
 * what was found. */
static inline bool relaxed_replace(uint8_t *p, size_t size, uint64_t *old, uint64_t v) {
    const int order = __ATOMIC_RELAXED;
    relaxed_u16 was16 = (uint16_t)*old;
    relaxed_u32 was32 = (uint32_t)*old;
    bool done;
    switch (size) {
    case 2:
        done = __atomic_compare_exchange_n((relaxed_u16 *)p, &was16, (uint16_t)v, false, order, order);
        *old = was16;
        return done;
    case 4:
        done = __atomic_compare_exchange_n((relaxed_u32 *)p, &was32, (uint32_t)v, false, order, order);
        *old = was32;
        return done;
    default:
        return __atomic_compare_exchange_n((relaxed_u64 *)p, old, v, false, order, order);
    }
}

/* Bytes of the next piece of a copy of n: 8, 4, 2 or 1. */
static inline size_t relaxed_piece(const uint8_t *shared, size_t n) {
    size_t size = 8;
    while (size > n || (uintptr_t)shared % size)
        size /= 2;
    return size;
}

/* Copies n shared bytes out. */
static inline void relaxed_read(void *to, const uint8_t *shared, size_t n) {
    uint8_t *d = (uint8_t *)to;
    for (size_t i = 0, size; i < n; i += size) {
        if ((uintptr_t)(shared + i) % 8 == 0)
            for (; n - i >= 8; i += 8) {
                const uint64_t v = relaxed_load(shared + i, 8);
                memcpy(d + i, &v, 8);
            }
        if (i == n)
            return;
        size = relaxed_piece(shared + i, n - i);
        const uint64_t v = relaxed_load(shared + i, size);
        memcpy(d + i, &v, size);
    }
}

/* Copies n bytes to shared ones. */
static inline void relaxed_write(uint8_t *shared, const void *from, size_t n) {
    const uint8_t *s = (const uint8_t *)from;
    for (size_t i = 0, size; i < n; i += size) {
        uint64_t v = 0;
        if ((uintptr_t)(shared + i) % 8 == 0)
            for (; n - i >= 8; i += 8) {
                memcpy(&v, s + i, 8);
                relaxed_store(shared + i, 8, v);
            }
        if (i == n)
            return;
        size = relaxed_piece(shared + i, n - i);
        memcpy(&v, s + i, size);
        relaxed_store(shared + i, size, v);
    }
}

#endif
