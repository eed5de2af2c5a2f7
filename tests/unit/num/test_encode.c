// Encoding against the bisection oracle: round trips of every code, every midpoint and its neighbours in
// every mode, random values, and the special cases that PTX 9.7.9.21 states.
#include "../../check.h"
#include "oracle.h"

static const num_type narrow[] = {NUM_F16, NUM_BF16, NUM_E4M3, NUM_E5M2, NUM_E2M3, NUM_E3M2, NUM_E2M1};
static const num_round modes[] = {NUM_RN, NUM_RZ, NUM_RM, NUM_RP, NUM_RNA};
enum { NARROW = 7, MODES = 5 };

static void round_trips(void) {
    for (int i = 0; i < NARROW; i++) {
        num_type t = narrow[i];
        unsigned bits = num_type_bits(t);
        for (uint64_t c = 0; c < UINT64_C(1) << bits; c++) {
            double x = num_decode(t, c);
            for (int m = 0; m < MODES; m++)
                CHECK_EQ(num_encode(t, x, modes[m], 0), isnan(x) ? (bits == 16 ? 0x7fff : 0x7f) : c);
        }
    }
    for (uint64_t c = 0; c < 255; c++) {
        CHECK_EQ(num_encode(NUM_UE8M0, num_decode(NUM_UE8M0, c), NUM_RZ, 0), c);
        CHECK_EQ(num_encode(NUM_UE8M0, num_decode(NUM_UE8M0, c), NUM_RP, 0), c);
    }
    for (uint64_t c = 0; c < 256; c++)
        CHECK_EQ(num_encode(NUM_S2F6, num_decode(NUM_S2F6, c), NUM_RN, 0), c);
}

static void check_one(num_type t, double x) {
    for (int m = 0; m < MODES; m++) {
        CHECK_EQ(num_encode(t, x, modes[m], 0), oracle_encode(t, x, modes[m], false));
        CHECK_EQ(num_encode(t, x, modes[m], NUM_SATFINITE), oracle_encode(t, x, modes[m], true));
    }
}

static void midpoints(num_type t, uint64_t from, uint64_t step) {
    for (uint64_t c = from; c <= oracle_max_code(t); c += step) {
        double lo = (double)oracle_value(t, c), hi = (double)oracle_value(t, c + 1), mid = lo / 2 + hi / 2;
        for (int s = -1; s <= 1; s += 2) {
            check_one(t, s * mid);
            check_one(t, s * nextafter(mid, 0));
            check_one(t, s * nextafter(mid, INFINITY));
            check_one(t, s * nextafter(lo, INFINITY));
            check_one(t, s * nextafter(hi, 0));
        }
    }
}

static void beyond_the_largest(void) {
    for (int i = 0; i < NARROW; i++) {
        num_type t = narrow[i];
        double max = (double)oracle_value(t, oracle_max_code(t)),
               next = (double)oracle_value(t, oracle_max_code(t) + 1);
        const double xs[] = {max, nextafter(max, INFINITY), next, nextafter(next, 0), next * 3, 1e300, 0x1p1023};
        for (unsigned k = 0; k < sizeof xs / sizeof *xs; k++) {
            check_one(t, xs[k]);
            check_one(t, -xs[k]);
        }
    }
}

static void random_values(void) {
    uint64_t state = 42;
    for (int k = 0; k < 40000; k++) {
        double x = num_f64_from_bits(oracle_f64(&state, 1023, 30));
        check_one(narrow[k % NARROW], x);
        check_one(k & 1 ? NUM_TF32 : NUM_F32, num_f64_from_bits(oracle_f64(&state, 1023, 160)));
    }
}

// The host's own conversion is IEEE: f64 -> f32 in .rn.
static void host_agrees(void) {
    uint64_t state = 7;
    for (int k = 0; k < 200000; k++) {
        double x = num_f64_from_bits(oracle_f64(&state, 1023, 180));
        CHECK_EQ(num_encode(NUM_F32, x, NUM_RN, 0), num_f32_bits((float)x));
        CHECK_EQ(num_encode(NUM_F64, x, modes[k % MODES], 0), num_f64_bits(x));
    }
}

static void special_values(void) {
    CHECK_EQ(num_encode(NUM_F16, NAN, NUM_RN, 0), 0x7fff);
    CHECK_EQ(num_encode(NUM_BF16, -NAN, NUM_RN, NUM_SATFINITE), 0x7fff);
    CHECK_EQ(num_encode(NUM_F32, -NAN, NUM_RN, 0), 0x7fffffff);
    CHECK_EQ(num_encode(NUM_TF32, NAN, NUM_RNA, NUM_RELU), 0x7fffe000);
    CHECK_EQ(num_encode(NUM_E4M3, NAN, NUM_RN, NUM_SATFINITE), 0x7f);
    CHECK_EQ(num_encode(NUM_E5M2, NAN, NUM_RN, NUM_SATFINITE | NUM_RELU), 0x7f);
    CHECK_EQ(num_encode(NUM_E2M3, -NAN, NUM_RN, NUM_SATFINITE), 0x1f);
    CHECK_EQ(num_encode(NUM_E3M2, NAN, NUM_RN, NUM_SATFINITE), 0x1f);
    CHECK_EQ(num_encode(NUM_E2M1, -NAN, NUM_RN, NUM_SATFINITE), 0x7);
    CHECK_EQ(num_encode(NUM_F16, INFINITY, NUM_RZ, 0), 0x7c00);
    CHECK_EQ(num_encode(NUM_F16, -INFINITY, NUM_RN, NUM_SATFINITE), 0xfbff);
    CHECK_EQ(num_encode(NUM_E4M3, -INFINITY, NUM_RN, NUM_SATFINITE), 0xfe);
    CHECK_EQ(num_encode(NUM_E4M3, INFINITY, NUM_RN, 0), 0x7f);
    CHECK_EQ(num_encode(NUM_TF32, 0x1.ffffp127, NUM_RN, NUM_SATFINITE), 0x7f7fe000);
    CHECK_EQ(num_encode(NUM_F16, -0.0, NUM_RN, 0), 0x8000);
    CHECK_EQ(num_encode(NUM_F16, -3.0, NUM_RN, NUM_RELU), 0);
    CHECK_EQ(num_encode(NUM_BF16, -INFINITY, NUM_RN, NUM_RELU | NUM_SATFINITE), 0);
    CHECK_EQ(num_encode(NUM_F16, 1e-9, NUM_RP, 0), 1);
    CHECK_EQ(num_encode(NUM_F16, -1e-300, NUM_RM, 0), 0x8001);
    CHECK_EQ(num_encode(NUM_F16, -1e-300, NUM_RP, 0), 0x8000);
    CHECK_EQ(num_encode(NUM_F32, 7.0, NUM_RN, NUM_SAT), 0x3f800000);
    CHECK_EQ(num_encode(NUM_F32, -7.0, NUM_RN, NUM_SAT), 0);
    CHECK_EQ(num_encode(NUM_F32, NAN, NUM_RN, NUM_SAT), 0);
    CHECK_EQ(num_encode(NUM_F16, 0.75, NUM_RN, NUM_SAT), 0x3a00);
    CHECK_EQ(num_encode(NUM_F32, -0x1p-130, NUM_RN, NUM_FTZ), 0x80000000);
    // 1 + 2^-11 + 2^-40 rounds up once; by way of f32 it would tie down to 1.
    CHECK_EQ(num_encode(NUM_F16, 1 + 0x1p-11 + 0x1p-40, NUM_RN, 0), 0x3c01);
}

static void scales(void) {
    const uint64_t z = NUM_RZ, p = NUM_RP;
    CHECK_EQ(num_encode(NUM_UE8M0, 0.0, z, 0), 0);
    CHECK_EQ(num_encode(NUM_UE8M0, 0x1p-140, p, 0), 0);
    CHECK_EQ(num_encode(NUM_UE8M0, 0x1.8p-127, z, 0), 0);
    CHECK_EQ(num_encode(NUM_UE8M0, 0x1.8p-127, p, 0), 1);
    CHECK_EQ(num_encode(NUM_UE8M0, 3.0, z, 0), 128);
    CHECK_EQ(num_encode(NUM_UE8M0, -3.0, p, 0), 129);
    CHECK_EQ(num_encode(NUM_UE8M0, 0x1.8p127, z, 0), 254);
    CHECK_EQ(num_encode(NUM_UE8M0, 0x1.8p127, p, 0), 255);
    CHECK_EQ(num_encode(NUM_UE8M0, 0x1.8p127, p, NUM_SATFINITE), 254);
    CHECK_EQ(num_encode(NUM_UE8M0, -INFINITY, z, 0), 255);
    CHECK_EQ(num_encode(NUM_UE8M0, INFINITY, z, NUM_SATFINITE), 254);
    CHECK_EQ(num_encode(NUM_UE8M0, NAN, z, NUM_SATFINITE), 255);
    CHECK_EQ(num_to_s2f6_scaled(3.0, 128, 0), 0x60);
    CHECK_EQ(num_to_s2f6_scaled(3.0, 127, 0), 0x7f);
    CHECK_EQ(num_to_s2f6_scaled(-1e30, 127, 0), 0x80);
    CHECK_EQ(num_to_s2f6_scaled(-1.0, 127, NUM_RELU), 0);
    CHECK_EQ(num_to_s2f6_scaled(NAN, 127, 0), 0x7f);
    CHECK_EQ(num_to_s2f6_scaled(0x1.8p-6, 127, 0), 2); // 1.5 sixty-fourths: tie to even
    CHECK_EQ(num_s2f6_to_bf16_scaled(0x60, 128, 0), 0x4040);
    CHECK_EQ(num_s2f6_to_bf16_scaled(0x80, 127, NUM_RELU), 0);
}

// Over all random numbers, .rs rounds up exactly as often as the discarded fraction says.
static void stochastic(void) {
    const uint32_t xs[] = {0x3f800001, 0x3f801234, 0xbf80ffff, 0x477fe000, 0x00000123, 0xc2c8aaaa};
    for (unsigned k = 0; k < sizeof xs / sizeof *xs; k++) {
        uint32_t a = xs[k], up = 0;
        for (uint32_t r = 0; r < 65536; r++) {
            uint16_t h = num_f32_to_bf16_rs(a, (uint16_t)r, 0);
            up += h != (uint16_t)(a >> 16);
            CHECK(h == a >> 16 || h == (a >> 16) + 1);
        }
        CHECK_EQ(up, a & 0xffff);
    }
    uint32_t up = 0;
    for (uint32_t r = 0; r < 8192; r++)
        up += num_f32_to_f16_rs(0x3f801234, (uint16_t)r, 0) == 0x3c01;
    CHECK_EQ(up, 0x1234);
    CHECK_EQ(num_f32_to_f16_rs(0x477fffff, 0x1fff, 0), 0x7c00);
    CHECK_EQ(num_f32_to_f16_rs(0x477fffff, 0x1fff, NUM_SATFINITE), 0x7bff);
    CHECK_EQ(num_f32_to_f16_rs(0x7fc00000, 0, 0), 0x7fff);
    CHECK_EQ(num_f32_to_bf16_rs(0xbf80ffff, 0xffff, NUM_RELU), 0);
}

int main(void) {
    round_trips();
    for (int i = 0; i < NARROW; i++)
        midpoints(narrow[i], 0, num_type_bits(narrow[i]) == 16 ? 29 : 1);
    midpoints(NUM_TF32, 1, 257);
    beyond_the_largest();
    random_values();
    host_agrees();
    special_values();
    scales();
    stochastic();
    return check_report();
}
