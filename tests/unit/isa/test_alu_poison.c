/* Poison through arithmetic: what depends on a register that was never written is poison, and a store of it to global
 * memory is a fault; what does not depend on it is clean. %uw, %ul, %uh, %up are never written. %pw, %pl, %ph are
 * written in part: of %pw and %ph bits 0 to 7, of %pl bits 0 to 31; %hw is of two halves, of which the lower one is
 * written. */
#include "alu_forms.h"

struct flow {
    const char *ptx;
    char dst;
    bool clean;
};

/* %one is true and %zero is false in every lane. */
static const struct flow flows[] = {
    {"add.u32 %dw, %aw, %uw;", 'w', false},
    {"add.u64 %dl, %ul, %al;", 'l', false},
    {"mul.wide.u32 %dl, %aw, %uw;", 'l', false},
    {"mad.lo.u32 %dw, %aw, %bw, %uw;", 'w', false},
    {"bfi.b32 %dw, %aw, %bw, %cw, %uw;", 'w', false},
    {"fma.rn.f32 %dw, %aw, %bw, %uw;", 'w', false},
    {"fma.rn.f32x2 %dl, %ul, %bl, %cl;", 'l', false},
    {"add.f16x2 %dw, %aw, %bw;", 'w', true},
    {"cvt.u64.u32 %dl, %uw;", 'l', false},
    {"cvt.rn.bf16x2.f32 %dw, %aw, %uw;", 'w', false},
    {"cvt.rn.satfinite.e4m3x2.f32 %dh, %uw, %aw;", 'h', false},
    {"cvt.s32.s8 %dw, %uh;", 'w', false},
    {"mov.b32 %dw, %uw;", 'w', false},
    {"mov.b32 %dw, %uw; mov.b32 %dw, %aw;", 'w', true},
    {"mov.b64 %dl, {%aw, %uw};", 'l', false},
    {"mov.b64 {%dw, _}, %ul;", 'w', false},
    {"setp.lt.u32 %dp, %aw, %uw;", 'p', false},
    {"testp.finite.f32 %dp, %uw;", 'p', false},
    /* selection takes the poison of what it selects */
    {"selp.b32 %dw, %aw, %uw, %one;", 'w', true},
    {"selp.b32 %dw, %uw, %aw, %one;", 'w', false},
    {"selp.b32 %dw, %uw, %aw, %zero;", 'w', true},
    {"selp.b32 %dw, %uw, %aw, !%one;", 'w', true},
    {"selp.b32 %dw, %aw, %bw, %up;", 'w', false},
    {"selp.b64 %dl, %ul, %al, %zero;", 'l', true},
    /* false and x, true or x */
    {"and.pred %dp, %up, %zero;", 'p', true},
    {"and.pred %dp, %up, %one;", 'p', false},
    {"and.pred %dp, !%one, %up;", 'p', true},
    {"or.pred %dp, %one, %up;", 'p', true},
    {"or.pred %dp, %zero, %up;", 'p', false},
    {"xor.pred %dp, %one, %up;", 'p', false},
    {"not.pred %dp, %up;", 'p', false},
    {"setp.lt.and.u32 %dp, %uw, %aw, %zero;", 'p', true},
    {"setp.lt.and.u32 %dp, %uw, %aw, %one;", 'p', false},
    {"setp.lt.or.u32 %dp, %uw, %aw, %one;", 'p', true},
    {"setp.eq.and.u32 %dp, %aw, %aw, %up;", 'p', false},
    {"setp.ne.and.u32 %dp, %aw, %aw, %up;", 'p', true},
    {"setp.eq.or.u32 %dp, %aw, %aw, %up;", 'p', true},
    {"setp.eq.xor.u32 %dp, %aw, %aw, %up;", 'p', false},
    /* tables and selectors name their sources */
    {"lop3.b32 %dw, %aw, %bw, %uw, 0xc0;", 'w', true},
    {"lop3.b32 %dw, %aw, %uw, %cw, 0xa0;", 'w', true},
    {"lop3.b32 %dw, %uw, %bw, %cw, 0x88;", 'w', true},
    {"lop3.b32 %dw, %aw, %bw, %uw, 0x80;", 'w', false},
    {"prmt.b32 %dw, %aw, %uw, 0x3210;", 'w', true},
    {"prmt.b32 %dw, %uw, %aw, 0x7654;", 'w', true},
    {"prmt.b32 %dw, %aw, %uw, 0x3214;", 'w', false},
    {"prmt.b32 %dw, %aw, %bw, %uw;", 'w', false},
    /* the carry flag */
    {"addc.u32 %dw, %aw, %bw;", 'w', false},
    {"add.cc.u32 %dw, %aw, %bw; addc.u32 %dw, %aw, %bw;", 'w', true},
    {"add.cc.u32 %dw, %aw, %uw; addc.u32 %dw, %aw, %bw;", 'w', false},
    /* undefined results (9.7.9.20, 9.7.9.23) */
    {"cvta.to.shared.u64 %dl, %in;", 'l', false},
    {"cvta.to.global.u64 %dl, %in;", 'l', true},
    {"mapa.u64 %dl, %in, 0;", 'l', false},
    {"getctarank.u64 %dw, %in;", 'w', false},
    {"mapa.shared::cluster.u32 %dw, %aw, 0;", 'w', true},
    {"isspacep.global %dp, %in;", 'p', true},
    {"mov.u64 %dl, %clock64;", 'l', true},
    /* by bits: a part that was written stays so, wherever it goes */
    {"mov.b32 %dw, %pw;", 'w', false},
    {"and.b32 %dw, %pw, 255;", 'w', true},
    {"and.b32 %dw, %pw, 511;", 'w', false},
    {"and.b32 %pw, %pw, 255; mov.b32 %dw, %pw;", 'w', true},
    {"mov.b32 %dw, 255; and.b32 %dw, %dw, %pw;", 'w', true},
    {"mov.b32 %dw, %pw; and.b32 %dw, %dw, 255;", 'w', true},
    {"or.b32 %dw, %pw, 0xffffff00;", 'w', true},
    {"or.b32 %dw, %pw, 0xfffffe00;", 'w', false},
    {"xor.b32 %dw, %pw, %aw; and.b32 %dw, %dw, 255;", 'w', true},
    {"not.b32 %dw, %pw; and.b32 %dw, %dw, 255;", 'w', true},
    {"and.b32 %dw, %pw, %uw; and.b32 %dw, %dw, 255;", 'w', false},
    {"shl.b32 %dw, %pw, 24;", 'w', true},
    {"shl.b32 %dw, %pw, 23;", 'w', false},
    {"shl.b32 %dw, %uw, 32;", 'w', true},
    {"shl.b32 %dw, %aw, %uw;", 'w', false},
    {"shl.b32 %dw, %pw, 8; shr.u32 %dw, %dw, 8; and.b32 %dw, %dw, 255;", 'w', true},
    {"shr.u32 %dw, %uw, 24; and.b32 %dw, %dw, 0xffffff00;", 'w', true},
    {"shl.b32 %dw, %pw, 24; shr.s32 %dw, %dw, 24;", 'w', true},
    {"shr.s32 %dw, %uw, 24; and.b32 %dw, %dw, 0xffffff00;", 'w', false},
    {"shr.u64 %dl, %pl, 32;", 'l', false},
    {"shl.b64 %dl, %pl, 32;", 'l', true},
    {"shf.l.wrap.b32 %dw, %uw, %pw, 24; and.b32 %dw, %dw, 0xff000000;", 'w', true},
    {"shf.r.clamp.b32 %dw, %pw, %uw, 8; and.b32 %dw, %dw, 1;", 'w', false},
    {"bfe.u32 %dw, %pw, 4, 4;", 'w', true},
    {"bfe.u32 %dw, %pw, 4, 5;", 'w', false},
    {"bfe.s32 %dw, %pw, 0, 8;", 'w', true},
    {"bfe.s64 %dl, %pl, 24, 8;", 'l', true},
    {"bfi.b32 %dw, %aw, %pw, 8, 24;", 'w', true},
    {"bfi.b32 %dw, %aw, %pw, 9, 23;", 'w', false},
    {"bfi.b32 %dw, %pw, %aw, 4, 8;", 'w', true},
    {"brev.b32 %dw, %pw; shr.u32 %dw, %dw, 24;", 'w', true},
    {"prmt.b32 %dw, %pw, %aw, 0x4400;", 'w', true},
    {"prmt.b32 %dw, %pw, %aw, 0x4410;", 'w', false},
    {"prmt.b32 %dw, %aw, %pw, 0xc844;", 'w', true},
    {"mov.b32 %dw, 0x4400; prmt.b32 %dw, %pw, %aw, %dw;", 'w', true},
    {"lop3.b32 %dw, %pw, 255, %aw, 0xc0;", 'w', true},
    {"lop3.b32 %dw, %pw, 255, %pw, 0xea;", 'w', false},
    {"lop3.b32 %dw, %uw, %bw, %uw, 0x3c; lop3.b32 %dw, %uw, %uw, %bw, 0xaa;", 'w', true},
    {"selp.b32 %dw, %pw, %aw, %one; and.b32 %dw, %dw, 255;", 'w', true},
    {"cvt.u32.u8 %dw, %pw;", 'w', true},
    {"cvt.u32.u16 %dw, %pw;", 'w', false},
    {"cvt.s32.s8 %dw, %pw;", 'w', true},
    {"cvt.u32.u64 %dw, %pl;", 'w', true},
    {"cvt.u64.u32 %dl, %pw; and.b64 %dl, %dl, 0xffffffff000000ff;", 'l', true},
    {"cvt.s64.s32 %dl, %pw; and.b64 %dl, %dl, 0xffffffff000000ff;", 'l', false},
    {"cvt.sat.u32.s8 %dw, %pw;", 'w', false},
    /* sums and products: what stands below the first bit that is missing */
    {"add.u32 %dw, %pw, %aw; and.b32 %dw, %dw, 255;", 'w', true},
    {"add.u32 %dw, %pw, %aw; and.b32 %dw, %dw, 256;", 'w', false},
    {"sub.u64 %dl, %al, %pl; and.b64 %dl, %dl, 0xffffffff;", 'l', true},
    {"mad.lo.u32 %dw, %pw, %aw, %bw; and.b32 %dw, %dw, 255;", 'w', true},
    {"mul.hi.u32 %dw, %pw, %aw; and.b32 %dw, %dw, 1;", 'w', false},
    {"add.f32 %dw, %pw, %aw; and.b32 %dw, %dw, 255;", 'w', false},
    /* elements of vectors and of packed types */
    {"mov.b32 {%dh, %uh}, %hw;", 'h', true},
    {"mov.b32 {%uh, %dh}, %hw;", 'h', false},
    {"mov.b64 {%dw, _}, %pl;", 'w', true},
    {"mov.b64 {_, %dw}, %pl;", 'w', false},
    {"mov.b64 %pl, {%uw, %aw}; mov.b64 {_, %dw}, %pl;", 'w', true},
    {"add.f16x2 %hw, %hw, %aw; mov.b32 {%dh, %uh}, %hw;", 'h', true},
    {"add.f16x2 %hw, %hw, %aw; mov.b32 {%uh, %dh}, %hw;", 'h', false},
    {"fma.rn.f32x2 %pl, %pl, %al, %bl; mov.b64 {%dw, _}, %pl;", 'w', true},
    {"cvt.rn.bf16x2.f32 %hw, %uw, %aw; mov.b32 {%dh, %uh}, %hw;", 'h', true},
    {"cvt.rn.f16x2.f32 %hw, %aw, %uw; mov.b32 {%dh, %uh}, %hw;", 'h', false},
    {"cvt.rn.satfinite.e4m3x2.f32 %dh, %uw, %aw; and.b16 %dh, %dh, 255;", 'h', true},
    {"cvt.rn.f16x2.e4m3x2 %hw, %ph; mov.b32 {%dh, %uh}, %hw;", 'h', true},
    /* memory: a byte at a time */
    {"st.local.b32 [%at], %pw; ld.local.u8 %dw, [%at];", 'w', true},
    {"st.local.b32 [%at], %pw; ld.local.u8 %dw, [%at+1];", 'w', false},
    {"st.local.b32 [%at], %pw; ld.local.b32 %dw, [%at]; cvt.u32.u8 %dw, %dw;", 'w', true},
    {"st.local.b8 [%at+3], %aw; ld.local.b32 %dw, [%at]; shr.u32 %dw, %dw, 24;", 'w', true},
    {"st.local.b64 [%at], %pl; ld.local.v2.b32 {%dw, %uw}, [%at];", 'w', true},
    {"st.local.b64 [%at], %pl; ld.local.v2.b32 {%uw, %dw}, [%at];", 'w', false},
    {"shfl.sync.idx.b32 %dw, %pw, 0, 31, -1; and.b32 %dw, %dw, 255;", 'w', true},
    {"shfl.sync.idx.b32 %dw, %pw, 0, 31, -1; and.b32 %dw, %dw, 256;", 'w', false},
    /* written whole again, or not at all */
    {"mov.b32 %pw, %aw; mov.b32 %dw, %pw;", 'w', true},
    {"and.b32 %pw, %pw, 255; xor.b32 %pw, %pw, %uw; and.b32 %dw, %pw, 255;", 'w', false},
    {"popc.b32 %pw, %uw; and.b32 %dw, %pw, 255;", 'w', false},
};
enum { FLOWS = sizeof flows / sizeof *flows };

int main(void) {
    static struct alu_case cases[FLOWS];
    static char text[FLOWS][900];
    for (unsigned i = 0; i < FLOWS; i++) {
        snprintf(text[i], sizeof text[i],
                 "{ .reg .b8 %%ub; .reg .b16 %%uh, %%ph; .reg .b32 %%uw, %%pw, %%hw, %%at; .reg .b64 %%ul, %%pl;\n"
                 ".reg .pred %%up, %%one, %%zero; .local .align 8 .b8 room[8]; mov.b32 %%at, room;\n"
                 ".reg .b8 %%b; cvt.u8.u32 %%b, %%aw; mov.b32 %%pw, {%%b, %%ub, %%ub, %%ub};\n"
                 "mov.b64 %%pl, {%%aw, %%uw}; mov.b32 %%hw, {%%ah, %%uh}; cvt.u16.u32 %%ph, %%pw;\n"
                 "setp.eq.u32 %%one, 0, 0; setp.ne.u32 %%zero, 0, 0; %s }",
                 flows[i].ptx);
        cases[i] = (struct alu_case){text[i], flows[i].dst, NULL};
    }
    struct run r;
    char *module = alu_module(RUN_HEADER, cases, FLOWS);
    if (run_open(&r, module)) {
        r.gpu->config.check = MACH_CHECK_ERROR; /* a predicate decides a branch */
        uint64_t in = run_alloc(&r, 8 * ALU_WORDS * ALU_THREADS), out = run_alloc(&r, 8 * ALU_THREADS);
        alu_inputs(run_at(&r, in, 8 * ALU_WORDS * ALU_THREADS));
        for (unsigned i = 0; i < FLOWS; i++) {
            char name[16];
            snprintf(name, sizeof name, "k%u", i);
            const struct run_shape shape = {.block = 32};
            const uint64_t args[] = {in, out, 0};
            bool ok =
                flows[i].clean ? run_ok(&r, name, shape, 3, args) : CHECK(run_kernel(&r, name, shape, 3, args) != 0);
            if (!flows[i].clean)
                ok &= CHECK_HAS(r.log, flows[i].dst == 'p' ? "never written" : "uninitialised");
            if (!ok)
                fprintf(stderr, "    %s\n%s", flows[i].ptx, r.log);
        }
    }
    run_close(&r);
    free(module);
    return check_report();
}
