/* The products by each of the host's vector units, bit for bit what the portable loops make of them; and why AVX-512's
 * dot product of bf16 is none of them.
 */
#include "num/num.h"
#include "simd/multiply.h"
#include "unit/engines/fixture.h"

#include <math.h>

enum { D_SIZE = 256 * 128 };

static float a[128 * SIMD_A_STRIDE], b[256 * SIMD_B_STRIDE];
static uint32_t before[D_SIZE], want[D_SIZE], out[D_SIZE];
static uint64_t state = 1;

static uint32_t draw(uint32_t n) { return (uint32_t)(fixture_random(&state) >> 32) % n; }

/* `bits` significant bits, zeros of both signs, some so small that their products are subnormal. */
static float element(uint32_t bits) {
    const uint32_t exponent = draw(12) ? 120 + draw(14) : draw(3) ? 0 : 50 + draw(20);
    const uint32_t significand = draw(1 << 23) & ~((1u << (24 - bits)) - 1);
    return num_f32_from_bits(draw(2) << 31 | exponent << 23 | (exponent ? significand : 0));
}

static struct simd_tile make_tile(uint32_t form) {
    static const uint32_t ns[] = {256, 8, 24, 16, 48}, ks[] = {SIMD_MAX_K, 32, 96, 64}, steps[] = {0, 16, 32};
    struct simd_tile t = {.d_stride = 128,
                          .segments = form % 4 ? 8 : 4,
                          .n = ns[form % 5],
                          .k = ks[form / 3 % 4],
                          .step = steps[form % 3],
                          .a = a,
                          .b = b,
                          .accumulate = form % 7 != 0,
                          .scale = form % 7 == 1 ? 0.25f : 1};
    const uint32_t bits = t.step ? 8 : 11;
    for (uint32_t s = 0; s < t.segments; s++)
        t.lane[s] = s * (form % 4 ? 16 : 32);
    for (uint32_t k = 0; k < t.k; k++) {
        for (uint32_t r = 0; r < t.segments * SIMD_SEGMENT; r++)
            a[simd_tile_a(r, k)] = element(bits);
        for (uint32_t n = 0; n < t.n; n++)
            b[simd_tile_b(n, k)] = element(bits);
    }
    for (uint32_t i = 0; i < D_SIZE; i++)
        before[i] = num_f32_bits(element(24));
    if (form % 7 > 4) {
        a[simd_tile_a(5, 3)] = INFINITY;
        b[simd_tile_b(7, 9)] = -NAN;
        before[128 + t.lane[0]] = 0xffc12345;
    }
    return t;
}

static void units(void) {
    for (uint32_t form = 0; form < 60; form++) {
        struct simd_tile t = make_tile(form);
        memcpy(want, before, sizeof want);
        t.d = want;
        simd_multiply(SIMD_PORTABLE, &t);
        for (enum simd s = SIMD_AVX2; s <= SIMD_AVX512; s++) {
            if (!simd_available(s))
                continue;
            memcpy(out, before, sizeof out);
            t.d = out;
            simd_multiply(s, &t);
            if (!CHECK(memcmp(out, want, sizeof out) == 0))
                fprintf(stderr, "    unit %d, form %u: M %u N %u K %u step %u\n", (int)s, form,
                        t.segments * SIMD_SEGMENT, t.n, t.k, t.step);
        }
    }
}

/* VDPBF16PS on a group of 16 k, as Intel's manual has it: both products of a pair are added to one sum, that of the
 * odd k first; each sum is rounded to nearest even, and subnormals are 0, in and out. */
static float flushed(float x) { return isnormal(x) || !isfinite(x) ? x : copysignf(0, x); }
static float dot_product(const float *x, const float *y, float d) {
    for (uint32_t k = 0; k < 16; k += 2)
        for (uint32_t i = 2; i-- > 0;)
            d = flushed(fmaf(flushed(x[k + i]), flushed(y[k + i]), flushed(d)));
    return d;
}

/* D = 1 and two products of 2^-24. Their sum is 2^-23, the last place of D. One at a time each is half of that, a tie,
 * and D stays 1. */
static void dot_product_differs(void) {
    float x[16] = {0x1p-12f, 0x1p-12f}, one = 1;
    struct simd_tile t = {
        .d = out, .d_stride = 64, .segments = 4, .n = 8, .k = 16, .step = 16, .a = a, .b = b, .scale = 1};
    t.accumulate = true;
    CHECK_EQ(num_f32_bits(dot_product(x, x, one)), 0x3f800000);
    for (uint32_t s = 0; s < t.segments; s++)
        t.lane[s] = s * SIMD_SEGMENT;
    for (uint32_t k = 0; k < 16; k++) {
        for (uint32_t r = 0; r < 64; r++)
            a[simd_tile_a(r, k)] = x[k];
        for (uint32_t n = 0; n < 8; n++)
            b[simd_tile_b(n, k)] = x[k];
    }
    for (enum simd s = SIMD_PORTABLE; s <= SIMD_AVX512; s++) {
        if (!simd_available(s))
            continue;
        for (uint32_t i = 0; i < 64 * 8; i++)
            out[i] = num_f32_bits(one);
        simd_multiply(s, &t);
        CHECK_EQ(out[0], 0x3f800001);
        CHECK_EQ(out[64 * 8 - 1], 0x3f800001);
    }
}

int main(void) {
    units();
    dot_product_differs();
    return check_report();
}
