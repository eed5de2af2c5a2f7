// cvt between floating-point and integer types (PTX 9.7.9.21) against wide integer and 113-bit arithmetic.
#include "../../check.h"
#include "oracle.h"

__extension__ typedef __int128 wide;

static const num_round modes[] = {NUM_RN, NUM_RZ, NUM_RM, NUM_RP};
static const num_type floats[] = {NUM_F16, NUM_BF16, NUM_F32, NUM_F64};

// As the types are numbered: u8, s8, u16, ...
static unsigned int_bits(num_int t) { return 8u << (t / 2); }
static bool int_is_signed(num_int t) { return t & 1; }

static wide least(num_int t) { return int_is_signed(t) ? -((wide)1 << (int_bits(t) - 1)) : 0; }
static wide most(num_int t) { return ((wide)1 << (int_bits(t) - int_is_signed(t))) - 1; }

// Integer that x rounds to, |x| < 2^100; found from the truncated value and the exact rest.
static wide to_integer(double x, num_round r) {
    wide n = (wide)x;
    double rest = fabs(x - (double)n); // exact: n is 0 or within a factor of two of x
    int away = x < 0 ? -1 : 1;
    switch (r) {
    case NUM_RN:
        return rest > 0.5 || (rest == 0.5 && n % 2 != 0) ? n + away : n;
    case NUM_RM:
        return rest > 0 && x < 0 ? n - 1 : n;
    case NUM_RP:
        return rest > 0 && x > 0 ? n + 1 : n;
    default:
        return n;
    }
}

static void float_to_int(num_type t, uint64_t code) {
    double x = num_decode(t, code);
    if (isnan(x))
        return;
    double bounded = fmax(-0x1p100, fmin(0x1p100, x));
    for (int i = 0; i < NUM_INT_COUNT; i++) {
        for (int m = 0; m < 4; m++) {
            wide n = to_integer(bounded, modes[m]), lo = least(i), hi = most(i);
            n = n < lo ? lo : n > hi ? hi : n;
            CHECK_EQ(num_cvt_fi((num_int)i, t, code, modes[m], 0), (uint64_t)n);
        }
    }
}

static void floats_to_ints(void) {
    uint64_t s = 5;
    for (uint32_t c = 0; c < 65536; c += 7) {
        float_to_int(NUM_F16, c);
        float_to_int(NUM_BF16, c);
    }
    for (int k = 0; k < 8000; k++) {
        float_to_int(NUM_F32, oracle_f32(&s, 127 + k % 70, 4));
        float_to_int(NUM_F64, oracle_f64(&s, 1023 + k % 70, 4));
    }
    for (int i = 0; i < NUM_INT_COUNT; i++) { // the ends of each range, and just outside
        double ends[] = {(double)most((num_int)i), (double)least((num_int)i)};
        for (int e = 0; e < 2; e++) {
            for (double d = -1; d <= 1; d += 0.25)
                float_to_int(NUM_F64, num_f64_bits(ends[e] + d));
            float_to_int(NUM_F64, num_f64_bits(nextafter(ends[e], INFINITY)));
            float_to_int(NUM_F64, num_f64_bits(nextafter(ends[e], -INFINITY)));
        }
    }
}

static void nan_to_int(void) {
    const uint64_t f16 = 0x7e00, f32 = 0xffc00000, f64 = 0x7ff8000000000000;
    CHECK_EQ(num_cvt_fi(NUM_S32, NUM_F32, f32, NUM_RZ, 0), 0);
    CHECK_EQ(num_cvt_fi(NUM_U8, NUM_F16, f16, NUM_RZ, 0), 0);
    CHECK_EQ(num_cvt_fi(NUM_S64, NUM_F32, f32, NUM_RZ, 0), UINT64_C(1) << 63);
    CHECK_EQ(num_cvt_fi(NUM_U64, NUM_F16, f16, NUM_RZ, 0), UINT64_C(1) << 63);
    CHECK_EQ(num_cvt_fi(NUM_U32, NUM_F64, f64, NUM_RN, 0), 0x80000000);
    CHECK_EQ(num_cvt_fi(NUM_S32, NUM_F64, f64, NUM_RN, 0), (uint64_t)INT32_MIN);
    CHECK_EQ(num_cvt_fi(NUM_S8, NUM_F64, f64, NUM_RN, 0), (uint64_t)INT8_MIN);
    CHECK_EQ(num_cvt_fi(NUM_S32, NUM_F32, 0x80000001, NUM_RM, 0), (uint64_t)-1);
    CHECK_EQ(num_cvt_fi(NUM_S32, NUM_F32, 0x80000001, NUM_RM, NUM_FTZ), 0);
    CHECK_EQ(num_cvt_fi(NUM_S16, NUM_F32, 0xff800000, NUM_RM, 0), (uint64_t)INT16_MIN);
}

static void int_to_float(num_int i, uint64_t bits) {
    unsigned up = 128 - int_bits(i);
    __extension__ unsigned __int128 raised = (unsigned __int128)bits << up;
    wide n = int_is_signed(i) ? (wide)raised >> up : (wide)(raised >> up);
    for (int f = 0; f < 4; f++) {
        for (int m = 0; m < 4; m++) {
            oracle_sum x = {(quad)n, 0};
            uint64_t want = n ? oracle_code(floats[f], &x, oracle_cmp_sum, n < 0, modes[m], false) : 0;
            CHECK_EQ(num_cvt_if(floats[f], i, bits, modes[m], 0), want);
        }
    }
}

static void ints_to_floats(void) {
    uint64_t s = 6;
    for (uint32_t v = 0; v < 256; v++) {
        int_to_float(NUM_U8, v);
        int_to_float(NUM_S8, v | 0xabc00);
    }
    for (int k = 0; k < 1500; k++) {
        uint64_t w = oracle_random(&s) >> (k & 63);
        for (int i = NUM_U16; i < NUM_INT_COUNT; i++)
            int_to_float((num_int)i, k & 64 ? ~w : w);
    }
    CHECK_EQ(num_cvt_if(NUM_F16, NUM_U32, 70000, NUM_RN, 0), 0x7c00);
    CHECK_EQ(num_cvt_if(NUM_F16, NUM_U32, 70000, NUM_RZ, 0), 0x7bff);
    CHECK_EQ(num_cvt_if(NUM_F32, NUM_S32, 7, NUM_RN, NUM_SAT), 0x3f800000);
}

static void ints_to_ints(void) {
    uint64_t s = 8;
    for (int k = 0; k < 3000; k++) {
        uint64_t w = oracle_random(&s) >> (k & 63);
        w = k & 64 ? ~w : w;
        for (int a = 0; a < NUM_INT_COUNT; a++) {
            for (int d = 0; d < NUM_INT_COUNT; d++) {
                unsigned up = 128 - int_bits((num_int)a), down = 64 - int_bits((num_int)d);
                __extension__ unsigned __int128 raised = (unsigned __int128)w << up;
                wide n = int_is_signed((num_int)a) ? (wide)raised >> up : (wide)(raised >> up);
                wide lo = least((num_int)d), hi = most((num_int)d), sat = n < lo ? lo : n > hi ? hi : n;
                uint64_t chop = (uint64_t)n << down;
                chop = int_is_signed((num_int)d) ? (uint64_t)((int64_t)chop >> down) : chop >> down;
                CHECK_EQ(num_cvt_ii((num_int)d, (num_int)a, w, 0), chop);
                CHECK_EQ(num_cvt_ii((num_int)d, (num_int)a, w, NUM_SAT), (uint64_t)sat);
            }
        }
    }
}

static void integral_values(void) {
    for (uint32_t c = 0; c < 65536; c++) {
        double x = num_decode(NUM_F16, c);
        for (int m = 0; m < 4; m++) {
            uint64_t got = num_cvt_round(NUM_F16, c, modes[m], 0), sign = c & 0x8000;
            if (isfinite(x)) {
                double want = fabs((double)to_integer(x, modes[m]));
                CHECK(fabs(num_decode(NUM_F16, got)) == want && (got & 0x8000) == sign);
            } else {
                CHECK_EQ(got, isnan(x) ? 0x7fff : c);
            }
        }
    }
    CHECK_EQ(num_cvt_round(NUM_F32, 0x3fc00000, NUM_RN, 0), 0x40000000); // 1.5 -> 2
    CHECK_EQ(num_cvt_round(NUM_F32, 0x40200000, NUM_RN, 0), 0x40000000); // 2.5 -> 2
    CHECK_EQ(num_cvt_round(NUM_F32, 0x00000001, NUM_RP, 0), 0x3f800000);
    CHECK_EQ(num_cvt_round(NUM_F32, 0x00000001, NUM_RP, NUM_FTZ), 0);
    CHECK_EQ(num_cvt_round(NUM_F32, 0xc0200000, NUM_RN, NUM_SAT), 0);
    CHECK_EQ(num_cvt_round(NUM_F64, num_f64_bits(-0.25), NUM_RP, 0), UINT64_C(1) << 63);
    CHECK_EQ(num_cvt_round(NUM_BF16, 0x4049, NUM_RM, 0), 0x4040);
}

static void float_to_float(void) {
    CHECK_EQ(num_cvt_ff(NUM_F16, NUM_F64, num_f64_bits(1 + 0x1p-11 + 0x1p-50), NUM_RN, 0), 0x3c01);
    CHECK_EQ(num_cvt_ff(NUM_F32, NUM_F16, 0x0001, NUM_RN, 0), 0x33800000);
    CHECK_EQ(num_cvt_ff(NUM_F32, NUM_F16, 0x7e01, NUM_RN, 0), NUM_NAN_F32);
    CHECK_EQ(num_cvt_ff(NUM_F32, NUM_BF16, 0x8040, NUM_RN, 0), 0x80400000);
    CHECK_EQ(num_cvt_ff(NUM_F32, NUM_BF16, 0x8040, NUM_RN, NUM_FTZ), 0x80000000);
    CHECK_EQ(num_cvt_ff(NUM_F16, NUM_F32, 0x00000001, NUM_RP, 0), 0x0001);
    CHECK_EQ(num_cvt_ff(NUM_F16, NUM_F32, 0x00000001, NUM_RP, NUM_FTZ), 0);
    CHECK_EQ(num_cvt_ff(NUM_F16, NUM_E4M3, 0x7e, NUM_RN, 0), 0x5f00);
    CHECK_EQ(num_cvt_ff(NUM_F16, NUM_E5M2, 0xfc, NUM_RN, NUM_RELU), 0);
    CHECK_EQ(num_cvt_ff(NUM_F16, NUM_E2M1, 0x0f, NUM_RN, 0), 0xc600);
    CHECK_EQ(num_cvt_ff(NUM_BF16, NUM_UE8M0, 0, NUM_RN, 0), 0x0040);
    CHECK_EQ(num_cvt_ff(NUM_BF16, NUM_UE8M0, 255, NUM_RN, 0), 0x7fff);
    CHECK_EQ(num_cvt_ff(NUM_E4M3, NUM_F16, 0x7bff, NUM_RN, NUM_SATFINITE), 0x7e);
    CHECK_EQ(num_cvt_ff(NUM_F32, NUM_F64, 0xfff8000000012345, NUM_RN, 0), 0xffc00000);
    CHECK_EQ(num_cvt_ff(NUM_F16, NUM_F64, 0x7ff0000000000001, NUM_RN, 0), 0x7e00);
    CHECK_EQ(num_cvt_ff(NUM_F64, NUM_F16, 0x7c01, NUM_RN, 0), 0x7ff8040000000000);
    CHECK_EQ(num_cvt_ff(NUM_F64, NUM_F32, 0x7f800001, NUM_RN, 0), 0x7ff8000020000000);
    CHECK_EQ(num_cvt_ff(NUM_F64, NUM_F32, 0x7f800001, NUM_RN, NUM_FTZ), 0x7fffffffe0000000);
    CHECK_EQ(num_cvt_ff(NUM_F32, NUM_BF16, 0x7f81, NUM_RN, 0), 0x7f810000);
    CHECK_EQ(num_cvt_ff(NUM_F32, NUM_F64, 0x7ff8000000000000, NUM_RN, NUM_SAT), 0);
    CHECK_EQ(num_cvt_round(NUM_F64, 0x7ff0000000000001, NUM_RN, 0), 0x7ff8000000000001);
    CHECK_EQ(num_cvt_ff(NUM_F32, NUM_F32, 0x40000000, NUM_RN, NUM_SAT), 0x3f800000);
}

int main(void) {
    floats_to_ints();
    nan_to_int();
    ints_to_floats();
    ints_to_ints();
    integral_values();
    float_to_float();
    return check_report();
}
