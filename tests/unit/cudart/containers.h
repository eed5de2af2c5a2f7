/* Builds fat-binary containers byte by byte, as nvcc lays them out (emulator/cudart/loader/fatbin.h). */
#ifndef TESTS_CONTAINERS_H
#define TESTS_CONTAINERS_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_PTX = 1, KIND_ELF = 2, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, ENTRY_BYTES = 80 };

struct container {
    uint8_t bytes[8192];
    size_t size;
};

static inline void put(uint8_t *p, uint64_t v, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static inline void container_begin(struct container *c) {
    memset(c, 0, sizeof *c);
    put(c->bytes, 0xBA55ED50u, 4);
    put(c->bytes + 4, 1, 2);
    put(c->bytes + 6, 16, 2);
    c->size = 16;
}

/* Appends an entry; plain is its size unpacked, 0 when it is not compressed. Returns the entry's offset. */
static inline size_t container_add(struct container *c, unsigned kind, unsigned sm, uint64_t flags, const void *payload,
                                   size_t size, size_t plain) {
    size_t at = c->size, padded = (size + 7) / 8 * 8;
    if (at + ENTRY_BYTES + padded > sizeof c->bytes)
        abort();
    uint8_t *e = c->bytes + at;
    put(e, kind, 2);
    put(e + 2, 0x101, 2);
    put(e + 4, ENTRY_BYTES, 4);
    put(e + 8, padded, 8);
    put(e + 16, plain ? size : 0, 4);
    put(e + 20, 64, 4);
    put(e + 24, 0, 2);
    put(e + 26, 9, 2);
    put(e + 28, sm, 4);
    put(e + 40, flags | 0x11, 8);
    put(e + 56, plain, 8);
    memcpy(e + ENTRY_BYTES, payload, size);
    c->size = at + ENTRY_BYTES + padded;
    put(c->bytes + 8, c->size - 16, 8);
    return at;
}

static inline size_t container_ptx(struct container *c, unsigned sm, const char *text) {
    return container_add(c, KIND_PTX, sm, 0, text, strlen(text), 0);
}

/* Compresses with the system's library into out; 0 when the library is not there. */
static inline size_t pack_lz4(const char *text, size_t size, char *out, size_t room) {
    int (*compress)(const char *, char *, int, int);
    void *library = dlopen("liblz4.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "LZ4_compress_default") : NULL;
    if (!symbol)
        return 0;
    memcpy(&compress, &symbol, sizeof symbol);
    return (size_t)compress(text, out, (int)size, (int)room);
}

static inline size_t pack_zstd(const char *text, size_t size, char *out, size_t room) {
    size_t (*compress)(void *, size_t, const void *, size_t, int);
    void *library = dlopen("libzstd.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "ZSTD_compress") : NULL;
    if (!symbol)
        return 0;
    memcpy(&compress, &symbol, sizeof symbol);
    return compress(out, room, text, size, 9);
}

#endif
