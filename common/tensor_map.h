/* tensor_map.h - the TMA's view of a matrix: 128 bytes that the driver fills in. Host only.
 *
 * cuTensorMapEncodeTiled is a function of the driver, libcuda. It is looked up at run time through the runtime, so a
 * program need not be linked with libcuda, and it also starts on a machine without one.
 */
#ifndef COMMON_TENSOR_MAP_H
#define COMMON_TENSOR_MAP_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_check.h"
#include "types.h"

typedef CUresult (*tensor_map_encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                         const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                                         CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                         CUtensorMapFloatOOBfill);

/* cuTensorMapEncodeTiled as it has been since CUDA 12.0, or one line on stderr and exit code 1. */
static inline tensor_map_encode_fn tensor_map_encoder(void) {
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || !function) {
        fprintf(stderr, "the driver has no cuTensorMapEncodeTiled (query result %d)\n", (int)found);
        exit(1);
    }
    return (tensor_map_encode_fn)function;
}

/* The TMA moves bytes. The type matters only for what it fills in outside the tensor, zeros here. So an fp8 type is a
 * byte here, and tf32 is f32, which has the same 32 bits. */
static inline CUtensorMapDataType tensor_map_type(enum elem_type type) {
    switch (type) {
    case ELEM_F16:
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ELEM_BF16:
        return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ELEM_TF32:
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    default:
        return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    }
}

/* A row-major matrix on the GPU, in boxes of box_rows rows by 128 bytes, with the 128-byte swizzle.
 * base: 16-byte aligned. rows, columns: elements; a row's bytes must be a multiple of 16. box_rows: 1 ... 256. */
static inline CUtensorMap tensor_map_2d(void *base, enum elem_type type, uint64_t rows, uint64_t columns,
                                        uint32_t box_rows) {
    size_t size = elem_info(type).bytes;
    CUtensorMap map;
    /* Dimension 0 is the contiguous one; its stride, one element, is not passed. */
    cuuint64_t extent[2] = {columns, rows}, row_bytes[1] = {columns * size};
    cuuint32_t box[2] = {(cuuint32_t)(128 / size), box_rows}, every[2] = {1, 1};
    CUresult result = tensor_map_encoder()(&map, tensor_map_type(type), 2, base, extent, row_bytes, box, every,
                                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                           CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeTiled: error %d for %llu x %llu elements of %zu bytes, boxes of %u rows\n",
                (int)result, (unsigned long long)rows, (unsigned long long)columns, size, box_rows);
        exit(1);
    }
    return map;
}

/* A batch of row-major matrices of one size, one after the other, in boxes of box_columns by box_rows by 1.
 * base: 16-byte aligned. size: bytes of an element; a row's bytes must be a multiple of 16, a box's row's too and at
 * most the swizzle's span. Beyond an edge of a matrix, a load gets zeros, and a store writes nothing. */
static inline CUtensorMap tensor_map_3d(void *base, CUtensorMapDataType type, size_t size, uint64_t batch,
                                        uint64_t rows, uint64_t columns, uint32_t box_rows, uint32_t box_columns,
                                        CUtensorMapSwizzle swizzle) {
    CUtensorMap map;
    cuuint64_t extent[3] = {columns, rows, batch}, stride[2] = {columns * size, rows * columns * size};
    cuuint32_t box[3] = {box_columns, box_rows, 1}, every[3] = {1, 1, 1};
    CUresult result =
        tensor_map_encoder()(&map, type, 3, base, extent, stride, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr,
                "cuTensorMapEncodeTiled: error %d for %llu x %llu x %llu elements of %zu bytes, boxes of %u x %u\n",
                (int)result, (unsigned long long)batch, (unsigned long long)rows, (unsigned long long)columns, size,
                box_rows, box_columns);
        exit(1);
    }
    return map;
}

#endif
