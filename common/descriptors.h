/* descriptors.h - the two descriptors of tcgen05.mma as bits: build, take apart, print.
 *
 *   SMEM descriptor          64 bits   where a tile of A or B lies in shared memory, and how   9.7.16.4.1, Table 40
 *   instruction descriptor   32 bits   shape, types and signs of one UMMA                      9.7.16.4.2, Table 42
 *
 * Everything here is pure arithmetic: usable on the device, on the host, and from plain C. Addresses and strides are
 * bytes; matrices are counted in elements. Nothing is checked here: a field that does not fit is cut to its width, as
 * the hardware would do with the register it gets. umma_idesc_error() checks a combination against Table 39.
 */
#ifndef COMMON_DESCRIPTORS_H
#define COMMON_DESCRIPTORS_H

#include <stdint.h>
#include <stdio.h>

#ifdef __CUDACC__
#define UMMA_FN static inline __host__ __device__
#else
#define UMMA_FN static inline
#endif

/* ---------------------------------------------------------------- names of the encodings */

/* Bits 61-63 of the SMEM descriptor. 3, 5 and 7 are invalid. */
enum umma_swizzle {
    UMMA_SWIZZLE_NONE = 0,
    UMMA_SWIZZLE_128B_ATOM32B = 1, /* 128-byte span, moved in 32-byte pieces: MN-major only, the one for tf32 */
    UMMA_SWIZZLE_128B = 2,
    UMMA_SWIZZLE_64B = 4,
    UMMA_SWIZZLE_32B = 6,
};

/* Which index runs along consecutive bytes. K-major: a row of A (or of B stored N x K) is contiguous. */
enum umma_major { UMMA_MAJOR_K = 0, UMMA_MAJOR_MN = 1 };

/* The .kind of tcgen05.mma; i8 is legal for sm_100a, sm_101a and sm_110a, not for the family target sm_100f. */
enum umma_kind { UMMA_KIND_F16, UMMA_KIND_TF32, UMMA_KIND_F8F6F4, UMMA_KIND_I8 };

/* atype and btype, bits 7-9 and 10-12: the same number means another type in another kind. */
enum umma_format {
    UMMA_F16 = 0, /* kind f16 */
    UMMA_BF16 = 1,
    UMMA_TF32 = 2, /* kind tf32 */
    UMMA_E4M3 = 0, /* kind f8f6f4 */
    UMMA_E5M2 = 1,
    UMMA_E2M3 = 3,
    UMMA_E3M2 = 4,
    UMMA_E2M1 = 5,
    UMMA_U8 = 0, /* kind i8 */
    UMMA_S8 = 1,
};

/* dtype, bits 4-5. */
enum umma_d_format { UMMA_D_F16 = 0, UMMA_D_F32 = 1, UMMA_D_S32 = 2 };

/* ---------------------------------------------------------------- SMEM descriptor */

/* The fields as values: addresses and offsets in bytes, not in units of 16 bytes. */
struct umma_smem_fields {
    uint32_t start;        /* bits  0-13  start address, 16-byte aligned, shared::cta window */
    uint32_t leading;      /* bits 16-29  leading dimension byte offset (LBO) */
    uint32_t stride;       /* bits 32-45  stride dimension byte offset (SBO) */
    uint32_t version;      /* bits 46-48  fixed: 1 */
    uint32_t base_offset;  /* bits 49-51  (pattern start >> 7) & 7 if the pattern is not on its own boundary */
    uint32_t leading_mode; /* bit  52     0 relative offset, 1 absolute address (sm_103a) */
    uint32_t fixed;        /* bits 53-60  fixed: 0 */
    uint32_t swizzle;      /* bits 61-63  enum umma_swizzle */
};

/* matrix-descriptor-encode: 18 bits of byte offset as 14 bits of 16-byte units. */
UMMA_FN uint64_t umma_encode16(uint32_t bytes) { return (bytes & 0x3FFFFu) >> 4; }

UMMA_FN uint64_t umma_smem_pack(struct umma_smem_fields f) {
    return umma_encode16(f.start) | umma_encode16(f.leading) << 16 | umma_encode16(f.stride) << 32 |
           (uint64_t)(f.version & 7) << 46 | (uint64_t)(f.base_offset & 7) << 49 |
           (uint64_t)(f.leading_mode & 1) << 52 | (uint64_t)(f.fixed & 0xFF) << 53 | (uint64_t)(f.swizzle & 7) << 61;
}

UMMA_FN struct umma_smem_fields umma_smem_unpack(uint64_t desc) {
    struct umma_smem_fields f;
    f.start = (uint32_t)(desc & 0x3FFF) << 4;
    f.leading = (uint32_t)(desc >> 16 & 0x3FFF) << 4;
    f.stride = (uint32_t)(desc >> 32 & 0x3FFF) << 4;
    f.version = (uint32_t)(desc >> 46 & 7);
    f.base_offset = (uint32_t)(desc >> 49 & 7);
    f.leading_mode = (uint32_t)(desc >> 52 & 1);
    f.fixed = (uint32_t)(desc >> 53 & 0xFF);
    f.swizzle = (uint32_t)(desc >> 61 & 7);
    return f;
}

/* The usual descriptor: relative strides, pattern on its own boundary (base offset 0).
 * start, leading, stride: bytes, multiples of 16. */
UMMA_FN uint64_t umma_smem_desc(uint32_t start, uint32_t leading, uint32_t stride, enum umma_swizzle swizzle) {
    struct umma_smem_fields f = {
        .start = start, .leading = leading, .stride = stride, .version = 1, .swizzle = (uint32_t)swizzle};
    return umma_smem_pack(f);
}

/* The same tile, its start address `bytes` further: a step along K inside the swizzle atom, or to the next atom. Legal
 * because the swizzle is a function of the address bits, not of the distance from the start. */
UMMA_FN uint64_t umma_smem_advance(uint64_t desc, uint32_t bytes) {
    return (desc & ~0x3FFFull) | ((desc + umma_encode16(bytes)) & 0x3FFF);
}

/* Bytes along the contiguous dimension that one swizzle pattern spans; 16 if nothing is swizzled. */
UMMA_FN uint32_t umma_swizzle_span(enum umma_swizzle swizzle) {
    switch (swizzle) {
    case UMMA_SWIZZLE_32B:
        return 32;
    case UMMA_SWIZZLE_64B:
        return 64;
    case UMMA_SWIZZLE_128B:
    case UMMA_SWIZZLE_128B_ATOM32B:
        return 128;
    default:
        return 16;
    }
}

/* The swizzled place of byte `offset` of a tile (Table 55). offset: bytes from the start of the pattern, which is on
 * a 1024-, 512- or 256-byte boundary (Table 41). An XOR of address bits, so it is its own inverse:
 *
 *   32B               bit  4   ^= bit  7
 *   64B               bits 4-5 ^= bits 7-8
 *   128B              bits 4-6 ^= bits 7-9
 *   128B, 32B atoms   bits 5-6 ^= bits 7-8 */
UMMA_FN uint32_t umma_swizzle_offset(enum umma_swizzle swizzle, uint32_t offset) {
    switch (swizzle) {
    case UMMA_SWIZZLE_32B:
        return offset ^ (offset >> 3 & 0x10);
    case UMMA_SWIZZLE_64B:
        return offset ^ (offset >> 3 & 0x30);
    case UMMA_SWIZZLE_128B:
        return offset ^ (offset >> 3 & 0x70);
    case UMMA_SWIZZLE_128B_ATOM32B:
        return offset ^ (offset >> 2 & 0x60);
    default:
        return offset;
    }
}

/* A densely packed tile, one swizzle span wide, its atoms one after the other (9.7.16.3, canonical layouts).
 *
 *   K-major    `extent` is rows of M or N: 8-row atoms of 8 x span bytes stacked along M or N. SBO is one atom. With a
 *              swizzle LBO is unused, by convention 1 unit. Without one, each of the two 16-byte columns of a K step
 *              is stored whole, so LBO is one column: extent * 16.
 *   MN-major   `extent` is K: atoms of span bytes x 8 K (4 K with 32-byte atoms) stacked along K first, so SBO is one
 *              atom and LBO the next span of M or N. Without a swizzle the two swap their names: LBO is the next 8 K,
 *              SBO the next 16 bytes of M or N.
 *
 * start: bytes, on the pattern's boundary. */
UMMA_FN uint64_t umma_smem_desc_packed(uint32_t start, enum umma_major major, enum umma_swizzle swizzle,
                                       uint32_t extent) {
    uint32_t span = umma_swizzle_span(swizzle);
    uint32_t atom = span * (swizzle == UMMA_SWIZZLE_128B_ATOM32B ? 4 : 8);
    uint32_t whole = span * extent;
    if (major == UMMA_MAJOR_K)
        return umma_smem_desc(start, swizzle == UMMA_SWIZZLE_NONE ? whole : 16, atom, swizzle);
    if (swizzle == UMMA_SWIZZLE_NONE)
        return umma_smem_desc(start, atom, whole, swizzle);
    return umma_smem_desc(start, whole, atom, swizzle);
}

/* ---------------------------------------------------------------- instruction descriptor */

struct umma_idesc_fields {
    uint32_t sparsity_selector; /* bits  0-1 */
    uint32_t sparse;            /* bit   2    0 dense */
    uint32_t saturate;          /* bit   3    kind i8 only */
    uint32_t d_format;          /* bits  4-5  enum umma_d_format */
    uint32_t a_format;          /* bits  7-9  enum umma_format */
    uint32_t b_format;          /* bits 10-12 */
    uint32_t negate_a;          /* bit  13 */
    uint32_t negate_b;          /* bit  14 */
    uint32_t a_major;           /* bit  15    "transpose A": enum umma_major */
    uint32_t b_major;           /* bit  16    "transpose B" */
    uint32_t n;                 /* bits 17-22 N, a multiple of 8, stored as N >> 3 */
    uint32_t m;                 /* bits 24-28 M, a multiple of 16, stored as M >> 4 */
    uint32_t max_shift;         /* bits 30-31 .ws only */
};

UMMA_FN uint32_t umma_idesc_pack(struct umma_idesc_fields f) {
    return (f.sparsity_selector & 3) | (f.sparse & 1) << 2 | (f.saturate & 1) << 3 | (f.d_format & 3) << 4 |
           (f.a_format & 7) << 7 | (f.b_format & 7) << 10 | (f.negate_a & 1) << 13 | (f.negate_b & 1) << 14 |
           (f.a_major & 1) << 15 | (f.b_major & 1) << 16 | (f.n >> 3 & 0x3F) << 17 | (f.m >> 4 & 0x1F) << 24 |
           (f.max_shift & 3) << 30;
}

UMMA_FN struct umma_idesc_fields umma_idesc_unpack(uint32_t idesc) {
    struct umma_idesc_fields f;
    f.sparsity_selector = idesc & 3;
    f.sparse = idesc >> 2 & 1;
    f.saturate = idesc >> 3 & 1;
    f.d_format = idesc >> 4 & 3;
    f.a_format = idesc >> 7 & 7;
    f.b_format = idesc >> 10 & 7;
    f.negate_a = idesc >> 13 & 1;
    f.negate_b = idesc >> 14 & 1;
    f.a_major = idesc >> 15 & 1;
    f.b_major = idesc >> 16 & 1;
    f.n = (idesc >> 17 & 0x3F) << 3;
    f.m = (idesc >> 24 & 0x1F) << 4;
    f.max_shift = idesc >> 30 & 3;
    return f;
}

/* Dense, no negation: D (m x n) = A (m x K) B (K x n) with the formats' numbers of the kind in use. */
UMMA_FN uint32_t umma_idesc(uint32_t m, uint32_t n, enum umma_d_format d, enum umma_format a, enum umma_format b,
                            enum umma_major a_major, enum umma_major b_major) {
    struct umma_idesc_fields f = {.d_format = (uint32_t)d,
                                  .a_format = (uint32_t)a,
                                  .b_format = (uint32_t)b,
                                  .a_major = (uint32_t)a_major,
                                  .b_major = (uint32_t)b_major,
                                  .n = n,
                                  .m = m};
    return umma_idesc_pack(f);
}

/* K of one dense UMMA, in elements: always 32 bytes of a row (Table 39). 6- and 4-bit formats of kind f8f6f4 fill 8-bit
 * containers. */
UMMA_FN uint32_t umma_k(enum umma_kind kind) { return kind == UMMA_KIND_F16 ? 16 : kind == UMMA_KIND_TF32 ? 8 : 32; }

/* Why Table 39 or Table 42 forbids this dense, non-.ws shape and D type for cta_group 1 or 2; NULL: they allow it. The
 * formats of A and B are not checked. */
UMMA_FN const char *umma_idesc_error(uint32_t idesc, enum umma_kind kind, int cta_group) {
    struct umma_idesc_fields f = umma_idesc_unpack(idesc);
    uint32_t step = 8u * (uint32_t)cta_group;
    if (kind == UMMA_KIND_I8 && (cta_group == 2 || f.n > 32))
        step = 16u * (uint32_t)cta_group;
    if (f.m != 64u * (uint32_t)cta_group && f.m != 128u * (uint32_t)cta_group)
        return cta_group == 1 ? "M must be 64 or 128 for cta_group::1" : "M must be 128 or 256 for cta_group::2";
    if (f.n == 0 || f.n > 256 || f.n % step)
        return "N must be a multiple of the kind's step, at most 256";
    if (kind == UMMA_KIND_I8 ? f.d_format != UMMA_D_S32 : f.d_format == UMMA_D_S32 || f.d_format == 3)
        return "D is s32 for kind i8 and f32 or f16 for the others";
    if (kind == UMMA_KIND_TF32 && f.d_format != UMMA_D_F32)
        return "D is f32 for kind tf32";
    return NULL;
}

/* ---------------------------------------------------------------- field by field, for people */

static inline const char *umma_swizzle_name(uint32_t swizzle) {
    static const char *const names[8] = {
        "none", "128-byte, 32-byte atoms", "128-byte", "invalid", "64-byte", "invalid", "32-byte", "invalid"};
    return names[swizzle & 7];
}

static inline const char *umma_format_name(enum umma_kind kind, uint32_t format) {
    static const char *const names[4][8] = {{"f16", "bf16", "?", "?", "?", "?", "?", "?"},
                                            {"?", "?", "tf32", "?", "?", "?", "?", "?"},
                                            {"e4m3", "e5m2", "?", "e2m3", "e3m2", "e2m1", "?", "?"},
                                            {"u8", "s8", "?", "?", "?", "?", "?", "?"}};
    return names[kind & 3][format & 7];
}

static inline const char *umma_d_format_name(uint32_t format) {
    static const char *const names[4] = {"f16", "f32", "s32", "?"};
    return names[format & 3];
}

/* Prints a SMEM descriptor, one line for each field. title: what it describes. */
static inline void umma_smem_print(FILE *out, const char *title, uint64_t desc) {
    struct umma_smem_fields f = umma_smem_unpack(desc);
    fprintf(out, "  %s  0x%016llx\n", title, (unsigned long long)desc);
    fprintf(out, "    0-13   start address        0x%04x  = 0x%05x >> 4\n", f.start >> 4, f.start);
    fprintf(out, "    16-29  leading byte offset  0x%04x  = %u bytes >> 4\n", f.leading >> 4, f.leading);
    fprintf(out, "    32-45  stride byte offset   0x%04x  = %u bytes >> 4\n", f.stride >> 4, f.stride);
    fprintf(out, "    46-48  version              %u       (fixed: 1)\n", f.version);
    fprintf(out, "    49-51  base offset          %u\n", f.base_offset);
    fprintf(out, "    52     leading mode         %u       %s\n", f.leading_mode,
            f.leading_mode ? "absolute address" : "relative offset");
    fprintf(out, "    61-63  swizzle              %u       %s\n", f.swizzle, umma_swizzle_name(f.swizzle));
}

/* Prints an instruction descriptor, one line for each field. kind: says which formats the numbers mean. */
static inline void umma_idesc_print(FILE *out, const char *title, uint32_t idesc, enum umma_kind kind) {
    struct umma_idesc_fields f = umma_idesc_unpack(idesc);
    fprintf(out, "  %s  0x%08x\n", title, idesc);
    fprintf(out, "    2      sparse               %u       %s\n", f.sparse, f.sparse ? "sparse" : "dense");
    fprintf(out, "    3      saturate             %u       (integers only)\n", f.saturate);
    fprintf(out, "    4-5    D type               %u       %s\n", f.d_format, umma_d_format_name(f.d_format));
    fprintf(out, "    7-9    A type               %u       %s\n", f.a_format, umma_format_name(kind, f.a_format));
    fprintf(out, "    10-12  B type               %u       %s\n", f.b_format, umma_format_name(kind, f.b_format));
    fprintf(out, "    13,14  negate A, B          %u, %u\n", f.negate_a, f.negate_b);
    fprintf(out, "    15,16  transpose A, B       %u, %u    A %s-major, B %s-major\n", f.a_major, f.b_major,
            f.a_major ? "M" : "K", f.b_major ? "N" : "K");
    fprintf(out, "    17-22  N >> 3               %-2u      N = %u\n", f.n >> 3, f.n);
    fprintf(out, "    24-28  M >> 4               %-2u      M = %u\n", f.m >> 4, f.m);
}

#endif
