/* engines/tma_box.c - reads tensor maps and lays out their boxes (PTX 5.5.3, 9.7.9.27); contract in tma_box.h. */
#include "engines/tma_box.h"

#include "base/heap.h"
#include "base/relaxed.h"

#include <string.h>

DIAG(unsupported) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "unsupported-tensor-copy", "9.7.9.27.1.2"),
    .rule = "the emulator executes every form as the PTX ISA states, or refuses it by name",
    .reason = "the emulator does not support it.",
};

DIAG(bad_map) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tensormap-invalid", "5.5.8"),
    .rule = "a tensor copy needs the 128 bytes of a tensor map, whose fields cuTensorMapEncodeTiled would accept",
    .hint = "Pass the map as `const __grid_constant__ CUtensorMap`, or copy it to global memory. Check what "
            "cuTensorMapEncodeTiled returned",
    .reason = "the chip reports an illegal instruction, or copies from an arbitrary address.",
};

DIAG(bad_address) = {
    DIAG_FAULT(MISALIGNED_ADDRESS, "tensormap-address", "5.5.8, 9.7.9.28"),
    .rule = "the tensor of a tensor map begins at a multiple of 16 bytes, or of 32 with INTERLEAVE_32B and the padded "
            "types",
    .hint =
        "Align the address: tensormap.replace puts any address into a map, while cuTensorMapReplaceAddress checks it",
    .reason = "a misaligned address ends the launch (measured on an H100).",
};

DIAG(bad_box) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tensor-copy-box", "5.5.3.1, 5.5.3.4, 9.7.9.27.1.1"),
    .rule = "the instruction's coordinates must fit the tensor map",
    .reason = "the hardware has no such access.",
};

DIAG(bad_rank) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tensor-copy-rank", "9.7.9.27.1.2"),
    .rule = "the .dim of the instruction is the rank of the tensor map",
    .hint = "Give cuTensorMapEncodeTiled as many dimensions as the instruction has coordinates",
    .reason = "the instruction gives the copy too few coordinates, or too many.",
};

static bool fault(const struct async_op *op, const struct diag *rule, const char *why) {
    return mach_fails(op->cta->island, &op->origin, rule, "%s: %s", op->name, why);
}

bool tile_fits(const struct async_op *op, const struct tile *t) {
    const struct tma_box *box = &t->box;
    const struct tmap *m = &t->m;
    if (t->why)
        return fault(op, tmap_is_im2col(box->map) ? &unsupported : &bad_map, t->why);
    const char *misaligned = tmap_check_address(m);
    if (misaligned)
        return fault(op, &bad_address, misaligned);
    if (m->rank != box->rank)
        return mach_fails(op->cta->island, &op->origin, &bad_rank, "%s with .%ud and a tensor map of rank %u", op->name,
                          box->rank, m->rank);
    for (uint32_t i = 0; i < m->rank; i++)
        if (m->dim[i] > UINT64_C(1) << 31)
            return fault(op, &bad_box, "the tensor has a dimension of more than 2^31 elements");
    if (m->interleave != TMAP_INTERLEAVE_NONE)
        return fault(op, &unsupported, "interleaved layouts (NC/8HWC8, NC/16HWC16) are not supported");
    if (m->swizzle == TMAP_SWIZZLE_96B)
        return fault(op, &unsupported, "the 96-byte swizzle is not supported");
    if (box->rows4 && (m->rank != 2 || m->box[1] != 1))
        return fault(op, &bad_box, "gather4 and scatter4 take a tensor map of rank 2 whose box is one row");
    if ((m->type == TMAP_4X16_P64 || m->type == TMAP_6X16_P32) && box->coord[0] % 128)
        return fault(op, &bad_box, "with the padded 4- and 6-bit types the first coordinate is a multiple of 128");
    if ((int64_t)box->coord[0] * tmap_element_bits(m->type) % 128)
        return fault(op, &bad_box, "the first coordinate times the element's size must be a multiple of 16 bytes");
    return true;
}

static const enum simd_swizzle_mode swizzle_modes[TMAP_SWIZZLE_96B + 1] = {
    [TMAP_SWIZZLE_32B] = SIMD_SWIZZLE_32B,
    [TMAP_SWIZZLE_64B] = SIMD_SWIZZLE_64B,
    [TMAP_SWIZZLE_128B] = SIMD_SWIZZLE_128B,
    [TMAP_SWIZZLE_128B_ATOM_32B] = SIMD_SWIZZLE_128B_ATOM_32B,
    [TMAP_SWIZZLE_128B_ATOM_32B_FLIP_8B] = SIMD_SWIZZLE_128B_ATOM_32B,
    [TMAP_SWIZZLE_128B_ATOM_64B] = SIMD_SWIZZLE_128B_ATOM_64B,
};

/* Lays out the box of the map t->m, which has its rank. */
static void lay_out(struct tile *t) {
    const struct tmap *m = &t->m;
    t->rows = t->box.rows4 ? 4 : 1;
    for (uint32_t i = 1; i < m->rank && !t->box.rows4; i++) {
        t->count[i] = (m->box[i] + m->step[i] - 1) / m->step[i]; /* cuda.h: ceil(boxDim / elementStrides) */
        t->rows *= t->count[i];
    }
    t->inner = m->box[0] * tmap_element_bits(m->type) / 8;
    t->unit = m->type == TMAP_4X16_P64 ? 8 : m->type == TMAP_6X16_P32 ? 12 : 16;
    t->width = t->inner / t->unit * 16;
    t->swizzle = simd_swizzle_of(swizzle_modes[m->swizzle]);
    t->pitch = m->swizzle == TMAP_SWIZZLE_NONE ? t->width : tmap_swizzle_span(m->swizzle);
    t->plane_rows = t->box.rows4 || m->rank == 1 ? 1 : t->count[1];
    t->planes = (uint32_t)(t->rows / t->plane_rows);
    const unsigned bits = tmap_element_bits(m->type);
    const int64_t first = (int64_t)t->box.coord[0] * bits / 8, end = (int64_t)(m->dim[0] * bits / 8);
    t->lo = first >= 0 ? 0 : -first < t->inner ? (uint32_t)-first : t->inner;
    t->hi = end - first >= t->inner ? t->inner : end > first ? (uint32_t)(end - first) : 0;
    if (t->lo >= t->hi)
        t->lo = t->hi = 0;
}

/* The maps that a host thread decoded last: a kernel has few, and decoding one takes as long as a small copy. */
enum { KEPT = 4 };
struct kept {
    uint64_t decoded; /* so many were; map i is of[i % KEPT] */
    struct {
        _Alignas(8) uint8_t bytes[TMAP_BYTES];
        struct tmap m;
        const char *why;
    } of[KEPT];
};

void tile_read(struct worker *w, const struct tma_box *box, struct tile *t) {
    _Alignas(8) uint8_t bytes[TMAP_BYTES];
    relaxed_read(bytes, box->map, sizeof bytes); /* it may be changed meanwhile */
    struct kept *k = w->tma_maps = w->tma_maps ? w->tma_maps : xcalloc(1, sizeof *k);
    uint64_t i = 0;
    while (i < KEPT && i < k->decoded && memcmp(k->of[i].bytes, bytes, sizeof bytes) != 0)
        i++;
    if (i == KEPT || i == k->decoded) {
        i = k->decoded++ % KEPT;
        memcpy(k->of[i].bytes, bytes, sizeof bytes);
        k->of[i].why = tmap_decode(bytes, &k->of[i].m);
    }
    *t = (struct tile){.box = *box, .m = k->of[i].m, .why = k->of[i].why};
    t->laid = !t->why && t->m.rank == box->rank;
    if (t->laid)
        lay_out(t);
}

/* The n-th of `count` places from coord on, step apart, that lie in [0, dim): n from *in to *out. */
static void inside(int64_t coord, uint32_t count, uint32_t step, uint64_t dim, uint32_t *in, uint32_t *out) {
    const int64_t n = coord < 0 ? (-coord + step - 1) / step : 0; /* dim is at most 2^32 */
    const int64_t end = (int64_t)dim > coord ? ((int64_t)dim - coord + step - 1) / step : 0;
    *out = end < count ? (uint32_t)end : count;
    *in = n < *out ? (uint32_t)n : *out;
}

struct plane tile_plane(const struct tile *t, uint32_t p) {
    const struct tmap *m = &t->m;
    struct plane plane = {.out = 1, .addr = m->address};
    if (t->box.rows4) {
        inside(t->box.coord[1 + p], 1, 1, m->dim[1], &plane.in, &plane.out);
        plane.addr += (uint64_t)t->box.coord[1 + p] * m->stride[0];
    } else if (m->rank > 1) {
        inside(t->box.coord[1], t->count[1], m->step[1], m->dim[1], &plane.in, &plane.out);
        plane.stride = m->step[1] * m->stride[0];
        plane.addr += (uint64_t)t->box.coord[1] * m->stride[0] + plane.in * plane.stride;
    }
    for (uint32_t i = 2; i < m->rank && !t->box.rows4; i++) {
        const int64_t at = t->box.coord[i] + (int64_t)(p % t->count[i]) * m->step[i];
        p /= t->count[i];
        if (at < 0 || (uint64_t)at >= m->dim[i])
            plane.out = plane.in;
        plane.addr += (uint64_t)at * m->stride[i - 1];
    }
    if (t->lo == t->hi)
        plane.out = plane.in;
    plane.addr += (uint64_t)((int64_t)t->box.coord[0] * tmap_element_bits(m->type) / 8 + t->lo);
    return plane;
}

bool tile_check_store(const struct async_op *op, const struct tile *t) {
    if (t->m.type == TMAP_4X16_P64) /* 9.7.9.27.1.1 */
        return fault(op, &bad_box, "the type 16U4_ALIGN16B is for loads only");
    for (uint32_t i = 0; i < (t->box.rows4 ? TMAP_MAX_RANK : t->m.rank); i++)
        if (t->box.coord[i] < 0)
            return fault(op, &bad_box, "a store's coordinates must not be negative");
    return true;
}
