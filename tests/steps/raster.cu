/* The order in which step 05 makes its tiles: divisors divide, every tile comes exactly once, groups are walked as
 * raster.h draws them. Host only. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../05_persistent_warpspec/raster.h"

static int fail(const char *what, uint32_t a, uint32_t b) {
    printf("FAIL  raster: %s at %u, %u\n", what, a, b);
    return 1;
}

/* Around every multiple of d near the ends of the range and at random places. */
static int test_divisor(uint32_t d, uint64_t *state) {
    const struct divisor v = divisor_make(d);
    const uint32_t limit = 0x7FFFFFFF;
    for (int i = 0; i < 64; i++) {
        *state = *state * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t n = (uint32_t)(*state >> 33);
        if (i < 4)
            n = limit - (uint32_t)i;
        else if (i < 8)
            n = limit / d * d - (uint32_t)(i - 4) % (limit / d * d + 1);
        else if (i < 16)
            n = n / d * d;
        else if (i < 24)
            n = n / d * d + (d - 1) <= limit ? n / d * d + (d - 1) : n;
        if (divide(v, n) != n / d)
            return fail("division", n, d);
    }
    return 0;
}

static int test_order(uint32_t m, uint32_t n, uint32_t batch, uint32_t rows) {
    const struct raster r = raster_make(m, n, rows);
    rows = rows < m ? rows : m;
    uint32_t item = 0;
    for (uint32_t l = 0; l < batch; l++)
        for (uint32_t first = 0; first < m; first += rows)
            for (uint32_t j = 0; j < n; j++)
                for (uint32_t i = first; i < first + rows && i < m; i++, item++) {
                    const struct raster_tile t = raster_tile(&r, item);
                    if (t.m != i || t.n != j || t.matrix != l)
                        return fail("order of item, group", item, rows);
                }
    return 0;
}

int main(void) {
    uint64_t state = 1;
    for (uint32_t d = 1; d <= 5000; d++)
        if (test_divisor(d, &state))
            return 1;
    for (int i = 0; i < 5000; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        if (test_divisor((uint32_t)(state >> 33) >> (i % 31) | 1, &state))
            return 1;
    }
    for (int bit = 0; bit < 31; bit++)
        for (uint32_t d = (1u << bit) - 1; d <= (1u << bit) + 1; d++)
            if (d && d <= 0x7FFFFFFF && test_divisor(d, &state))
                return 1;
    for (uint32_t m = 1; m < 12; m++)
        for (uint32_t n = 1; n < 12; n++)
            for (uint32_t rows = 1; rows < 14; rows++)
                if (test_order(m, n, 3, rows))
                    return 1;
    printf("PASS  raster: divisors and orders\n");
    return 0;
}
