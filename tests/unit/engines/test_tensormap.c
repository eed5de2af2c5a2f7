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
    GOOD(m.type = TMAP_U8; m.rank = 3; m.box[0] = 256; m.box[1] = 228; m.box[2] = 19; m.step[2] = 4); /* whole steps */
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

/* Where the fields lie is held by tests/silicon/h200/encode.txt: here each of them comes back. */
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
    m.stride[2] = (UINT64_C(1) << 40) - 16;
    m.box[2] = 256;
    m.box[1] = 3;
    CHECK(tmap_encode(&m, bytes) == NULL);
    CHECK(tmap_decode(bytes, &back) == NULL);
    CHECK_MEM(&m, &back, sizeof m);
}

/* Decodes a map of which bits of one word were changed. */
static const char *with_bits(const struct tmap *m, unsigned word, uint64_t flip, struct tmap *back) {
    uint64_t w[TMAP_BYTES / 8];
    CHECK(tmap_encode(m, (uint8_t *)w) == NULL);
    w[word] ^= flip;
    return tmap_decode((const uint8_t *)w, back);
}

/* What is no map is told by bits that are zero in every map; words 8 to 15 are the driver's own. */
static void test_no_map(void) {
    static const struct {
        unsigned word, first, count;
    } zero[] = {{0, 57, 7}, {1, 23, 9}, {3, 48, 16}, {6, 47, 9}, {7, 32, 32}};
    struct tmap m = good(), back;
    uint8_t bytes[TMAP_BYTES] = {0};
    CHECK_HAS(tmap_decode(bytes, &back), "zeros");
    memset(bytes, 0xff, sizeof bytes);
    CHECK_HAS(tmap_decode(bytes, &back), "no tensor map");
    for (unsigned i = 0; i < sizeof zero / sizeof *zero; i++)
        for (unsigned bit = 0; bit < zero[i].count; bit++)
            CHECK_HAS(with_bits(&m, zero[i].word, UINT64_C(1) << (zero[i].first + bit), &back), "bits that are zero");
    for (unsigned version = 3; version < 16; version++)
        CHECK_HAS(with_bits(&m, 1, version, &back), "no tensor map");
    for (unsigned word = 8; word < 16; word++)
        CHECK(with_bits(&m, word, UINT64_MAX, &back) == NULL);
    CHECK_HAS(with_bits(&m, 1, 1, &back), "im2col");
    CHECK(tmap_encode(&m, bytes) == NULL);
    CHECK(!tmap_is_im2col(bytes));
    bytes[8] |= 1;
    CHECK(tmap_is_im2col(bytes));
}

/* CuTe DSL writes version 2, and bit 21 of the second word for a tensor of 128 KiB or more; CUTLASS clears that bit
 * below: it is the same map, whatever its address. */
static void test_blackwell(void) {
    struct tmap m = good(), back;
    m.address = UINT64_C(0x7fffffffffff0);
    for (unsigned flags = 0; flags < 4; flags++) {
        CHECK(with_bits(&m, 1, (flags & 1) << 1 | (flags & 2) << 20, &back) == NULL);
        CHECK_EQ(back.address, m.address);
        CHECK_EQ(back.dim[1], m.dim[1]);
        CHECK_EQ(back.swizzle, m.swizzle);
    }
}

/* As ptxas has it for sm_100a, the atomicity is three bits, and the third is that flag. */
static void test_replace_atomicity(void) {
    const struct tmap m = good();
    uint64_t w[TMAP_BYTES / 8];
    CHECK(tmap_encode(&m, (uint8_t *)w) == NULL);
    const uint64_t without = w[1];
    w[1] |= 1 << 21;
    CHECK(tmap_replace((uint8_t *)w, TMAP_FIELD_ATOMICITY, 0, 2) == NULL);
    CHECK_EQ(w[1], without | 2 << 19);
}

/* Two maps as CuTe DSL 4.8.1 writes them for sm_100a, with what lay on its stack behind them: a matrix of f16, 256 x
 * 512, and a batch of tf32 of one. */
static void test_cute(void) {
    static const uint64_t words[2][TMAP_BYTES / 8] = {
        {0x7f3502000000, 0x2000246312, 0, 0, 0x1ff000000ff, 0, 0x3f00000000000000, 0xff, 0x656372756f, 0x2a, 0, 0, 0,
         0x3d91643ce204ea00, 0xa, 0x7ffcdc62b030},
        {0x7f3502000000, 0x40002563a2, 0x4000, 0, 0xff000000ff, 0, 0x1f00000000000000, 0x7f, 0x7ffe00000002,
         0x70fd0b4ccd47a100, 0x7ffe360848e0, 0x400, 0x7f8f3ba636a0, 0x7f8f3c1b5387, 8, 0x7ffe36084fd0}};
    static const struct tmap expected[2] = {
        {TMAP_F16, 0, TMAP_SWIZZLE_128B, 2, 0, 2, 0x7f3502000000, {256, 512}, {512}, {64, 256}, {1, 1}},
        {TMAP_TF32,
         0,
         TMAP_SWIZZLE_128B,
         2,
         0,
         3,
         0x7f3502000000,
         {256, 256, 1},
         {1024, 262144},
         {32, 128, 1},
         {1, 1, 1}}};
    struct tmap back;
    for (unsigned i = 0; i < 2; i++) {
        CHECK(tmap_decode((const uint8_t *)words[i], &back) == NULL);
        CHECK_MEM(&expected[i], &back, sizeof back);
    }
}

static void test_replace(void) {
    static const uint32_t types[16] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12, 13, 14, 15}; /* 9.7.9.28, Table 33 */
    struct tmap m = good(), back;
    _Alignas(8) uint8_t b[TMAP_BYTES];
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
    for (uint32_t i = 0; i < 16; i++) {
        CHECK(tmap_encode(&m, b) == NULL);
        CHECK(tmap_replace(b, TMAP_FIELD_TYPE, 0, i) == NULL);
        tmap_decode(b, &back);
        CHECK_EQ(back.type, types[i]);
    }
    CHECK(tmap_encode(&m, b) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_RANK, 0, 0) == NULL); /* one less than the rank */
    CHECK(tmap_decode(b, &back) == NULL);
    CHECK_EQ(back.rank, 1);
    CHECK(tmap_replace(b, TMAP_FIELD_RANK, 0, 2) == NULL);
    CHECK(tmap_decode(b, &back) == NULL); /* the third dimension was never given: it is 1 */
    CHECK_EQ(back.dim[2] + back.box[2] + back.step[2] + back.stride[1], 3);
    CHECK(tmap_replace(b, TMAP_FIELD_DIM, 1, 0) == NULL); /* a group without rows */
    CHECK(tmap_decode(b, &back) == NULL);
    CHECK_EQ(back.dim[1], UINT64_C(1) << 32);
    CHECK(tmap_replace(b, TMAP_FIELD_ADDRESS, 0, 8) == NULL); /* judged when a copy uses the map */
    CHECK(tmap_decode(b, &back) == NULL);
    CHECK_HAS(tmap_check_address(&back), "multiple of 16");
}

static void test_replace_refuses(void) {
    static const struct {
        enum tmap_field field;
        uint64_t value;
    } beyond[] = {
        {TMAP_FIELD_RANK, 5},         {TMAP_FIELD_BOX, 0},
        {TMAP_FIELD_BOX, 257},        {TMAP_FIELD_STEP, 0},
        {TMAP_FIELD_STEP, 9},         {TMAP_FIELD_INTERLEAVE, 3},
        {TMAP_FIELD_DIM, 1ull << 32}, {TMAP_FIELD_STRIDE, 1ull << 40},
        {TMAP_FIELD_TYPE, 16},        {TMAP_FIELD_SWIZZLE, 5},
        {TMAP_FIELD_ATOMICITY, 4},    {TMAP_FIELD_FILL, 2},
    };
    const struct tmap m = good();
    _Alignas(8) uint8_t b[TMAP_BYTES], before[TMAP_BYTES];
    CHECK(tmap_encode(&m, before) == NULL);
    memcpy(b, before, sizeof b);
    for (unsigned i = 0; i < sizeof beyond / sizeof *beyond; i++)
        CHECK_HAS(tmap_replace(b, beyond[i].field, 0, beyond[i].value), "range");
    CHECK_HAS(tmap_replace(b, TMAP_FIELD_STRIDE, 4, 16), "ordinal");
    CHECK_HAS(tmap_replace(b, TMAP_FIELD_STRIDE, 0, 24), "multiple of 16");
    CHECK_MEM(b, before, sizeof b);
}

/* As on the chip .tf32 sets a bit that no other type clears: FLOAT32 stays TFLOAT32, and FLOAT16 is no type. */
static void test_replace_tf32(void) {
    struct tmap m = good(), back;
    _Alignas(8) uint8_t b[TMAP_BYTES];
    m.type = TMAP_TF32;
    CHECK(tmap_encode(&m, b) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_TYPE, 0, 7) == NULL);
    CHECK(tmap_decode(b, &back) == NULL);
    CHECK_EQ(back.type, TMAP_TF32);
    CHECK(tmap_replace(b, TMAP_FIELD_TYPE, 0, 6) == NULL);
    CHECK_HAS(tmap_decode(b, &back), "bit for TF32");
}

/* What is above bit 56 stays, and a refused address changes nothing. */
static void test_replace_address(void) {
    struct tmap m = good();
    uint64_t w[TMAP_BYTES / 8] = {UINT64_MAX};
    CHECK(tmap_replace_address((uint8_t *)w, 0x1230) == NULL);
    CHECK_EQ(w[0], UINT64_C(0xfe00000000001230));
    CHECK_HAS(tmap_replace_address((uint8_t *)w, 0x1238), "multiple of 16");
    CHECK_HAS(tmap_replace_address((uint8_t *)w, UINT64_C(1) << 57), "2^57");
    CHECK_EQ(w[0], UINT64_C(0xfe00000000001230));
    m.type = TMAP_4X16_P64;
    m.dim[0] = m.box[0] = 128;
    CHECK(tmap_encode(&m, (uint8_t *)w) == NULL);
    CHECK_HAS(tmap_replace_address((uint8_t *)w, 0x1230), "multiple of 32");
}

/* A map that is made of 128 zeros, field by field; what is not set is judged when a copy uses it. */
static void test_blank(void) {
    _Alignas(8) uint8_t b[TMAP_BYTES] = {0};
    struct tmap back;
    CHECK(tmap_replace(b, TMAP_FIELD_ADDRESS, 0, 0x1000) == NULL);
    CHECK_HAS(tmap_decode(b, &back), "boxDim[0]");
    CHECK(tmap_replace(b, TMAP_FIELD_RANK, 0, 1) == NULL);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(tmap_replace(b, TMAP_FIELD_BOX, i, 8 + 8 * i) == NULL);
        CHECK(tmap_replace(b, TMAP_FIELD_DIM, i, 64) == NULL);
    }
    CHECK(tmap_replace(b, TMAP_FIELD_STRIDE, 0, 128) == NULL);
    CHECK(tmap_replace(b, TMAP_FIELD_TYPE, 0, 6) == NULL);
    CHECK(tmap_decode(b, &back) == NULL);
    CHECK_EQ(back.rank, 2);
    CHECK_EQ(back.box[1], 16);
    CHECK_EQ(back.step[1], 1);
    CHECK_EQ(back.type, TMAP_F16);
}

int main(void) {
    test_rules();
    test_swizzle_rules();
    test_type_rules();
    test_bytes();
    test_blank();
    test_no_map();
    test_blackwell();
    test_cute();
    test_replace_atomicity();
    test_replace();
    test_replace_refuses();
    test_replace_tf32();
    test_replace_address();
    return check_report();
}
