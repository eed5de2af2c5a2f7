/* Tensor maps: every rule of cuTensorMapEncodeTiled broken once and met at its edge, the bytes, tensormap.replace. */
#include "../../check.h"
#include "engines/tensormap.h"

/* A map that breaks no rule: 64 x 32 of 16-bit elements, boxes of 32 x 8. */
static struct tmap good(void) {
    return (struct tmap){.type = TMAP_U16,
                         .rank = 2,
                         .address = 0x7000000,
                         .dim = {64, 32, 2, 2, 2},
                         .stride = {256, 16384, 65536, 131072},
                         .box = {32, 8, 1, 1, 1},
                         .step = {1, 1, 1, 1, 1}};
}

static void accepts(const struct tmap *m, int line) {
    uint8_t bytes[TMAP_BYTES];
    const char *why = tmap_encode(m, bytes);
    if (!CHECK(why == NULL))
        fprintf(stderr, "    line %d: %s\n", line, why);
}

static void refuses(const struct tmap *m, const char *part, int line) {
    uint8_t bytes[TMAP_BYTES] = {42};
    const char *why = tmap_encode(m, bytes);
    if (!CHECK_HAS(why, part))
        fprintf(stderr, "    line %d\n", line);
    CHECK_EQ(bytes[0], 42); /* untouched */
}

#define GOOD(...)                                                                                                      \
    do {                                                                                                               \
        struct tmap m = good();                                                                                        \
        __VA_ARGS__;                                                                                                   \
        accepts(&m, __LINE__);                                                                                         \
    } while (0)
#define BAD(part, ...)                                                                                                 \
    do {                                                                                                               \
        struct tmap m = good();                                                                                        \
        __VA_ARGS__;                                                                                                   \
        refuses(&m, part, __LINE__);                                                                                   \
    } while (0)

/* The answers of the driver 580.159.04 on an H200 to the same arguments, where it knows them (sm_90 has neither the
 * packed types nor the swizzle atoms of more than 16 bytes). */
static void test_rules(void) {
    GOOD(;);
    BAD("tensorRank must be", m.rank = 0);
    BAD("tensorRank must be", m.rank = 6);
    GOOD(m.rank = 5);
    BAD("tensorDataType", m.type = 16);
    BAD("interleave is none", m.interleave = 3);
    BAD("l2Promotion", m.l2_promotion = 4);
    BAD("oobFill is none", m.fill_nan = 2);
    BAD("multiple of 16", m.address += 8);
    GOOD(m.address += 16);
    GOOD(m.address = 0);
    GOOD(m.address = UINT64_C(1) << 56);
    BAD("2^57", m.address = UINT64_C(1) << 57);
    BAD("globalDim", m.dim[0] = 0);
    BAD("globalDim", m.dim[1] = 0);
    GOOD(m.dim[0] = m.dim[1] = UINT64_C(1) << 32);
    BAD("globalDim", m.dim[1] = (UINT64_C(1) << 32) + 1);
    BAD("multiple of 16", m.stride[0] = 248);
    GOOD(m.stride[0] = 0);
    GOOD(m.stride[0] = (UINT64_C(1) << 40) - 16);
    BAD("2^40", m.stride[0] = UINT64_C(1) << 40);
    GOOD(m.stride[1] = 8); /* beyond the rank */
    BAD("multiple of 16", m.rank = 3; m.stride[1] = 8);
    BAD("boxDim", m.box[0] = 0);
    BAD("boxDim", m.box[1] = 257);
    GOOD(m.box[0] = 256);
    GOOD(m.box[1] = 256);
    BAD("16 bytes", m.box[0] = 12);
    GOOD(m.box[0] = 8);
    BAD("elementStrides", m.step[0] = 0);
    BAD("elementStrides", m.step[0] = 9);
    BAD("elementStrides", m.step[1] = 9);
    GOOD(m.step[0] = 2; m.step[1] = 8);
    GOOD(m.type = TMAP_U8; m.rank = 3; m.box[0] = 256; m.box[1] = 228; m.box[2] = 4);
    BAD("228 KiB", m.type = TMAP_U8; m.rank = 3; m.box[0] = 256; m.box[1] = 229; m.box[2] = 4);
    GOOD(m.type = TMAP_U8; m.rank = 3; m.box[0] = 256; m.box[1] = 256; m.box[2] = 4; m.step[2] = 2);
}

static void test_swizzle_rules(void) {
    GOOD(m.swizzle = TMAP_SWIZZLE_32B; m.box[0] = 16);
    BAD("SWIZZLE_32B", m.swizzle = TMAP_SWIZZLE_32B; m.box[0] = 24);
    GOOD(m.swizzle = TMAP_SWIZZLE_64B; m.box[0] = 32);
    BAD("SWIZZLE_64B", m.swizzle = TMAP_SWIZZLE_64B; m.box[0] = 40);
    for (uint32_t s = TMAP_SWIZZLE_128B; s <= TMAP_SWIZZLE_128B_ATOM_64B; s++) {
        GOOD(m.swizzle = s; m.box[0] = 64);
        BAD("SWIZZLE_128B", m.swizzle = s; m.box[0] = 72);
    }
    GOOD(m.swizzle = TMAP_SWIZZLE_96B; m.box[0] = 48);
    BAD("96", m.swizzle = TMAP_SWIZZLE_96B; m.box[0] = 56);
    BAD("swizzle is none", m.swizzle = 8);
    BAD("needs tensorRank 3", m.interleave = TMAP_INTERLEAVE_16B);
    GOOD(m.rank = 3; m.interleave = TMAP_INTERLEAVE_16B; m.swizzle = TMAP_SWIZZLE_128B);
    GOOD(m.rank = 3; m.interleave = TMAP_INTERLEAVE_32B; m.swizzle = TMAP_SWIZZLE_32B);
    BAD("INTERLEAVE_32B needs", m.rank = 3; m.interleave = TMAP_INTERLEAVE_32B; m.swizzle = TMAP_SWIZZLE_64B);
    BAD("multiple of 32", m.rank = 3; m.interleave = TMAP_INTERLEAVE_32B; m.swizzle = TMAP_SWIZZLE_32B;
        m.address += 16);
    BAD("multiple of 32", m.rank = 3; m.interleave = TMAP_INTERLEAVE_32B; m.swizzle = TMAP_SWIZZLE_32B;
        m.stride[0] = 272);
}

static void test_type_rules(void) {
    for (uint32_t t = 0; t < TMAP_TYPES; t++) {
        const bool is_float = t >= TMAP_F16 && t <= TMAP_TF32_FTZ;
        if (is_float)
            GOOD(m.type = t; m.fill_nan = 1);
        else
            BAD("NaN", m.type = t; m.fill_nan = 1; m.box[0] = m.dim[0] = 128);
    }
    for (uint32_t t = TMAP_4X16_P64; t <= TMAP_6X16_P32; t++) {
        GOOD(m.type = t; m.box[0] = m.dim[0] = 128);
        GOOD(m.type = t; m.box[0] = m.dim[0] = 128; m.swizzle = TMAP_SWIZZLE_128B_ATOM_32B);
        BAD("globalDim[0]", m.type = t; m.box[0] = 128; m.dim[0] = 192);
        BAD("boxDim[0]", m.type = t; m.box[0] = 64; m.dim[0] = 128);
        BAD("multiple of 32", m.type = t; m.box[0] = m.dim[0] = 128; m.address += 16);
        BAD("multiple of 32", m.type = t; m.box[0] = m.dim[0] = 128; m.stride[0] = 272);
        BAD("take no swizzle", m.type = t; m.box[0] = m.dim[0] = 128; m.swizzle = TMAP_SWIZZLE_64B);
    }
    BAD("multiple of 2 ", m.type = TMAP_4X16; m.dim[0] = 33);
    GOOD(m.type = TMAP_4X16; m.dim[0] = 34);
    BAD("16 bytes", m.type = TMAP_4X16; m.box[0] = 16);
}

static void test_bytes(void) {
    struct tmap m = good(), back;
    uint8_t bytes[TMAP_BYTES];
    m.rank = 5;
    m.swizzle = TMAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
    m.type = TMAP_BF16;
    m.fill_nan = 1;
    m.l2_promotion = 2;
    m.step[3] = 5;
    m.dim[4] = UINT64_C(1) << 32;
    m.box[2] = 256;
    m.box[1] = 3;
    CHECK(tmap_encode(&m, bytes) == NULL);
    CHECK(tmap_decode(bytes, &back) == NULL);
    CHECK_MEM(&m, &back, sizeof m);
    memset(bytes, 0, sizeof bytes);
    CHECK_HAS(tmap_decode(bytes, &back), "not made by");
    for (unsigned i = 0; i < 8; i++) { /* the mark */
        CHECK(tmap_encode(&m, bytes) == NULL);
        bytes[i] ^= 1;
        CHECK_HAS(tmap_decode(bytes, &back), "not made by");
    }
    CHECK(tmap_encode(&m, bytes) == NULL);
    bytes[127] = 1;
    CHECK_HAS(tmap_decode(bytes, &back), "not made by");
    CHECK(tmap_encode(&m, bytes) == NULL);
    bytes[8] = 1;
    CHECK_HAS(tmap_decode(bytes, &back), "not made by");
}

/* CUTLASS clears a flag of the map of a small tensor: it must stay the same map, whatever its address. */
static void test_cleared_flag(void) {
    struct tmap m = good(), back;
    uint8_t bytes[TMAP_BYTES];
    m.address = UINT64_C(0x7fffffffffff0);
    CHECK(tmap_encode(&m, bytes) == NULL);
    bytes[8 + 21 / 8] &= (uint8_t) ~(1u << 21 % 8);
    CHECK(tmap_decode(bytes, &back) == NULL);
    CHECK_EQ(back.address, m.address);
}

static void test_replace(void) {
    static const uint32_t types[16] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12, 13, 14, 15}; /* 9.7.9.28, Table 33 */
    struct tmap m = good(), back;
    uint8_t b[TMAP_BYTES];
    CHECK(tmap_encode(&m, b) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_ADDRESS, 0, 0x1230) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_DIM, 1, 77) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_STRIDE, 0, 4096) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_BOX, 1, 5) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_STEP, 1, 3) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_SWIZZLE, 0, 3) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_ATOMICITY, 0, 3) == NULL);
    CHECK(tmap_decode(b, &back) == NULL);
    CHECK_EQ(back.address, 0x1230);
    CHECK_EQ(back.dim[1], 77);
    CHECK_EQ(back.stride[0], 4096);
    CHECK_EQ(back.box[1], 5);
    CHECK_EQ(back.step[1], 3);
    CHECK_EQ(back.swizzle, TMAP_SWIZZLE_128B_ATOM_64B);
    CHECK(tmap_replace(b, TMAP_FIELD_SWIZZLE, 0, 1) == NULL);
    CHECK_HAS(tmap_decode(b, &back), "atomicity");
    CHECK(tmap_encode(&m, b) == NULL);
    for (uint32_t i = 0; i < 16; i++) {
        CHECK(tmap_replace(b, TMAP_FIELD_TYPE, 0, i) == NULL);
        tmap_decode(b, &back);
        CHECK_EQ(back.type, types[i]);
    }
    CHECK(tmap_encode(&m, b) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_RANK, 0, 0) == NULL); /* one less than the rank */
    CHECK(tmap_decode(b, &back) == NULL);
    CHECK_EQ(back.rank, 1);
    CHECK(tmap_replace(b, TMAP_FIELD_RANK, 0, 2) == NULL);
    CHECK_HAS(tmap_decode(b, &back), "globalDim"); /* the third dimension was never given */
    CHECK_HAS(tmap_replace(b, TMAP_FIELD_RANK, 0, 5), "range");
    CHECK_HAS(tmap_replace(b, TMAP_FIELD_STRIDE, 4, 16), "ordinal");
    CHECK(tmap_replace(b, TMAP_FIELD_ADDRESS, 0, 8) == NULL); /* judged when a copy uses the map */
    CHECK_HAS(tmap_decode(b, &back), "multiple of 16");
    b[0] ^= 1;
    CHECK_HAS(tmap_replace(b, TMAP_FIELD_FILL, 0, 1), "not made by");
}

/* A map that is made of 128 zeros, field by field; what is not set is judged when a copy uses it. */
static void test_blank(void) {
    uint8_t b[TMAP_BYTES] = {0};
    struct tmap back;
    CHECK_HAS(tmap_decode(b, &back), "not made by");
    CHECK(tmap_replace(b, TMAP_FIELD_ADDRESS, 0, 0x1000) == NULL);
    CHECK_HAS(tmap_decode(b, &back), "tensorRank");
    CHECK(tmap_replace(b, TMAP_FIELD_RANK, 0, 1) == NULL);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(tmap_replace(b, TMAP_FIELD_BOX, i, 8 + 8 * i) == NULL);
        CHECK(tmap_replace(b, TMAP_FIELD_DIM, i, 64) == NULL);
    }
    CHECK(tmap_replace(b, TMAP_FIELD_STRIDE, 0, 128) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_TYPE, 0, 6) == NULL);
    CHECK_HAS(tmap_decode(b, &back), "elementStrides");
    for (uint32_t i = 0; i < 2; i++)
        CHECK(tmap_replace(b, TMAP_FIELD_STEP, i, 1) == NULL);
    CHECK(tmap_decode(b, &back) == NULL);
    CHECK_EQ(back.rank, 2);
    CHECK_EQ(back.box[1], 16);
    CHECK_EQ(back.type, TMAP_F16);
}

int main(void) {
    test_rules();
    test_swizzle_rules();
    test_type_rules();
    test_bytes();
    test_blank();
    test_cleared_flag();
    test_replace();
    return check_report();
}
