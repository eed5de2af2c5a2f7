/* Poison through arithmetic: what depends on a register that was never written is poison, and a store of it to global
 * memory is a fault; what does not depend on it is clean. %uw, %ul, %uh, %up are never written. */
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
};
enum { FLOWS = sizeof flows / sizeof *flows };

int main(void) {
    static struct alu_case cases[FLOWS];
    static char text[FLOWS][600];
    for (unsigned i = 0; i < FLOWS; i++) {
        snprintf(text[i], sizeof text[i],
                 "{ .reg .b16 %%uh; .reg .b32 %%uw; .reg .b64 %%ul; .reg .pred %%up, %%one, %%zero;\n"
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
