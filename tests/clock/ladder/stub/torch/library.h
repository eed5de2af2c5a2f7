/* torch/library.h - what the kernels use of it: a check. So that they build without PyTorch. */
#ifndef LADDER_TORCH_LIBRARY_H
#define LADDER_TORCH_LIBRARY_H

#include <cuda_bf16.h>
#include <stdio.h>
#include <stdlib.h>

#include <tuple>

#define TORCH_CHECK(ok, text)                                                                                          \
    do {                                                                                                               \
        if (!(ok)) {                                                                                                   \
            fprintf(stderr, "%s\n", text);                                                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
