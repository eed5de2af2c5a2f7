/* Where lanes meet again behind branches is found in a time that does not explode: 200000 branches, each over all that
 * was branched to before, took minutes with an algorithm that is quadratic. CTest's limit is the test. */
#include "unit/run_ptx.h"

#include <stdio.h>

#define BRANCHES 200000u
#define LINE 40u /* bytes of a line of text, and more */

int main(void) {
    char *text = malloc(2 * LINE * BRANCHES + 1000);
    size_t n = 0;
    struct run r;
    if (!text)
        return 1;
    n += (size_t)sprintf(text, RUN_HEADER ".visible .entry wide(.param .u64 out) {\n"
                                          ".reg .pred %%p; .reg .b32 %%r; .reg .b64 %%d; ld.param.u64 %%d, [out];\n"
                                          "mov.u32 %%r, %%tid.x; setp.eq.u32 %%p, %%r, 1; mov.u32 %%r, 0;\n");
    for (uint32_t i = 0; i < BRANCHES; i++)
        n += (size_t)sprintf(text + n, "@%%p bra L%u;\n", i);
    for (uint32_t i = 0; i < BRANCHES; i++)
        n += (size_t)sprintf(text + n, "L%u: add.u32 %%r, %%r, 1;\n", i);
    sprintf(text + n, "atom.global.add.u32 %%r, [%%d], %%r; ret; }\n");
    if (run_open(&r, text)) {
        const uint64_t out = run_alloc(&r, 4);
        run_ok(&r, "wide", (struct run_shape){.block = 2}, 1, &out);
        CHECK_EQ(run_u32(&r, out, 0), 2 * BRANCHES);
    }
    run_close(&r);
    free(text);
    return check_report();
}
