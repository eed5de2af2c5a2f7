/* unit/check/agents.h - a kernel of three warps, each with its own text, under the checks: what one of them tells. */
#ifndef UNIT_CHECK_AGENTS_H
#define UNIT_CHECK_AGENTS_H

#include "unit/run_ptx.h"

/* `head`: the kernel's text up to where its warps part, with %p, %w (the warp) and one parameter: 4 KiB of global
 * memory. `told`: in the report; NULL: nothing is reported. */
static inline void run_agents_at(enum mach_check level, const char *head, const char *const agent[3], const char *told,
                                 size_t sample) {
    static char text[8192];
    struct mach_config c = mach_config_b200();
    struct run r;
    c.watchdog = 1000000;
    c.check = level;
    size_t len = (size_t)snprintf(text, sizeof text, "%s", head);
    for (unsigned k = 0; k < 3; k++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "setp.ne.u32 %%p, %%w, %u; @%%p bra NOT%u; {\n%s\n} bra END;\nNOT%u:\n", k, k, agent[k],
                                k);
    snprintf(text + len, sizeof text - len, "END: ret; }\n");
    if (run_open_config(&r, text, &c)) {
        run_check_races(&r);
        run_ok(&r, "k", (struct run_shape){.block = 96}, 1, (uint64_t[]){run_alloc(&r, 4096)});
        if (!CHECK(told ? strstr(r.log, told) != NULL : r.log_len == 0))
            fprintf(stderr, "sample %zu: expected %s\n%s\n", sample, told ? told : "nothing", r.log);
    }
    run_close(&r);
}

/* The same at the default level and at the strict one. */
static inline void run_agents(const char *head, const char *const agent[3], const char *told, size_t sample) {
    run_agents_at(MACH_CHECK_WARN, head, agent, told, sample);
    run_agents_at(MACH_CHECK_STRICT, head, agent, told, sample);
}

#endif
