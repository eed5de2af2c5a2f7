/* Kernels that synchronise through global memory as well-kept code does: nothing is told of them, at --check=strict
 * either. Without what stands between << and >>, a rule is told. %m is the address of this thread's word of its block's
 * 64, %o that of the same in the next block. */
#include "unit/run_ptx.h"

#define HEAD                                                                                                           \
    RUN_HEADER                                                                                                         \
    ".visible .entry k(.param .u64 data, .param .u64 sync) {\n"                                                        \
    ".reg .b32 %x, %y, %z, %t, %b, %n; .reg .b64 %d, %f, %m, %o, %h; .reg .pred %p, %q, %first;\n"                     \
    ".shared .align 4 .b32 last;\n"                                                                                    \
    "ld.param.u64 %d, [data]; ld.param.u64 %f, [sync]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n"                    \
    "mov.u32 %n, %nctaid.x; setp.eq.u32 %first, %t, 0;\n"                                                              \
    "mad.lo.u32 %x, %b, 64, %t; mul.wide.u32 %m, %x, 4; add.u64 %m, %m, %d;\n"                                         \
    "add.u32 %x, %b, 1; rem.u32 %x, %x, %n; mad.lo.u32 %x, %x, 64, %t; mul.wide.u32 %o, %x, 4;\n"                      \
    "add.u64 %o, %o, %d;\n"

static const struct pattern {
    const char *name, *told, *text;
} patterns[] = {
    {"spin lock: atomicCAS, fence, section, fence, atomicExch", "[relaxed-handover]",
     HEAD "@!%first bra END;\n"
          "LOCK: atom.global.cas.b32 %x, [%f], 0, 1; setp.ne.u32 %p, %x, 0; @%p bra LOCK;\n"
          "membar.gl;\n"
          "ld.global.b32 %x, [%d]; add.u32 %x, %x, 1; st.global.b32 [%d], %x;\n"
          "<<membar.gl;>>\n"
          "atom.global.exch.b32 %x, [%f], 0;\n"
          "END: ret; }\n"},
    {"spin lock: acquire and release", "[relaxed-handover]",
     HEAD "@!%first bra END;\n"
          "LOCK: atom.<<acquire.gpu.>>global.cas.b32 %x, [%f], 0, 1; setp.ne.u32 %p, %x, 0; @%p bra LOCK;\n"
          "ld.global.b32 %x, [%d]; add.u32 %x, %x, 1; st.global.b32 [%d], %x;\n"
          "st.release.gpu.global.b32 [%f], 0;\n"
          "END: ret; }\n"},
    {"ticket lock", "[relaxed-handover]",
     HEAD "@!%first bra END;\n"
          "atom.relaxed.gpu.global.add.u32 %y, [%f], 1;\n"
          "TURN: ld.relaxed.gpu.global.b32 %x, [%f+4]; setp.ne.u32 %p, %x, %y; @%p bra TURN;\n"
          "<<fence.acquire.gpu;>>\n"
          "ld.global.b32 %x, [%d]; add.u32 %x, %x, 1; st.global.b32 [%d], %x;\n"
          "red.release.gpu.global.add.u32 [%f+4], 1;\n"
          "END: ret; }\n"},
    {"last block: fence and counter by one thread, which resets it by a weak store", "-race]",
     HEAD "@%first st.global.b32 [%m], %b;\n"
          "<<@%first fence.acq_rel.gpu;>>\n"
          "@%first atom.global.inc.u32 %x, [%f], 1000;\n"
          "add.u32 %y, %x, 1; setp.eq.u32 %p, %y, %n; selp.b32 %y, 1, 0, %p; @%first st.shared.b32 [last], %y;\n"
          "bar.sync 0; ld.shared.b32 %y, [last]; setp.eq.u32 %p, %y, 0; @%p bra END;\n"
          "fence.acq_rel.gpu; bar.sync 0;\n"
          "setp.ge.u32 %p, %t, %n; @%p bra END;\n"
          "mul.wide.u32 %h, %t, 256; add.u64 %h, %h, %d; ld.global.b32 %x, [%h];\n"
          "@%first st.global.b32 [%f], 0;\n"
          "END: ret; }\n"},
    {"last block: the fence of every thread, a barrier, the counter of one", "-race]",
     HEAD "st.global.b32 [%m], %b;\n"
          "<<membar.gl;>>\n"
          "bar.sync 0;\n"
          "@%first atom.global.add.u32 %x, [%f], 1;\n"
          "add.u32 %y, %x, 1; setp.eq.u32 %p, %y, %n; selp.b32 %y, 1, 0, %p; @%first st.shared.b32 [last], %y;\n"
          "@%first membar.gl;\n"
          "bar.sync 0; ld.shared.b32 %y, [last]; setp.eq.u32 %p, %y, 0; @%p bra END;\n"
          "ld.global.b32 %x, [%o];\n"
          "END: ret; }\n"},
    {"grid barrier of cooperative groups", "[relaxed-handover]",
     HEAD "st.global.b32 [%m], %b;\n"
          "bar.sync 0; @!%first bra JOIN;\n"
          "mov.u32 %x, 1; sub.u32 %y, 0x80000001, %n; setp.eq.u32 %p, %b, 0; selp.b32 %x, %y, %x, %p;\n"
          "membar.gl; atom.global.add.u32 %y, [%f], %x;\n"
          "POLL: ld.volatile.global.b32 %x, [%f]; xor.b32 %z, %x, %y; and.b32 %z, %z, 0x80000000;\n"
          "setp.eq.u32 %p, %z, 0; @%p bra POLL; <<membar.gl;>>\n"
          "JOIN: bar.sync 0; ld.global.b32 %x, [%o];\n"
          "ret; }\n"},
    {"grid barrier, twice, with a generation", "-race]",
     HEAD "mov.u32 %z, 1;\n"
          "TRIP: st.global.b32 [%m], %z; bar.sync 0; @!%first bra JOIN;\n"
          "<<fence.acq_rel.gpu;>> red.relaxed.gpu.global.add.u32 [%f], 1; mul.lo.u32 %y, %z, %n;\n"
          "POLL: ld.acquire.gpu.global.b32 %x, [%f]; setp.lt.u32 %p, %x, %y; @%p bra POLL;\n"
          "JOIN: bar.sync 0; ld.global.b32 %x, [%o];\n"
          "bar.sync 0; @!%first bra JOIN2;\n"
          "red.release.gpu.global.add.u32 [%f+4], 1;\n"
          "POLL2: ld.acquire.gpu.global.b32 %x, [%f+4]; setp.lt.u32 %p, %x, %y; @%p bra POLL2;\n"
          "JOIN2: bar.sync 0; add.u32 %z, %z, 1; setp.le.u32 %p, %z, 2; @%p bra TRIP;\n"
          "ret; }\n"},
    {"semaphore: the blocks take turns", "-race]",
     HEAD "TURN: @%first ld.acquire.gpu.global.b32 %x, [%f]; @!%first mov.u32 %x, %b;\n"
          "setp.ne.u32 %p, %x, %b; barrier.cta.red.or.pred %q, 0, %p; @%q bra TURN;\n"
          "bar.sync 0;\n"
          "mul.wide.u32 %h, %t, 4; add.u64 %h, %h, %d; ld.global.b32 %x, [%h]; add.u32 %x, %x, 1;\n"
          "st.global.b32 [%h], %x;\n"
          "<<bar.sync 0;>> add.u32 %y, %b, 1;\n"
          "@%first st.release.gpu.global.b32 [%f], %y;\n"
          "ret; }\n"},
    {"fix-up of stream-K: partial sums, fence and red by one thread behind a barrier; reductions of all", "-race]",
     HEAD "setp.eq.u32 %p, %b, 0; mul.wide.u32 %h, %t, 4; add.u64 %h, %h, %d; @!%p bra LATER;\n"
          "st.global.b32 [%h], 1; bra DONE;\n"
          "LATER: @!%first bra MET;\n"
          "POLL: ld.global.acquire.gpu.b32 %x, [%f]; setp.lt.u32 %p, %x, 1; @%p bra POLL;\n"
          "MET: bar.sync 0; add.u32 %y, %n, -1; setp.eq.u32 %p, %b, %y; @%p bra FINAL;\n"
          "red.global.add.u32 [%h], 1;\n"
          "DONE: bar.sync 0; <<@%first fence.acq_rel.gpu;>> @%first red.relaxed.gpu.global.add.s32 [%f], 1; ret;\n"
          "FINAL: @!%first bra MET2;\n"
          "POLL2: ld.global.acquire.gpu.b32 %x, [%f]; setp.lt.u32 %p, %x, %y; @%p bra POLL2;\n"
          "MET2: bar.sync 0; ld.global.b32 %x, [%h];\n"
          "ret; }\n"},
    {"decoupled look-back: the status and its value in one word; then the tile", "-race]",
     HEAD "st.global.b32 [%m], %b;\n"
          "<<membar.gl;>> bar.sync 0;\n"
          "mul.wide.u32 %h, %b, 8; add.u64 %h, %h, %f;\n"
          "@%first st.relaxed.gpu.global.v2.b32 [%h], {2, %b};\n"
          "setp.eq.u32 %p, %b, 0; @%p bra END;\n"
          "POLL: ld.relaxed.gpu.global.v2.b32 {%x, %y}, [%h+-8]; setp.eq.u32 %p, %x, 0; @%p bra POLL;\n"
          "membar.gl; ld.global.b32 %x, [%m+-256];\n"
          "END: ret; }\n"},
    {"a histogram by atomics, read behind a barrier", "-race]",
     HEAD "and.b32 %x, %t, 3; mul.wide.u32 %h, %x, 4; mul.wide.u32 %o, %b, 16; add.u64 %h, %h, %o;\n"
          "add.u64 %h, %h, %d; red.global.add.u32 [%h], 1; <<bar.sync 0;>> ld.global.b32 %x, [%h];\n"
          "ret; }\n"},
    {"work from a counter, one tile each", "-race]",
     HEAD "MORE: @%first atom.global.add.u32 %x, [%f], 1; @%first st.shared.b32 [last], %x; bar.sync 0;\n"
          "ld.shared.b32 %x, [last]; bar.sync 0; setp.ge.u32 %p, %x, 12; @%p bra END;\n"
          "<<mad.lo.u32 %x, %x, 64, %t;>> mul.wide.u32 %h, %x, 4; add.u64 %h, %h, %d;\n"
          "ld.global.b32 %y, [%h]; add.u32 %y, %y, %t; st.global.b32 [%h], %y; bra MORE;\n"
          "END: ret; }\n"},
    {"flags in shared memory, acquired and released", "[relaxed-handover]",
     HEAD "@%first st.shared.b32 [last], 0; bar.sync 0; setp.ge.u32 %p, %t, 32; @%p bra TAKE; @%first st.global.b32 "
          "[%m], 1;\n"
          "@%first fence.acq_rel.cta; @%first st.relaxed.cta.shared.b32 [last], 7; bra END;\n"
          "TAKE: setp.ne.u32 %p, %t, 32; @%p bra END;\n"
          "POLL: atom.relaxed.cta.shared.max.u32 %x, [last], 0; setp.ne.u32 %p, %x, 7; @%p bra POLL;\n"
          "<<fence.acq_rel.cta;>> ld.global.b32 %x, [%m+-128];\n"
          "END: ret; }\n"},
};

/* Without the marks, and where `bug`, without what they hold. */
static void strip(char *out, const char *text, bool bug) {
    bool inside = false;
    for (; *text; text++)
        if ((text[0] == '<' && text[1] == '<') || (text[0] == '>' && text[1] == '>')) {
            inside = *text++ == '<';
        } else if (!inside || !bug) {
            *out++ = *text;
        }
    *out = 0;
}

static void run_pattern(const struct pattern *p, bool bug, enum mach_schedule schedule) {
    static char text[8192];
    struct mach_config c = mach_config_b200();
    struct run r;
    c.watchdog = 10000000;
    c.check = MACH_CHECK_STRICT;
    c.schedule = schedule;
    c.seed = 5;
    strip(text, p->text, bug);
    if (run_open_config(&r, text, &c)) {
        run_check_races(&r);
        const uint64_t data = run_alloc(&r, 8192), sync = run_alloc(&r, 256);
        run_ok(&r, "k", (struct run_shape){.grid = 4, .block = 64}, 2, (uint64_t[]){data, sync});
        if (!CHECK(bug ? strstr(r.log, p->told) != NULL : r.log_len == 0))
            fprintf(stderr, "%s, %s:\n%s\n", p->name, bug ? p->told : "silent", r.log);
    }
    run_close(&r);
}

int main(void) {
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (int schedule = MACH_SCHED_DEFAULT; schedule <= MACH_SCHED_RANDOM; schedule++)
            for (int bug = 0; bug < 2; bug++)
                run_pattern(&patterns[i], bug, (enum mach_schedule)schedule);
    return check_report();
}
