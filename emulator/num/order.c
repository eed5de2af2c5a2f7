// Sign, order and class of floating-point codes (PTX 9.3.1.2, 9.7.3.1-2, 9.7.3.9-12, 9.7.4.5-8).
#include "num/num_core.h"

static uint64_t sign_bit(num_type t) { return UINT64_C(1) << (num_type_bits(t) - 1); }
static uint64_t infinity(num_type t) { return num_format_of(t)->max_finite + 1; }
static uint64_t magnitude(num_type t, uint64_t a) { return a & (sign_bit(t) - 1); }
static uint64_t width(num_type t, uint64_t a) { return a & (sign_bit(t) | (sign_bit(t) - 1)); }

bool num_is_nan(num_type t, uint64_t a) { return magnitude(t, a) > infinity(t); }
bool num_is_inf(num_type t, uint64_t a) { return magnitude(t, a) == infinity(t); }
bool num_is_subnormal(num_type t, uint64_t a) {
    uint64_t m = magnitude(t, a);
    return m != 0 && m >> num_format_of(t)->man == 0;
}

uint64_t num_ftz(num_type t, uint64_t a) { return num_is_subnormal(t, a) ? a & sign_bit(t) : width(t, a); }

static uint64_t flushed(num_type t, uint64_t a, unsigned flags) {
    return flags & NUM_FTZ ? num_ftz(t, a) : width(t, a);
}

// "An unspecified NaN" (9.7.3.9-10): canonical, and in f64 the operand made quiet, as on an H200.
static uint64_t nan_result(num_type t, uint64_t a) {
    return t == NUM_F64 ? a | UINT64_C(1) << 51 : num_format_of(t)->nan;
}

uint64_t num_abs(num_type t, uint64_t a, unsigned flags) {
    return num_is_nan(t, a) ? nan_result(t, a) : magnitude(t, flushed(t, a, flags));
}
uint64_t num_neg(num_type t, uint64_t a, unsigned flags) {
    return num_is_nan(t, a) ? nan_result(t, a) : flushed(t, a, flags) ^ sign_bit(t);
}

// Sign-magnitude codes in the order of their values, -0 just below +0.
static int64_t rank(num_type t, uint64_t a) {
    int64_t m = (int64_t)magnitude(t, a);
    return a & sign_bit(t) ? -1 - m : m;
}

static uint64_t pick(num_type t, uint64_t a, uint64_t b, unsigned flags, bool larger) {
    a = flushed(t, a, flags);
    b = flushed(t, b, flags);
    uint64_t sign = (a ^ b) & sign_bit(t), d;
    if (flags & NUM_ABS) {
        a = magnitude(t, a);
        b = magnitude(t, b);
    }
    bool na = num_is_nan(t, a), nb = num_is_nan(t, b);
    if ((na && nb) || (flags & NUM_NAN && (na || nb)))
        return nan_result(t, nb ? b : a);
    if (na || nb)
        d = na ? b : a;
    else
        d = (rank(t, a) > rank(t, b)) == larger ? a : b;
    return flags & NUM_XORSIGN ? magnitude(t, d) | sign : d;
}

uint64_t num_min(num_type t, uint64_t a, uint64_t b, unsigned flags) { return pick(t, a, b, flags, false); }
uint64_t num_max(num_type t, uint64_t a, uint64_t b, unsigned flags) { return pick(t, a, b, flags, true); }
