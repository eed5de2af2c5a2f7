// f32, f64, f16 and bf16 arithmetic in every rounding mode against exact 113-bit sums, products, quotients
// and roots.
#include "../../check.h"
#include "oracle.h"

static const num_round modes[] = {NUM_RN, NUM_RZ, NUM_RM, NUM_RP};

typedef struct ratio { // |a| / |b|
    quad a, b;
} ratio;
static int cmp_ratio(const void *p, quad v) {
    const ratio *x = p;
    return oracle_sign(x->a - v * x->b); // 53 + 54 bits: exact
}
static int cmp_root(const void *p, quad v) {
    const quad *x = p;
    return oracle_sign(*x - v * v);
}
static quad mag(quad x) { return x < 0 ? -x : x; }

// The code of a * b + c; an exact zero of opposite terms is -0 in .rm alone.
static uint64_t fma_oracle(num_type t, double a, double b, double c, num_round r) {
    quad p = (quad)a * (quad)b;
    oracle_sum s = oracle_add(p, (quad)c);
    if (s.s == 0) {
        bool np = signbit(a) != signbit(b), nc = signbit(c), minus = np == nc ? np : r == NUM_RM;
        return (uint64_t)minus << (num_type_bits(t) - 1);
    }
    return oracle_code(t, &s, oracle_cmp_sum, s.s < 0, r, false);
}

static uint64_t mul_oracle(num_type t, double a, double b, num_round r) {
    return fma_oracle(t, a, b, signbit(a) != signbit(b) ? -0.0 : 0.0, r);
}

static uint64_t div_oracle(num_type t, double a, double b, num_round r) {
    ratio q = {mag((quad)a), mag((quad)b)};
    return oracle_code(t, &q, cmp_ratio, (a < 0) != (b < 0), r, false);
}

static uint64_t sqrt_oracle(num_type t, double a, num_round r) {
    quad x = (quad)a;
    return oracle_code(t, &x, cmp_root, false, r, false);
}

static void f32_in_every_mode(uint32_t a, uint32_t b, uint32_t c) {
    double x = (double)num_f32_from_bits(a), y = (double)num_f32_from_bits(b), z = (double)num_f32_from_bits(c);
    for (int m = 0; m < 4; m++) {
        num_round r = modes[m];
        CHECK_EQ(num_add_f32(a, b, r, 0), fma_oracle(NUM_F32, x, 1.0, y, r));
        CHECK_EQ(num_sub_f32(a, b, r, 0), fma_oracle(NUM_F32, x, 1.0, -y, r));
        CHECK_EQ(num_mul_f32(a, b, r, 0), mul_oracle(NUM_F32, x, y, r));
        CHECK_EQ(num_fma_f32(a, b, c, r, 0), fma_oracle(NUM_F32, x, y, z, r));
        if (x != 0 && y != 0) {
            CHECK_EQ(num_div_f32(a, b, r, 0), div_oracle(NUM_F32, x, y, r));
            CHECK_EQ(num_rcp_f32(b, r, 0), div_oracle(NUM_F32, 1.0, y, r));
            CHECK_EQ(num_sqrt_f32(a & INT32_MAX, r, 0), sqrt_oracle(NUM_F32, fabs(x), r));
        }
    }
}

static void f32_random(void) {
    uint64_t s = 1;
    for (int k = 0; k < 6000; k++) {
        int centre = k % 3 ? 127 : k % 2 ? 10 : 240;
        uint32_t a = oracle_f32(&s, centre, 20), b = oracle_f32(&s, k % 5 ? centre : 127, 20);
        // Often an addend that nearly cancels the product, or lies far below it.
        double p = (double)num_f32_from_bits(a) * (double)num_f32_from_bits(b);
        uint32_t near = num_f32_bits((float)-p), c = k & 1 ? near : oracle_f32(&s, 127, 120);
        if ((c & 0x7f800000) == 0x7f800000)
            c = 0x80000001;
        f32_in_every_mode(a, b, c);
    }
}

static void f32_edges(void) {
    const uint32_t v[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                          0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x4b000001};
    enum { COUNT = sizeof v / sizeof *v };
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            for (int k = 0; k < COUNT; k += 3)
                f32_in_every_mode(v[i], v[j], v[(k + i + j) % COUNT]);
}

static void f64_in_every_mode(uint64_t a, uint64_t b, uint64_t c) {
    double x = num_f64_from_bits(a), y = num_f64_from_bits(b), z = num_f64_from_bits(c);
    for (int m = 0; m < 4; m++) {
        num_round r = modes[m];
        CHECK_EQ(num_add_f64(a, b, r), fma_oracle(NUM_F64, x, 1.0, y, r));
        CHECK_EQ(num_sub_f64(a, b, r), fma_oracle(NUM_F64, x, 1.0, -y, r));
        CHECK_EQ(num_mul_f64(a, b, r), mul_oracle(NUM_F64, x, y, r));
        CHECK_EQ(num_fma_f64(a, b, c, r), fma_oracle(NUM_F64, x, y, z, r));
        if (x != 0 && y != 0) {
            CHECK_EQ(num_div_f64(a, b, r), div_oracle(NUM_F64, x, y, r));
            CHECK_EQ(num_rcp_f64(b, r), div_oracle(NUM_F64, 1.0, y, r));
            CHECK_EQ(num_sqrt_f64(a & INT64_MAX, r), sqrt_oracle(NUM_F64, fabs(x), r));
        }
    }
}

static void f64_random(void) {
    uint64_t s = 2;
    for (int k = 0; k < 1500; k++) {
        int centre = k % 3 ? 1023 : k % 2 ? 20 : 1800;
        uint64_t a = oracle_f64(&s, centre, 60), b = oracle_f64(&s, k % 5 ? centre : 1023, 60);
        double p = num_f64_from_bits(a) * num_f64_from_bits(b);
        uint64_t c = k & 1 && isfinite(p) ? num_f64_bits(-p) : oracle_f64(&s, 1023, 900);
        f64_in_every_mode(a, b, c);
    }
}

static void f64_edges(void) {
    const double v[] = {0.0, -0.0, 0x1p-1074, -0x1p-1074, 0x1p-1022, 1.0, -1.0, 0x1.fffffffffffffp1023, 0x1p53, 3.0};
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++)
            f64_in_every_mode(num_f64_bits(v[i]), num_f64_bits(v[j]), num_f64_bits(v[(i + 3 * j) % 10]));
    for (int gap = 0; gap < 200; gap++) { // a term ever further below the other
        uint64_t far = num_f64_bits(ldexp(gap & 1 ? -1.0 : 1.0, -gap));
        f64_in_every_mode(num_f64_bits(1.0), far, num_f64_bits(1.0));
        f64_in_every_mode(num_f64_bits(-1.5), num_f64_bits(1.0), far);
    }
}

static void halves(num_type t, uint64_t seed) {
    uint64_t s = seed, inf = oracle_max_code(t) + 1;
    for (int k = 0; k < 30000; k++) {
        uint64_t w = oracle_random(&s);
        uint16_t a = (uint16_t)w, b = (uint16_t)(w >> 16), c = (uint16_t)(w >> 32);
        if (k & 1) { // the same neighbourhood, so that sums cancel and products stay in range
            a = (uint16_t)((a & 0x87ff) | 0x3800);
            b = (uint16_t)((b & 0x87ff) | 0x3800);
            c = (uint16_t)((c & 0x8fff) | 0x3000);
        }
        if ((a & 0x7fff) >= inf || (b & 0x7fff) >= inf || (c & 0x7fff) >= inf)
            continue;
        double x = num_decode(t, a), y = num_decode(t, b), z = num_decode(t, c);
        CHECK_EQ(num_add_h(t, a, b, 0), fma_oracle(t, x, 1.0, y, NUM_RN));
        CHECK_EQ(num_sub_h(t, a, b, 0), fma_oracle(t, x, 1.0, -y, NUM_RN));
        CHECK_EQ(num_mul_h(t, a, b, 0), mul_oracle(t, x, y, NUM_RN));
        uint64_t want = fma_oracle(t, x, y, z, NUM_RN), relu = want >> 15 ? 0 : want;
        CHECK_EQ(num_fma_h(t, a, b, c, 0), want);
        CHECK_EQ(num_fma_h(t, a, b, c, NUM_RELU), relu);
        uint64_t one = t == NUM_F16 ? 0x3c00 : 0x3f80;
        CHECK_EQ(num_fma_h(t, a, b, c, NUM_SAT), relu > one ? one : relu);
    }
}

static void modifiers(void) {
    const uint32_t sub = 0x00400000, inf = 0x7f800000, ninf = 0xff800000, one = 0x3f800000, snan = 0x7f800001;
    CHECK_EQ(num_add_f32(sub, sub, NUM_RN, 0), 0x00800000);
    CHECK_EQ(num_add_f32(sub, sub, NUM_RN, NUM_FTZ), 0);
    CHECK_EQ(num_add_f32(0x80000000 | sub, 0x80000000, NUM_RN, NUM_FTZ), 0x80000000);
    CHECK_EQ(num_mul_f32(0x80800000, 0x3f000000, NUM_RN, NUM_FTZ), 0x80000000);
    CHECK_EQ(num_fma_f32(0x00800000, 0x3f000000, 0, NUM_RP, NUM_FTZ), 0);
    // 2^-126 (1 - 2^-24) is tiny though it rounds to 2^-126 as a subnormal; 2^-126 (1 - 2^-26) is not.
    CHECK_EQ(num_encode(NUM_F32, -0x1p-126 * (1 - 0x1p-24), NUM_RN, NUM_FTZ), 0x80000000);
    CHECK_EQ(num_encode(NUM_F32, 0x1p-126 * (1 - 0x1p-26), NUM_RN, NUM_FTZ), 0x00800000);
    CHECK_EQ(num_encode(NUM_F32, 0x1p-126 * (1 - 0x1p-26), NUM_RZ, NUM_FTZ), 0);
    CHECK_EQ(num_fma_f32(0x0a136827, 0xaa240000, 0x00800000, NUM_RP, NUM_FTZ | NUM_SAT), 0);
    CHECK_EQ(num_mul_f32(0x80800000, 0x3d000000, NUM_RN, NUM_FTZ), 0x80000000);
    CHECK_EQ(num_mul_f32(0x80800000, 0x3d000000, NUM_RN, 0), 0x80040000);
    CHECK_EQ(num_mul_h(NUM_F16, 0xb746, 0x8866, NUM_FTZ), 0);
    CHECK_EQ(num_mul_h(NUM_F16, 0xb746, 0x8866, 0), 0x0400);
    CHECK_EQ(num_div_f32(0x00800000, 0x40000000, NUM_RN, NUM_FTZ), 0);
    CHECK_EQ(num_div_f32(0x00800000, 0x40000000, NUM_RN, 0), sub);
    CHECK_EQ(num_rcp_f32(sub, NUM_RN, NUM_FTZ), inf);
    CHECK_EQ(num_sqrt_f32(sub, NUM_RN, NUM_FTZ), 0);
    CHECK_EQ(num_add_f32(one, one, NUM_RN, NUM_SAT), one);
    CHECK_EQ(num_mul_f32(one, 0xbf800000, NUM_RN, NUM_SAT), 0);
    CHECK_EQ(num_mul_f32(one, 0x80000000, NUM_RN, NUM_SAT), 0);
    CHECK_EQ(num_add_f32(inf, ninf, NUM_RN, NUM_SAT), 0);
    for (int m = 0; m < 4; m++) {
        num_round r = modes[m];
        CHECK_EQ(num_add_f32(inf, ninf, r, 0), NUM_NAN_F32);
        CHECK_EQ(num_add_f32(snan, one, r, 0), NUM_NAN_F32);
        CHECK_EQ(num_mul_f32(inf, 0, r, 0), NUM_NAN_F32);
        CHECK_EQ(num_mul_f32(inf, 0x80000001, r, 0), ninf);
        CHECK_EQ(num_fma_f32(inf, 0, one, r, 0), NUM_NAN_F32);
        CHECK_EQ(num_fma_f32(inf, one, ninf, r, 0), NUM_NAN_F32);
        CHECK_EQ(num_fma_f32(one, one, ninf, r, 0), ninf);
        CHECK_EQ(num_div_f32(0, 0, r, 0), NUM_NAN_F32);
        CHECK_EQ(num_div_f32(inf, inf, r, 0), NUM_NAN_F32);
        CHECK_EQ(num_div_f32(one, 0x80000000, r, 0), ninf);
        CHECK_EQ(num_div_f32(one, ninf, r, 0), 0x80000000);
        CHECK_EQ(num_sqrt_f32(0xbf800000, r, 0), NUM_NAN_F32);
        CHECK_EQ(num_sqrt_f32(0x80000000, r, 0), 0x80000000);
        CHECK_EQ(num_sqrt_f32(inf, r, 0), inf);
        uint64_t inf64 = num_f64_bits(INFINITY), ninf64 = num_f64_bits(-INFINITY), one64 = num_f64_bits(1.0);
        CHECK_EQ(num_add_f64(inf64, ninf64, r), NUM_NAN_F64);
        CHECK_EQ(num_add_f64(inf64, one64, r), inf64);
        CHECK_EQ(num_mul_f64(ninf64, 0, r), NUM_NAN_F64);
        CHECK_EQ(num_fma_f64(one64, one64, ninf64, r), ninf64);
        CHECK_EQ(num_div_f64(0, 0, r), NUM_NAN_F64);
        CHECK_EQ(num_div_f64(one64, 0, r), inf64);
        CHECK_EQ(num_sqrt_f64(num_f64_bits(-1.0), r), NUM_NAN_F64);
        CHECK_EQ(num_add_f64(0x7ff0000000000123, one64, r), 0x7ff8000000000123); // payload kept, made quiet
        CHECK_EQ(num_sub_f64(one64, 0xfff8000000000456, r), 0xfff8000000000456);
        const uint64_t n1 = 0x7ff8000000000001, n2 = 0xfff0000000000002, n3 = 0x7ff8000000000003;
        CHECK_EQ(num_mul_f64(n1, n2, r), 0xfff8000000000002);
        CHECK_EQ(num_fma_f64(n1, n2, n3, r), 0xfff8000000000002);
        CHECK_EQ(num_fma_f64(n1, one64, n3, r), n3);
        CHECK_EQ(num_fma_f64(n1, n2, one64, r), 0xfff8000000000002);
        CHECK_EQ(num_div_f64(n1, n2, r), n1);
    }
    CHECK_EQ(num_add_h(NUM_F16, 0x7c00, 0xfc00, 0), NUM_NAN_F16);
    CHECK_EQ(num_add_h(NUM_F16, 0x7c00, 0xfc00, NUM_SAT), 0);
    CHECK_EQ(num_fma_h(NUM_BF16, 0x7fc1, 0, 0, NUM_RELU), NUM_NAN_BF16);
    CHECK_EQ(num_add_h(NUM_F16, 0x0200, 0x0200, NUM_FTZ), 0);
    CHECK_EQ(num_add_h(NUM_F16, 0x0200, 0x0200, 0), 0x0400);
    CHECK_EQ(num_mul_h(NUM_F16, 0x8400, 0x3800, NUM_FTZ), 0x8000);
}

int main(void) {
    f32_random();
    f32_edges();
    f64_random();
    f64_edges();
    halves(NUM_F16, 3);
    halves(NUM_BF16, 4);
    modifiers();
    return check_report();
}
