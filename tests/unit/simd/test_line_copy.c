/* Boxes of whole lines: by the host's vector unit, where it has one, and by the portable loop, at every place in the
 * pattern of the swizzle.
 */
#include "simd/line_copy.h"
#include "unit/engines/fixture.h"

/* The 128B swizzle (PTX ISA 5.5.7): bits 7-9 of an address turn its bits 4-6. */
static uint32_t place(uint32_t a) { return a ^ (a >> 7 & 7) << 4; }

/* Rows go away as they are, if they are whole lines of a cache. */
static void test_rows_away(uint64_t *state) {
    _Alignas(64) static uint8_t to[64 * 64], want[64 * 64];
    uint8_t from[8 * 192 + 1];
    for (unsigned i = 0; i < 64; i++) {
        const uint32_t rows = fixture_random(state) % 9, bytes = 64 * (1 + fixture_random(state) % 3);
        const uint32_t stride = bytes + 64 * (fixture_random(state) % 3);
        for (unsigned k = 0; k < sizeof from; k++)
            from[k] = (uint8_t)(fixture_random(state) >> 40);
        memset(to, 0xcc, sizeof to);
        memset(want, 0xcc, sizeof want);
        for (uint32_t k = 0; k < rows * bytes; k++)
            want[64 + k / bytes * stride + k % bytes] = from[1 + k];
        if (simd_rows_away(to + 64, stride, rows, from + 1, bytes))
            CHECK_MEM(to, want, sizeof to);
        CHECK(!simd_rows_away(to + 16, stride, rows, from, bytes));
        CHECK(!simd_rows_away(to, stride + 16, rows, from, bytes));
        CHECK(!simd_rows_away(to, stride, rows, from, bytes - 16));
    }
}

int main(void) {
    static void (*const loops[])(uint8_t *, uint32_t, uint32_t, const uint8_t *, uint64_t) = {simd_lines,
                                                                                              simd_lines_portable};
    static void (*const back_loops[])(uint8_t *, const uint8_t *, uint32_t, uint32_t) = {simd_lines_out,
                                                                                         simd_lines_out_portable};
    static uint8_t smem[6144], want[6144], bytes[64 * 16 + 24 * 448];
    uint64_t state = 1;
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(fixture_random(&state) >> 40);
    for (unsigned i = 0; i < 96; i++) {
        const uint32_t off = 1024 + 128 * (i % 8), rows = 1 + fixture_random(&state) % 24;
        const uint32_t stride = 128 + 16 * (fixture_random(&state) % 20);
        const uint8_t *from = bytes + 16 * (fixture_random(&state) % 64);
        memset(want, 0xcc, sizeof want);
        for (uint32_t k = 0; k < 128 * rows; k++)
            want[place(off + k)] = from[k / 128 * stride + k % 128];
        for (unsigned l = 0; l < 2; l++) {
            memset(smem, 0xcc, sizeof smem);
            loops[l](smem, off, rows, from, stride);
            CHECK_MEM(smem, want, sizeof smem);
        }
        for (unsigned l = 0; l < 2; l++) {
            uint8_t back[24 * 128 + 1];
            memset(back, 0xcc, sizeof back);
            back_loops[l](back, want, off, rows);
            CHECK_EQ(back[rows * 128], 0xcc);
            for (uint32_t r = 0; r < rows; r++)
                CHECK_MEM(back + r * 128, from + r * stride, 128);
        }
    }
    test_rows_away(&state);
    return check_report();
}
