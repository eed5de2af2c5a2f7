/* out_type.cuh - the types of C and D, and the ReLU before the rounding. */
#ifndef STEP05_OUT_TYPE_CUH
#define STEP05_OUT_TYPE_CUH

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <string.h>

enum out_type { OUT_F32, OUT_F16, OUT_BF16 };

/* In the order of enum out_type; ends with NULL, as cmdline.h wants it. */
static const char *const out_names[] = {"f32", "f16", "bf16", NULL};

static inline __host__ __device__ size_t out_bytes(int type) { return type == OUT_F32 ? 4 : 2; }

/* Two f32 rounded to nearest even, as 32 bits, the first in the low half. type: OUT_F16 or OUT_BF16. */
static __device__ __forceinline__ uint32_t pack_two(enum out_type type, float low, float high) {
    uint32_t word;
    if (type == OUT_F16)
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    else
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}

static __device__ __forceinline__ float2 unpack_two(enum out_type type, uint32_t word) {
    if (type == OUT_F16) {
        const __half2_raw raw = {(unsigned short)(word & 0xFFFF), (unsigned short)(word >> 16)};
        return __half22float2(__half2(raw));
    }
    return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xFFFF0000u));
}

/* Negative values become 0. A NaN stays a NaN: fmaxf(x, 0) would make it 0, and hide what went wrong before. */
static __device__ __forceinline__ float relu(float x) { return x < 0.0f ? 0.0f : x; }

/* ---------------------------------------------------------------- host */

static inline CUtensorMapDataType out_map_type(int type) {
    return type == OUT_F32   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
           : type == OUT_F16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                             : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

/* Rounds x to the type, writes it at `to` and returns its value. */
static inline float out_store(int type, float x, void *to) {
    if (type == OUT_F32) {
        memcpy(to, &x, 4);
        return x;
    }
    if (type == OUT_F16) {
        const __half h = __float2half_rn(x);
        memcpy(to, &h, 2);
        return __half2float(h);
    }
    const __nv_bfloat16 b = __float2bfloat16_rn(x);
    memcpy(to, &b, 2);
    return __bfloat162float(b);
}

static inline float out_load(int type, const void *from) {
    float x;
    __half h;
    __nv_bfloat16 b;
    if (type == OUT_F32) {
        memcpy(&x, from, 4);
        return x;
    }
    if (type == OUT_F16) {
        memcpy(&h, from, 2);
        return __half2float(h);
    }
    memcpy(&b, from, 2);
    return __bfloat162float(b);
}

#endif
