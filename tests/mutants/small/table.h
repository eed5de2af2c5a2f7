/* table.h - the table of a program of small kernels, and its main(). */
#ifndef MUTANTS_SMALL_TABLE_H
#define MUTANTS_SMALL_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../common/cuda_check.h"

struct small {
    const char *name, *variant, *label; /* label: the class, a colon, and the rules that tell it */
    const void *kernel;
    unsigned grid, block;
};

#define SMALL(kernel, variant, label, grid, block)                                                                     \
    { #kernel, #variant, label, (const void *)(kernel <variant>), grid, block }

/* Without arguments the table, a line each: NAME VARIANT LABEL. With NAME VARIANT that kernel is run: its parameters
 * are three buffers of zeros, or the first of them alone. dynamic: bytes of shared memory. */
static inline int small_run(const struct small *table, size_t num, size_t dynamic, int argc, char **argv) {
    for (size_t i = 0; argc < 3 && i < num; i++)
        printf("%s %s %s\n", table[i].name, table[i].variant, table[i].label);
    for (size_t i = 0; argc >= 3 && i < num; i++) {
        void *buffer[3], *args[] = {&buffer[0], &buffer[1], &buffer[2]};
        if (strcmp(table[i].name, argv[1]) != 0 || strcmp(table[i].variant, argv[2]) != 0)
            continue;
        for (int b = 0; b < 3; b++) {
            CUDA_CHECK(cudaMalloc(&buffer[b], 65536));
            CUDA_CHECK(cudaMemset(buffer[b], 0, 65536));
        }
        CUDA_CHECK(cudaFuncSetAttribute(table[i].kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic));
        CUDA_CHECK(cudaLaunchKernel(table[i].kernel, dim3(table[i].grid), dim3(table[i].block), args, dynamic, 0));
        CUDA_CHECK(cudaDeviceSynchronize());
        return 0;
    }
    return argc < 3 ? 0 : 2;
}

#endif
