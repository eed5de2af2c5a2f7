/* Kernels that issue many operations before they wait for any: right, and in little memory, under every schedule. */
#include "unit/run_ptx.h"

#include "base/budget.h"
#include "machine/async.h"

#define LOADS 4096u         /* of 16 bytes */
#define STORES 60000u       /* of 4096 bytes */
#define ROOM (192ull << 20) /* bytes: less than the stores read */
#define REQUESTS 3000u      /* for clusters, by each CTA */

/* clang-format off */
static const char text[] = RUN_HEADER
    /* out[i] = in[i] + 1 by way of shared memory, all copies in flight at once */
    ".visible .entry loads(.param .u64 in, .param .u64 out) {\n"
    ".reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;\n"
    ".shared .align 16 .b8 data[65536]; .shared .align 8 .b8 bar[8];\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, data; mov.u32 %r2, bar; mov.u32 %r3, 0;\n"
    "mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 65536;\n"
    "next: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];\n"
    "add.u32 %r1, %r1, 16; add.u64 %rd1, %rd1, 16; add.u32 %r3, %r3, 16; setp.lt.u32 %p1, %r3, 65536; @%p1 bra next;\n"
    "wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra wait;\n"
    "mov.u32 %r1, data;\n"
    "sum: ld.shared.u32 %r4, [%r1]; add.u32 %r4, %r4, 1; st.global.u32 [%rd2], %r4;\n"
    "add.u32 %r1, %r1, 4; add.u64 %rd2, %rd2, 4; sub.u32 %r3, %r3, 4; setp.ne.u32 %p1, %r3, 0; @%p1 bra sum;\n"
    "ret; }\n"
    /* out[i] = 1 for 1024 words, again and again */
    ".visible .entry stores(.param .u64 out, .param .u32 n) {\n"
    ".reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>; .shared .align 16 .b8 data[4096];\n"
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r3, [n]; mov.u32 %r1, data; mov.u32 %r2, 0; mov.u32 %r4, 1;\n"
    "fill: st.shared.u32 [%r1], %r4; add.u32 %r1, %r1, 4; add.u32 %r2, %r2, 4; setp.lt.u32 %p1, %r2, 4096;\n"
    "@%p1 bra fill; fence.proxy.async.shared::cta; mov.u32 %r1, data;\n"
    "next: cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 4096;\n"
    "sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra next;\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n"
    /* each CTA asks more often than its queue is long, and then waits for all the answers; out[cta] = 1 */
    ".visible .entry requests(.param .u64 out, .param .u32 n) {\n"
    ".reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;\n"
    ".shared .align 16 .b8 reply[16]; .shared .align 8 .b8 bar[8];\n"
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r3, [n]; mov.u32 %r1, reply; mov.u32 %r2, bar; mov.u32 %r5, %ctaid.x;\n"
    "mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster; shl.b32 %r4, %r3, 4;\n"
    "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%r2], %r4;\n"
    "next: clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];\n"
    "sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra next;\n"
    "wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra wait;\n"
    "mul.wide.u32 %rd2, %r5, 4; add.u64 %rd1, %rd1, %rd2; mov.u32 %r6, 1; st.global.u32 [%rd1], %r6; ret; }\n";
/* clang-format on */

static bool open_as(struct run *r, enum mach_schedule schedule) {
    struct mach_config c = mach_config_b200();
    c.watchdog = 100000000;
    c.schedule = schedule;
    c.seed = 5;
    return run_open_config(r, text, &c);
}

static void test_loads(enum mach_schedule schedule) {
    struct run r;
    if (open_as(&r, schedule)) {
        const uint64_t in = run_alloc(&r, 16 * LOADS), out = run_alloc(&r, 16 * LOADS);
        for (uint32_t i = 0; i < 4 * LOADS; i++)
            memcpy(run_at(&r, in + 4 * i, 4), &i, 4);
        run_ok(&r, "loads", (struct run_shape){0}, 2, (uint64_t[]){in, out});
        for (uint32_t i = 0; i < 4 * LOADS; i++)
            if (!CHECK_EQ(run_u32(&r, out, i), i + 1))
                break;
    }
    run_close(&r);
}

static void test_stores(enum mach_schedule schedule) {
    struct run r;
    if (open_as(&r, schedule)) {
        const uint64_t out = run_alloc(&r, 4096);
        budget_set_limit(UINT64_MAX - budget_left() + ROOM);
        run_ok(&r, "stores", (struct run_shape){0}, 2, (uint64_t[]){out, STORES});
        budget_set_limit(UINT64_MAX);
        CHECK_EQ(run_u32(&r, out, 0), 1);
        CHECK_EQ(run_u32(&r, out, 1023), 1);
    }
    run_close(&r);
}

static void test_requests(enum mach_schedule schedule) {
    struct run r;
    if (open_as(&r, schedule)) {
        const uint64_t out = run_alloc(&r, 40);
        run_ok(&r, "requests", (struct run_shape){.grid = 10}, 2, (uint64_t[]){out, REQUESTS});
        for (uint32_t i = 0; i < 10; i++)
            CHECK_EQ(run_u32(&r, out, i), 1);
    }
    run_close(&r);
}

int main(void) {
    for (enum mach_schedule s = MACH_SCHED_DEFAULT; s <= MACH_SCHED_RANDOM; s++) {
        test_loads(s);
        test_stores(s);
        test_requests(s);
    }
    return check_report();
}
