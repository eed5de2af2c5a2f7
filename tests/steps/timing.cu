/* common/timing.h keeps its promises: as many launches as asked for, inputs that differ from run to run and are the
 * host's own in the last one, a line with figures only where something was measured. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/gemm_host.h"

enum { WORDS = 5000, SEEN = 32 }; /* some pages of TIMING_STEP bytes, not a whole number */

/* What each launch found: how many there were, and of each the first and the last word of both inputs. */
struct seen {
    uint32_t launches, word[SEEN][4];
};

__global__ void look(const uint32_t *a, const uint32_t *b, struct seen *seen) {
    const uint32_t i = seen->launches++;
    seen->word[i][0] = a[0];
    seen->word[i][1] = a[WORDS - 1];
    seen->word[i][2] = b[0];
    seen->word[i][3] = b[WORDS - 1];
}

static int failures;

static void expect(int condition, const char *what, int runs) {
    if (!condition) {
        printf("  wrong with %d runs: %s\n", runs, what);
        failures++;
    }
}

/* host: WORDS numbers, each of them once, for a; b has them from the back. */
static void test(int runs, const uint32_t *host, const uint32_t *back) {
    const struct seen none = {};
    struct seen seen;
    void *a = gpu_upload(host, WORDS * 4), *b = gpu_upload(back, WORDS * 4), *gpu = gpu_upload(&none, sizeof none);
    const struct timing_input inputs[] = {{a, host, WORDS * 4}, {b, back, WORDS * 4}};
    struct timing t = timing_make(runs, inputs, 2);
    while (timing_next(&t))
        look<<<1, 1>>>((const uint32_t *)a, (const uint32_t *)b, (struct seen *)gpu);
    for (int i = 0; i < runs; i++)
        expect(t.us[i] > 0, "a launch took no time", runs);
    timing_report(&t, "timing", "1x1x1", "none", 1);
    CUDA_CHECK(cudaMemcpy(&seen, gpu, sizeof seen, cudaMemcpyDeviceToHost));

    const uint32_t launches = runs ? (uint32_t)(runs + TIMING_WARM_UPS) : 1;
    expect(seen.launches == launches, "the number of launches", runs);
    const uint32_t last[] = {host[0], host[WORDS - 1], back[0], back[WORDS - 1]};
    expect(!memcmp(seen.word[launches - 1], last, sizeof last), "the last launch has other inputs", runs);
    for (uint32_t i = 1; i < launches && i < 5; i++) /* after five steps the rotation comes round, in part */
        for (int j = 0; j < 4; j++)
            expect(seen.word[i][j] != seen.word[i - 1][j], "a launch has the inputs of the one before", runs);
    void *all[] = {a, b, gpu};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CUDA_CHECK(cudaFree(all[i]));
}

int main(void) {
    static uint32_t host[WORDS], back[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        host[i] = back[WORDS - 1 - i] = i;
    cuda_require_sm100();
    test(0, host, back);
    test(1, host, back);
    test(6, host, back);
    printf(failures ? "FAIL  timing: %d expectations\n" : "PASS  timing: launches and inputs as promised\n", failures);
    return failures != 0;
}
