/* engines/tma_reduce.c - element-wise reductions of bulk copies (PTX ISA 9.7.9.25.4.2, 9.7.9.27.1.3).
 *
 * Compared with an H200 bit for bit, all operations and types, with one difference: cp.reduce.async.bulk.add.f32
 * flushes subnormals here, as 9.7.9.25.4.2 says, and not there. The tensor form flushes with FLOAT32_FTZ only, here and
 * there. Which NaN add.f64 gives the ISA leaves open: an operand as it is, as there, and the source's before the other.
 */
#include "base/relaxed.h"
#include "engines/tma.h"
#include "num/num.h"

#include <string.h>

static unsigned element_bytes(enum tma_element type) {
    static const uint8_t bytes[] = {0, 4, 4, 8, 8, 2, 2, 4, 4, 8, 4, 8};
    return bytes[type];
}

enum tma_element tma_element_of(uint32_t type, num_op op) {
    static const enum tma_element numbers[TMAP_TYPES] = {
        [TMAP_U32] = TMA_E_U32, [TMAP_S32] = TMA_E_S32,   [TMAP_U64] = TMA_E_U64, [TMAP_S64] = TMA_E_S64,
        [TMAP_F16] = TMA_E_F16, [TMAP_BF16] = TMA_E_BF16, [TMAP_F32] = TMA_E_F32, [TMAP_F32_FTZ] = TMA_E_F32_FTZ,
    };
    /* an H200 refuses and, or and xor of INT64, though not of INT32 */
    static const enum tma_element bits[TMAP_TYPES] = {
        [TMAP_U32] = TMA_E_B32, [TMAP_S32] = TMA_E_B32, [TMAP_U64] = TMA_E_B64};
    return (op == NUM_OP_AND || op == NUM_OP_OR || op == NUM_OP_XOR ? bits : numbers)[type];
}

#define T(type) (1u << TMA_E_##type)

bool tma_reduce_exists(num_op op, enum tma_element type, bool to_shared, bool tensor) {
    static const uint16_t global[] = {
        [NUM_OP_ADD] = T(U32) | T(S32) | T(U64) | T(F32) | T(F32_FTZ) | T(F64) | T(F16) | T(BF16),
        [NUM_OP_MIN] = T(U32) | T(S32) | T(U64) | T(S64) | T(F16) | T(BF16),
        [NUM_OP_MAX] = T(U32) | T(S32) | T(U64) | T(S64) | T(F16) | T(BF16),
        [NUM_OP_INC] = T(U32),
        [NUM_OP_DEC] = T(U32),
        [NUM_OP_AND] = T(B32) | T(B64),
        [NUM_OP_OR] = T(B32) | T(B64),
        [NUM_OP_XOR] = T(B32) | T(B64),
    };
    static const uint16_t shared[] = {
        [NUM_OP_ADD] = T(U32) | T(S32) | T(U64),
        [NUM_OP_MIN] = T(U32) | T(S32),
        [NUM_OP_MAX] = T(U32) | T(S32),
        [NUM_OP_INC] = T(U32),
        [NUM_OP_DEC] = T(U32),
        [NUM_OP_AND] = T(B32),
        [NUM_OP_OR] = T(B32),
        [NUM_OP_XOR] = T(B32),
    };
    if (tensor ? type == TMA_E_F64 : type == TMA_E_F32)
        return false;
    return op > NUM_OP_NONE && op <= NUM_OP_XOR && type != TMA_E_NONE &&
           ((to_shared ? shared : global)[op] >> type & 1);
}

static bool is_nan_f64(uint64_t v) { return (v & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff) << 52; }

static uint64_t reduced(num_op op, enum tma_element type, uint64_t a, uint64_t b) {
    switch (type) {
    case TMA_E_F16:
        return num_reduce_h(op, NUM_F16, (uint16_t)a, (uint16_t)b);
    case TMA_E_BF16:
        return num_reduce_h(op, NUM_BF16, (uint16_t)a, (uint16_t)b);
    case TMA_E_F32:
    case TMA_E_F32_FTZ:
        return num_add_f32((uint32_t)a, (uint32_t)b, NUM_RN, type == TMA_E_F32 ? 0 : NUM_FTZ);
    case TMA_E_F64:
        return is_nan_f64(b) ? b : is_nan_f64(a) ? a : num_add_f64(a, b, NUM_RN);
    default:
        return num_reduce(op, type == TMA_E_S32 || type == TMA_E_S64, element_bytes(type) == 8, a, b);
    }
}

void tma_reduce_bytes(num_op op, enum tma_element type, uint8_t *dst, const uint8_t *src, uint32_t bytes) {
    const unsigned size = element_bytes(type);
    for (uint32_t i = 0; size && i + size <= bytes; i += size) {
        uint64_t a = relaxed_load(dst + i, size), b = 0;
        memcpy(&b, src + i, size);
        while (!relaxed_replace(dst + i, size, &a, reduced(op, type, a, b)))
            ;
    }
}
