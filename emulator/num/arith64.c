// f64 arithmetic (PTX 9.7.3): .rn by the host, the directed modes in integers. NaN payloads are kept, as the
// ISA says of double precision, made quiet. Of several NaN operands b wins, then c, then a; in a division a
// wins: what an H200 does.
#include <math.h>

#include "num/soft.h"

static bool is_nan(uint64_t a) { return (a & INT64_MAX) > UINT64_C(0x7ff0000000000000); }

// The NaN that an operation with these operands gives: an operand's, or the one of an invalid operation.
static uint64_t nan_of(uint64_t first, uint64_t second, uint64_t third) {
    uint64_t quiet = UINT64_C(1) << 51;
    return is_nan(first)    ? first | quiet
           : is_nan(second) ? second | quiet
           : is_nan(third)  ? third | quiet
                            : NUM_NAN_F64;
}

static uint64_t finish(num_value v, num_round r, uint64_t nan) {
    return v.cls == NUM_CLASS_NAN ? nan : num_pack(num_format_of(NUM_F64), v, r, 0, 0, 0);
}
static uint64_t nearest(double x, uint64_t nan) { return x == x ? num_f64_bits(x) : nan; }

uint64_t num_fma_f64(uint64_t a, uint64_t b, uint64_t c, num_round r) {
    double x = num_f64_from_bits(a), y = num_f64_from_bits(b), z = num_f64_from_bits(c);
    uint64_t nan = nan_of(b, c, a);
    if (r == NUM_RN)
        return nearest(fma(x, y, z), nan);
    return finish(num_soft_fma(num_unpack_f64(x), num_unpack_f64(y), num_unpack_f64(z), r), r, nan);
}

uint64_t num_add_f64(uint64_t a, uint64_t b, num_round r) {
    double x = num_f64_from_bits(a), y = num_f64_from_bits(b);
    uint64_t nan = nan_of(b, a, 0);
    if (r == NUM_RN)
        return nearest(x + y, nan);
    return finish(num_soft_fma(num_unpack_f64(x), num_unpack_f64(1.0), num_unpack_f64(y), r), r, nan);
}

uint64_t num_sub_f64(uint64_t a, uint64_t b, num_round r) {
    return num_add_f64(a, is_nan(b) ? b : b ^ UINT64_C(1) << 63, r);
}

uint64_t num_mul_f64(uint64_t a, uint64_t b, num_round r) {
    double x = num_f64_from_bits(a), y = num_f64_from_bits(b);
    uint64_t nan = nan_of(b, a, 0);
    if (r == NUM_RN)
        return nearest(x * y, nan);
    // A zero of the product's sign leaves both the value and the sign of a zero product as they are.
    double zero = signbit(x) != signbit(y) ? -0.0 : 0.0;
    return finish(num_soft_fma(num_unpack_f64(x), num_unpack_f64(y), num_unpack_f64(zero), r), r, nan);
}

uint64_t num_div_f64(uint64_t a, uint64_t b, num_round r) {
    double x = num_f64_from_bits(a), y = num_f64_from_bits(b);
    uint64_t nan = nan_of(a, b, 0);
    if (r == NUM_RN)
        return nearest(x / y, nan);
    return finish(num_soft_div(num_unpack_f64(x), num_unpack_f64(y)), r, nan);
}

uint64_t num_rcp_f64(uint64_t a, num_round r) { return num_div_f64(num_f64_bits(1.0), a, r); }

uint64_t num_sqrt_f64(uint64_t a, num_round r) {
    double x = num_f64_from_bits(a);
    if (r == NUM_RN)
        return nearest(sqrt(x), nan_of(a, 0, 0));
    return finish(num_soft_sqrt(num_unpack_f64(x)), r, nan_of(a, 0, 0));
}
