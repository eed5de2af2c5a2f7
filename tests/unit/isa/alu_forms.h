/* alu_forms.h - runs one instruction form at a time over many operands and compares with a reference.
 *
 * A case is an instruction on named registers and a function that says what it must give. Sources are a, b, c, e and
 * destinations d and q, each with a suffix for its width: h 16 bits, w 32, l 64, p predicate (%aw, %bl, %dp ...). Every
 * source register holds the low bits of the same 64-bit input, predicates its bit 0. d's suffix is the case's `dst`;
 * 'P' means a pair of predicates, dp in bit 0 and qp in bit 1; 'D' an f64 in dl of which any NaN is as good as another.
 *
 * Each form runs twice over all threads: by all of them, and by a random half over a known old value, so that the loops
 * for full and for partial masks are both seen. A case may be several instructions.
 */
#ifndef TESTS_ALU_FORMS_H
#define TESTS_ALU_FORMS_H

#include "unit/run_ptx.h"

struct alu_in {
    uint64_t a, b, c, e;
};
struct alu_case {
    const char *ptx; /* "add.s32 %dw, %aw, %bw;" */
    char dst;        /* h, w, l, p, P, D */
    uint64_t (*ref)(const struct alu_in *in);
};

#define ALU_OLD UINT64_C(0x5a5a1234a5a56789) /* what a destination holds before */
enum { ALU_THREADS = 2048, ALU_BLOCK = 256, ALU_WORDS = 5 };

/* --- inputs: random, small, and the special values of every format ------------------------------------------------ */

static inline uint64_t alu_random(uint64_t *s) {
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * UINT64_C(2685821657736338717);
}

static inline uint32_t alu_special32(uint64_t r) {
    static const uint32_t v[] = {
        0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001,
        0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x73c00000, 0x3f000000,
        0x3f7fffff, 0x40000000, 0x4b000000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x477fe000,
        0x477ff000, 0x33000000, 0x38800000, 0x43e00000, 0x43e80000, 0x47600000, 0x40c00000, 0x40e00000, 0x40200000};
    return v[r % (sizeof v / sizeof *v)];
}
static inline uint16_t alu_special16(uint64_t r) {
    static const uint16_t v[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x0001,
                                 0x8001, 0x03ff, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x3800, 0x3f80, 0xbf80, 0x7f80,
                                 0xff80, 0x7fc0, 0x7f81, 0x007f, 0x807f, 0x0080, 0x7f7f, 0xff7f, 0x4000, 0x5640};
    return v[r % (sizeof v / sizeof *v)];
}
static inline uint64_t alu_special64(uint64_t r) {
    static const uint64_t v[] = {0,
                                 UINT64_C(0x8000000000000000),
                                 UINT64_C(0x3ff0000000000000),
                                 UINT64_C(0xbff0000000000000),
                                 UINT64_C(0x7ff0000000000000),
                                 UINT64_C(0xfff0000000000000),
                                 UINT64_C(0x7ff8000000000000),
                                 UINT64_C(0xfff8000000000123),
                                 UINT64_C(0x7ff0000000000001),
                                 1,
                                 UINT64_C(0x000fffffffffffff),
                                 UINT64_C(0x0010000000000000),
                                 UINT64_C(0x7fefffffffffffff),
                                 UINT64_C(0x43e0000000000000),
                                 UINT64_C(0xc3e0000000000000),
                                 UINT64_C(0x41f0000000000000),
                                 UINT64_C(0x3fe0000000000000),
                                 UINT64_C(0x36a0000000000000),
                                 UINT64_C(0x380fffffffffffff),
                                 UINT64_C(0x47efffffffffffff),
                                 ~UINT64_C(0)};
    return v[r % (sizeof v / sizeof *v)];
}
static inline uint64_t alu_value(uint64_t *s) {
    uint64_t r = alu_random(s), t = alu_random(s);
    switch (r >> 60) {
    case 0:
        return alu_special32(t) | (uint64_t)alu_special32(t >> 32) << 32;
    case 1:
        return alu_special64(t);
    case 2:
        return alu_special16(t) | (uint64_t)alu_special16(t >> 16) << 16 | (uint64_t)alu_special16(t >> 32) << 32 |
               (uint64_t)alu_special16(t >> 48) << 48;
    case 3:
        return t % 300;
    case 4:
        return 0 - t % 300;
    case 5: /* bits, and runs of them */
        return (~UINT64_C(0) << t % 64) ^ (t & 64 ? 0 : ~UINT64_C(0)) ^ (t & 128 ? UINT64_C(1) << (t >> 8) % 64 : 0);
    case 6:
    case 7:
    case 8: /* two f32 near 1, of either sign */
        return (t & UINT64_C(0x87ffffff87ffffff)) | UINT64_C(0x3c0000003c000000);
    case 9: /* f64 near 1 */
        return (t & UINT64_C(0x807fffffffffffff)) | UINT64_C(0x3f80000000000000);
    case 10: /* four f16 near 1 */
        return (t & UINT64_C(0x8fff8fff8fff8fff)) | UINT64_C(0x3000300030003000);
    case 11: /* four bf16 near 1 */
        return (t & UINT64_C(0x83ff83ff83ff83ff)) | UINT64_C(0x3c003c003c003c00);
    case 12: /* f32 integers and halves of integers in both words */
    {
        float x = (float)(int16_t)t / 2, y = (float)(int32_t)(t >> 32);
        uint32_t bx, by;
        memcpy(&bx, &x, 4);
        memcpy(&by, &y, 4);
        return bx | (uint64_t)by << 32;
    }
    default:
        return t;
    }
}

static inline void alu_inputs(uint64_t *words) {
    uint64_t s = 88172645463325252u;
    for (unsigned t = 0; t < ALU_THREADS; t++, words += ALU_WORDS) {
        for (unsigned i = 0; i < ALU_WORDS; i++)
            words[i] = alu_value(&s);
        uint64_t r = alu_random(&s) >> 58; /* related operands */
        if (r < 6)
            words[1] = words[0];
        else if (r < 9)
            words[1] = words[0] ^ UINT64_C(0x8000800080008000);
        else if (r < 12)
            words[1] = words[0] + 1;
        words[4] = alu_random(&s) >> 17;
    }
}

/* --- the kernels -------------------------------------------------------------------------------------------------- */

static inline const char *alu_store(char dst) {
    switch (dst) {
    case 'h':
        return "st.global.u16 [%out], %dh;\n";
    case 'w':
        return "st.global.u32 [%out], %dw;\n";
    case 'l':
    case 'D':
        return "st.global.u64 [%out], %dl;\n";
    case 'p':
        return "selp.u32 %dw, 1, 0, %dp;\nst.global.u32 [%out], %dw;\n";
    default:
        return "selp.u32 %dw, 1, 0, %dp;\nselp.u32 %aw, 2, 0, %qp;\nor.b32 %dw, %dw, %aw;\nst.global.u32 "
               "[%out], %dw;\n";
    }
}

/* One case's kernel: k<index>(in, out, guarded). Returns the length. */
static inline int alu_kernel(char *text, size_t room, unsigned index, const struct alu_case *c) {
    static const char prologue[] =
        "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\n"
        "mad.lo.u32 %r0, %r0, %r1, %r2;\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
        "mul.wide.u32 %x, %r0, 40;\nadd.u64 %in, %in, %x;\nmul.wide.u32 %x, %r0, 8;\n"
        "add.u64 %out, %out, %x;\nld.param.u32 %r1, [guarded];\n";
    char loads[1600];
    int n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += snprintf(loads + n, sizeof loads - (size_t)n,
                      "ld.global.u16 %%%ch, [%%in+%u];\nld.global.u32 %%%cw, [%%in+%u];\nld.global.u64 "
                      "%%%cl, [%%in+%u];\n"
                      "and.b32 %%r2, %%%cw, 1;\nsetp.ne.u32 %%%cp, %%r2, 0;\n",
                      "abce"[i], 8 * i, "abce"[i], 8 * i, "abce"[i], 8 * i, "abce"[i], "abce"[i]);
    return snprintf(
        text, room,
        ".visible .entry k%u(.param .u64 in, .param .u64 out, .param .u32 guarded)\n{\n"
        ".reg .b16 %%ah, %%bh, %%ch, %%eh, %%dh, %%qh;\n.reg .b32 %%aw, %%bw, %%cw, %%ew, %%dw, %%qw, "
        "%%r<3>;\n"
        ".reg .b64 %%al, %%bl, %%cl, %%el, %%dl, %%ql, %%in, %%out, %%x;\n"
        ".reg .pred %%ap, %%bp, %%cp, %%ep, %%dp, %%qp, %%g, %%all;\n%s%s"
        "ld.global.u32 %%r2, [%%in+32];\nand.b32 %%r2, %%r2, 1;\nsetp.ne.u32 %%g, %%r2, 0;\n"
        "mov.b64 %%dl, 0x%llx;\nmov.b32 %%dw, 0x%x;\nmov.b16 %%dh, 0x%x;\nsetp.eq.u32 %%dp, 0, 0;\n"
        "setp.ne.u32 %%qp, 0, 0;\nsetp.eq.u32 %%all, %%r1, 0;\n@%%all bra FULL;\n@!%%g bra DONE;\nFULL:\n%s\n"
        "DONE:\n%sret;\n}\n",
        index, prologue, loads, (unsigned long long)ALU_OLD, (unsigned)ALU_OLD, (unsigned)(ALU_OLD & 0xffff), c->ptx,
        alu_store(c->dst));
}

/* The module of cases [0, n); to be freed. */
static inline char *alu_module(const char *header, const struct alu_case *cases, unsigned n) {
    size_t room = 4096 * (size_t)n + 4096, len = 0;
    char *text = malloc(room);
    if (!text)
        exit(1);
    len += (size_t)snprintf(text, room, "%s", header);
    for (unsigned i = 0; i < n; i++)
        len += (size_t)alu_kernel(text + len, room - len, i, &cases[i]);
    return text;
}

static inline uint64_t alu_old(char dst) {
    return dst == 'h'                 ? ALU_OLD & 0xffff
           : dst == 'w'               ? ALU_OLD & 0xffffffff
           : dst == 'l' || dst == 'D' ? ALU_OLD
                                      : 1; /* dp true, qp false */
}

static inline void alu_run_case(struct run *r, const struct alu_case *c, unsigned index, uint64_t in, uint64_t out,
                                bool guarded) {
    char name[16];
    snprintf(name, sizeof name, "k%u", index);
    memset(run_at(r, out, 8 * ALU_THREADS), 0, 8 * ALU_THREADS);
    if (!run_ok(r, name, (struct run_shape){.grid = ALU_THREADS / ALU_BLOCK, .block = ALU_BLOCK}, 3,
                (uint64_t[]){in, out, guarded})) {
        fprintf(stderr, "    %s\n", c->ptx);
        return;
    }
    const uint64_t *words = run_at(r, in, 8 * ALU_WORDS * ALU_THREADS), *got = run_at(r, out, 8 * ALU_THREADS);
    unsigned bad = 0;
    for (unsigned t = 0; t < ALU_THREADS; t++) {
        const struct alu_in *x = (const struct alu_in *)(const void *)(words + ALU_WORDS * t);
        uint64_t want = guarded && !(words[ALU_WORDS * t + 4] & 1) ? alu_old(c->dst) : c->ref(x);
        const uint64_t inf = UINT64_C(0x7ff) << 52, positive = ~(UINT64_C(1) << 63);
        if (got[t] == want || (c->dst == 'D' && (got[t] & positive) > inf && (want & positive) > inf))
            continue;
        if (bad++ < 3)
            fprintf(stderr,
                    "%s%s a %016" PRIx64 " b %016" PRIx64 " c %016" PRIx64 " e %016" PRIx64 ": %016" PRIx64
                    ", want %016" PRIx64 "\n",
                    guarded ? "(guarded) " : "", c->ptx, x->a, x->b, x->c, x->e, got[t], want);
    }
    if (bad)
        fprintf(stderr, "%s: %u of %u wrong\n", c->ptx, bad, (unsigned)ALU_THREADS);
    CHECK_EQ(bad, 0);
}

static inline void alu_check(const struct alu_case *cases, unsigned n) {
    struct run r;
    char *text = alu_module(RUN_HEADER, cases, n);
    if (run_open(&r, text)) {
        uint64_t in = run_alloc(&r, 8 * ALU_WORDS * ALU_THREADS), out = run_alloc(&r, 8 * ALU_THREADS);
        alu_inputs(run_at(&r, in, 8 * ALU_WORDS * ALU_THREADS));
        for (unsigned i = 0; i < n; i++) {
            alu_run_case(&r, &cases[i], i, in, out, false);
            alu_run_case(&r, &cases[i], i, in, out, true);
        }
    }
    run_close(&r);
    free(text);
}

/* Forms that must be refused when they are reached, each with part of the reason given. */
struct alu_refusal {
    const char *ptx, *why;
};
static inline void alu_check_refused(const struct alu_refusal *refusals, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct run r;
        const struct alu_case c = {refusals[i].ptx, 'w', NULL};
        char *text = alu_module(RUN_HEADER, &c, 1);
        if (run_open(&r, text)) {
            uint64_t in = run_alloc(&r, 8 * ALU_WORDS * ALU_THREADS), out = run_alloc(&r, 8 * ALU_THREADS);
            bool ok = run_faults(&r, "k0", (struct run_shape){.block = 32}, 3, (uint64_t[]){in, out, 0},
                                 "unsupported-instruction");
            if (!CHECK_HAS(r.log, refusals[i].why) || !ok)
                fprintf(stderr, "    %s\n", refusals[i].ptx);
        }
        run_close(&r);
        free(text);
    }
}

#endif
