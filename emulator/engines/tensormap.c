/* engines/tensormap.c - what a tensor map may say, and its bytes; contract in tensormap.h.
 *
 * The rules follow the description of cuTensorMapEncodeTiled in cuda.h (CUDA 13.0) and PTX ISA 9.7.9.27.1.1. Three are
 * not in them but the driver's (580.159.04, measured): addresses below 2^57, boxes of at most 228 KiB, and rows of
 * whole 16 bytes in interleaved layouts too. One is in them and not in the driver:
 * INTERLEAVE_32B with SWIZZLE_32B only.
 */
#include "engines/tensormap.h"

#include "base/relaxed.h"

#include <stddef.h>
#include <string.h>

#define MARK UINT64_C(0x31504d5430303153) /* "S100TMP1": format 1 */

/* Little-endian fields at fixed places. Bytes 8 to 15 say nothing: CUTLASS (copy_traits_sm90_tma.hpp,
 * make_tma_copy_desc) clears bit 21 of the 64-bit word 1 for tensors below 128 KiB when cudaDriverGetVersion is 13010
 * or less, a flag of the real map that must not matter here. */
enum {
    AT_MARK = 0,
    AT_FLAGS = 8,
    AT_TYPE = 16,
    AT_RANK = 17,
    AT_INTERLEAVE = 18,
    AT_SWIZZLE = 19, /* mode: none, 32B, 64B, 128B, 96B */
    AT_ATOMICITY = 20,
    AT_L2 = 21,
    AT_FILL = 22,
    AT_DIM = 24,    /* 5 x 8 */
    AT_STRIDE = 64, /* 4 x 8 */
    AT_BOX = 96,    /* 5 x 2 */
    AT_STEP = 106,  /* 5 x 1 */
    AT_END = 111,
    AT_ADDRESS = 112,
    AT_TAIL = 120, /* 8 */
};

static const struct {
    const char *name;
    uint8_t bits;
    bool is_float;
} types[TMAP_TYPES] = {
    {"UINT8", 8, false},        {"UINT16", 16, false},      {"UINT32", 32, false},       {"INT32", 32, false},
    {"UINT64", 64, false},      {"INT64", 64, false},       {"FLOAT16", 16, true},       {"FLOAT32", 32, true},
    {"FLOAT64", 64, true},      {"BFLOAT16", 16, true},     {"FLOAT32_FTZ", 32, true},   {"TFLOAT32", 32, true},
    {"TFLOAT32_FTZ", 32, true}, {"16U4_ALIGN8B", 4, false}, {"16U4_ALIGN16B", 4, false}, {"16U6_ALIGN16B", 6, false},
};

unsigned tmap_element_bits(uint32_t type) { return type < TMAP_TYPES ? types[type].bits : 0; }

const char *tmap_type_name(uint32_t type) { return type < TMAP_TYPES ? types[type].name : "(unknown)"; }

unsigned tmap_swizzle_span(uint32_t swizzle) {
    static const uint8_t span[] = {0, 32, 64, 128, 128, 128, 128, 96};
    return swizzle < sizeof span ? span[swizzle] : 0;
}

/* --- rules -------------------------------------------------------------------------------------------------------- */

static bool padded(const struct tmap *m) { return m->type == TMAP_4X16_P64 || m->type == TMAP_6X16_P32; }

/* Addresses and strides are multiples of this. */
static unsigned global_unit(const struct tmap *m) {
    return padded(m) || m->interleave == TMAP_INTERLEAVE_32B ? 32 : 16;
}

static const char *check_shape(const struct tmap *m) {
    if (m->rank < 1 || m->rank > TMAP_MAX_RANK)
        return "tensorRank must be 1 to 5";
    if (m->type >= TMAP_TYPES)
        return "tensorDataType is none of CUtensorMapDataType";
    if (m->interleave > TMAP_INTERLEAVE_32B)
        return "interleave is none of CUtensorMapInterleave";
    if (m->swizzle > TMAP_SWIZZLE_96B)
        return "swizzle is none of CUtensorMapSwizzle";
    if (m->l2_promotion > 3)
        return "l2Promotion is none of CUtensorMapL2promotion";
    if (m->fill_nan > 1)
        return "oobFill is none of CUtensorMapFloatOOBfill";
    if (m->interleave != TMAP_INTERLEAVE_NONE && m->rank < 3)
        return "an interleaved layout needs tensorRank 3 or more";
    if (m->address >> 57)
        return "globalAddress must be less than 2^57";
    if (m->address % 16)
        return "globalAddress must be a multiple of 16";
    if (m->address % global_unit(m))
        return "globalAddress must be a multiple of 32 with INTERLEAVE_32B and the types 16U4_ALIGN16B and "
               "16U6_ALIGN16B";
    return NULL;
}

static const char *check_tensor(const struct tmap *m) {
    for (uint32_t i = 0; i < m->rank; i++)
        if (m->dim[i] == 0 || m->dim[i] > UINT64_C(1) << 32)
            return "every globalDim must be 1 to 2^32";
    if (padded(m) && m->dim[0] % 128)
        return "globalDim[0] must be a multiple of 128 with the types 16U4_ALIGN16B and 16U6_ALIGN16B";
    if (m->type == TMAP_4X16 && m->dim[0] % 2)
        return "globalDim[0] must be a multiple of 2 with the type 16U4_ALIGN8B";
    for (uint32_t i = 0; i + 1 < m->rank; i++) {
        if (m->stride[i] >= UINT64_C(1) << 40)
            return "every globalStrides must be less than 2^40 bytes";
        if (m->stride[i] % 16)
            return "every globalStrides must be a multiple of 16 bytes";
        if (m->stride[i] % global_unit(m))
            return "every globalStrides must be a multiple of 32 bytes with INTERLEAVE_32B and the types "
                   "16U4_ALIGN16B and 16U6_ALIGN16B";
    }
    return NULL;
}

static const char *check_box(const struct tmap *m) {
    for (uint32_t i = 0; i < m->rank; i++)
        if (m->box[i] == 0 || m->box[i] > 256)
            return "every boxDim must be 1 to 256 elements";
    for (uint32_t i = 0; i < m->rank; i++) /* the first too, though it does not count without interleave */
        if (m->step[i] == 0 || m->step[i] > 8)
            return "every elementStrides must be 1 to 8";
    if (padded(m) && m->box[0] != 128)
        return "boxDim[0] must be 128 with the types 16U4_ALIGN16B and 16U6_ALIGN16B";
    if (m->box[0] * tmap_element_bits(m->type) % 128)
        return "boxDim[0] times the element's size must be a multiple of 16 bytes";
    uint64_t bits = tmap_element_bits(m->type);
    for (uint32_t i = 0; i < m->rank; i++)
        bits *= (m->box[i] + m->step[i] - 1) / m->step[i];
    if (bits > 228 * 1024 * 8)
        return "the box must not be larger than an SM's shared memory, 228 KiB";
    return NULL;
}

static const char *check_swizzle(const struct tmap *m) {
    const unsigned span = tmap_swizzle_span(m->swizzle);
    /* what a row of the box takes in shared memory */
    const unsigned inner = padded(m) ? 128 : m->box[0] * tmap_element_bits(m->type) / 8;
    if (m->interleave == TMAP_INTERLEAVE_32B && m->swizzle != TMAP_SWIZZLE_32B)
        return "INTERLEAVE_32B needs SWIZZLE_32B";
    if (m->interleave != TMAP_INTERLEAVE_NONE && (m->type == TMAP_6X16_P32 || m->swizzle == TMAP_SWIZZLE_96B))
        return "the type 16U6_ALIGN16B and the 96-byte swizzle need INTERLEAVE_NONE";
    if (padded(m) && m->swizzle != TMAP_SWIZZLE_NONE && m->swizzle != TMAP_SWIZZLE_128B &&
        m->swizzle != TMAP_SWIZZLE_128B_ATOM_32B && m->swizzle != TMAP_SWIZZLE_128B_ATOM_64B)
        return "the types 16U4_ALIGN16B and 16U6_ALIGN16B take no swizzle, 128B, 128B_ATOM_32B or "
               "128B_ATOM_64B";
    if (m->interleave == TMAP_INTERLEAVE_NONE && span && inner > span)
        return span == 32   ? "boxDim[0] times the element's size must be at most 32 bytes with SWIZZLE_32B"
               : span == 64 ? "boxDim[0] times the element's size must be at most 64 bytes with SWIZZLE_64B"
               : span == 96 ? "boxDim[0] times the element's size must be at most 96 bytes with the 96-byte swizzle"
                            : "boxDim[0] times the element's size must be at most 128 bytes with SWIZZLE_128B and its "
                              "variants";
    if (m->fill_nan && !types[m->type].is_float)
        return "NaN as oobFill needs a floating-point type";
    return NULL;
}

/* The rule that a description breaks, as a sentence, or NULL when it breaks none. */
static const char *broken_rule(const struct tmap *m) {
    const char *why = check_shape(m);
    if (!why)
        why = check_tensor(m);
    if (!why)
        why = check_box(m);
    return why ? why : check_swizzle(m);
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

/* Hosts are little-endian too. */
static void put(uint8_t *p, uint64_t v, unsigned bytes) { memcpy(p, &v, bytes); }

static uint64_t get(const uint8_t *p, unsigned bytes) {
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

/* swizzle_mode and swizzle_atomicity of Table 33 */
static const struct {
    uint8_t mode, atomicity;
} swizzles[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {4, 0}};

const char *tmap_encode(const struct tmap *m, uint8_t out[TMAP_BYTES]) {
    const char *why = broken_rule(m);
    if (why)
        return why;
    memset(out, 0, TMAP_BYTES);
    put(out + AT_MARK, MARK, 8);
    put(out + AT_ADDRESS, m->address, 8);
    out[AT_TYPE] = (uint8_t)m->type;
    out[AT_RANK] = (uint8_t)m->rank;
    out[AT_INTERLEAVE] = (uint8_t)m->interleave;
    out[AT_SWIZZLE] = swizzles[m->swizzle].mode;
    out[AT_ATOMICITY] = swizzles[m->swizzle].atomicity;
    out[AT_L2] = (uint8_t)m->l2_promotion;
    out[AT_FILL] = (uint8_t)m->fill_nan;
    for (uint32_t i = 0; i < m->rank; i++) {
        put(out + AT_DIM + 8 * i, m->dim[i], 8);
        put(out + AT_BOX + 2 * i, m->box[i], 2);
        out[AT_STEP + i] = (uint8_t)(i == 0 && m->interleave == TMAP_INTERLEAVE_NONE ? 1 : m->step[i]);
        if (i + 1 < m->rank)
            put(out + AT_STRIDE + 8 * i, m->stride[i], 8);
    }
    return NULL;
}

static const char *const not_a_map = "these 128 bytes were not made by cuTensorMapEncodeTiled";

static bool is_map(const uint8_t *in) {
    return !get(in + AT_FLAGS, 8) && !in[AT_END] && !get(in + AT_TAIL, 8) && get(in + AT_MARK, 8) == MARK;
}

const char *tmap_decode(const uint8_t map[TMAP_BYTES], struct tmap *m) {
    uint8_t in[TMAP_BYTES];
    relaxed_read(in, map, TMAP_BYTES);
    memset(m, 0, sizeof *m);
    if (!is_map(in))
        return not_a_map;
    m->address = get(in + AT_ADDRESS, 8);
    m->type = in[AT_TYPE];
    m->rank = in[AT_RANK];
    m->interleave = in[AT_INTERLEAVE];
    m->l2_promotion = in[AT_L2];
    m->fill_nan = in[AT_FILL];
    const unsigned known = sizeof swizzles / sizeof *swizzles;
    while (m->swizzle < known &&
           (swizzles[m->swizzle].mode != in[AT_SWIZZLE] || swizzles[m->swizzle].atomicity != in[AT_ATOMICITY]))
        m->swizzle++;
    if (m->swizzle == known)
        return "only the 128-byte swizzle has an atomicity other than 16 bytes";
    for (uint32_t i = 0; i < TMAP_MAX_RANK; i++) {
        m->dim[i] = get(in + AT_DIM + 8 * i, 8);
        m->box[i] = (uint32_t)get(in + AT_BOX + 2 * i, 2);
        m->step[i] = in[AT_STEP + i];
        if (i + 1 < TMAP_MAX_RANK)
            m->stride[i] = get(in + AT_STRIDE + 8 * i, 8);
    }
    return broken_rule(m);
}

/* --- tensormap.replace (9.7.9.28) --------------------------------------------------------------------------------- */

/* elemtype of Table 33 */
static const uint8_t replace_types[16] = {TMAP_U8,       TMAP_U16,  TMAP_U32,      TMAP_S32,     TMAP_U64,  TMAP_S64,
                                          TMAP_F16,      TMAP_F32,  TMAP_F32_FTZ,  TMAP_F64,     TMAP_BF16, TMAP_TF32,
                                          TMAP_TF32_FTZ, TMAP_4X16, TMAP_4X16_P64, TMAP_6X16_P32};

static const struct field {
    uint8_t at, bytes, count; /* count: of those that come per dimension, else 1 */
    uint64_t largest;
} fields[] = {
    [TMAP_FIELD_ADDRESS] = {AT_ADDRESS, 8, 1, UINT64_MAX},
    [TMAP_FIELD_RANK] = {AT_RANK, 1, 1, 4},
    [TMAP_FIELD_BOX] = {AT_BOX, 2, 5, UINT16_MAX},
    [TMAP_FIELD_DIM] = {AT_DIM, 8, 5, UINT32_MAX},
    [TMAP_FIELD_STRIDE] = {AT_STRIDE, 8, 4, UINT64_MAX},
    [TMAP_FIELD_STEP] = {AT_STEP, 1, 5, 8},
    [TMAP_FIELD_TYPE] = {AT_TYPE, 1, 1, 15},
    [TMAP_FIELD_INTERLEAVE] = {AT_INTERLEAVE, 1, 1, 2},
    [TMAP_FIELD_SWIZZLE] = {AT_SWIZZLE, 1, 1, 4},
    [TMAP_FIELD_ATOMICITY] = {AT_ATOMICITY, 1, 1, 3},
    [TMAP_FIELD_FILL] = {AT_FILL, 1, 1, 1},
};

/* 128 zeros are a map whose fields are all still to be set, as compilers build one (Triton's TMAToLLVM.cpp); whether
 * they all were is judged when a copy uses it. */
static bool is_blank(const uint8_t map[TMAP_BYTES]) {
    uint64_t any = 0;
    for (unsigned i = 0; i < TMAP_BYTES; i += 8)
        any |= get(map + i, 8);
    return !any;
}

const char *tmap_replace(uint8_t map[TMAP_BYTES], enum tmap_field field, uint32_t ord, uint64_t value) {
    const struct field *f = &fields[field];
    uint8_t now[TMAP_BYTES];
    relaxed_read(now, map, TMAP_BYTES);
    const bool blank = is_blank(now);
    if (!blank && !is_map(now))
        return not_a_map;
    if (ord >= f->count)
        return "the ordinal is beyond the tensor map's dimensions";
    if (value > f->largest)
        return "the new value is beyond the field's range";
    if (field == TMAP_FIELD_RANK)
        value++;
    if (field == TMAP_FIELD_TYPE)
        value = replace_types[value];
    if (blank)
        relaxed_store(map + AT_MARK, 8, MARK);
    relaxed_store(map + f->at + f->bytes * ord, f->bytes, value);
    return NULL;
}

void tmap_pack6(const uint8_t from[16], uint8_t to[12]) {
    memset(to, 0, 12);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned b = 0; b < 6; b++)
            to[(6 * i + b) / 8] |= (uint8_t)((from[i] >> b & 1) << (6 * i + b) % 8);
}
