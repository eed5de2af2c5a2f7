// Reductions: an operation of what is there and what comes (PTX 9.7.9.25.4.2, 9.7.13.5).
#include "num/num.h"

uint64_t num_reduce(num_op op, bool sign, bool wide, uint64_t a, uint64_t b) {
    const int64_t sa = wide ? (int64_t)a : (int32_t)(uint32_t)a, sb = wide ? (int64_t)b : (int32_t)(uint32_t)b;
    switch (op) {
    case NUM_OP_ADD:
        return a + b;
    case NUM_OP_MIN:
        return (sign ? sa < sb : a < b) ? a : b;
    case NUM_OP_MAX:
        return (sign ? sa > sb : a > b) ? a : b;
    case NUM_OP_INC:
        return a >= b ? 0 : a + 1;
    case NUM_OP_DEC:
        return a == 0 || a > b ? b : a - 1;
    case NUM_OP_AND:
        return a & b;
    case NUM_OP_OR:
        return a | b;
    case NUM_OP_XOR:
        return a ^ b;
    case NUM_OP_NONE:
        break;
    }
    return b;
}

uint16_t num_reduce_h(num_op op, num_type t, uint16_t a, uint16_t b) {
    if (op == NUM_OP_ADD)
        return num_add_h(t, a, b, 0);
    return (uint16_t)(op == NUM_OP_MIN ? num_min(t, a, b, 0) : num_max(t, a, b, 0));
}
