/* test_descriptors.c - the builders of common/descriptors.h, from plain C, against values that are known from
 * elsewhere and against the canonical layouts of PTX ISA 9.7.16.3.3. */
#include "../../../common/descriptors.h"
#include "../../check.h"

static uint32_t f32_idesc(uint32_t m, uint32_t n, enum umma_format f) {
    return umma_idesc(m, n, UMMA_D_F32, f, f, UMMA_MAJOR_K, UMMA_MAJOR_K);
}

static void known_instruction_descriptors(void) {
    CHECK_EQ(f32_idesc(128, 256, UMMA_F16), 0x08400010);
    CHECK_EQ(f32_idesc(128, 256, UMMA_BF16), 0x08400490);
    CHECK_EQ(f32_idesc(128, 256, UMMA_TF32), 0x08400910);
    CHECK_EQ(f32_idesc(128, 256, UMMA_E4M3), 0x08400010);
    CHECK_EQ(f32_idesc(128, 256, UMMA_E5M2), 0x08400490);
    CHECK_EQ(f32_idesc(64, 8, UMMA_F16), 0x04020010);
    CHECK_EQ(f32_idesc(256, 256, UMMA_BF16), 0x10400490);
    CHECK_EQ(umma_idesc(128, 256, UMMA_D_F16, UMMA_F16, UMMA_F16, UMMA_MAJOR_K, UMMA_MAJOR_K), 0x08400000);
    CHECK_EQ(umma_idesc(128, 128, UMMA_D_S32, UMMA_S8, UMMA_U8, UMMA_MAJOR_K, UMMA_MAJOR_K), 0x082000A0);
    CHECK_EQ(umma_idesc(128, 256, UMMA_D_F32, UMMA_F16, UMMA_F16, UMMA_MAJOR_MN, UMMA_MAJOR_K), 0x08408010);
    CHECK_EQ(umma_idesc(128, 256, UMMA_D_F32, UMMA_F16, UMMA_F16, UMMA_MAJOR_K, UMMA_MAJOR_MN), 0x08410010);
    CHECK_EQ(umma_idesc(128, 32, UMMA_D_F32, UMMA_E2M1, UMMA_E3M2, UMMA_MAJOR_K, UMMA_MAJOR_K), 0x08081290);
}

/* Each field at its own bits (Table 42), and back; bits 6, 23 and 29 are reserved and stay 0. */
static void instruction_fields(void) {
    struct umma_idesc_fields f = {0};
    CHECK_EQ(umma_idesc_pack(f), 0);
#define FIELD(name, value, bits)                                                                                       \
    do {                                                                                                               \
        struct umma_idesc_fields one = {0};                                                                            \
        one.name = (value);                                                                                            \
        CHECK_EQ(umma_idesc_pack(one), (uint32_t)(bits));                                                              \
        CHECK_EQ(umma_idesc_unpack((uint32_t)(bits)).name, (value));                                                   \
    } while (0)
    FIELD(sparsity_selector, 3, 3u);
    FIELD(sparse, 1, 1u << 2);
    FIELD(saturate, 1, 1u << 3);
    FIELD(d_format, 3, 3u << 4);
    FIELD(a_format, 7, 7u << 7);
    FIELD(b_format, 7, 7u << 10);
    FIELD(negate_a, 1, 1u << 13);
    FIELD(negate_b, 1, 1u << 14);
    FIELD(a_major, 1, 1u << 15);
    FIELD(b_major, 1, 1u << 16);
    FIELD(n, 256, 32u << 17);
    FIELD(m, 256, 16u << 24);
    FIELD(max_shift, 3, 3u << 30);
#undef FIELD
    CHECK_EQ(umma_idesc_pack(umma_idesc_unpack(0xFFFFFFFFu)), 0xFFFFFFFFu & ~(1u << 6 | 1u << 23 | 1u << 29));
}

static int allowed(uint32_t m, uint32_t n, enum umma_d_format d, enum umma_kind kind, int cta_group) {
    uint32_t idesc = umma_idesc(m, n, d, UMMA_F16, UMMA_F16, UMMA_MAJOR_K, UMMA_MAJOR_K);
    return umma_idesc_error(idesc, kind, cta_group) == NULL;
}

/* Table 39. */
static void shapes(void) {
    CHECK(allowed(64, 8, UMMA_D_F32, UMMA_KIND_F16, 1));
    CHECK(allowed(128, 8, UMMA_D_F16, UMMA_KIND_F16, 1));
    CHECK(allowed(128, 256, UMMA_D_F32, UMMA_KIND_TF32, 1));
    CHECK(!allowed(128, 0, UMMA_D_F32, UMMA_KIND_F16, 1));
    CHECK(!allowed(128, 264, UMMA_D_F32, UMMA_KIND_F16, 1));
    CHECK(!allowed(256, 256, UMMA_D_F32, UMMA_KIND_F16, 1));
    CHECK(!allowed(32, 64, UMMA_D_F32, UMMA_KIND_F16, 1));
    CHECK(allowed(256, 256, UMMA_D_F32, UMMA_KIND_F8F6F4, 2));
    CHECK(allowed(128, 16, UMMA_D_F32, UMMA_KIND_F16, 2));
    CHECK(!allowed(128, 8, UMMA_D_F32, UMMA_KIND_F16, 2));
    CHECK(!allowed(64, 16, UMMA_D_F32, UMMA_KIND_F16, 2));
    CHECK(allowed(64, 24, UMMA_D_S32, UMMA_KIND_I8, 1));
    CHECK(!allowed(64, 40, UMMA_D_S32, UMMA_KIND_I8, 1));
    CHECK(!allowed(128, 48, UMMA_D_S32, UMMA_KIND_I8, 2));
    CHECK(!allowed(128, 64, UMMA_D_F32, UMMA_KIND_I8, 1));
    CHECK(!allowed(128, 64, UMMA_D_S32, UMMA_KIND_F16, 1));
    CHECK(!allowed(128, 64, UMMA_D_F16, UMMA_KIND_TF32, 1));
    CHECK_EQ(umma_k(UMMA_KIND_F16), 16);
    CHECK_EQ(umma_k(UMMA_KIND_TF32), 8);
    CHECK_EQ(umma_k(UMMA_KIND_F8F6F4), 32);
    CHECK_EQ(umma_k(UMMA_KIND_I8), 32);
}

static void known_smem_descriptors(void) {
    /* 128-byte swizzle, K-major, packed, at the first free byte of shared memory */
    CHECK_EQ(umma_smem_desc_packed(0x400, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, 128), 0x4000404000010040ull);
    CHECK_EQ(umma_smem_desc_packed(0x4400, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, 256), 0x4000404000010440ull);
    CHECK_EQ(umma_smem_desc_packed(0, UMMA_MAJOR_K, UMMA_SWIZZLE_64B, 128), 0x8000402000010000ull);
    CHECK_EQ(umma_smem_desc_packed(0, UMMA_MAJOR_K, UMMA_SWIZZLE_32B, 128), 0xC000401000010000ull);
    CHECK_EQ(umma_smem_desc_packed(0, UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 16), 0x0000400800100000ull);
    /* the examples of 9.7.16.3.3: the encodings of LBO and SBO that the ISA prints */
    CHECK_EQ(umma_smem_desc(0, 64 * 4, 32 * 4, UMMA_SWIZZLE_NONE) & 0x3FFF3FFF0000, 0x000800100000ull);
    CHECK_EQ(umma_smem_desc(0, 128 * 2, 256 * 2, UMMA_SWIZZLE_32B) & 0x3FFF3FFF0000, 0x002000100000ull);
    CHECK_EQ(umma_smem_desc(0, 256 * 2, 512 * 2, UMMA_SWIZZLE_64B) & 0x3FFF3FFF0000, 0x004000200000ull);
    CHECK_EQ(umma_smem_desc(0, 0, 0, UMMA_SWIZZLE_128B_ATOM32B), 0x2000400000000000ull);
    /* 32 bytes along K are two units of the start address and nothing else */
    CHECK_EQ(umma_smem_advance(0x4000404000010040ull, 32), 0x4000404000010042ull);
    CHECK_EQ(umma_smem_advance(0x4000404000013FFEull, 32), 0x4000404000010000ull);
}

static void smem_fields(void) {
    struct umma_smem_fields f = {0x3FFF0, 0x3FFF0, 0x3FFF0, 7, 7, 1, 0xFF, 7};
    uint64_t all = umma_smem_pack(f);
    CHECK_EQ(all, ~0ull & ~(3ull << 14 | 3ull << 30));
    struct umma_smem_fields g = umma_smem_unpack(all);
    CHECK_EQ(g.start, f.start);
    CHECK_EQ(g.leading, f.leading);
    CHECK_EQ(g.stride, f.stride);
    CHECK_EQ(g.version, 7);
    CHECK_EQ(g.base_offset, 7);
    CHECK_EQ(g.leading_mode, 1);
    CHECK_EQ(g.fixed, 0xFF);
    CHECK_EQ(g.swizzle, 7);
    struct umma_smem_fields h = {0};
    h.base_offset = 5;
    CHECK_EQ(umma_smem_pack(h), 5ull << 49);
    CHECK_EQ(umma_encode16(0x43210), 0x321); /* 18 bits count */
}

/* Table 55: row r of a span-wide pattern has its 16-byte chunks at chunk ^ (r & 7), or as many of r's bits as
 * fit. */
static void swizzles(void) {
    for (uint32_t offset = 0; offset < 2048; offset++) {
        uint32_t b = offset % 16;
        CHECK_EQ(umma_swizzle_offset(UMMA_SWIZZLE_NONE, offset), offset);
        uint32_t row = offset / 128, chunk = offset / 16 % 8;
        CHECK_EQ(umma_swizzle_offset(UMMA_SWIZZLE_128B, offset), row * 128 + (chunk ^ row % 8) * 16 + b);
        row = offset / 64, chunk = offset / 16 % 4;
        CHECK_EQ(umma_swizzle_offset(UMMA_SWIZZLE_64B, offset), row * 64 + (chunk ^ row / 2 % 4) * 16 + b);
        row = offset / 32, chunk = offset / 16 % 2;
        CHECK_EQ(umma_swizzle_offset(UMMA_SWIZZLE_32B, offset), row * 32 + (chunk ^ row / 4 % 2) * 16 + b);
        row = offset / 128, chunk = offset / 32 % 4;
        CHECK_EQ(umma_swizzle_offset(UMMA_SWIZZLE_128B_ATOM32B, offset),
                 row * 128 + (chunk ^ row % 4) * 32 + offset % 32);
    }
}

/* Byte offset, before swizzling, of 16 bytes of a tile by the canonical layouts (9.7.16.3.3), in bytes.
 * K-major: mn counts rows, k chunks of 16 bytes. MN-major: mn counts chunks of 16 bytes, k rows. */
static uint32_t canonical(uint64_t desc, enum umma_major major, uint32_t mn, uint32_t k) {
    struct umma_smem_fields f = umma_smem_unpack(desc);
    enum umma_swizzle swizzle = (enum umma_swizzle)f.swizzle;
    uint32_t chunks = umma_swizzle_span(swizzle) / 16, rows = swizzle == UMMA_SWIZZLE_128B_ATOM32B ? 4 : 8;
    if (major == UMMA_MAJOR_K)
        return mn % 8 * chunks * 16 + mn / 8 * f.stride + (chunks == 1 ? k * f.leading : k * 16);
    if (chunks == 1)
        return mn * f.stride + k % 8 * 16 + k / 8 * f.leading;
    return mn % chunks * 16 + mn / chunks * f.leading + k % rows * chunks * 16 + k / rows * f.stride;
}

/* The packed descriptors describe what they say: spans one after the other, rows of a span one after the
 * other. */
static void packed_layouts(void) {
    static const enum umma_swizzle all[] = {UMMA_SWIZZLE_NONE, UMMA_SWIZZLE_32B, UMMA_SWIZZLE_64B, UMMA_SWIZZLE_128B,
                                            UMMA_SWIZZLE_128B_ATOM32B};
    for (int i = 0; i < 5; i++) {
        uint32_t chunks = umma_swizzle_span(all[i]) / 16, extent = 64;
        uint64_t k_major = umma_smem_desc_packed(0, UMMA_MAJOR_K, all[i], extent);
        uint64_t mn_major = umma_smem_desc_packed(0, UMMA_MAJOR_MN, all[i], extent);
        for (uint32_t row = 0; row < extent; row++)
            for (uint32_t chunk = 0; chunk < 2 * chunks; chunk++) {
                uint32_t want = (chunk / chunks * extent * chunks + row * chunks + chunk % chunks) * 16;
                if (all[i] != UMMA_SWIZZLE_128B_ATOM32B && (chunk < chunks || chunks == 1))
                    CHECK_EQ(canonical(k_major, UMMA_MAJOR_K, row, chunk), want);
                CHECK_EQ(canonical(mn_major, UMMA_MAJOR_MN, chunk, row), want);
            }
    }
}

int main(void) {
    known_instruction_descriptors();
    instruction_fields();
    shapes();
    known_smem_descriptors();
    smem_fields();
    swizzles();
    packed_layouts();
    return check_report();
}
