// The approximations: the special values of the ISA's tables, and the error bounds it states, against long
// double.
#include "../../check.h"
#include "oracle.h"

static const uint32_t pinf = 0x7f800000, ninf = 0xff800000, pzero = 0, nzero = 0x80000000, one = 0x3f800000;
static const uint32_t nan32 = NUM_NAN_F32, subnormal = 0x00000123, nsubnormal = 0x80000123;

static void tables(void) {
    CHECK_EQ(num_rcp_approx_f32(ninf, 0), nzero);
    CHECK_EQ(num_rcp_approx_f32(nzero, 0), ninf);
    CHECK_EQ(num_rcp_approx_f32(pzero, 0), pinf);
    CHECK_EQ(num_rcp_approx_f32(nsubnormal, NUM_FTZ), ninf);
    CHECK_EQ(num_rcp_approx_f32(0x7f000000, 0), 0x00400000);
    CHECK_EQ(num_rcp_approx_f32(0x7f000000, NUM_FTZ), 0);
    CHECK_EQ(num_sqrt_approx_f32(ninf, 0), nan32);
    CHECK_EQ(num_sqrt_approx_f32(0xbf800000, 0), nan32);
    CHECK_EQ(num_sqrt_approx_f32(nzero, 0), nzero);
    CHECK_EQ(num_sqrt_approx_f32(nsubnormal, NUM_FTZ), nzero);
    CHECK_EQ(num_rsqrt_approx_f32(nzero, 0), ninf);
    CHECK_EQ(num_rsqrt_approx_f32(pzero, 0), pinf);
    CHECK_EQ(num_rsqrt_approx_f32(pinf, 0), pzero);
    CHECK_EQ(num_rsqrt_approx_f32(0xbf800000, 0), nan32);
    CHECK_EQ(num_rsqrt_approx_f32(subnormal, NUM_FTZ), pinf);
    CHECK_EQ(num_sin_approx_f32(pinf, 0), nan32);
    CHECK_EQ(num_sin_approx_f32(nzero, 0), nzero);
    CHECK_EQ(num_sin_approx_f32(nsubnormal, NUM_FTZ), nzero);
    CHECK_EQ(num_cos_approx_f32(ninf, 0), nan32);
    CHECK_EQ(num_cos_approx_f32(nzero, 0), one);
    CHECK_EQ(num_lg2_approx_f32(nzero, 0), ninf);
    CHECK_EQ(num_lg2_approx_f32(pzero, 0), ninf);
    CHECK_EQ(num_lg2_approx_f32(subnormal, NUM_FTZ), ninf);
    CHECK_EQ(num_lg2_approx_f32(0xbf800000, 0), nan32);
    CHECK_EQ(num_lg2_approx_f32(ninf, 0), nan32);
    CHECK_EQ(num_lg2_approx_f32(0x41000000, 0), 0x40400000);
    CHECK_EQ(num_ex2_approx_f32(ninf, 0), pzero);
    CHECK_EQ(num_ex2_approx_f32(pinf, 0), pinf);
    CHECK_EQ(num_ex2_approx_f32(nzero, 0), one);
    CHECK_EQ(num_ex2_approx_f32(0xc3000000, 0), 0x00200000); // 2^-128
    CHECK_EQ(num_ex2_approx_f32(0xc3000000, NUM_FTZ), 0);
    CHECK_EQ(num_ex2_approx_f32(0x40400000, 0), 0x41000000);
    CHECK_EQ(num_tanh_approx_f32(ninf), 0xbf800000);
    CHECK_EQ(num_tanh_approx_f32(nzero), nzero);
    CHECK_EQ(num_tanh_approx_f32(nsubnormal), nsubnormal);
    CHECK_EQ(num_tanh_approx_f32(0x7fc00001), nan32);
}

static void divisions(void) {
    CHECK_EQ(num_div_approx_f32(0x40400000, 0x40000000, 0), 0x3fc00000);
    CHECK_EQ(num_div_approx_f32(0x7f000000, 0xfe800001, 0), nzero); // |b| > 2^126
    CHECK_EQ(num_div_approx_f32(0xff000000, 0xff000000, 0), pzero);
    CHECK_EQ(num_div_approx_f32(pinf, 0x7f000000, 0), nan32);
    CHECK_EQ(num_div_approx_f32(0x7fc00000, 0x7f000000, 0), nan32);
    CHECK_EQ(num_div_approx_f32(0x7e800000, 0x7e800000, 0), one); // |b| = 2^126 still divides
    CHECK_EQ(num_div_full_f32(0x7f000000, 0x7f000000, 0), one);
    CHECK_EQ(num_div_full_f32(one, nsubnormal, NUM_FTZ), ninf);
}

static void doubles(void) {
    const uint64_t nan = UINT64_C(0x7fffffff00000000);
    CHECK_EQ(num_rcp_approx_ftz_f64(num_f64_bits(4.0)), num_f64_bits(0.25));
    CHECK_EQ(num_rcp_approx_ftz_f64(num_f64_bits(-0.0)), num_f64_bits(-INFINITY));
    CHECK_EQ(num_rcp_approx_ftz_f64(num_f64_bits(-0x1p-1060)), num_f64_bits(-INFINITY));
    CHECK_EQ(num_rcp_approx_ftz_f64(num_f64_bits(0x1p1023)), 0);
    CHECK_EQ(num_rcp_approx_ftz_f64(num_f64_bits(-INFINITY)), num_f64_bits(-0.0));
    CHECK_EQ(num_rcp_approx_ftz_f64(UINT64_C(0x7ff8000000000000)), nan);
    CHECK_EQ(num_rsqrt_approx_ftz_f64(UINT64_C(0x7ff0000000000001)), 0); // an infinity in its upper word
    CHECK_EQ(num_rsqrt_approx_ftz_f64(num_f64_bits(16.0)), num_f64_bits(0.25));
    CHECK_EQ(num_rsqrt_approx_ftz_f64(num_f64_bits(-1.0)), nan);
    CHECK_EQ(num_rsqrt_approx_ftz_f64(num_f64_bits(-0x1p-1050)), num_f64_bits(-INFINITY));
    CHECK_EQ(num_rsqrt_approx_f64(num_f64_bits(16.0)), num_f64_bits(0.25));
    CHECK_EQ(num_rsqrt_approx_f64(num_f64_bits(-16.0)), NUM_NAN_F64);
    uint64_t s = 11;
    for (int k = 0; k < 10000; k++) {
        uint64_t a = oracle_f64(&s, 1023, 200), hi = a & UINT64_C(0xffffffff00000000);
        uint64_t r = num_rcp_approx_ftz_f64(a);
        CHECK_EQ(r & UINT32_MAX, 0);
        CHECK_NEAR(num_f64_from_bits(r) * num_f64_from_bits(hi), 1.0, 0x1p-19);
    }
}

static double f32(uint32_t b) { return (double)num_f32_from_bits(b); }

static void bounds(void) {
    uint64_t s = 12;
    for (int k = 0; k < 60000; k++) {
        uint32_t a = oracle_f32(&s, 127, 30), p = a & INT32_MAX, small = oracle_f32(&s, 122, 7);
        long double x = f32(p), y = f32(small);
        CHECK_NEAR(f32(num_rcp_approx_f32(p, 0)) * (double)x, 1.0, 0x1p-23);
        CHECK_NEAR(f32(num_sqrt_approx_f32(p, 0)) / (double)sqrtl(x), 1.0, 0x1p-23);
        CHECK_NEAR(f32(num_rsqrt_approx_f32(p, 0)) * (double)sqrtl(x), 1.0, exp2(-22.9));
        CHECK_NEAR(f32(num_ex2_approx_f32(small, 0)) / (double)exp2l(y), 1.0, 0x1p-22);
        CHECK_NEAR(f32(num_sin_approx_f32(small, 0)), (double)sinl(y), exp2(-20.5));
        CHECK_NEAR(f32(num_cos_approx_f32(small, 0)), (double)cosl(y), exp2(-20.5));
        CHECK_NEAR(f32(num_tanh_approx_f32(small)) / (double)tanhl(y), 1.0, 0x1p-11);
        double lg = (double)log2l(x), tolerance = x > 0.5L && x < 2 ? 0x1p-22 : fabs(lg) * 0x1p-22;
        CHECK_NEAR(f32(num_lg2_approx_f32(p, 0)), lg, tolerance);
    }
}

static void halves(void) {
    CHECK_EQ(num_ex2_approx_h(NUM_F16, 0xfc00, 0), 0);
    CHECK_EQ(num_ex2_approx_h(NUM_F16, 0x8000, 0), 0x3c00);
    CHECK_EQ(num_ex2_approx_h(NUM_F16, 0xce00, 0), 0x0001); // 2^-24
    CHECK_EQ(num_ex2_approx_h(NUM_BF16, 0x8001, NUM_FTZ), 0x3f80);
    CHECK_EQ(num_ex2_approx_h(NUM_BF16, 0xc300, NUM_FTZ), 0); // 2^-128
    CHECK_EQ(num_ex2_approx_h(NUM_BF16, 0x7fc0, NUM_FTZ), NUM_NAN_BF16);
    CHECK_EQ(num_tanh_approx_h(NUM_F16, 0xfc00), 0xbc00);
    CHECK_EQ(num_tanh_approx_h(NUM_BF16, 0x8000), 0x8000);
    for (uint32_t c = 0; c < 0x7c00; c++) {
        double t = num_decode(NUM_F16, num_tanh_approx_h(NUM_F16, (uint16_t)c));
        CHECK_NEAR(t, (double)tanhl((long double)num_decode(NUM_F16, c)), exp2(-10.987));
    }
}

int main(void) {
    tables();
    divisions();
    doubles();
    bounds();
    halves();
    return check_report();
}
