/* engines/tc_desc.c - the shared-memory descriptor and the canonical layouts (PTX ISA 9.7.16.3, 9.7.16.4.1, 9.7.16.10.6).
 *
 * A descriptor describes a matrix in units of 16 bytes. Its canonical layouts (9.7.16.3.3; the 32-byte-atom one from
 * CUTLASS mma_sm100_desc.hpp) give a linear address; swizzling XORs address bits:
 *   32B  bit 4 with bit 7;  64B  bits 4-5 with 7-8;  128B  bits 4-6 with 7-9;  128B/32B atom  bits 5-6 with 7-8.
 * Where a base offset is given, the source bits count from the pattern's start, base_offset * 128 bytes.
 */
#include "engines/tc_desc.h"

#include <stdio.h>

#define SECTION "PTX ISA 9.7.16.4.1"

static const struct diag bad_field = {
    .id = "tcgen05-smem-descriptor",
    .rule = "bits 46-48 of a shared-memory descriptor are 0b001, bits 53-60 are 0, bits 61-63 are 0, 1, 2, 4 or 6 (Table 40)",
    .section = SECTION,
    .hint = "build the descriptor from zero and shift each field to its place",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
};
static const struct diag bad_base = {
    .id = "tcgen05-smem-base-offset",
    .rule = "the repeating pattern of a swizzled matrix starts at a multiple of 1024 (128B), 512 (64B) or 256 bytes (32B), or the "
            "base offset is (pattern start >> 7) & 7 (Table 41)",
    .section = SECTION,
    .hint = "align the buffer to 1024 bytes; only offsets inside a swizzled row, as along K, need no base offset",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
};
static const struct diag absolute_lbo = {
    .id = "unsupported",
    .rule = "the absolute address mode of the leading dimension is an sm_103a feature",
    .section = "PTX ISA 9.7.16.4.1.1",
    .cuda_error = DIAG_CUDA_NOT_SUPPORTED,
};

const char *tc_swizzle_name(enum tc_swizzle s) {
    switch (s) {
    case TC_SW_NONE:
        return "no swizzling";
    case TC_SW_128B_32B:
        return "128B swizzling with 32B atoms";
    case TC_SW_128B:
        return "128B swizzling";
    case TC_SW_64B:
        return "64B swizzling";
    case TC_SW_32B:
        return "32B swizzling";
    }
    return "invalid swizzling";
}

static uint32_t field(uint64_t bits, unsigned first, unsigned count) {
    return (uint32_t)(bits >> first & ((1ull << count) - 1));
}

/* Bytes of one repetition of the XOR pattern. */
static uint32_t pattern_bytes(enum tc_swizzle s) {
    switch (s) {
    case TC_SW_128B:
        return 1024;
    case TC_SW_128B_32B:
    case TC_SW_64B:
        return 512;
    case TC_SW_32B:
        return 256;
    case TC_SW_NONE:
        break;
    }
    return 16;
}

static bool check_fields(uint64_t bits, const char *matrix, struct tc_problem *p) {
    uint32_t swizzle = field(bits, 61, 3);
    const char *name = NULL;
    uint32_t value = 0;
    if (field(bits, 46, 3) != 1) {
        name = "fixed field, bits 46-48,";
        value = field(bits, 46, 3);
    } else if (field(bits, 53, 8)) {
        name = "fixed field, bits 53-60,";
        value = field(bits, 53, 8);
    } else if (swizzle == 3 || swizzle == 5 || swizzle == 7) {
        name = "swizzling mode, bits 61-63,";
        value = swizzle;
    } else if (field(bits, 14, 2)) {
        name = "unused field, bits 14-15,";
        value = field(bits, 14, 2);
    } else if (field(bits, 30, 2)) {
        name = "unused field, bits 30-31,";
        value = field(bits, 30, 2);
    }
    if (!name)
        return true;
    p->rule = &bad_field;
    snprintf(p->text, sizeof p->text, "descriptor of %s, 0x%016llx: the %s is %u", matrix, (unsigned long long)bits, name,
             value);
    return false;
}

bool tc_desc_decode(uint64_t bits, const char *matrix, struct tc_desc *d, struct tc_problem *p) {
    if (!check_fields(bits, matrix, p))
        return false;
    if (field(bits, 52, 1)) {
        p->rule = &absolute_lbo;
        snprintf(p->text, sizeof p->text, "unsupported: descriptor of %s, 0x%016llx: bit 52 (absolute leading dimension address)",
                 matrix, (unsigned long long)bits);
        return false;
    }
    *d = (struct tc_desc){
        .start = field(bits, 0, 14) << 4,
        .lbo = field(bits, 16, 14) << 4,
        .sbo = field(bits, 32, 14) << 4,
        .base_offset = field(bits, 49, 3),
        .swizzle = (enum tc_swizzle)field(bits, 61, 3),
    };
    static const uint8_t width[8] = {[TC_SW_NONE] = 16, [TC_SW_128B_32B] = 128, [TC_SW_128B] = 128, [TC_SW_64B] = 64,
                                     [TC_SW_32B] = 32};
    d->width = width[d->swizzle];
    if (d->swizzle == TC_SW_NONE)
        return true;
    uint32_t into = (d->start - d->base_offset * 128) & (pattern_bytes(d->swizzle) - 1);
    if (into < d->width)
        return true;
    p->rule = &bad_base;
    snprintf(p->text, sizeof p->text,
             "matrix %s starts at shared offset 0x%x, %u bytes into the %u-byte pattern of %s that base offset %u names", matrix,
             d->start, into, pattern_bytes(d->swizzle), tc_swizzle_name(d->swizzle), d->base_offset);
    return false;
}

static uint32_t swizzled(const struct tc_desc *d, uint32_t address) {
    uint32_t row = (address - d->base_offset * 128) >> 7;
    switch (d->swizzle) {
    case TC_SW_NONE:
        return address;
    case TC_SW_32B:
        return address ^ (row & 1) << 4;
    case TC_SW_64B:
        return address ^ (row & 3) << 4;
    case TC_SW_128B:
        return address ^ (row & 7) << 4;
    case TC_SW_128B_32B:
        return address ^ (row & 3) << 5;
    }
    return address;
}

/* ((8,m),(T,2k)):((T,SBO),(1,LBO)) without, ((8,m),(T,2k)):((W,SBO),(1,T)) with swizzling, W the row's width. */
uint32_t tc_desc_unit_k(const struct tc_desc *d, uint32_t row, uint32_t chunk) {
    uint32_t along_k = d->swizzle == TC_SW_NONE ? d->lbo : 16;
    return swizzled(d, d->start + row % 8 * d->width + row / 8 * d->sbo + chunk * along_k);
}

/* ((T,1,m),(8,k)):((1,T,SBO),(T,LBO)) without, ((T,w,m),(8,k)):((1,T,LBO),(W,SBO)) with swizzling, w = W/16 units; the
 * 32-byte-atom layout repeats after 4 rows along K instead of 8. */
uint32_t tc_desc_unit_mn(const struct tc_desc *d, uint32_t chunk, uint32_t k) {
    if (d->swizzle == TC_SW_NONE)
        return d->start + chunk * d->sbo + k % 8 * 16 + k / 8 * d->lbo;
    uint32_t units = d->width / 16, rows = d->swizzle == TC_SW_128B_32B ? 4 : 8;
    return swizzled(d, d->start + chunk % units * 16 + chunk / units * d->lbo + k % rows * d->width + k / rows * d->sbo);
}
