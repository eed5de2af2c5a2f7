/* Clusters on several host threads: what a kernel computes, says and counts is the same on any number of them. */
#include "unit/run_ptx.h"

#include "launch/state.h"

#include <stdio.h>

#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 out) {\n"                                                                    \
    ".reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .pred %p<8>; .reg .b128 %q<2>;\n"                                       \
    ".shared .align 8 .b8 bar[8]; .shared .align 16 .b8 reply[16]; .shared .align 4 .b8 word[4];\n"                    \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %cluster_ctarank;\n"           \
    "mov.u32 %r4, word; mov.u32 %r5, bar; mov.u32 %r6, reply; setp.eq.u32 %p0, %r2, 0;\n"                              \
    "mul.wide.u32 %rd2, %r1, 8; add.s64 %rd2, %rd1, %rd2;\n"
#define SYNC "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
/* %r10 turns of an empty loop */
#define LOOP(label, count)                                                                                             \
    "mov.u32 %r10, " count ";\n" label ": sub.u32 %r10, %r10, 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra " label ";\n"
#define SAY                                                                                                            \
    "{ .param .b64 f; .param .b64 a; .param .b32 r; .local .align 4 .b8 args[4]; .reg .b64 %x<3>;\n"                   \
    "st.local.u32 [args], %r1; mov.u64 %x0, args; cvta.local.u64 %x0, %x0; mov.u64 %x1, format;\n"                     \
    "cvta.global.u64 %x1, %x1; st.param.b64 [f], %x1; st.param.b64 [a], %x0;\n"                                        \
    "call.uni (r), vprintf, (f, a); }\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 format[4] = {37, 117, 10, 0};\n" /* %u\n */
    /* threads of a cluster's CTAs add to rank 0's word in some order; out[cta] = last old value seen, and the clock */
    HEAD("work") "@%p0 st.shared.u32 [%r4], 0;\n" SYNC
    "and.b32 %r11, %r1, 15; shl.b32 %r11, %r11, 6; add.u32 %r11, %r11, 1;\n" LOOP("top", "%r11")
    "mov.u32 %r12, 0; mapa.shared::cluster.u32 %r12, %r4, %r12; atom.shared::cluster.add.u32 %r13, [%r12], 1;\n" SYNC
    "mov.u64 %rd3, %clock64; cvt.u64.u32 %rd4, %r13; shl.b64 %rd4, %rd4, 48; xor.b64 %rd3, %rd3, %rd4;\n"
    "st.global.u64 [%rd2], %rd3; ret; }\n"
    HEAD("say") "sub.u32 %r11, 200, %r1; max.s32 %r11, %r11, 1;\n" LOOP("top", "%r11") SAY "ret; }\n"
    /* CTAs from 20 on fault, the earlier the later */
    HEAD("fail") SAY "setp.lt.u32 %p2, %r1, 20; @%p2 ret; sub.u32 %r11, 40, %r1; max.s32 %r11, %r11, 1; "
    "mul.lo.u32 %r11, %r11, 100;\n"
    LOOP("top", "%r11") "st.global.u32 [0], %r1; ret; }\n"
    /* CTA 100 is not done when others follow those that were resident with it */
    HEAD("slow") "setp.eq.u32 %p2, %r1, 100; selp.u32 %r11, 8000, 1, %p2;\n" LOOP("top", "%r11") SAY "ret; }\n"
    HEAD("spin") "top: bra top; }\n"
    /* CTA n waits for CTA n - 1, whichever ran first */
    HEAD("chain") "setp.eq.u32 %p2, %r1, 0; @%p2 bra go;\n"
    "wait: ld.volatile.global.u64 %rd3, [%rd2+-8]; setp.eq.u64 %p3, %rd3, 0; @%p3 bra wait;\n"
    "go: cvt.u64.u32 %rd4, %r1; add.u64 %rd4, %rd4, 1; st.volatile.global.u64 [%rd2], %rd4; ret; }\n"
    /* CTA n waits for CTA n + 1: they must all be resident */
    HEAD("back") "mov.u32 %r11, %nctaid.x; sub.u32 %r11, %r11, 1; setp.eq.u32 %p2, %r1, %r11; @%p2 bra go;\n"
    "wait: ld.relaxed.gpu.global.u64 %rd3, [%rd2+8]; setp.eq.u64 %p3, %rd3, 0; @%p3 bra wait;\n"
    "go: mov.u64 %rd4, 1; st.relaxed.gpu.global.u64 [%rd2], %rd4; ret; }\n"
    /* out[n] = 1 + the CTA that did tile n */
    HEAD("steal") "mov.u32 %r20, %r1; mov.u32 %r23, 0; @%p0 mbarrier.init.shared::cta.b64 [%r5], 1;\n" SYNC
    "top: @%p0 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%r5], 16;\n"
    "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r6], [%r5];\n"
    "mul.wide.u32 %rd5, %r20, 8; add.s64 %rd5, %rd1, %rd5; cvt.u64.u32 %rd6, %r1; add.u64 %rd6, %rd6, 1;\n"
    "@%p0 st.global.u64 [%rd5], %rd6;\n"
    "w: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], %r23; @!%p3 bra w; xor.b32 %r23, %r23, 1;\n"
    "ld.shared.b128 %q0, [%r6]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0; @!%p2 bra done;\n"
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q0;\n"
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n" SYNC
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; bra top; done: ret; }\n"
    /* the source of a bulk store is overwritten: at one line by all CTAs, at others by the later and the odd ones */
#define STORE                                                                                                          \
    "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r6], 16;\n"                                                 \
    "cp.async.bulk.commit_group; add.u32 %r8, %r8, 1; st.shared.u32 [%r6], %r8; cp.async.bulk.wait_group 0;\n"
    HEAD("reuse") "mov.u32 %r8, 0; st.shared.v4.u32 [%r6], {0, 0, 0, 0}; fence.proxy.async.shared::cta;\n"
    "mul.wide.u32 %rd2, %r1, 16; add.s64 %rd2, %rd1, %rd2; setp.gt.u32 %p2, %r1, 99; @!%p2 bra all;\n" STORE
    "all:\n" STORE "and.b32 %r7, %r1, 1; setp.eq.u32 %p2, %r7, 0; @%p2 bra done;\n" STORE "done: ret; }\n"
    /* each CTA reads shared memory that nobody wrote: the same warning or fault in every island */
    HEAD("poison") "ld.shared.u32 %r11, [%r4]; st.global.u32 [%rd2], %r11; ret; }\n";
/* clang-format on */

#define MAX_CTAS 600u

static char printed[1 << 16];
static size_t num_printed;

static void collect(void *ctx, const char *s, size_t n) {
    (void)ctx;
    check_append(printed, sizeof printed, &num_printed, s, n);
}

/* What one run left behind. */
struct outcome {
    int error;
    uint64_t clock, out[MAX_CTAS];
    char printed[1 << 16], log[sizeof((struct run *)0)->log];
};

static void observe(struct outcome *o, const char *kernel, struct run_shape shape, uint32_t threads,
                    enum mach_schedule schedule) {
    struct mach_config c = mach_config_b200();
    struct run r;
    c.watchdog = strcmp(kernel, "back") == 0 ? 400000000 : 3000000;
    c.threads = threads;
    c.schedule = schedule;
    c.seed = 7;
    c.depth = 3;
    memset(o, 0, sizeof *o);
    num_printed = 0;
    printed[0] = 0;
    if (run_open_config(&r, text, &c)) {
        run_check_races(&r);
        r.gpu->print = collect;
        uint64_t out = run_alloc(&r, sizeof o->out);
        o->error = run_kernel(&r, kernel, shape, 1, &out);
        o->clock = r.gpu->clock;
        memcpy(o->out, run_at(&r, out, sizeof o->out), sizeof o->out);
        memcpy(o->printed, printed, sizeof o->printed);
        memcpy(o->log, r.log, r.log_len);
    }
    run_close(&r);
}

static const enum mach_schedule schedules[] = {MACH_SCHED_DEFAULT, MACH_SCHED_EAGER, MACH_SCHED_LAZY, MACH_SCHED_RANDOM,
                                               MACH_SCHED_PCT};

static void test_same(void) {
    static struct outcome one, many;
    static const struct {
        const char *kernel;
        struct run_shape shape;
        int error;
    } cases[] = {
        {"work", {.grid = 600, .block = 64}, 0},
        {"work", {.grid = 600, .block = 64, .smem = 100 * 1024}, 0},
        {"work", {.grid = 512, .block = 32, .cluster = 2}, 0},
        {"work", {.grid = 512, .block = 32, .cluster = 4}, 0},
        {"work", {.grid = 256, .block = 64, .cluster = 8, .smem = 120 * 1024}, 0},
        {"say", {.grid = 600, .block = 1}, 0},
        {"fail", {.grid = 600, .block = 1}, DIAG_CUDA_ILLEGAL_ADDRESS},
        {"steal", {.grid = 600, .block = 32, .smem = 200 * 1024}, 0},
        {"spin", {.grid = 600, .block = 32}, DIAG_CUDA_LAUNCH_TIMEOUT},
        {"reuse", {.grid = 300, .block = 1}, 0},
        {"poison", {.grid = 600, .block = 32}, DIAG_CUDA_LAUNCH_FAILURE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++) {
            observe(&one, cases[i].kernel, cases[i].shape, 1, schedules[s]);
            CHECK_EQ(one.error, cases[i].error);
            for (uint32_t threads = 2; threads <= 5; threads += 3) {
                observe(&many, cases[i].kernel, cases[i].shape, threads, schedules[s]);
                if (!CHECK(memcmp(&one, &many, sizeof one) == 0))
                    fprintf(stderr, "%s, schedule %u, %u threads: %llu and %llu instructions\n%s\n%s\n",
                            cases[i].kernel, (unsigned)schedules[s], threads, (unsigned long long)one.clock,
                            (unsigned long long)many.clock, one.log, many.log);
            }
        }
}

/* In the order of the CTAs that are resident together; nothing that a CTA behind the one that faulted said. */
static void test_told(void) {
    static struct outcome o;
    char expect[8];
    observe(&o, "say", (struct run_shape){.grid = 148, .block = 1}, 3, MACH_SCHED_DEFAULT);
    CHECK_EQ(o.error, 0);
    const char *at = o.printed;
    for (unsigned i = 0; i < 148; i++) {
        int n = snprintf(expect, sizeof expect, "%u\n", i);
        if (!CHECK(strncmp(at, expect, (size_t)n) == 0))
            break;
        at += n;
    }
    CHECK_EQ(*at, 0);
    observe(&o, "slow", (struct run_shape){.grid = 200, .block = 1, .smem = 200 * 1024}, 3, MACH_SCHED_DEFAULT);
    CHECK_HAS(o.printed, "\n99\n101\n");
    CHECK_HAS(o.printed, "\n147\n100\n148\n");
    observe(&o, "fail", (struct run_shape){.grid = 148, .block = 1}, 3, MACH_SCHED_DEFAULT);
    CHECK_EQ(o.error, DIAG_CUDA_ILLEGAL_ADDRESS);
    CHECK_HAS(o.log, "CTA (20,0,0)");
    CHECK_HAS(o.printed, "\n20\n");
    CHECK(strstr(o.printed, "21") == NULL);
    CHECK(strstr(strstr(o.log, "error") + 1, "error") == NULL);
}

/* Reports come in the order of the clusters, whichever host thread met them first, and then the counts. */
static void test_reports(void) {
    static struct outcome o;
    const char *at = o.log;
    static const char *const parts[] = {
        "CTA (0,0,0)",
        "CTA (148,0,0)", /* on the same SM */
        "CTA (1,0,0)",
        "note: 299 more of [bulk-store-overwritten]",
        "note: 199 more of [bulk-store-overwritten]",
        "note: 149 more of [bulk-store-overwritten]",
    };
    observe(&o, "reuse", (struct run_shape){.grid = 300, .block = 1}, 3, MACH_SCHED_LAZY);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && at; i++)
        if (!CHECK((at = strstr(at, parts[i])) != NULL))
            fprintf(stderr, "%s is not in its place:\n%s", parts[i], o.log);
}

/* All clusters spin, and the limit is the launch's; the start of a CTA counts as 64 instructions. */
static void test_limit(void) {
    static struct outcome o;
    observe(&o, "spin", (struct run_shape){.grid = 600, .block = 32}, 2, MACH_SCHED_DEFAULT);
    CHECK_HAS(o.log, "watchdog");
    CHECK(o.clock + 600 * 64 >= 3000000 && o.clock < 3000000 + 600 * 512);
}

/* Work from the grid: every tile is done once, many by CTAs that took them over. */
static void test_steal(void) {
    static struct outcome o;
    uint32_t taken = 0;
    observe(&o, "steal", (struct run_shape){.grid = 600, .block = 32, .smem = 200 * 1024}, 3, MACH_SCHED_DEFAULT);
    for (uint32_t i = 0; i < 600; i++) {
        CHECK(o.out[i] >= 1 && o.out[i] <= i + 1);
        taken += o.out[i] != i + 1;
    }
    CHECK(taken > 300);
}

/* Kernels whose CTAs wait for each other through global memory. */
static void test_sharing(void) {
    static struct outcome o;
    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++) {
        observe(&o, "chain", (struct run_shape){.grid = 300, .block = 1, .smem = 100 * 1024}, 3, schedules[s]);
        CHECK_EQ(o.error, 0);
        for (uint32_t i = 0; i < 300; i++)
            CHECK_EQ(o.out[i], i + 1);
        observe(&o, "back", (struct run_shape){.grid = 8, .block = 1}, 3, schedules[s]);
        CHECK_EQ(o.error, 0);
    }
}

/* launch_kernel_shares, form by form. */
static void test_forms(void) {
    static const struct {
        const char *ptx;
        bool shares;
    } forms[] = {
        {"ld.global.u32 %r1, [%rd1];", false},
        {"st.global.u32 [%rd1], %r1;", false},
        {"ld.volatile.u32 %r1, [%rd1];", true},
        {"ld.volatile.shared.u32 %r1, [%r2];", false},
        {"st.volatile.global.u32 [%rd1], %r1;", true},
        {"ld.acquire.gpu.u32 %r1, [%rd1];", true},
        {"ld.acquire.cluster.shared::cluster.u32 %r1, [%r2];", false},
        {"ld.relaxed.cta.global.u32 %r1, [%rd1];", false},
        {"st.release.sys.global.u32 [%rd1], %r1;", true},
        {"ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];", true},
        {"atom.global.add.u32 %r1, [%rd1], 1;", true},
        {"atom.add.u32 %r1, [%rd1], 1;", true},
        {"atom.shared.add.u32 %r1, [%r2], 1;", false},
        {"red.shared::cluster.add.u32 [%r2], 1;", false},
        {"red.global.add.u32 [%rd1], 1;", true},
        {"membar.cta;", false},
        {"membar.gl;", true},
        {"fence.acq_rel.cluster;", false},
        {"fence.acq_rel.gpu;", true},
        {"fence.sc.sys;", true},
        {"fence.proxy.async;", false},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 16;", true},
        {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%rd1, {%r1}], [%r2];", true},
        {"call.uni plain, ();", false},
        {"call.uni counts, ();", true},
        {"call.uni (%rd1), malloc, (%rd1);", true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char source[2048];
        struct run r;
        bool calls = strstr(forms[i].ptx, "counts") != NULL, heap = strstr(forms[i].ptx, "malloc") != NULL;
        snprintf(source, sizeof source, "%s%s%s%s.visible .entry k(.param .u64 out) { .reg .b32 %%r<4>; %s %s ret; }\n",
                 RUN_HEADER, ".func plain() { ret; }\n",
                 calls ? ".global .u32 n; .func counts() { red.global.add.u32 [n], 1; ret; }\n" : "",
                 heap ? ".extern .func (.param .b64 p) malloc(.param .b64 n);\n" : "",
                 heap ? ".param .b64 a; .param .b64 b; .reg .b64 %rd<4>;" : ".reg .b64 %rd<4>;",
                 heap ? "call.uni (a), malloc, (b);" : forms[i].ptx);
        if (run_open(&r, source)) {
            const struct warp_func *k = lower_find_kernel(r.module, "k");
            if (!CHECK(k) || !CHECK_EQ(launch_kernel_shares(k), forms[i].shares))
                fprintf(stderr, "    %s\n", forms[i].ptx);
        }
        run_close(&r);
    }
}

int main(void) {
    test_same();
    test_told();
    test_reports();
    test_limit();
    test_steal();
    test_sharing();
    test_forms();
    return check_report();
}
