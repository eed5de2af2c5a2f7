/* The CUDA runtime that nvcc links into a program by default: which version, and where its public functions are.
 *
 * A program with the static runtime (libcudart_static.a) calls cudaMalloc and __cudaRegisterFatBinary inside itself,
 * so no library can take their place by name. Their names are in the program's .symtab, until somebody strips it. A
 * library that is loaded before the program's constructors run (sm100emu-static.c) writes a jump to the emulator's
 * function at the entry of each. This file says where, and whether there is room for it.
 *
 * Contract. Plain bytes, no state, nothing is allocated; every offset, count and symbol of the file is untrusted. The
 * room of a function in the result lies in code of the file, and no other symbol is in it. Functions are sorted by
 * address.
 */
#ifndef CUDART_LOADER_STATIC_H
#define CUDART_LOADER_STATIC_H

#include <stddef.h>
#include <stdint.h>

/* As cudaRuntimeGetVersion says them: the emulator stands in for these, and for none between 12.9 and 13.0. */
#define STATIC_OLDEST 12000
#define STATIC_LAST12 12090
#define STATIC_NEWEST 13050

/* A runtime has 460; the program may have some of its own whose names begin like these. */
#define STATIC_MAX_FUNCTIONS 2048u

enum static_fit {
    STATIC_FITS,     /* a jump */
    STATIC_HARMLESS, /* no jump, and none is needed: it returns 0 and calls nothing (__cudaGetProcAddress on ARM64) */
    STATIC_NARROW,   /* no jump */
    STATIC_SHARED    /* two names have one entry (ld.gold --icf=all), and a jump would be wrong for one of them */
};

struct static_function {
    const char *name;    /* in the file's bytes */
    const uint8_t *code; /* its entry, in the file's bytes */
    uint64_t address;    /* the same as the program's headers have it, before the loader adds where it put the file */
    uint64_t room;       /* bytes that are the function's alone, with the padding to the next one */
    enum static_fit fit;
};

struct static_runtime {
    int version; /* 13000 */
    uint32_t count;
    struct static_function functions[STATIC_MAX_FUNCTIONS];
};

enum static_verdict {
    STATIC_NONE,  /* no program or library for this machine, or none with a static runtime */
    STATIC_FOUND, /* *runtime is filled */
    STATIC_UNFIT  /* a static runtime that the emulator cannot take the place of: `why` has the sentence */
};
enum static_verdict static_read(const void *bytes, size_t size, struct static_runtime *runtime, char *why,
                                size_t why_size);

/* The longest code that static_jump writes: where a branch may land, and the jump. */
#define STATIC_JUMP_MAX 20u
/* Writes code that goes to `target` from the entry of a function that STATIC_FITS. Touches no register that a caller or
 * a callee relies on. Returns how many bytes of `out` it wrote; the rest is what it was. */
size_t static_jump(const struct static_function *f, uint64_t target, uint8_t out[STATIC_JUMP_MAX]);

#endif
