// cvt between formats and integers (PTX 6.5, 9.7.9.21).
#include <math.h>

#include "num/num_core.h"

static unsigned int_bits(num_int t) { return 8u << (t / 2); }
static bool int_is_signed(num_int t) { return t & 1; }

// Low `bits` bits of v, extended to 64 by the type's signedness.
static uint64_t extend(num_int t, uint64_t v) {
    unsigned up = 64 - int_bits(t);
    v <<= up;
    return int_is_signed(t) && v >> 63 ? ~(~v >> up) : v >> up;
}
static uint64_t int_max(num_int t) { return UINT64_MAX >> (64 - int_bits(t) + int_is_signed(t)); }
static uint64_t int_min(num_int t) { return int_is_signed(t) ? ~int_max(t) : 0; }

static uint64_t source_bits(num_type src, uint64_t a, unsigned flags) {
    return src == NUM_F32 && flags & NUM_FTZ ? num_ftz(NUM_F32, a & UINT32_MAX) : a;
}

// What cvt makes of a NaN where one side is f64: sign and payload (its upper bits) stay, the quiet bit is
// set; .ftz makes an f32 source canonical first. Between the narrower types the result is canonical, but
// bf16 -> f32 only appends zeros. 9.7.9.21 leaves all of this open; it is what an H200 does.
static uint64_t convert_nan(num_type dst, num_type src, uint64_t a, unsigned flags) {
    if (src == NUM_BF16 && dst == NUM_F32 && !(flags & NUM_FTZ))
        return (a & UINT16_MAX) << 16;
    bool wide = src == NUM_F64 || dst == NUM_F64;
    bool ieee = dst == NUM_F64 || dst == NUM_F32 || dst == NUM_F16 || dst == NUM_BF16;
    if (!wide || !ieee)
        return num_encode(dst, (double)NAN, NUM_RN, 0);
    if (src == NUM_F32 && flags & NUM_FTZ)
        a = NUM_NAN_F32;
    const num_format *from = num_format_of(src), *to = num_format_of(dst);
    uint64_t payload = (a & ((UINT64_C(1) << from->man) - 1)) << (52 - from->man) >> (52 - to->man);
    uint64_t sign = a >> (from->bits - 1) & 1, quiet = UINT64_C(1) << (to->man - 1);
    return sign << (to->bits - 1) | (to->max_finite + 1) | quiet | payload;
}

uint64_t num_cvt_ff(num_type dst, num_type src, uint64_t a, num_round r, unsigned flags) {
    double x = num_decode(src, source_bits(src, a, flags));
    return x != x && !(flags & NUM_SAT) ? convert_nan(dst, src, a, flags) : num_encode(dst, x, r, flags);
}

static double round_integral(double x, num_round r) {
    switch (r) {
    case NUM_RN:
        return rint(x);
    case NUM_RZ:
        return trunc(x);
    case NUM_RM:
        return floor(x);
    case NUM_RP:
        return ceil(x);
    case NUM_RNA:
        return round(x);
    }
    return x;
}

uint64_t num_cvt_round(num_type t, uint64_t a, num_round r, unsigned flags) {
    double x = num_decode(t, source_bits(t, a, flags));
    return x != x ? num_cvt_ff(t, t, a, r, flags) : num_encode(t, round_integral(x, r), NUM_RZ, flags);
}

uint64_t num_cvt_fi(num_int dst, num_type src, uint64_t a, num_round r, unsigned flags) {
    double x = num_decode(src, source_bits(src, a, flags));
    unsigned bits = int_bits(dst);
    if (x != x)
        return src != NUM_F64 && bits != 64 ? 0 : extend(dst, UINT64_C(1) << (bits - 1));
    x = round_integral(x, r);
    double limit = ldexp(1.0, (int)(bits - int_is_signed(dst))); // MAXINT + 1, exact
    if (x >= limit)
        return int_max(dst);
    if (int_is_signed(dst))
        return x < -limit ? int_min(dst) : (uint64_t)(int64_t)x;
    return x < 0 ? 0 : (uint64_t)x;
}

uint64_t num_cvt_if(num_type dst, num_int src, uint64_t a, num_round r, unsigned flags) {
    uint64_t v = extend(src, a);
    num_value x = {NUM_CLASS_ZERO, false, 0, 0};
    if (v) {
        bool sign = int_is_signed(src) && v >> 63;
        uint64_t mag = sign ? 0 - v : v;
        int z = __builtin_clzll(mag);
        x = (num_value){NUM_CLASS_FINITE, sign, 63 - z, mag << z};
    }
    return num_pack(num_format_of(dst), x, r, flags, 0, 0);
}

uint64_t num_cvt_ii(num_int dst, num_int src, uint64_t a, unsigned flags) {
    uint64_t v = extend(src, a);
    if (flags & NUM_SAT) {
        bool negative = int_is_signed(src) && v >> 63;
        if (negative) // compared as two's complement: above INT64_MIN means a larger value
            v = v < int_min(dst) || !int_is_signed(dst) ? int_min(dst) : v;
        else
            v = v > int_max(dst) ? int_max(dst) : v;
    }
    return extend(dst, v);
}
