/* engines/tensormap.c - what a tensor map may say, and its bytes; contract in tensormap.h.
 *
 * The rules follow the description of cuTensorMapEncodeTiled in cuda.h (CUDA 13.0) and PTX ISA 9.7.9.27.1.1. Three are
 * not in them but the driver's (580.159.04, measured): addresses below 2^57, boxes of at most 228 KiB, and rows of
 * whole 16 bytes in interleaved layouts too. One is in them and not in the driver:
 * INTERLEAVE_32B with SWIZZLE_32B only.
 */
#include "engines/tensormap.h"

#include "base/relaxed.h"

#include <string.h>

/* --- where the fields lie ----------------------------------------------------------------------------------------- */

/* `width` bits from bit `at` of the map on, counted from the lowest of its first byte; a field lies in one word of 32,
 * but for the address.
 *
 * Measured on Hopper, by what an H200's driver writes for each argument (580.159.04, tests/silicon/h200/encode.txt),
 * what tensormap.replace changes there (replace.txt), and what becomes of a load when a byte is another (patched.txt):
 * all of these fields but
 *   ATOMICITY, SWIZZLE_HIGH and the codes of the packed types, which are what ptxas 13.0 makes of tensormap.replace for
 *   sm_100a and sm_103a;
 *   VERSION_BLACKWELL and LARGE, which the host code of CuTe DSL 4.8.1 writes for sm_100a. The other fields it has as
 *   Hopper, in maps of rank 2 and 3 of FLOAT16, FLOAT32 and TFLOAT32; bytes 64 to 127 it leaves as they were.
 * No driver of a Blackwell was asked what it writes: tmap_encode writes Hopper's form, also of what Hopper lacks. */
struct bits {
    uint16_t at;
    uint8_t width;
};
#define BITS(at, width) ((struct bits){(uint16_t)(at), width})

#define AT_ADDRESS BITS(0, 57) /* cuTensorMapReplaceAddress leaves what is above */
#define AT_VERSION BITS(64, 4)
#define AT_RANK BITS(68, 3) /* less one */
#define AT_TYPE BITS(71, 4)
#define AT_INTERLEAVE BITS(75, 2)
#define AT_SWIZZLE BITS(77, 2)
#define AT_FILL BITS(79, 1)
#define AT_TF32 BITS(80, 1) /* with the types FLOAT32 and FLOAT32_FTZ: a load rounds */
#define AT_PROMOTION BITS(81, 2)
#define AT_ATOMICITY BITS(83, 2)
#define AT_LARGE BITS(85, 1)                 /* the tensor has 128 KiB or more; CUTLASS clears it below */
#define AT_SWIZZLE_HIGH BITS(86, 1)          /* of swizzle_mode 4 */
#define AT_STRIDE(i) BITS(96 + 32 * (i), 32) /* of dimension i + 1, in units of 16 bytes */
#define AT_STRIDE_HIGH(i) BITS(224 + 4 * (i), 4)
#define AT_DIM(i) BITS(256 + 32 * (i), 32) /* less one, as all that follow of these */
#define AT_STEP(i) BITS(416 + 3 * (i), 3)
#define AT_BOX(i) BITS(440 + 8 * (i), 8)
/* Two words that no copy reads, of the driver. */
#define AT_BOX_BYTES BITS(512, 32) /* of shared memory */
#define AT_PERIOD BITS(576, 32)    /* bytes of shared memory behind which the swizzle begins anew; 16 without swizzle */

/* Zero in every map. Hopper does not look at them, nor at ATOMICITY, LARGE, SWIZZLE_HIGH and the upper bits of VERSION;
 * a later chip may. */
static const struct bits unused[] = {{57, 7}, {87, 9}, {240, 16}, {431, 9}, {480, 32}};

enum { VERSION_TILED = 0, VERSION_IM2COL = 1, VERSION_BLACKWELL = 2 };

static const struct {
    const char *name;
    uint8_t bits;
    bool is_float;
    uint8_t code; /* what AT_TYPE holds */
    bool tf32;    /* what AT_TF32 holds */
} types[TMAP_TYPES] = {
    [TMAP_U8] = {"UINT8", 8, false, 0, false},
    [TMAP_U16] = {"UINT16", 16, false, 1, false},
    [TMAP_U32] = {"UINT32", 32, false, 2, false},
    [TMAP_S32] = {"INT32", 32, false, 3, false},
    [TMAP_U64] = {"UINT64", 64, false, 4, false},
    [TMAP_S64] = {"INT64", 64, false, 5, false},
    [TMAP_F16] = {"FLOAT16", 16, true, 6, false},
    [TMAP_F32] = {"FLOAT32", 32, true, 7, false},
    [TMAP_F64] = {"FLOAT64", 64, true, 9, false},
    [TMAP_BF16] = {"BFLOAT16", 16, true, 10, false},
    [TMAP_F32_FTZ] = {"FLOAT32_FTZ", 32, true, 8, false},
    [TMAP_TF32] = {"TFLOAT32", 32, true, 7, true},
    [TMAP_TF32_FTZ] = {"TFLOAT32_FTZ", 32, true, 8, true},
    [TMAP_4X16] = {"16U4_ALIGN8B", 4, false, 11, false},
    [TMAP_4X16_P64] = {"16U4_ALIGN16B", 4, false, 12, false},
    [TMAP_6X16_P32] = {"16U6_ALIGN16B", 6, false, 13, false},
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
    return NULL;
}

static const char too_far[] = "globalAddress must be less than 2^57";

const char *tmap_check_address(const struct tmap *m) {
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

/* The rule that the fields of a map break, whatever its address, as a sentence, or NULL when they break none. */
static const char *broken_rule(const struct tmap *m) {
    const char *why = check_shape(m);
    if (!why)
        why = check_tensor(m);
    if (!why)
        why = check_box(m);
    return why ? why : check_swizzle(m);
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

/* The map is aligned; hosts are little-endian too. */
static void put(uint8_t *map, struct bits b, uint64_t v) {
    const unsigned size = b.width > 32 ? 8 : 4;
    uint8_t *p = map + b.at / 32 * 4;
    const uint64_t mask = ((UINT64_C(1) << b.width) - 1) << b.at % 32;
    relaxed_store(p, size, (relaxed_load(p, size) & ~mask) | (v << b.at % 32 & mask));
}

static uint64_t get(const uint8_t *map, struct bits b) {
    return relaxed_load(map + b.at / 32 * 4, b.width > 32 ? 8 : 4) >> b.at % 32 & ((UINT64_C(1) << b.width) - 1);
}

static void put_stride(uint8_t *map, uint32_t i, uint64_t bytes) {
    put(map, AT_STRIDE(i), bytes >> 4 & UINT32_MAX);
    put(map, AT_STRIDE_HIGH(i), bytes >> 36);
}

/* swizzle_mode and swizzle_atomicity of Table 33 */
static const struct {
    uint8_t mode, atomicity;
} swizzles[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {4, 0}};

static void put_swizzle_mode(uint8_t *map, uint64_t mode) {
    put(map, AT_SWIZZLE, mode & 3);
    put(map, AT_SWIZZLE_HIGH, mode >> 2);
}

/* What the driver writes beside the fields: of the box by whole traversal strides, without what is left of one. */
static uint64_t box_bytes(const struct tmap *m) {
    uint64_t bits = tmap_element_bits(m->type);
    for (uint32_t i = 0; i < m->rank; i++)
        bits *= m->box[i] / m->step[i];
    return bits / 8;
}

const char *tmap_encode(const struct tmap *m, uint8_t out[TMAP_BYTES]) {
    const char *why = m->address >> 57 ? too_far : tmap_check_address(m);
    if (!why)
        why = broken_rule(m);
    if (!why && box_bytes(m) > 228 * 1024)
        why = "the box must not be larger than an SM's shared memory, 228 KiB";
    if (why)
        return why;
    _Alignas(8) uint8_t map[TMAP_BYTES] = {0};
    const unsigned span = tmap_swizzle_span(m->swizzle);
    put(map, AT_ADDRESS, m->address);
    put(map, AT_VERSION, VERSION_TILED);
    put(map, AT_RANK, m->rank - 1);
    put(map, AT_TYPE, types[m->type].code);
    put(map, AT_TF32, types[m->type].tf32);
    put(map, AT_INTERLEAVE, m->interleave);
    put_swizzle_mode(map, swizzles[m->swizzle].mode);
    put(map, AT_ATOMICITY, swizzles[m->swizzle].atomicity);
    put(map, AT_FILL, m->fill_nan);
    put(map, AT_PROMOTION, m->l2_promotion);
    for (uint32_t i = 0; i < m->rank; i++) {
        put(map, AT_DIM(i), m->dim[i] - 1);
        put(map, AT_BOX(i), m->box[i] - 1);
        put(map, AT_STEP(i), m->step[i] - 1);
        if (i + 1 < m->rank)
            put_stride(map, i, m->stride[i]);
    }
    put(map, AT_BOX_BYTES, box_bytes(m));
    put(map, AT_PERIOD, span ? 8 * span : 16);
    memcpy(out, map, sizeof map);
    return NULL;
}

static bool is_zero(const uint8_t *map) {
    uint64_t any = 0;
    for (unsigned i = 0; i < TMAP_BYTES; i += 8)
        any |= relaxed_load(map + i, 8);
    return !any;
}

/* Of bytes that are no tensor map, how that is seen; else NULL. */
static const char *no_map(const uint8_t *map) {
    const uint64_t version = get(map, AT_VERSION);
    if (is_zero(map))
        return "no tensor map: these 128 bytes are zeros";
    if (version > VERSION_BLACKWELL)
        return "no tensor map: the low half of byte 8 is 0 or 2 in a tiled map and 1 in an im2col map";
    for (unsigned i = 0; i < sizeof unused / sizeof *unused; i++)
        if (get(map, unused[i]))
            return "no tensor map: bits that are zero in every map are set";
    return NULL;
}

/* The type of a map, or TMAP_TYPES. */
static uint32_t type_of(const uint8_t *map) {
    const uint64_t code = get(map, AT_TYPE), tf32 = get(map, AT_TF32);
    uint32_t type = 0;
    while (type < TMAP_TYPES && (types[type].code != code || types[type].tf32 != tf32))
        type++;
    return type;
}

static uint32_t swizzle_of(const uint8_t *map) {
    const uint64_t mode = get(map, AT_SWIZZLE) | get(map, AT_SWIZZLE_HIGH) << 2, atomicity = get(map, AT_ATOMICITY);
    const uint32_t known = sizeof swizzles / sizeof *swizzles;
    uint32_t swizzle = 0;
    while (swizzle < known && (swizzles[swizzle].mode != mode || swizzles[swizzle].atomicity != atomicity))
        swizzle++;
    return swizzle;
}

bool tmap_is_im2col(const uint8_t map[TMAP_BYTES]) {
    _Alignas(8) uint8_t in[TMAP_BYTES];
    relaxed_read(in, map, TMAP_BYTES);
    return !no_map(in) && get(in, AT_VERSION) == VERSION_IM2COL;
}

const char *tmap_decode(const uint8_t map[TMAP_BYTES], struct tmap *m) {
    _Alignas(8) uint8_t in[TMAP_BYTES];
    relaxed_read(in, map, TMAP_BYTES);
    memset(m, 0, sizeof *m);
    const char *why = no_map(in);
    if (!why && get(in, AT_VERSION) == VERSION_IM2COL)
        why = "im2col tensor maps are not supported";
    if (why)
        return why;
    m->address = get(in, AT_ADDRESS);
    m->rank = (uint32_t)get(in, AT_RANK) + 1;
    m->type = type_of(in);
    m->interleave = (uint32_t)get(in, AT_INTERLEAVE);
    m->l2_promotion = (uint32_t)get(in, AT_PROMOTION);
    m->fill_nan = (uint32_t)get(in, AT_FILL);
    m->swizzle = swizzle_of(in);
    if (m->type == TMAP_TYPES && get(in, AT_TF32))
        return "the map's bit for TF32 is set beside another type than FLOAT32 and FLOAT32_FTZ: tensormap.replace sets "
               "it for .tf32 and clears it for no type";
    if (m->swizzle == sizeof swizzles / sizeof *swizzles)
        return "only the 128-byte swizzle has an atomicity other than 16 bytes";
    for (uint32_t i = 0; i < m->rank && i < TMAP_MAX_RANK; i++) {
        m->dim[i] = get(in, AT_DIM(i)) + 1;
        m->box[i] = (uint32_t)get(in, AT_BOX(i)) + 1;
        m->step[i] = (uint32_t)get(in, AT_STEP(i)) + 1;
        if (i + 1 < m->rank && i + 1 < TMAP_MAX_RANK)
            m->stride[i] = get(in, AT_STRIDE(i)) << 4 | get(in, AT_STRIDE_HIGH(i)) << 36;
    }
    return broken_rule(m);
}

const char *tmap_replace_address(uint8_t map[TMAP_BYTES], uint64_t address) {
    _Alignas(8) uint8_t now[TMAP_BYTES];
    memcpy(now, map, TMAP_BYTES);
    const struct tmap m = {.address = address, .type = type_of(now), .interleave = (uint32_t)get(now, AT_INTERLEAVE)};
    const char *why = address >> 57 ? too_far : tmap_check_address(&m);
    if (why)
        return why;
    put(now, AT_ADDRESS, address);
    memcpy(map, now, TMAP_BYTES);
    return NULL;
}

/* --- tensormap.replace (9.7.9.28) --------------------------------------------------------------------------------- */

/* elemtype of Table 33 */
static const uint8_t replace_types[16] = {TMAP_U8,       TMAP_U16,  TMAP_U32,      TMAP_S32,     TMAP_U64,  TMAP_S64,
                                          TMAP_F16,      TMAP_F32,  TMAP_F32_FTZ,  TMAP_F64,     TMAP_BF16, TMAP_TF32,
                                          TMAP_TF32_FTZ, TMAP_4X16, TMAP_4X16_P64, TMAP_6X16_P32};

/* `count`: of those that come per dimension, else 1. A dimension of 0 is stored as 2^32, as on the chip: a group of no
 * rows that no copy uses. */
static const struct {
    uint8_t count;
    uint64_t smallest, largest;
} fields[] = {
    [TMAP_FIELD_ADDRESS] = {1, 0, UINT64_MAX},
    [TMAP_FIELD_RANK] = {1, 0, 4},
    [TMAP_FIELD_BOX] = {5, 1, 256},
    [TMAP_FIELD_DIM] = {5, 0, UINT32_MAX},
    [TMAP_FIELD_STRIDE] = {4, 0, (UINT64_C(1) << 40) - 1},
    [TMAP_FIELD_STEP] = {5, 1, 8},
    [TMAP_FIELD_TYPE] = {1, 0, 15},
    [TMAP_FIELD_INTERLEAVE] = {1, 0, 2},
    [TMAP_FIELD_SWIZZLE] = {1, 0, 4},
    [TMAP_FIELD_ATOMICITY] = {1, 0, 3},
    [TMAP_FIELD_FILL] = {1, 0, 1},
};

/* As the chip does it: TFLOAT32 and TFLOAT32_FTZ set AT_TF32, and no type clears it. */
static void replace_type(uint8_t *map, uint32_t type) {
    if (types[type].tf32)
        put(map, AT_TF32, 1);
    put(map, AT_TYPE, types[type].code);
}

static void replace(uint8_t *map, enum tmap_field field, uint32_t ord, uint64_t value) {
    switch (field) {
    case TMAP_FIELD_ADDRESS:
        relaxed_store(map, 8, value);
        break;
    case TMAP_FIELD_RANK:
        put(map, AT_RANK, value);
        break;
    case TMAP_FIELD_BOX:
        put(map, AT_BOX(ord), value - 1);
        break;
    case TMAP_FIELD_DIM:
        put(map, AT_DIM(ord), value - 1);
        break;
    case TMAP_FIELD_STRIDE:
        put_stride(map, ord, value);
        break;
    case TMAP_FIELD_STEP:
        put(map, AT_STEP(ord), value - 1);
        break;
    case TMAP_FIELD_TYPE:
        replace_type(map, replace_types[value]);
        break;
    case TMAP_FIELD_INTERLEAVE:
        put(map, AT_INTERLEAVE, value);
        break;
    case TMAP_FIELD_SWIZZLE:
        put_swizzle_mode(map, value);
        break;
    case TMAP_FIELD_ATOMICITY:
        put(map, AT_ATOMICITY, value);
        put(map, AT_LARGE, 0); /* as ptxas has it */
        break;
    case TMAP_FIELD_FILL:
        put(map, AT_FILL, value);
        break;
    }
}

const char *tmap_replace(uint8_t map[TMAP_BYTES], enum tmap_field field, uint32_t ord, uint64_t value) {
    if (ord >= fields[field].count)
        return "the ordinal is beyond the tensor map's dimensions";
    if (value < fields[field].smallest || value > fields[field].largest)
        return "the new value is beyond the field's range";
    if (field == TMAP_FIELD_STRIDE && value % 16)
        return "a stride must be a multiple of 16 bytes";
    replace(map, field, ord, value);
    return NULL;
}

void tmap_pack6(const uint8_t from[16], uint8_t to[12]) {
    memset(to, 0, 12);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned b = 0; b < 6; b++)
            to[(6 * i + b) / 8] |= (uint8_t)((from[i] >> b & 1) << (6 * i + b) % 8);
}
