/* engines/tc_desc.c - the shared-memory descriptor and the canonical layouts (PTX
 * ISA 9.7.16.3, 9.7.16.4.1, 9.7.16.10.6).
 *
 * A descriptor describes a matrix in units of 16 bytes. Its canonical layouts (9.7.16.3.3; the 32-byte-atom one from
 * CUTLASS mma_sm100_desc.hpp) give a linear address, which is then swizzled (simd/swizzle.h). Where a base offset is
 * given, the source bits count from the pattern's start, base_offset * 128 bytes.
 */
#include "engines/tc_desc.h"

#include <stdio.h>

DIAG(bad_field) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-smem-descriptor", "9.7.16.4.1"),
    .rule = "bits 46-48 of a shared-memory descriptor are 0b001, bits 53-60 are 0, bits 61-63 are 0, 1, 2, 4 "
            "or 6 (Table 40)",
    .hint = "Build the descriptor from zero, and shift each field to its place",
    .reason = "the bits name no layout.",
};
DIAG(bad_base) = {
    DIAG_HEAD(STRICT, "tcgen05-smem-base-offset", "9.7.16.4.1"),
    .rule = "the repeating pattern of a swizzled matrix starts at a multiple of 1024 (128B), 512 (64B) or 256 bytes "
            "(32B). Otherwise the base offset is (pattern start >> 7) & 7 (Table 41)",
    .hint = "Align the buffer to the pattern: to 1024 bytes for 128B swizzling, 512 for 64B, 256 for 32B. Only offsets "
            "inside a swizzled row, as along K, need no base offset. The chip XORs bits of the address, so the matrix "
            "is right if its writer did so, as TMA does",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
    .reason = "swizzling uses bits of the address, so the operand is right if its writer did the same (CUTLASS example "
              "71); the emulator does so.",
};
DIAG(other_base) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-smem-base-mismatch", "9.7.16.4.1"),
    .rule = "a base offset other than 0 is (pattern start >> 7) & 7, and the matrix starts in the pattern's first row",
    .hint = "Use a base offset of 0, with a buffer aligned to 1024 bytes",
    .reason = "the base offset moves the pattern away from where it begins.",
};
/* The same, where the start is right for rows that are wider. */
DIAG(narrow_mode) = {
    DIAG_HEAD(STRICT, "tcgen05-smem-swizzle", "9.7.16.4.1"),
    .rule = "a descriptor names the swizzling with which the matrix was written. A start inside the pattern is in its "
            "first row (Table 41)",
    .hint = "Give bits 61-63 of the descriptor the mode of the tensor map, or of the loop, that wrote the tile: a step "
            "along K stays inside one of its rows",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
    .reason = "a start inside the pattern is legal if the writer XORs the same address bits. The emulator prints the "
              "full report if the program fails.",
};
DIAG(absolute_lbo) = {
    DIAG_FAULT(NOT_SUPPORTED, "unsupported", "9.7.16.4.1.1"),
    .rule = "the absolute address mode of the leading dimension is an sm_103a feature",
    .reason = "the emulator does not support it.",
};

const char *tc_swizzle_name(enum tc_swizzle s) {
    static const char *const names[] = {
        [TC_SW_NONE] = "no swizzling",   [TC_SW_128B_32B] = "128B swizzling with 32B atoms",
        [TC_SW_128B] = "128B swizzling", [TC_SW_64B] = "64B swizzling",
        [TC_SW_32B] = "32B swizzling",
    };
    return s < sizeof names / sizeof *names && names[s] ? names[s] : "invalid swizzling";
}

static uint32_t field(uint64_t bits, unsigned first, unsigned count) {
    return (uint32_t)(bits >> first & ((1ull << count) - 1));
}

static enum simd_swizzle_mode mode_of(enum tc_swizzle s) {
    static const uint8_t modes[8] = {[TC_SW_128B_32B] = SIMD_SWIZZLE_128B_ATOM_32B,
                                     [TC_SW_128B] = SIMD_SWIZZLE_128B,
                                     [TC_SW_64B] = SIMD_SWIZZLE_64B,
                                     [TC_SW_32B] = SIMD_SWIZZLE_32B};
    return (enum simd_swizzle_mode)modes[s & 7];
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
    snprintf(p->text, sizeof p->text, "descriptor of %s, 0x%016llx: the %s is %u", matrix, (unsigned long long)bits,
             name, value);
    return false;
}

/* A mode with wider rows for which the start would be right, or TC_SW_NONE. */
static enum tc_swizzle wider_mode(const struct tc_desc *d) {
    static const enum tc_swizzle modes[] = {TC_SW_64B, TC_SW_128B};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        const struct simd_swizzle x = simd_swizzle_of(mode_of(modes[i]));
        if (x.row > d->xor.row && ((d->start - d->xor.start) & (simd_swizzle_pattern(&x) - 1)) < x.row)
            return modes[i];
    }
    return TC_SW_NONE;
}

/* The start lies `into` the pattern, behind its first row: of a base offset of 0 that is told, and the matrix read. */
static bool judge_start(const struct tc_desc *d, const char *matrix, uint32_t into, struct tc_problem *p) {
    const enum tc_swizzle wider = d->base_offset ? TC_SW_NONE : wider_mode(d);
    p->rule = d->base_offset ? &other_base : wider ? &narrow_mode : &bad_base;
    const int n = snprintf(p->text, sizeof p->text, "matrix %s (0x%x) starts %u bytes into a pattern of %s", matrix,
                           d->start, into, tc_swizzle_name(d->swizzle));
    if (n > 0 && (size_t)n < sizeof p->text) {
        if (wider)
            snprintf(p->text + n, sizeof p->text - (size_t)n, "; %s fits", tc_swizzle_name(wider));
        else
            snprintf(p->text + n, sizeof p->text - (size_t)n, ", base offset %u", d->base_offset);
    }
    return d->base_offset == 0;
}

bool tc_desc_decode(uint64_t bits, const char *matrix, struct tc_desc *d, struct tc_problem *p) {
    p->rule = NULL;
    if (!check_fields(bits, matrix, p))
        return false;
    if (field(bits, 52, 1)) {
        p->rule = &absolute_lbo;
        snprintf(p->text, sizeof p->text,
                 "unsupported: descriptor of %s, 0x%016llx: bit 52 (absolute leading dimension address)", matrix,
                 (unsigned long long)bits);
        return false;
    }
    *d = (struct tc_desc){
        .start = field(bits, 0, 14) << 4,
        .lbo = field(bits, 16, 14) << 4,
        .sbo = field(bits, 32, 14) << 4,
        .base_offset = field(bits, 49, 3),
        .swizzle = (enum tc_swizzle)field(bits, 61, 3),
    };
    d->xor = simd_swizzle_of(mode_of(d->swizzle));
    d->xor.start = d->base_offset * 128;
    d->rows = d->swizzle == TC_SW_128B_32B ? 4 : 8;
    d->along_k = d->swizzle == TC_SW_NONE ? d->lbo : 16;
    const uint32_t pattern = simd_swizzle_pattern(&d->xor), into = (d->start - d->xor.start) & (pattern - 1);
    return d->swizzle == TC_SW_NONE || into < d->xor.row || judge_start(d, matrix, into, p);
}
