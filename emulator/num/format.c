// Format descriptors and the rounding of exact values into them (PTX 5.2.3, 6.5, 9.7.9.21).
#include "num/num_core.h"

static const num_format formats[NUM_TYPE_COUNT] = {
    [NUM_F64] = {64, 52, 0, 1023, NUM_SPECIAL_IEEE, UINT64_C(0x7fefffffffffffff), UINT64_C(0x7fffffffffffffff)},
    [NUM_F32] = {32, 23, 0, 127, NUM_SPECIAL_IEEE, 0x7f7fffff, NUM_NAN_F32},
    [NUM_TF32] = {19, 10, 13, 127, NUM_SPECIAL_IEEE, 0x3fbff, 0x7fffe000},
    [NUM_F16] = {16, 10, 0, 15, NUM_SPECIAL_IEEE, 0x7bff, NUM_NAN_F16},
    [NUM_BF16] = {16, 7, 0, 127, NUM_SPECIAL_IEEE, 0x7f7f, NUM_NAN_BF16},
    [NUM_E4M3] = {8, 3, 0, 7, NUM_SPECIAL_NAN_ONLY, 0x7e, 0x7f},
    [NUM_E5M2] = {8, 2, 0, 15, NUM_SPECIAL_IEEE, 0x7b, 0x7f},
    [NUM_E2M3] = {6, 3, 0, 1, NUM_SPECIAL_NONE, 0x1f, 0x1f},
    [NUM_E3M2] = {6, 2, 0, 3, NUM_SPECIAL_NONE, 0x1f, 0x1f},
    [NUM_E2M1] = {4, 1, 0, 1, NUM_SPECIAL_NONE, 0x7, 0x7},
    [NUM_UE8M0] = {8, 0, 0, 127, NUM_SPECIAL_NAN_ONLY, 0xfe, 0xff},
    [NUM_UE4M3] = {7, 3, 0, 7, NUM_SPECIAL_NAN_ONLY, 0x7e, 0x7f},
    [NUM_S2F6] = {8, 0, 0, 0, NUM_SPECIAL_NONE, 0x7f, 0x7f},
};

const num_format *num_format_of(num_type t) { return &formats[t]; }

unsigned num_type_bits(num_type t) { return t == NUM_TF32 ? 32 : formats[t].bits; }

bool num_env_is_default(void) {
    volatile double one = 1.0, tiny = 0x1p-60, least = 0x1p-1074;
    volatile float leastf = 0x1p-149f;
    bool nearest = one + tiny == one && -one - tiny == -one;
    return nearest && least * 1.0 != 0.0 && leastf * 1.0f != 0.0f && 0x1p-1022 * 0.5 * one != 0.0;
}

num_value num_unpack_f64(double x) {
    uint64_t b = num_f64_bits(x), man = b & UINT64_C(0xfffffffffffff);
    int e = (int)(b >> 52 & 0x7ff);
    num_value v = {NUM_CLASS_ZERO, b >> 63, 0, 0};
    if (e == 0x7ff) {
        v.cls = man ? NUM_CLASS_NAN : NUM_CLASS_INF;
    } else if (e) {
        v = (num_value){NUM_CLASS_FINITE, b >> 63, e - 1023, (man | UINT64_C(1) << 52) << 11};
    } else if (man) {
        int z = __builtin_clzll(man);
        v = (num_value){NUM_CLASS_FINITE, b >> 63, -1011 - z, man << z};
    }
    return v;
}

// Whether dropping `rest` of `drop` bits (1..64) rounds the kept magnitude up.
static bool rounds_up(bool sign, bool odd, uint64_t rest, unsigned drop, num_round r) {
    uint64_t half = UINT64_C(1) << (drop - 1);
    switch (r) {
    case NUM_RN:
        return rest > half || (rest == half && odd);
    case NUM_RNA:
        return rest >= half;
    case NUM_RZ:
        return false;
    case NUM_RM:
        return sign && rest;
    case NUM_RP:
        return !sign && rest;
    }
    return false;
}

// .rs (9.7.9.21): the carry out of rbits + the discarded bits, rbits aligned with the topmost of them.
static bool carries(uint64_t rest, unsigned drop, uint32_t rbits, unsigned width) {
    num_u128 add = (num_u128)(rbits & ((UINT32_C(1) << width) - 1)) << 64 >> width;
    num_u128 low = (num_u128)rest << 64 >> drop;
    return (low + add) >> 64;
}

// The code, without sign, of a magnitude that exceeds the largest finite one.
static uint64_t overflow(const num_format *f, bool sign, num_round r, unsigned flags, bool stochastic) {
    bool away = stochastic || r == NUM_RN || r == NUM_RNA || (r == NUM_RP && !sign) || (r == NUM_RM && sign);
    if (f->special == NUM_SPECIAL_NONE || flags & NUM_SATFINITE || !away)
        return f->max_finite;
    return f->max_finite + 1; // infinity, and in e4m3 its NaN
}

// Magnitude code of a finite value.
static uint64_t pack_magnitude(const num_format *f, num_value v, num_round r, unsigned flags, uint32_t rbits,
                               unsigned width) {
    int least = 1 - f->bias; // exponent of the smallest normal number
    int most = (int)(f->max_finite >> f->man) - f->bias;
    if (v.exp > most)
        return overflow(f, v.sign, r, flags, width > 0);
    unsigned drop = 63 - f->man, below = v.exp < least ? (unsigned)(least - v.exp) : 0;
    if (drop + below > 64) { // less than half of the smallest subnormal: only whether it is nonzero counts
        v.sig = width && drop + below < 96 ? v.sig >> (drop + below - 64) : 1;
        drop = 64;
    } else {
        drop += below;
    }
    uint64_t kept = drop == 64 ? 0 : v.sig >> drop;
    uint64_t rest = drop == 64 ? v.sig : v.sig & ((UINT64_C(1) << drop) - 1);
    bool up = width ? carries(rest, drop, rbits, width) : rounds_up(v.sign, kept & 1, rest, drop, r);
    uint64_t code = kept + up;
    if (v.exp >= least)
        code += (uint64_t)(v.exp - least) << f->man; // kept's leading one adds 1 to the exponent field
    return code > f->max_finite ? overflow(f, v.sign, r, flags, width > 0) : code;
}

static bool flushes(const num_format *f, unsigned flags) {
    return flags & NUM_FTZ_RESULT || (flags & NUM_FTZ && f->bits == 32);
}

// What .ftz flushes: results below the smallest normal number after a rounding to full precision, as if the
// exponent had no lower end (IEEE 754's tininess after rounding; seen so on an H200).
static bool is_tiny(const num_format *f, num_value v, num_round r) {
    int least = 1 - f->bias;
    if (v.exp != least - 1)
        return v.exp < least;
    unsigned drop = 63 - f->man;
    uint64_t kept = v.sig >> drop, rest = v.sig & ((UINT64_C(1) << drop) - 1);
    bool up = rounds_up(v.sign, kept & 1, rest, drop, r);
    return (kept + up) >> (f->man + 1) == 0;
}

uint64_t num_pack(const num_format *f, num_value v, num_round r, unsigned flags, uint32_t rbits, unsigned width) {
    if (v.cls == NUM_CLASS_NAN)
        return flags & NUM_SAT ? 0 : f->nan;
    if (v.sign && flags & (NUM_RELU | NUM_SAT))
        return 0;
    uint64_t code = 0;
    if (v.cls == NUM_CLASS_INF)
        code = overflow(f, v.sign, NUM_RN, flags, false);
    else if (v.cls == NUM_CLASS_FINITE && !(flushes(f, flags) && is_tiny(f, v, r)))
        code = pack_magnitude(f, v, r, flags, rbits, width);
    uint64_t one = (uint64_t)f->bias << f->man;
    if (flags & NUM_SAT && code > one)
        code = one;

    if (f->special == NUM_SPECIAL_NAN_ONLY && code > f->max_finite)
        return f->nan;
    return (code | (v.sign ? UINT64_C(1) << (f->bits - 1) : 0)) << f->shift;
}

// ue8m0: the magnitude rounded to a power of two, down or up (9.7.9.21; values at or below 2^-127 give code
// 0).
static uint64_t encode_ue8m0(double x, num_round r, unsigned flags) {
    num_value v = num_unpack_f64(x);
    bool sat = flags & NUM_SATFINITE;
    if (v.cls == NUM_CLASS_NAN)
        return 0xff;
    if (v.cls == NUM_CLASS_ZERO)
        return 0;
    int e = v.cls == NUM_CLASS_INF ? 1000 : v.exp;
    if (v.cls == NUM_CLASS_FINITE && r == NUM_RP && v.sig << 1)
        e++;
    if (e < -127)
        return 0;
    return e > 127 ? (sat ? 0xfe : 0xff) : (uint64_t)(e + 127);
}

// s2f6 of sixty-fourths, ties to even, clamped to s8 (5.2.4, 9.7.9.21).
static uint8_t encode_s2f6(double x, num_round r, unsigned flags) {
    if (x != x)
        return 0x7f;
    if (num_f64_bits(x) >> 63 && flags & NUM_RELU)
        return 0;
    if (x >= 2.0 || x < -3.0)
        return x > 0 ? 0x7f : 0x80;
    uint64_t n = num_cvt_fi(NUM_S8, NUM_F64, num_f64_bits(x * 64.0), r, 0);
    return (uint8_t)n;
}

uint64_t num_encode(num_type t, double x, num_round r, unsigned flags) {
    if (t == NUM_UE8M0)
        return encode_ue8m0(x, r, flags);
    if (t == NUM_S2F6)
        return encode_s2f6(x, r, flags);
    if (t == NUM_UE4M3)
        return formats[t].nan;
    return num_pack(&formats[t], num_unpack_f64(x), r, flags, 0, 0);
}

uint16_t num_f32_to_f16_rs(uint32_t a, uint16_t rbits, unsigned flags) {
    num_value v = num_unpack_f64((double)num_f32_from_bits(a));
    return (uint16_t)num_pack(&formats[NUM_F16], v, NUM_RZ, flags, rbits, 13);
}

uint16_t num_f32_to_bf16_rs(uint32_t a, uint16_t rbits, unsigned flags) {
    num_value v = num_unpack_f64((double)num_f32_from_bits(a));
    return (uint16_t)num_pack(&formats[NUM_BF16], v, NUM_RZ, flags, rbits, 16);
}

uint8_t num_to_s2f6_scaled(double x, uint8_t scale, unsigned flags) {
    return encode_s2f6(x / num_decode(NUM_UE8M0, scale), NUM_RN, flags);
}

uint16_t num_s2f6_to_bf16_scaled(uint8_t code, uint8_t scale, unsigned flags) {
    return (uint16_t)num_encode(NUM_BF16, num_decode(NUM_S2F6, code) * num_decode(NUM_UE8M0, scale), NUM_RN, flags);
}
