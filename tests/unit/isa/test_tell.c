/* What instructions tell those who watch where it is easily told wrong: exact bytes, one step, the fences inside. */
#include "unit/run_ptx.h"

static struct seen {
    uint32_t steps, lanes;                /* of mbarrier.try_wait */
    uint32_t commits, maps, writes;       /* group commits; fences of a tensor map; global writes */
    uint32_t size[32], rows[32], at[32];  /* of the writes: `at` from `out` on */
    uint32_t expected, completed, tokens; /* SYNC_MBAR_EXPECT_TX and COMPLETE_TX, `bytes` */
    uint64_t out, map;
    uint64_t heap; /* block of the device's malloc */
    uint32_t freed;
} seen;

static void step(const struct listener *self, const struct event_step *e) {
    (void)self;
    if (strcmp(e->by.what, "mbarrier.try_wait") != 0)
        return;
    seen.steps++;
    seen.lanes |= e->by.lanes;
}

static void sync(const struct listener *self, const struct event_sync *e) {
    (void)self;
    seen.commits += e->kind == SYNC_GROUP_COMMIT && !e->bulk;
    seen.expected += e->kind == SYNC_MBAR_EXPECT_TX;
    seen.completed += e->kind == SYNC_MBAR_COMPLETE_TX;
    seen.tokens += e->bytes;
    if (e->kind == SYNC_FENCE && e->fence == FENCE_PROXY_TENSORMAP) {
        seen.maps += e->by.order == ORDER_RELEASE && e->by.scope == SCOPE_GPU;
        seen.map = e->map;
    }
}

/* The heap's blocks: what malloc gave is given back. */
static void life(const struct listener *self, const struct event_life *e) {
    (void)self;
    if (e->kind == LIFE_HEAP_ALLOC)
        seen.heap = e->bytes == 64 && e->by.lanes == 1u << 2 ? e->address : 0;
    if (e->kind == LIFE_HEAP_FREE)
        seen.freed += e->address == seen.heap && seen.heap != 0;
}

static void access(const struct listener *self, const struct event_access *e) {
    (void)self;
    if (e->space != SPACE_GLOBAL || e->effect != EFFECT_WRITE || seen.writes == 32)
        return;
    const uint32_t lane = e->by.op ? 0 : (uint32_t)__builtin_ctz(e->by.lanes);
    seen.at[seen.writes] = (uint32_t)(e->at[lane] - seen.out);
    seen.rows[seen.writes] = e->rows;
    seen.size[seen.writes++] = e->size;
}

/* clang-format off */
#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 out) {\n"                                                                    \
    ".reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"                                          \
    ".shared .align 128 .b8 sm[256]; .shared .align 8 .b64 mb;\n"                                                      \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, sm; mov.u32 %r3, mb; ld.param.u64 %rd1, [out]; mov.u32 %r4, 7;\n"
#define FILL                                                                                                           \
    "mul.lo.u32 %r5, %r1, 8; add.u32 %r5, %r5, %r2; mov.b64 %rd2, 0; st.shared.b64 [%r5], %rd2; bar.warp.sync -1;\n"
static const char text[] = RUN_HEADER
    HEAD("parting") /* half of the lanes wait, under a guard, for what another one does behind them */
    "setp.lt.u32 %p1, %r1, 16; setp.eq.u32 %p2, %r1, 31; @%p2 mbarrier.init.shared::cta.b64 [%r3], 1;\n"
    "bar.warp.sync -1; @%p1 mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n"
    "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r3]; ret; }\n"
    HEAD("wait_all") "cp.async.wait_all; cp.async.ca.shared.global [%r2], [%rd1], 4; cp.async.wait_all; ret; }\n"
    HEAD("sinks") "st.global.v8.b32 [%rd1], {%r4, _, _, %r4, %r4, %r4, %r4, _}; ret; }\n"
    HEAD("discards") "discard.global.L2 [%rd1], 128; ret; }\n"
    HEAD("masked") FILL
    "fence.proxy.async; mov.b16 %h1, 0x8031; setp.eq.u32 %p1, %r1, 0; bar.warp.sync -1; @!%p1 bra done;\n"
    "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], 64, %h1; cp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group 0; done: ret; }\n"
    HEAD("nothing") /* no bytes come */
    "mbarrier.init.shared::cta.b64 [%r3], 1; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r3], 0; ret; }\n"
    HEAD("fenceproxy") FILL
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r2], 128;\n"
    "ret; }\n";
/* clang-format on */

static bool runs(struct run *r, const char *name, uint32_t block) {
    memset(&seen, 0, sizeof seen);
    seen.out = run_alloc(r, 256);
    return run_ok(r, name, (struct run_shape){.block = block}, 1, &seen.out);
}

static void check_write(uint32_t i, uint32_t at, uint32_t size, uint32_t rows) {
    CHECK_EQ(seen.at[i], at);
    CHECK_EQ(seen.size[i], size);
    CHECK_EQ(seen.rows[i], rows);
}

static void bytes(struct run *r) {
    if (runs(r, "sinks", 1) && CHECK_EQ(seen.writes, 5)) {
        check_write(0, 0, 4, 0);
        check_write(1, 12, 4, 0);
        check_write(4, 24, 4, 0);
    }
    if (runs(r, "discards", 1) && CHECK_EQ(seen.writes, 1))
        check_write(0, 0, 128, 0);
    if (runs(r, "masked", 32) && CHECK_EQ(seen.writes, 3)) {
        check_write(0, 0, 1, 4);
        check_write(1, 4, 2, 4);
        check_write(2, 15, 1, 4);
    }
}

static void synchronisation(struct run *r) {
    if (runs(r, "parting", 32)) {
        CHECK_EQ(seen.lanes, 0xffff);
        CHECK_EQ(seen.steps, 1);
    }
    if (runs(r, "wait_all", 1))
        CHECK_EQ(seen.commits, 1);
    if (runs(r, "nothing", 1)) {
        CHECK_EQ(seen.expected, 0);
        CHECK_EQ(seen.completed, 1);
        CHECK_EQ(seen.tokens, 0);
    }
    if (runs(r, "fenceproxy", 32)) {
        CHECK_EQ(seen.maps, 32);
        CHECK(seen.map == seen.out);
    }
}

static const char heap_text[] =
    RUN_HEADER ".extern .func (.param .b64 memory) malloc(.param .b64 size);\n"
               ".extern .func free(.param .b64 memory);\n"
               ".visible .entry heap() {\n"
               ".reg .b64 %p; .reg .b32 %r; .reg .pred %q; .param .b64 size, memory;\n"
               "mov.u32 %r, %tid.x; setp.ne.u32 %q, %r, 2; @%q bra done;\n"
               "st.param.b64 [size], 64; call.uni (memory), malloc, (size); ld.param.b64 %p, [memory];\n"
               "st.param.b64 [memory], %p; call.uni free, (memory);\n"
               "done: ret;\n}\n";

/* Both warps access one row of words in straight code, or one reads what the other writes. Then they store to words of
 * their own. */
#define RACING(name, access)                                                                                           \
    ".visible .entry " name "(.param .u64 out) { .reg .b32 %t, %l, %s; .reg .b64 %o, %d, %e;\n"                        \
    "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; and.b32 %l, %t, 31; mul.wide.u32 %d, %l, 4; add.u64 %d, %o, %d;\n"    \
    "shl.b32 %l, %l, 2; mov.u32 %s, row; add.u32 %l, %s, %l; add.u32 %t, %t, 1; " access                               \
    "\nmul.wide.u32 %d, %t, 4; add.u64 %d, %d, %o; add.u32 %t, %t, 1; st.global.b32 [%d+1024], %t; ret; }\n"
static const char racing_text[] = RUN_HEADER
    ".shared .align 128 .b8 row[256];\n" RACING("shared_race", "st.shared.b32 [%l], %t; ld.shared.b32 %s, [%l];")
        RACING("global_race", "st.global.b32 [%d], %t; ld.global.b32 %s, [%d];")
            RACING("shared_read", "sub.u32 %s, %t, 1; shr.u32 %s, %s, 5; shl.b32 %s, %s, 7; add.u32 %s, %l, %s;\n"
                                  "st.shared.b32 [%s], %t; ld.shared.b32 %s, [%l];")
                RACING("global_read", "mul.wide.u32 %e, %t, 4; add.u64 %e, %e, %o;\n"
                                      "st.global.b32 [%e+2048], %t; ld.global.b32 %s, [%d+2052];");

/* With --check=error the access that breaks a rule is the kernel's last. */
static void test_last(const char *kernel, const char *rule) {
    struct mach_config c = mach_config_b200();
    struct run r;
    c.check = MACH_CHECK_ERROR;
    if (run_open_config(&r, racing_text, &c)) {
        const uint64_t out = run_alloc(&r, 4096);
        run_check_races(&r);
        run_faults(&r, kernel, (struct run_shape){.block = 64}, 1, &out, rule);
        CHECK_EQ(run_u32(&r, out, 256 + 32), 33);
        for (uint32_t i = 33; i <= 64; i++)
            CHECK_EQ(run_u32(&r, out, 256 + i), 0);
    }
    run_close(&r);
}

int main(void) {
    const struct listener l = {.name = "test",
                               .wants = WANT_STEP | WANT_SYNC | WANT_GLOBAL | WANT_ENGINE_GLOBAL | WANT_LIFE,
                               .step = step,
                               .sync = sync,
                               .access = access,
                               .life = life};
    struct run r;
    if (run_open(&r, text) && CHECK(events_attach(r.gpu, &l))) {
        bytes(&r);
        synchronisation(&r);
    }
    run_close(&r);
    if (run_open(&r, heap_text) && CHECK(events_attach(r.gpu, &l))) {
        CHECK(run_ok(&r, "heap", (struct run_shape){.block = 32}, 0, NULL));
        CHECK_EQ(seen.freed, 1);
    }
    run_close(&r);
    test_last("shared_race", "shared-race");
    test_last("global_race", "global-race");
    test_last("shared_read", "shared-race");
    test_last("global_read", "global-race");
    return check_report();
}
