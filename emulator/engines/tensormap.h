/* engines/tensormap.h - tensor maps: the 128 opaque bytes that describe a tensor in global memory and the box that a
 * TMA copy moves (PTX ISA 5.5; the rules are those of cuTensorMapEncodeTiled in cuda.h).
 *
 * The bytes are the hardware's, because some programs write them without a driver (CuTe DSL), and tensormap.replace
 * (9.7.9.28) is a few stores. Where each field lies is in tensormap.c, with the source of that knowledge.
 */
#ifndef ENGINES_TENSORMAP_H
#define ENGINES_TENSORMAP_H

#include <stdbool.h>
#include <stdint.h>

#define TMAP_BYTES 128u
#define TMAP_READ 64u  /* of them that copies read: measured on Hopper, and CuTe DSL writes no others */
#define TMAP_ALIGN 64u /* of a tensor map's own address */
#define TMAP_MAX_RANK 5u

/* The numbers of CUtensorMapDataType. */
enum tmap_type {
    TMAP_U8,
    TMAP_U16,
    TMAP_U32,
    TMAP_S32,
    TMAP_U64,
    TMAP_S64,
    TMAP_F16,
    TMAP_F32,
    TMAP_F64,
    TMAP_BF16,
    TMAP_F32_FTZ,
    TMAP_TF32,
    TMAP_TF32_FTZ,
    TMAP_4X16,     /* sixteen 4-bit values in 8 bytes, here and there */
    TMAP_4X16_P64, /* sixteen 4-bit values: 8 bytes in global memory, 8 and 8 of padding in shared memory */
    TMAP_6X16_P32, /* sixteen 6-bit values: 12 bytes in global memory, 12 and 4 of padding in shared memory */
    TMAP_TYPES
};
enum tmap_interleave { TMAP_INTERLEAVE_NONE, TMAP_INTERLEAVE_16B, TMAP_INTERLEAVE_32B };
/* The numbers of CUtensorMapSwizzle, and the 96-byte mode that only tensormap.replace can ask for. */
enum tmap_swizzle {
    TMAP_SWIZZLE_NONE,
    TMAP_SWIZZLE_32B,
    TMAP_SWIZZLE_64B,
    TMAP_SWIZZLE_128B,
    TMAP_SWIZZLE_128B_ATOM_32B,
    TMAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
    TMAP_SWIZZLE_128B_ATOM_64B,
    TMAP_SWIZZLE_96B,
};

struct tmap {
    uint32_t type, interleave, swizzle, l2_promotion;
    uint32_t fill_nan; /* elements outside the tensor: 0 zero, 1 NaN */
    uint32_t rank;
    uint64_t address;
    uint64_t dim[TMAP_MAX_RANK];        /* elements */
    uint64_t stride[TMAP_MAX_RANK - 1]; /* bytes, of dimension 1 and up */
    uint32_t box[TMAP_MAX_RANK];        /* elements that the box spans */
    uint32_t step[TMAP_MAX_RANK];       /* traversal strides, elements; step[0] does not count without interleave */
};

/* Checks and writes a map: NULL, or as a sentence the rule that the description breaks, with `out` untouched. */
const char *tmap_encode(const struct tmap *m, uint8_t out[TMAP_BYTES]);
/* Is it an im2col map, as far as that can be seen? tmap_decode does not read those. */
bool tmap_is_im2col(const uint8_t map[TMAP_BYTES]);
/* Reads a map back. NULL, or what is wrong: bytes that are no tensor map, or a field whose value breaks a rule, as
 * tensormap.replace can make it; the address and the box's size are left to the copy. The map may be changed meanwhile:
 * it is copied first. */
const char *tmap_decode(const uint8_t map[TMAP_BYTES], struct tmap *m);
/* The rule of alignment that the address breaks, or NULL. */
const char *tmap_check_address(const struct tmap *m);

/* The fields of tensormap.replace. */
enum tmap_field {
    TMAP_FIELD_ADDRESS,
    TMAP_FIELD_RANK, /* value: rank - 1 */
    TMAP_FIELD_BOX,
    TMAP_FIELD_DIM,
    TMAP_FIELD_STRIDE,
    TMAP_FIELD_STEP,
    TMAP_FIELD_TYPE, /* from here on the numbers of 9.7.9.28, Table 33 */
    TMAP_FIELD_INTERLEAVE,
    TMAP_FIELD_SWIZZLE,
    TMAP_FIELD_ATOMICITY,
    TMAP_FIELD_FILL,
};
/* Exchanges one field (number `ord` of those that come per dimension) without looking at the others: the copy that uses
 * the map checks it whole. NULL, or what is wrong with the value. */
const char *tmap_replace(uint8_t map[TMAP_BYTES], enum tmap_field field, uint32_t ord, uint64_t value);
/* cuTensorMapReplaceAddress: looks at the address alone, and at the fields that say how it must be aligned. NULL, or
 * the rule that it breaks, with the map untouched. */
const char *tmap_replace_address(uint8_t map[TMAP_BYTES], uint64_t address);

/* Bits of an element in global memory. */
unsigned tmap_element_bits(uint32_t type);
/* "FLOAT16": what follows CU_TENSOR_MAP_DATA_TYPE_. */
const char *tmap_type_name(uint32_t type);
/* Bytes of shared memory in which the swizzle moves things: 32, 64, 96, 128; 0 without swizzle. */
unsigned tmap_swizzle_span(uint32_t swizzle);

/* Sixteen values of 6 bits, each in a byte of its own, become 12 bytes: .b6p2x16 of 5.5.1.1. */
void tmap_pack6(const uint8_t from[16], uint8_t to[12]);

#endif
