/* Operands on their way into the multiplier: what each of the host's vector units decodes and scales, bit for bit what
 * the portable loops do.
 */
#include "simd/gather.h"
#include "unit/engines/fixture.h"

#include <math.h>

enum { ROWS = 128, OUT = SIMD_MAX_ROWS * SIMD_B_STRIDE, UNTOUCHED = 0xcc };

static uint8_t smem[ROWS * SIMD_ROW_BYTES];
static uint32_t off[ROWS * SIMD_ROW_BYTES / 16];
static struct simd_decoder work;
static float want[OUT], out[OUT], in[OUT], factors[ROWS * 4];

/* Any bits: every code of every type, NaNs too. The units lie in another order than they are read in. */
static void fill(uint64_t *state) {
    for (uint32_t i = 0; i < sizeof smem; i++)
        smem[i] = (uint8_t)(fixture_random(state) >> 40);
    for (uint32_t i = 0; i < sizeof off / sizeof *off; i++)
        off[i] = 16 * (i ^ 5);
}

/* Which NaN it is does not count: each sum that has one is the same. */
static void check_same(void) {
    for (uint32_t i = 0; i < OUT; i++) {
        want[i] = isnan(want[i]) ? NAN : want[i];
        out[i] = isnan(out[i]) ? NAN : out[i];
    }
    CHECK_MEM(out, want, sizeof out);
}

static void check_gather(enum simd simd, enum simd_elem elem, uint32_t k, bool mn_major, bool panels) {
    const struct simd_matrix m = {
        elem,     ROWS,  k, mn_major ? k : ROWS, mn_major ? sizeof off / sizeof *off / k : SIMD_ROW_BYTES / 16,
        mn_major, panels};
    memset(want, UNTOUCHED, sizeof want);
    memset(out, UNTOUCHED, sizeof out);
    const struct simd_groups listed = {off, 16, 0}, alike = {off, 0, 8 * SIMD_ROW_BYTES};
    simd_gather(SIMD_PORTABLE, &m, smem, &listed, &work, want);
    simd_gather(simd, &m, smem, &listed, &work, out);
    check_same();
    if (mn_major)
        return;
    memset(out, UNTOUCHED, sizeof out);
    simd_gather(simd, &m, smem, &alike, &work, out); /* off[] is the same for each 8 rows, but for their place */
    check_same();
}

/* Numbers of either sign, subnormals among them, times powers of two and what e4m3 has. */
static void check_scales(enum simd simd, uint32_t k, uint32_t block, uint64_t *state) {
    for (uint32_t i = 0; i < OUT; i++)
        in[i] = (float)((int32_t)(fixture_random(state) >> 33) - (1 << 30)) * (i % 7 ? 0x1p-28f : 0x1p-140f);
    for (uint32_t i = 0; i < ROWS * 4; i++)
        factors[i] = i % 5 ? (float)(1 + i % 15) * 0x1p-9f : 0x1p-20f;
    for (uint32_t i = 0; i < OUT; i++)
        want[i] = out[i] = in[i];
    simd_scale_panels(SIMD_PORTABLE, want, factors, ROWS, k, block);
    simd_scale_panels(simd, out, factors, ROWS, k, block);
    CHECK_MEM(out, want, sizeof out);
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t c = 0; c < k; c++) {
            const float x = in[simd_tile_a(r, c)] * factors[r * (k / block) + c / block];
            CHECK_MEM(&want[simd_tile_a(r, c)], &x, sizeof x);
        }
    memset(want, UNTOUCHED, sizeof want);
    memset(out, UNTOUCHED, sizeof out);
    simd_scale_rows(SIMD_PORTABLE, in, factors, ROWS, k, block, want);
    simd_scale_rows(simd, in, factors, ROWS, k, block, out);
    CHECK_MEM(out, want, sizeof out);
    for (uint32_t n = 0; n < ROWS; n++)
        for (uint32_t c = 0; c < k; c++) {
            const float x = in[simd_tile_b(n, c)] * factors[n * (k / block) + c / block];
            CHECK_MEM(&want[simd_tile_b(n, c)], &x, sizeof x);
        }
}

int main(void) {
    uint64_t state = 1;
    fill(&state);
    for (enum simd s = SIMD_PORTABLE; s <= SIMD_AMX; s++) {
        if (!simd_available(s))
            continue;
        for (int panels = 0; panels < 2; panels++) {
            check_gather(s, SIMD_E2M1_PACKED, 64, false, panels);
            for (int mn = 0; mn < 2; mn++)
                for (enum simd_elem e = SIMD_F16; e <= SIMD_E2M1_P64; e++)
                    check_gather(s, e, e <= SIMD_BF16 ? 16 : e == SIMD_TF32 ? 8 : 32, mn, panels);
        }
        check_scales(s, 32, 32, &state);
        check_scales(s, 64, 32, &state);
        check_scales(s, 64, 16, &state);
    }
    return check_report();
}
