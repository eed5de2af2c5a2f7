// Decoding of every format against the definitions in PTX 5.2.3 and 5.2.4, exhaustively, and the row
// decoders.
#include "../../check.h"
#include "num/num.h"

// Value by the textbook: sign, biased exponent field, fraction.
static double by_fields(uint32_t c, int exp_bits, int man_bits, int bias) {
    uint32_t man = c & ((1u << man_bits) - 1), exp = c >> man_bits & ((1u << exp_bits) - 1);
    double v = exp ? ldexp(1.0 + ldexp(man, -man_bits), (int)exp - bias) : ldexp(man, 1 - bias - man_bits);
    return c >> (exp_bits + man_bits) & 1 ? -v : v;
}

static bool same(double a, double b) { return num_f64_bits(a) == num_f64_bits(b) || (a != a && b != b); }

static void formats_of_16_bits(void) {
    for (uint32_t c = 0; c < 65536; c++) {
        double f16 = by_fields(c, 5, 10, 15), bf16 = by_fields(c, 8, 7, 127);
        double inf = c >> 15 ? -INFINITY : INFINITY;
        if ((c & 0x7c00) == 0x7c00)
            f16 = c & 0x3ff ? NAN : inf;
        if ((c & 0x7f80) == 0x7f80)
            bf16 = c & 0x7f ? NAN : inf;
        CHECK(same(num_decode(NUM_F16, c), f16));
        CHECK(same(num_decode(NUM_BF16, c), bf16));
        CHECK_EQ(num_decode_f16((uint16_t)c) < 0, f16 < 0);
        uint32_t bits = num_f32_bits(num_decode_f16((uint16_t)c));
        CHECK_EQ(bits >> 31, c >> 15); // of NaN and zero too
    }
}

static void formats_of_8_bits(void) {
    for (uint32_t c = 0; c < 256; c++) {
        double e4m3 = (c & 0x7f) == 0x7f ? NAN : by_fields(c, 4, 3, 7);
        double e5m2 = (c & 0x7c) != 0x7c ? by_fields(c, 5, 2, 15) : c & 3 ? NAN : c >> 7 ? -INFINITY : INFINITY;
        CHECK(same(num_decode(NUM_E4M3, c), e4m3));
        CHECK(same(num_decode(NUM_E5M2, c), e5m2));
        CHECK(same(num_decode(NUM_E2M3, c), by_fields(c & 63, 2, 3, 1)));
        CHECK(same(num_decode(NUM_E3M2, c), by_fields(c & 63, 3, 2, 3)));
        CHECK(same(num_decode(NUM_E2M1, c), by_fields(c & 15, 2, 1, 1)));
        CHECK(same(num_decode(NUM_UE8M0, c), c == 255 ? NAN : ldexp(1, (int)c - 127)));
        CHECK(same(num_decode(NUM_UE4M3, c), (c & 127) == 127 ? NAN : by_fields(c & 127, 4, 3, 7)));
        CHECK(same(num_decode(NUM_S2F6, c), (c < 128 ? (double)c : (double)c - 256) / 64));
    }
}

static void known_values(void) {
    CHECK(num_decode_e4m3(0x7e) == 448.0f);
    CHECK(num_decode_e4m3(0x01) == 0x1p-9f);
    CHECK(num_decode_e5m2(0x7b) == 57344.0f);
    CHECK(num_decode_e5m2(0x01) == 0x1p-16f);
    CHECK(num_decode(NUM_E2M3, 0x1f) == 7.5);
    CHECK(num_decode(NUM_E3M2, 0x1f) == 28.0);
    CHECK(num_decode(NUM_E2M1, 0x7) == 6.0);
    CHECK(num_decode(NUM_E2M1, 0x9) == -0.5);
    CHECK(num_decode_ue8m0(0) == 0x1p-127f);
    CHECK(num_decode_ue8m0(127) == 1.0f);
    CHECK(isnan(num_decode_ue8m0(0xff)));
    CHECK(num_decode_ue4m3(0x7e) == 448.0f);
    CHECK(isnan(num_decode_ue4m3(0x7f)));
    CHECK(num_decode(NUM_S2F6, 0x7f) == 1.984375);
    CHECK(num_decode(NUM_S2F6, 0x80) == -2.0);
    CHECK(num_decode_f16(0x7bff) == 65504.0f);
    CHECK(num_decode_f16(0x0001) == 0x1p-24f);
    CHECK(num_decode_bf16(0x0001) == 0x1p-133f);
    CHECK(num_decode_tf32(0x3f801fff) == 1.0f);
    CHECK(num_decode_tf32(0x3f803fff) == 1.0f + 0x1p-10f);
    CHECK_EQ(num_type_bits(NUM_E2M3), 6);
    CHECK_EQ(num_type_bits(NUM_TF32), 32);
    CHECK(num_env_is_default());
}

enum { N = 1000 };
typedef void (*row_fn)(const uint8_t *, float *, size_t);

// Every length up to a few blocks, unaligned, with a guard behind the last element.
static void row_matches(row_fn row, num_type t, const uint8_t *src, unsigned bytes, unsigned shift) {
    float dst[N + 1];
    for (size_t n = 0; n <= N; n = n < 40 ? n + 1 : n + 240) {
        dst[n] = 123.0f;
        row(src + 1, dst, n);
        CHECK(dst[n] == 123.0f);
        for (size_t i = 0; i < n; i++) {
            uint64_t c = 0;
            memcpy(&c, src + 1 + i * bytes, bytes);
            CHECK(same((double)dst[i], num_decode(t, c >> shift)));
        }
    }
}

static void rows(void) {
    static uint8_t src[4 * N + 8];
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof src; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        src[i] = (uint8_t)(state >> 40);
    }
    row_matches(num_decode_row_f16, NUM_F16, src, 2, 0);
    row_matches(num_decode_row_bf16, NUM_BF16, src, 2, 0);
    row_matches(num_decode_row_tf32, NUM_TF32, src, 4, 0);
    row_matches(num_decode_row_e4m3, NUM_E4M3, src, 1, 0);
    row_matches(num_decode_row_ue8m0, NUM_UE8M0, src, 1, 0);
    row_matches(num_decode_row_e5m2, NUM_E5M2, src, 1, 0);
    row_matches(num_decode_row_e2m3, NUM_E2M3, src, 1, 0);
    row_matches(num_decode_row_e3m2, NUM_E3M2, src, 1, 0);
    row_matches(num_decode_row_e2m1_mid, NUM_E2M1, src, 1, 2);
}

// The vector path of f16 rows gives the scalar path's bits, NaN included.
static void rows_of_f16_are_exact(void) {
    static uint8_t src[2 * 65536];
    static float dst[65536];
    for (uint32_t c = 0; c < 65536; c++) {
        src[2 * c] = (uint8_t)c;
        src[2 * c + 1] = (uint8_t)(c >> 8);
    }
    num_decode_row_f16(src, dst, 65536);
    for (uint32_t c = 0; c < 65536; c++)
        CHECK_EQ(num_f32_bits(dst[c]), num_f32_bits(num_decode_f16((uint16_t)c)));
}

static void packed_rows(void) {
    float dst[40];
    uint8_t p64[48], p32[48], packed[20];
    memset(p64, 0xee, sizeof p64); // padding must not matter
    memset(p32, 0xee, sizeof p32);
    memset(packed, 0, sizeof packed);
    for (unsigned i = 0; i < 40; i++) {
        unsigned four = i * 7 & 15, six = i * 11 & 63, atom = i / 16 * 16, at = i % 16;
        uint8_t *nib = &p64[atom + at / 2];
        *nib = (uint8_t)(at & 1 ? (*nib & 0x0f) | four << 4 : (*nib & 0xf0) | four);
        packed[i / 2] |= (uint8_t)(four << 4 * (i & 1));
        for (unsigned b = 0; b < 6; b++) {
            uint8_t *byte = &p32[atom + (at * 6 + b) / 8], bit = (uint8_t)(1u << (at * 6 + b) % 8);
            *byte = (uint8_t)((*byte & ~bit) | (six >> b & 1 ? bit : 0));
        }
    }
    num_decode_row_e2m1_p64(p64, dst, 40);
    for (unsigned i = 0; i < 40; i++)
        CHECK(same((double)dst[i], by_fields(i * 7 & 15, 2, 1, 1)));
    num_decode_row_e2m1_packed(packed, dst, 40);
    for (unsigned i = 0; i < 40; i++)
        CHECK(same((double)dst[i], by_fields(i * 7 & 15, 2, 1, 1)));
    num_decode_row_e2m3_p32(p32, dst, 40);
    for (unsigned i = 0; i < 40; i++)
        CHECK(same((double)dst[i], by_fields(i * 11 & 63, 2, 3, 1)));
    num_decode_row_e3m2_p32(p32, dst, 40);
    for (unsigned i = 0; i < 40; i++)
        CHECK(same((double)dst[i], by_fields(i * 11 & 63, 3, 2, 3)));
}

static void integer_rows(void) {
    uint8_t src[256];
    float f[256];
    for (int i = 0; i < 256; i++)
        src[i] = (uint8_t)i;
    num_decode_row_s8(src, f, 256);
    for (int i = 0; i < 256; i++)
        CHECK(f[i] == (float)(i < 128 ? i : i - 256));
    num_decode_row_u8(src, f, 256);
    for (int i = 0; i < 256; i++)
        CHECK(f[i] == (float)i);
}

int main(void) {
    formats_of_16_bits();
    formats_of_8_bits();
    known_values();
    rows();
    rows_of_f16_are_exact();
    packed_rows();
    integer_rows();
    return check_report();
}
