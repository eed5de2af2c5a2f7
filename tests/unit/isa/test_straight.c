/* Straight-line code and loops as chains (warp/chain.h) leave what they do one instruction at a time, on each unit of
 * the host: registers, memory, clocks and reports. */
#include "silicon/values.h"
#include "unit/isa/on_unit.h"

#include <stdlib.h>

/* Straight-line code of instructions that have links (warp/chain.h) and of others, all on few registers, so that
 * results are handed on; turns end anywhere in it. Loads take a row, one word, half a row twice, two words, words in
 * another order. Loops have up to twice as many instructions as a chain, which end together or in each lane by itself.
 * Some code is run by a part of a warp, some with a register that nothing has written, which is reported in the same
 * way. */
static const char *const linked[] = {"mov.b32 D, A",
                                     "add.s32 D, A, B",
                                     "sub.u32 D, A, B",
                                     "mul.lo.s32 D, A, B",
                                     "mad.lo.s32 D, A, B, C",
                                     "and.b32 D, A, B",
                                     "or.b32 D, A, B",
                                     "xor.b32 D, A, B",
                                     "shl.b32 D, A, B",
                                     "shr.u32 D, A, B",
                                     "shr.s32 D, A, B",
                                     "add.f32 D, A, B",
                                     "sub.f32 D, A, B",
                                     "mul.f32 D, A, B",
                                     "fma.rn.f32 D, A, B, C",
                                     "selp.b32 D, A, B, %p",
                                     "selp.b32 D, A, 77, !%p",
                                     "setp.lt.u32 %q, A, B;selp.b32 D, B, A, !%q",
                                     "setp.lt.u32 %q, A, B;selp.u32 D, C, A, %q",
                                     "shl.b32 D, A, 3",
                                     "add.s32 D, A, -7",
                                     "mov.b32 D, 0f3F800000",
                                     "ld.global.b32 D, [%a0]",
                                     "ld.global.b32 D, [%a1]",
                                     "ld.global.b32 D, [%a2]",
                                     "ld.global.b32 D, [%a3]",
                                     "ld.global.b32 D, [%a4]",
                                     "add.s64 %a5, %a0, %z;ld.global.b32 D, [%a5]",
                                     "add.s64 %a6, %z, %a3;ld.global.b32 D, [%a6]",
                                     "st.global.b32 [%own], A",
                                     "add.s64 %a5, %own, %z;st.global.b32 [%a5], A",
                                     "ld.global.b32 D, [%own]",
                                     "ld.shared.b32 D, [%m]",
                                     "ld.shared.b32 D, [%m1]",
                                     "ld.shared.b32 D, [%m2+20]",
                                     "ld.shared.b32 D, [%m3]",
                                     "ld.shared.b32 D, [%m4]",
                                     "ld.shared.b32 D, [%m5]",
                                     "add.s32 %m6, %m1, 0;ld.shared.b32 D, [%m6]",
                                     "st.shared.b32 [%m], A",
                                     "st.shared.b32 [%m7], A",
                                     "ld.shared.b32 D, [%m7]",
                                     "add.s32 %m6, %m, 0;st.shared.b32 [%m6], A",
                                     "setp.lt.s32 %q, A, B",
                                     "setp.ne.s32 %q, A, 3"};
static const char *const others[] = {"max.s32 D, A, B",
                                     "not.b32 D, A",
                                     "mul.hi.u32 D, A, B",
                                     "mul.wide.u32 %w, A, B;mov.b64 { D, %n}, %w",
                                     "mul.wide.s32 %w, A, B;add.s64 %w, %w, %a0;mov.b64 {%n, D}, %w",
                                     "setp.lt.s32 %q, A, B;selp.b32 D, A, B, %q",
                                     "setp.ge.s32 %q, A, B;selp.b32 D, A, B, %q",
                                     "setp.gt.s32 %q, A, B;selp.b32 D, A, B, %q",
                                     "setp.gt.u32 %q, A, B;selp.b32 D, A, B, %q",
                                     "setp.lo.u32 %q, A, B;selp.b32 D, A, B, %q",
                                     "setp.ls.u32 %q, A, B;selp.b32 D, A, B, %q",
                                     "setp.eq.b32 %q, A, B;selp.b32 D, A, B, %q",
                                     "setp.ne.s32 %q, A, 3;selp.b32 D, A, B, %q",
                                     "mov.u32 D, %clock",
                                     "@%p add.s32 D, A, B"};
enum { LINKED = sizeof linked / sizeof *linked, OTHERS = sizeof others / sizeof *others };

/* `num` instructions, of which one in `other` has no link. */
static void write_instructions(FILE *o, uint64_t *state, unsigned num, unsigned other) {
    for (unsigned i = 0; i < num; i++) {
        const char *op =
            (draw(state) >> 33) % other ? linked[(draw(state) >> 33) % LINKED] : others[(draw(state) >> 33) % OTHERS];
        for (const char *c = op; *c; c++) {
            const bool alone = c != op && c[-1] == ' ' && strchr("DABC", *c);
            fprintf(o, alone ? "%%r%u" : "%c", alone ? (unsigned)(draw(state) >> 40) % (i % 7 ? 8 : 3) : (unsigned)*c);
        }
        fputs(";\n", o);
    }
}

static void write_loop(FILE *o, uint64_t *state, unsigned number) {
    const unsigned how = (unsigned)(draw(state) >> 33) % 4;
    fprintf(o, "mov.u32 %%i, 0;\nL%u:\n", number);
    write_instructions(o, state, 2 + (unsigned)(draw(state) >> 33) % (number % 3 ? 60 : 250), 1000);
    fprintf(o, "add.u32 %%i, %%i, 1;\n");
    if (how < 2)
        fprintf(o, "setp.ge.u32 %%on, %%i, %%k%u;\n@!%%on bra L%u;\n", how, number);
    else
        fprintf(o, "setp.lt.u32 %%on, %%i, %u;\n@%%on bra L%u;\n", 1 + (unsigned)(draw(state) >> 33) % 40, number);
    fprintf(o, "mov.u32 %%n, %%clock; xor.b32 %%r0, %%r0, %%n;\n"); /* that depends on where turns end */
}

/* `unwritten`: a register, or a word of shared memory. */
enum { NOTHING, REGISTER, WORD_IN_ROW, WORD, WORD_IN_LOOP };
static void write_straight(FILE *o, uint64_t *state, unsigned unwritten, bool loops) {
    const unsigned written = unwritten == REGISTER ? 7 : 8;
    fprintf(o, ".global .align 4 .b32 data[32] = {");
    for (unsigned i = 0; i < 32; i++)
        fprintf(o, "%s%u", i ? ", " : "", (unsigned)(draw(state) >> 32));
    fprintf(o,
            "};\n.global .align 4 .b32 words[64];\n"
            ".visible .entry k(.param .u64 out, .param .u32 lanes) {\n.reg .pred %%p, %%q, %%on; .reg .b32 %%r<8>, "
            "%%l, %%m, %%m<10>, %%n, %%i, %%k0, %%k1;\n"
            ".reg .b64 %%o, %%a<7>, %%z, %%w, %%own;\n.shared .align 4 .b8 tile[4096], table[128], part[256];\n"
            "ld.param.u64 %%o, [out]; ld.param.u32 %%n, [lanes]; mov.u64 %%w, words;\n"
            "mov.u32 %%l, %%tid.x; mad.wide.u32 %%o, %%l, 32, %%o; mov.u32 %%m, tile; mad.lo.u32 %%m, %%l, 4, %%m;\n"
            "mad.wide.u32 %%own, %%l, 4, %%w; st.global.b32 [%%own], %%l;\n"
            "st.shared.b32 [%%m], %%l; and.b32 %%r0, %%l, 1; setp.ne.u32 %%p, %%r0, 0; and.b32 %%r0, %%l, 31;\n"
            "mov.u32 %%m2, table; mad.lo.u32 %%m1, %%r0, 4, %%m2; mul.lo.u32 %%r1, %%l, 0x9E3779B1;\n"
            "setp.lt.u32 %%on, %%l, 32; @%%on st.shared.b32 [%%m1], %%r1; bar.sync 0;\n"
            "setp.ge.u32 %%on, %%r0, %%n; @%%on bra END;\n"
            "mov.u64 %%w, data; mov.u64 %%z, 0; mad.wide.u32 %%a0, %%r0, 4, %%w; add.u64 %%a1, %%w, 20;\n"
            "and.b32 %%r1, %%l, 15; mad.wide.u32 %%a2, %%r1, 4, %%w; mad.lo.u32 %%m3, %%r1, 4, %%m2;\n"
            "shr.u32 %%r1, %%r0, 4; mad.wide.u32 %%a3, %%r1, 4, %%w; mad.lo.u32 %%m4, %%r1, 4, %%m2;\n"
            "mad.lo.u32 %%r1, %%r0, 7, 3; and.b32 %%r1, %%r1, 31;\n"
            "mad.wide.u32 %%a4, %%r1, 4, %%w; mad.lo.u32 %%m5, %%r1, 4, %%m2; and.b32 %%k0, %%l, 7;\n"
            "and.b32 %%r1, %%l, 0xf0; mov.u32 %%k1, 9; setp.lt.u32 %%q, %%r0, 16; selp.b32 %%r1, %%l, %%r1, %%q;\n"
            "mad.lo.u32 %%m7, %%r1, 4, 1024; add.u32 %%m7, %%m7, %%m; mad.lo.u32 %%m7, %%l, -4, %%m7;\n"
            "mov.u32 %%m9, part; mad.lo.u32 %%m8, %%r0, 4, %%m9; add.u32 %%r1, %%m8, 64; setp.ne.u32 %%q, %%r0, 16;\n"
            "@%%q st.shared.b32 [%%m8], %%l; st.shared.b32 [%%r1+64], %%l; st.shared.b32 [%%m7], %%l;\n");
    for (unsigned i = 0; i < written; i++)
        fprintf(o, "mad.lo.u32 %%r%u, %%l, %u, %u;\n", i, (unsigned)draw(state), (unsigned)(draw(state) >> 8));
    for (unsigned i = 0; i < 12 && loops; i++)
        write_loop(o, state, i);
    write_instructions(o, state, loops ? 50 : 600, 4);
    if (unwritten == WORD_IN_LOOP)
        fprintf(o, "mov.b32 %%i, 0;\nLAST: add.s32 %%r6, %%r5, 0; add.u32 %%i, %%i, 1; setp.lt.u32 %%on, %%i, 3;\n"
                   "ld.shared.b32 %%r5, [%%m8+4]; @%%on bra LAST; mov.b32 %%r5, 1;\n");
    else if (unwritten > REGISTER)
        fprintf(o, "@%%p mov.b32 %%n, 0; mov.b32 %%r1, %%r2; mov.b32 %%r3, %%r4; ld.shared.b32 %%r5, [%s];\n",
                unwritten == WORD ? "%m9+64" : "%m8+4");
    for (unsigned i = 0; i < 8; i++)
        fprintf(o, "st.global.b32 [%%o+%u], %%r%u;\n", 4 * i, i);
    fprintf(o, "END: ret;\n}\n");
}

static void test_straight(void) {
    enum { BYTES = 32 * 64, PROGRAMS = 60 };
    static const enum mach_schedule schedules[] = {MACH_SCHED_DEFAULT, MACH_SCHED_RANDOM, MACH_SCHED_LAZY};
    static uint8_t want[BYTES];
    static char log[sizeof((struct run *)0)->log];
    uint64_t state = 20261127;
    for (unsigned n = 0; n < PROGRAMS; n++) {
        char *ptx = NULL;
        size_t size;
        uint64_t clock = 0;
        FILE *o = open_memstream(&ptx, &size);
        fputs(RUN_HEADER, o);
        const unsigned unwritten = n % 4 == 3 ? 1 + n / 4 % 4 : NOTHING;
        write_straight(o, &state, unwritten, n % 2);
        fclose(o);
        for (enum simd unit = SIMD_PORTABLE; unit <= SIMD_AVX512 && simd_available(unit); unit++) {
            struct run r;
            struct mach_config config = mach_config_b200();
            config.host_vectors = unit;
            config.schedule = schedules[n / 2 % 3];
            config.seed = n;
            if (!run_open_config(&r, ptx, &config))
                return;
            const uint64_t out = run_alloc(&r, BYTES);
            const int error =
                run_kernel(&r, "k", (struct run_shape){.block = 64}, 2, (uint64_t[]){out, n % 5 ? 32 : 19});
            CHECK(unwritten == REGISTER || (error != 0) == (unwritten != NOTHING));
            if (unit == SIMD_PORTABLE) {
                memcpy(want, run_at(&r, out, BYTES), BYTES);
                memcpy(log, r.log, sizeof log);
                clock = r.gpu->clock;
            } else if (!CHECK(memcmp(want, run_at(&r, out, BYTES), BYTES) == 0) || !CHECK(strcmp(r.log, log) == 0) ||
                       !CHECK_EQ(r.gpu->clock, clock))
                fprintf(stderr, "straight code %u by %s\n", n, unit_names[unit]);
            run_close(&r);
        }
        free(ptx);
    }
}

/* Of a pair of predicates the second is unwritten, the first is not: what it selects is. */
static void test_pair(void) {
    for (enum simd unit = SIMD_PORTABLE; unit <= SIMD_AVX512 && simd_available(unit); unit++) {
        struct run r;
        if (!open_unit(
                &r,
                RUN_HEADER
                ".visible .entry k(.param .u64 out) {\n.reg .pred %never, %p, %q; .reg .b32 %r<6>; "
                ".reg .b64 %o; ld.param.u64 %o, [out]; mov.u32 %r1, %tid.x; setp.lt.u32 %q, %r1, 9; bar.sync 0;\n"
                "add.u32 %r2, %r1, 1; xor.b32 %r3, %r2, 5; add.u32 %r4, %r2, %r3;\n"
                "setp.lt.and.u32 %p|%q, %r1, 0, %never; selp.b32 %r4, %r2, %r3, %q;\n"
                "add.u32 %r5, %r4, 1; st.global.u32 [%o], %r5; ret; }\n",
                unit))
            return;
        const uint64_t out = run_alloc(&r, 4);
        run_faults(&r, "k", (struct run_shape){.block = 32}, 1, &out, "uninitialised-global-store");
        run_close(&r);
    }
}

int main(void) {
    test_straight();
    test_pair();
    return check_report();
}
