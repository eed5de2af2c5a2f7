/* types.h - the element types of A and B as the steps know them, and test inputs in them. Host only.
 *
 * A matrix is made twice: as floats that the type can hold exactly, for the reference, and as the type's own bytes, for
 * the GPU. So the error that the steps measure does not contain the rounding of the inputs.
 */
#ifndef COMMON_TYPES_H
#define COMMON_TYPES_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <math.h>
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
    static const struct elem_info table[] = {
        {2, UMMA_KIND_F16, UMMA_F16},     /* f16 */
        {2, UMMA_KIND_F16, UMMA_BF16},    /* bf16 */
        {4, UMMA_KIND_TF32, UMMA_TF32},   /* tf32 */
        {1, UMMA_KIND_F8F6F4, UMMA_E4M3}, /* e4m3 */
        {1, UMMA_KIND_F8F6F4, UMMA_E5M2}, /* e5m2 */
    };
    return table[type];
}

/* x rounded to nearest even, with `drop` bits fewer in the fraction than a float has. x: finite, and not so large that
 * it would round to an infinity. */
static inline float round_fraction(float x, uint32_t drop) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    bits = (bits + (1u << (drop - 1)) - 1 + (bits >> drop & 1)) & ~((1u << drop) - 1);
    memcpy(&x, &bits, 4);
    return x;
}

/* elem_store() of f16. The library's conversions are right for every x. For normal numbers of f16, as nearly all inputs
 * are, a rounding, a shift and another bias of the exponent (15, not 127) do the same in a tenth of the time. */
static inline float store_f16(float x, void *to) {
    uint32_t bits;
    if (!(fabsf(x) >= 0x1p-14f && fabsf(x) < 65504)) {
        const __half h = __float2half_rn(x);
        memcpy(to, &h, 2);
        return __half2float(h);
    }
    x = round_fraction(x, 13);
    memcpy(&bits, &x, 4);
    const uint16_t half = (uint16_t)((bits >> 16 & 0x8000) | (((bits & 0x7FFFFFFF) >> 13) - ((127 - 15) << 10)));
    memcpy(to, &half, 2);
    return x;
}

/* Rounds x to nearest even in the type, writes the type's bytes at `to`, returns the value they stand for. x: finite.
 * The fp8 types have no room for large values: those saturate to the largest finite one. */
static inline float elem_store(enum elem_type type, float x, void *to) {
    __nv_fp8_storage_t e;
    switch (type) {
    case ELEM_F16:
        return store_f16(x, to);
    case ELEM_BF16: /* the top 16 bits of a float */
        x = round_fraction(x, 16);
        memcpy(to, (const char *)&x + 2, 2);
        return x;
    case ELEM_TF32: /* 10 stored bits of fraction: the top 19 bits of a float */
        x = round_fraction(x, 13);
        memcpy(to, &x, 4);
        return x;
    default:
        e = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, type == ELEM_E4M3 ? __NV_E4M3 : __NV_E5M2);
        memcpy(to, &e, 1);
        return __half2float(__half(__nv_cvt_fp8_to_halfraw(e, type == ELEM_E4M3 ? __NV_E4M3 : __NV_E5M2)));
    }
}

/* Fills count elements: bytes for the GPU, and the same values as floats. state: of random_float(). */
static inline void elem_fill_random(enum elem_type type, size_t count, void *bytes, float *values, uint64_t *state) {
    size_t size = elem_info(type).bytes;
    for (size_t i = 0; i < count; i++)
        values[i] = elem_store(type, random_float(state), (char *)bytes + i * size);
}

#endif
