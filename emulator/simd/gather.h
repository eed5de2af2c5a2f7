/* simd/gather.h - matrices on their way out of shared memory into the multiplier: found, and decoded to f32 where
 * multiply.h wants them.
 *
 * A matrix is lines of 16-byte units, along K (K-major, 32 bytes each) or along M or N (MN-major). The units lie at
 * offsets that are a sum of two, one by line or group of lines and one by the place in it, then swizzled.
 */
#ifndef SIMD_GATHER_H
#define SIMD_GATHER_H

#include "simd/multiply.h"
#include "simd/swizzle.h"

#define SIMD_ROW_BYTES 32u /* of a K-major line */
#define SIMD_ROW_MAX_K 64u /* elements of a line of 32 bytes */

/* How elements lie: the names of num.h's row decoders. */
enum simd_elem {
    SIMD_F16,
    SIMD_BF16,
    SIMD_TF32,
    SIMD_E4M3,
    SIMD_E5M2,
    SIMD_U8,
    SIMD_S8,
    SIMD_E2M1_P64,
    SIMD_E2M1_PACKED,
    SIMD_E2M3, /* from here on by the portable loops alone */
    SIMD_E3M2,
    SIMD_E2M1_MID,
    SIMD_E2M3_P32,
    SIMD_E3M2_P32
};

struct simd_matrix {
    enum simd_elem elem;
    uint32_t rows, k;      /* rows along M or N */
    uint32_t lines, units; /* units of each line */
    bool mn_major;
    bool panels; /* element (row, k) goes to out[simd_tile_a(row, k)], else to out[simd_tile_b(row, k)] */
};

/* Where the 16-byte units of a matrix lie in shared memory. K-major, by groups of 8 rows: two of each row of group g at
 * g * stride + unit[g * list], 16 offsets. Groups that are alike share one list (list 0), others have one each (list
 * 16, stride 0). MN-major: unit[] are the offsets of all, line by line. */
struct simd_groups {
    const uint32_t *unit;
    uint32_t list, stride;
};

/* off[i * units + u] = line[i] + unit[u], swizzled. */
void simd_locate(enum simd simd, const struct simd_swizzle *s, const uint32_t *line, uint32_t lines,
                 const uint32_t *unit, uint32_t units, uint32_t *off);
/* Smallest and largest of off[0 .. count). */
void simd_span(enum simd simd, const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high);

/* Working memory. */
struct simd_decoder {
    uint8_t raw[SIMD_MAX_ROWS * SIMD_ROW_BYTES];
    float decoded[SIMD_MAX_ROWS * SIMD_ROW_MAX_K];
};

/* Decodes a matrix whose rows are a multiple of 8, of panels of 16. */
void simd_gather(enum simd simd, const struct simd_matrix *m, const uint8_t *smem, const struct simd_groups *g,
                 struct simd_decoder *work, float *out);
/* Block scaling: element (row, k) times factors[row * (columns / block) + k / block], one rounding in f32; `columns`
 * along K, `block` 16 or 32. A in its place, rows a multiple of SIMD_PANEL; B from b to out, which may be b. */
void simd_scale_panels(enum simd simd, float *a, const float *factors, uint32_t rows, uint32_t columns, uint32_t block);
void simd_scale_rows(enum simd simd, const float *b, const float *factors, uint32_t rows, uint32_t columns,
                     uint32_t block, float *out);
/* Decodes work->raw, the lines one behind the other. */
void simd_decode(const struct simd_matrix *m, struct simd_decoder *work, float *out);

#endif
