/* parse.h - what the tests of ptx/ share: a module from a string, and the report of a string that is none. */
#ifndef TESTS_UNIT_PTX_PARSE_H
#define TESTS_UNIT_PTX_PARSE_H

#include "check.h"
#include "ptx/ir.h"

#define HEAD ".version 9.0\n.target sm_100a\n.address_size 64\n"
/* A kernel `k` with parameter `a` and the registers that the snippets use; the body starts on line 8. */
#define KERNEL_HEAD                                                                                                    \
    HEAD ".visible .entry k(.param .u64 a)\n{\n.reg .pred %p<9>;\n"                                                    \
         ".reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .b128 %q<3>;\n"
#define KERNEL(body) KERNEL_HEAD body "\n}\n"

static inline void keep_text(void *ctx, const char *text, size_t len) {
    size_t at = strlen(ctx);
    check_append(ctx, 4096, &at, text, len);
}

/* The module, or NULL; `report` (4096 bytes, may be NULL) gets what was said. */
static inline struct ptx_module *parse_quietly(const char *text, size_t len, char *report) {
    static char unused[4096];
    char *out = report ? report : unused;
    out[0] = '\0';
    struct diag_sink sink = {.write = keep_text, .ctx = out};
    char *copy = malloc(len ? len : 1); /* no terminator: the parser must not need one */
    if (len)
        memcpy(copy, text, len);
    struct ptx_module *m = ptx_parse(copy, len, "t.ptx", &sink);
    free(copy);
    return m;
}

/* A module that must parse; ends the test with the report when it does not. */
static inline struct ptx_module *parse(const char *text) {
    char report[4096];
    struct ptx_module *m = parse_quietly(text, strlen(text), report);
    CHECK_STR(report, "");
    if (!m) {
        check_report();
        exit(1);
    }
    return m;
}

/* A text that must be refused; the report, valid until the next call. */
static inline const char *refused(const char *text) {
    static char report[4096];
    struct ptx_module *m = parse_quietly(text, strlen(text), report);
    CHECK(!m);
    ptx_module_free(m);
    return report;
}

/* The i-th instruction of kernel k. */
static inline const struct ptx_insn *insn(const struct ptx_module *m, uint32_t i) {
    const struct ptx_func *k = ptx_find_func(m, "k");
    if (!k || i >= k->num_insns) {
        fprintf(stderr, "kernel k has no instruction %u\n", i);
        exit(1);
    }
    return &k->insns[i];
}

#endif
