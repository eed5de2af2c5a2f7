/* common/types.h rounds as NVIDIA's own conversions do: every bit pattern of f16 and bf16, the neighbours of each and
 * the ties between two. Host only. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../common/types.h"

static int failures;

static void expect_same(enum elem_type type, float x) {
    uint32_t got = 0, want = 0;
    const float value = elem_store(type, x, &got);
    const __half h = __float2half_rn(x);
    const __nv_bfloat16 b = __float2bfloat16_rn(x);
    memcpy(&want, type == ELEM_F16 ? (const void *)&h : &b, 2);
    const float right = type == ELEM_F16 ? __half2float(h) : __bfloat162float(b);
    if ((got != want || !(value == right)) && failures++ < 10)
        printf("  wrong: %s of %a is %04x (%a), not %04x (%a)\n", elem_names[type], (double)x, got, (double)value, want,
               (double)right);
}

/* Around the value of each 16-bit pattern of the type: itself, its neighbours among floats, and the way to the next one
 * in halves and a little to either side. */
static void test(enum elem_type type, uint32_t drop, uint32_t end) {
    for (uint32_t pattern = 0; pattern < end; pattern++)
        for (int sign = 0; sign < 2; sign++) {
            const uint16_t half = (uint16_t)pattern;
            float x;
            uint32_t bits = pattern << 16;
            const __half_raw raw = {half};
            memcpy(&x, &bits, 4);
            if (type == ELEM_F16)
                x = __half2float(__half(raw));
            memcpy(&bits, &x, 4);
            const uint32_t tie = 1u << (drop - 1), near[] = {0, 1, tie - 1, tie, tie + 1, 2 * tie - 1};
            for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
                const uint32_t y = (bits + near[i]) | (uint32_t)sign << 31;
                memcpy(&x, &y, 4);
                if (isfinite(x))
                    expect_same(type, x);
            }
        }
}

int main(void) {
    test(ELEM_F16, 13, 0x7C00); /* up to the first infinity */
    test(ELEM_BF16, 16, 0x7F80);
    printf(failures ? "FAIL  types: %d conversions\n" : "PASS  types: rounded as the library does\n", failures);
    return failures != 0;
}
