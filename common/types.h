/* types.h - the element types of A and B as the steps know them, and test inputs in them. Host only.
 *
 * A matrix is made twice: as floats that the type can hold exactly, for the reference, and as the type's own
 * bytes, for the GPU. So rounding the inputs is no part of the error that the steps measure.
 */
#ifndef COMMON_TYPES_H
#define COMMON_TYPES_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "descriptors.h"
#include "random.h"

enum elem_type { ELEM_F16, ELEM_BF16, ELEM_TF32, ELEM_E4M3, ELEM_E5M2 };

/* In the order of enum elem_type; ends with NULL, as cmdline.h wants it. */
static const char *const elem_names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", NULL};

struct elem_info {
    size_t bytes;            /* of one element in memory; tf32 fills 32 bits, its low 13 bits are not read */
    enum umma_kind kind;     /* of the UMMA that multiplies it */
    enum umma_format format; /* in the instruction descriptor of that kind */
};

static inline struct elem_info elem_info(enum elem_type type) {
    static const struct elem_info table[] = {{2, UMMA_KIND_F16, UMMA_F16},
                                             {2, UMMA_KIND_F16, UMMA_BF16},
                                             {4, UMMA_KIND_TF32, UMMA_TF32},
                                             {1, UMMA_KIND_F8F6F4, UMMA_E4M3},
                                             {1, UMMA_KIND_F8F6F4, UMMA_E5M2}};
    return table[type];
}

/* Rounds x to nearest even in the type, writes the type's bytes at `to`, returns the value they stand for.
 * The fp8 types have no room for large values: those saturate to the largest finite one. */
static inline float elem_store(enum elem_type type, float x, void *to) {
    uint32_t bits;
    __half h;
    __nv_bfloat16 b;
    __nv_fp8_storage_t e;
    switch (type) {
    case ELEM_F16:
        h = __float2half_rn(x);
        memcpy(to, &h, 2);
        return __half2float(h);
    case ELEM_BF16:
        b = __float2bfloat16_rn(x);
        memcpy(to, &b, 2);
        return __bfloat162float(b);
    case ELEM_TF32: /* 10 stored bits of fraction: the top 19 bits of a float */
        memcpy(&bits, &x, 4);
        bits = (bits + 0xFFFu + (bits >> 13 & 1)) & ~0x1FFFu;
        memcpy(to, &bits, 4);
        memcpy(&x, &bits, 4);
        return x;
    default:
        e = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, type == ELEM_E4M3 ? __NV_E4M3 : __NV_E5M2);
        memcpy(to, &e, 1);
        return __half2float(__half(__nv_cvt_fp8_to_halfraw(e, type == ELEM_E4M3 ? __NV_E4M3 : __NV_E5M2)));
    }
}

/* Fills count elements: bytes for the GPU, and the same values as floats. state: of random_float(). */
static inline void elem_fill_random(enum elem_type type, size_t count, void *bytes, float *values,
                                    uint64_t *state) {
    size_t size = elem_info(type).bytes;
    for (size_t i = 0; i < count; i++)
        values[i] = elem_store(type, random_float(state), (char *)bytes + i * size);
}

#endif
