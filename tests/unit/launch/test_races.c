/* Clusters that race through weak accesses of global memory, on several host threads: every value found is one that was
 * written, whole up to 8 bytes (PTX ISA 8.2.4), reductions lose nothing, and a racing tensor map harms nobody but the
 * kernel. Under SANITIZE=thread it also shows that these races are none of the host. */
#include "unit/run_ptx.h"

#include "engines/tensormap.h"
#include "engines/tma.h"
#include "launch/state.h"

#include <pthread.h>
#include <stdio.h>

#define CTAS 24u
#define THREADS 4u
#define ELEMENTS 32u

/* A byte b, 1 to CTAS, is CTA b - 1's; whatever it writes is that byte over and over. */
#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 data, .param .u64 out, .param .u64 map) {\n"                                 \
    ".reg .b32 %r<16>; .reg .b64 %rd<32>; .reg .pred %p<8>; .reg .b32 %w<8>; .reg .b64 %v<8>;\n"                       \
    ".shared .align 1024 .b8 tile[1024]; .shared .align 128 .b8 here[1024]; .shared .align 8 .b8 bar[8];\n"            \
    "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd20, [map]; mov.u32 %r1, %ctaid.x;\n"         \
    "mov.u32 %r2, %tid.x; mov.u32 %r5, 0; mov.u32 %r8, 0;\n"                                                           \
    "add.u32 %r3, %r1, 1; cvt.u64.u32 %rd3, %r3; mul.lo.u64 %rd3, %rd3, 0x0101010101010101; cvt.u32.u64 %r4, %rd3;\n"  \
    "mov.u32 %r9, tile; mov.u32 %r10, here; mov.u32 %r11, bar;\n"
/* out[thread] = how many values were none of those written */
#define TAIL                                                                                                           \
    "mov.u32 %r6, %ntid.x; mad.lo.u32 %r6, %r1, %r6, %r2; mul.wide.u32 %rd6, %r6, 4; add.s64 %rd6, %rd2, %rd6;\n"      \
    "st.global.u32 [%rd6], %r5; ret; }\n"
/* So many turns from `top` on, counted in %r8: enough that host threads meet. */
#define AGAIN(turns) "add.u32 %r8, %r8, 1; setp.lt.u32 %p0, %r8, " #turns "; @%p0 bra top;\n"

/* Counts the value in a register of 64 bits that is not one byte of a CTA, or 0, `ones` times. */
#define JUDGE(reg, ones)                                                                                               \
    "and.b64 %rd10, " reg ", 255; mul.lo.u64 %rd11, %rd10, " ones "; setp.ne.u64 %p1, %rd11, " reg ";\n"               \
    "@%p1 add.u32 %r5, %r5, 1; setp.gt.u64 %p1, %rd10, 24; @%p1 add.u32 %r5, %r5, 1;\n"
#define ONES_1 "0x01"
#define ONES_2 "0x0101"
#define ONES_4 "0x01010101"
#define ONES_8 "0x0101010101010101"

static const struct form {
    const char *words, *stored, *loaded, *judged;
    uint32_t element, bytes; /* of one, of all */
} forms[] = {
    {"u8", "%rd3", "%v0", JUDGE("%v0", ONES_1), 1, 1},
    {"u16", "%rd3", "%v0", JUDGE("%v0", ONES_2), 2, 2},
    {"u32", "%r4", "%w0", "cvt.u64.u32 %v0, %w0;\n" JUDGE("%v0", ONES_4), 4, 4},
    {"u64", "%rd3", "%v0", JUDGE("%v0", ONES_8), 8, 8},
    {"v2.u32", "{%r4, %r4}", "{%w0, %w1}", "cvt.u64.u32 %v0, %w1;\n" JUDGE("%v0", ONES_4), 4, 8},
    {"v4.u32", "{%r4, %r4, %r4, %r4}", "{%w0, %w1, %w2, %w3}", "cvt.u64.u32 %v0, %w3;\n" JUDGE("%v0", ONES_4), 4, 16},
    {"v2.u64", "{%rd3, %rd3}", "{%v0, %v1}", JUDGE("%v0", ONES_8) JUDGE("%v1", ONES_8), 8, 16},
    {"v4.u64", "{%rd3, %rd3, %rd3, %rd3}", "{%v0, %v1, %v2, %v3}", JUDGE("%v0", ONES_8) JUDGE("%v3", ONES_8), 8, 32},
};
#define FORMS (sizeof forms / sizeof *forms)

static void add(char *text, size_t size, size_t *len, const char *part) {
    check_append(text, size, len, part, strlen(part));
}

/* Stores of one form, to the lanes' elements as they come and in another order; loads of every form whose elements are
 * not wider than what is stored whole. */
static void write_kernel(char *text, size_t size, const struct form *st) {
    size_t len = 0;
    char line[256];
    add(text, size, &len, RUN_HEADER HEAD("k") "top:\n");
    snprintf(line, sizeof line, "mul.wide.u32 %%rd4, %%r2, %u; add.s64 %%rd4, %%rd1, %%rd4;\n", st->bytes);
    add(text, size, &len, line);
    snprintf(line, sizeof line,
             "mad.lo.u32 %%r7, %%r2, 5, %%r8; and.b32 %%r7, %%r7, 31; mul.wide.u32 %%rd5, %%r7, %u; add.s64 %%rd5, "
             "%%rd1, %%rd5;\n",
             st->bytes);
    add(text, size, &len, line);
    for (unsigned to = 4; to <= 5; to++) {
        snprintf(line, sizeof line, "st.global.%s [%%rd%u], %s;\n", st->words, to, st->stored);
        add(text, size, &len, line);
        for (size_t i = 0; i < FORMS; i++) {
            const struct form *ld = &forms[i];
            if (ld->element > st->element || ld->bytes > st->bytes)
                continue;
            snprintf(line, sizeof line, "ld.global.%s %s, [%%rd%u];\n", ld->words, ld->loaded, 9 - to);
            add(text, size, &len, line);
            add(text, size, &len, ld->judged);
        }
    }
    add(text, size, &len, AGAIN(60) TAIL);
}

/* Bulk, tensor and cp.async copies of the same bytes. */
/* clang-format off */
static const char engines[] = RUN_HEADER
    HEAD("k")
    "setp.eq.u32 %p2, %r2, 0; @%p2 mbarrier.init.shared::cta.b64 [%r11], 1;\n"
    "shl.b32 %r12, %r2, 5; add.u32 %r13, %r10, %r12; add.u32 %r12, %r9, %r12;\n"
    "mul.wide.u32 %rd4, %r2, 32; add.s64 %rd4, %rd1, %rd4;\n"
    "top: mov.u32 %r14, 0;\n"
    "fill: add.u32 %r15, %r12, %r14; st.shared.u64 [%r15], %rd3; add.u32 %r14, %r14, 8;\n"
    "setp.lt.u32 %p3, %r14, 32; @%p3 bra fill;\n"
    "fence.proxy.async.shared::cta; bar.sync 0;\n"
    "@%p2 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd20, {0, 0}], [%r9];\n"
    "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r9], 1024;\n"
    "@%p2 cp.async.bulk.commit_group; @%p2 cp.async.bulk.wait_group 0; bar.sync 0;\n"
    "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 2048;\n"
    "@%p2 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r9], [%rd20, {0, 0}], [%r11];\n"
    "@%p2 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%rd1], 1024, [%r11];\n"
    "and.b32 %r7, %r8, 1; wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r11], %r7; @!%p3 bra wait;\n"
    "ld.shared.v2.u64 {%v0, %v1}, [%r12]; ld.shared.v2.u64 {%v2, %v3}, [%r13+16];\n"
    JUDGE("%v0", ONES_8) JUDGE("%v1", ONES_8) JUDGE("%v2", ONES_8) JUDGE("%v3", ONES_8)
    "bar.sync 0; cp.async.ca.shared.global [%r12], [%rd4], 16; cp.async.wait_all;\n"
    "ld.shared.v2.u64 {%v0, %v1}, [%r12];\n" JUDGE("%v0", ONES_8) JUDGE("%v1", ONES_8)
    "bar.sync 0;\n" AGAIN(200) TAIL;

/* A tensor map that some CTAs write, through tensormap.replace or whole, while others use it. */
static const char maps[] = RUN_HEADER
    HEAD("k")
    "setp.ne.u32 %p2, %r2, 0; @%p2 ret; mbarrier.init.shared::cta.b64 [%r11], 1; and.b32 %r14, %r1, 1;\n"
    "mul.wide.u32 %rd4, %r14, 1024; add.s64 %rd4, %rd1, %rd4; and.b32 %r15, %r1, 2; setp.ne.u32 %p4, %r15, 0;\n"
    "top: @%p4 bra use; tensormap.replace.tile.global_address.global.b1024.b64 [%rd20], %rd4; bra next;\n"
    "use: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 1024;\n"
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r9], [%rd20, {0, 0}], [%r11];\n"
    "and.b32 %r7, %r8, 1; wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r11], %r7; @!%p3 bra wait;\n"
    "ld.shared.u64 %v0, [%r9]; ld.shared.u64 %v1, [%r9+1016]; setp.ne.u64 %p1, %v0, %v1; @%p1 add.u32 %r5, %r5, 1;\n"
    "next:\n" AGAIN(500) TAIL;

/* %rd20 is added to data[0 .. 31] */
static const char counts[] = RUN_HEADER
    HEAD("k") "mul.wide.u32 %rd4, %r2, 8; add.s64 %rd4, %rd1, %rd4;\n"
    "top: red.global.add.u64 [%rd4], %rd20;\n" AGAIN(200) TAIL;

/* printf of a format that all write */
static const char prints[] = RUN_HEADER
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    HEAD("k")
    ".param .b64 f; .param .b64 a; .param .b32 r;\n"
    "top: and.b32 %r7, %r3, 1; mad.lo.u32 %r7, %r7, 17, 100; st.global.u8 [%rd1+1], %r7;\n" /* %d or %u */
    "st.global.u32 [%rd1+8], %r3; add.s64 %rd4, %rd1, 8; st.param.b64 [f], %rd1; st.param.b64 [a], %rd4;\n"
    "call.uni (r), vprintf, (f, a);\n" AGAIN(60) TAIL;
/* clang-format on */

struct buffers {
    uint64_t data, out, map;
};

#define DATA_BYTES 4096u

static bool prepare(struct run *r, struct buffers *b, const char *text) {
    static uint64_t before; /* ThreadSanitizer tells of one race at an address: every kernel has its own */
    struct mach_config c = mach_config_b200();
    c.watchdog = 100000000;
    c.threads = THREADS;
    c.check = MACH_CHECK_OFF;
    const bool ok = run_open_config(r, text, &c);
    run_alloc(r, before += 2 * DATA_BYTES);
    b->data = run_alloc(r, DATA_BYTES);
    b->out = run_alloc(r, 4 * CTAS * ELEMENTS);
    b->map = run_alloc(r, TMAP_BYTES);
    return ok;
}

/* 8 lines of 128 bytes at data. */
static void encode(struct run *r, const struct buffers *b) {
    const struct tmap m = {.type = TMAP_F16,
                           .swizzle = TMAP_SWIZZLE_128B,
                           .rank = 2,
                           .address = b->data,
                           .dim = {64, 8},
                           .stride = {128},
                           .box = {64, 8},
                           .step = {1, 1}};
    CHECK(tmap_encode(&m, run_at(r, b->map, TMAP_BYTES)) == NULL);
}

/* Clusters run side by side, and none found a value that nobody wrote. */
static void race(struct run *r, const struct buffers *b, const char *what) {
    const struct warp_func *k = lower_find_kernel(r->module, "k");
    CHECK(k && !launch_kernel_shares(k));
    if (!run_ok(r, "k", (struct run_shape){.grid = CTAS, .block = ELEMENTS}, 3, (uint64_t[]){b->data, b->out, b->map}))
        return;
    uint32_t bad = 0;
    for (uint32_t i = 0; i < CTAS * ELEMENTS; i++)
        bad += run_u32(r, b->out, i);
    if (!CHECK_EQ(bad, 0))
        fprintf(stderr, "    %s\n", what);
}

static void test_threads(void) {
    static char text[16384];
    for (size_t i = 0; i < FORMS; i++) {
        struct run r;
        struct buffers b;
        write_kernel(text, sizeof text, &forms[i]);
        if (prepare(&r, &b, text))
            race(&r, &b, forms[i].words);
        run_close(&r);
    }
}

static void test_engines(void) {
    struct run r;
    struct buffers b;
    if (prepare(&r, &b, engines)) {
        encode(&r, &b);
        race(&r, &b, "engines");
    }
    run_close(&r);
}

/* A copy takes its map as it was at one time: all of it from one tensor. */
static void test_maps(void) {
    struct run r;
    struct buffers b;
    if (prepare(&r, &b, maps)) {
        encode(&r, &b);
        memset(run_at(&r, b.data, 1024), 1, 1024);
        memset(run_at(&r, b.data + 1024, 1024), 2, 1024);
        race(&r, &b, "maps");
    }
    run_close(&r);
}

static char printed[1 << 18];
static size_t num_printed;

static void collect(void *ctx, const char *s, size_t n) {
    (void)ctx;
    check_append(printed, sizeof printed, &num_printed, s, n);
}

static void test_prints(void) {
    struct run r;
    struct buffers b;
    if (prepare(&r, &b, prints)) {
        memcpy(run_at(&r, b.data, 4), "%d\n", 4);
        r.gpu->print = collect;
        race(&r, &b, "prints");
        unsigned lines = 0;
        for (const char *at = printed; *at; at = strchr(at, '\n') + 1, lines++) {
            const int n = atoi(at);
            if (!CHECK(n >= 1 && n <= (int)CTAS) || !strchr(at, '\n'))
                break;
        }
        CHECK_EQ(lines, CTAS * ELEMENTS * 60);
    }
    run_close(&r);
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

struct beside {
    uint64_t *word, added;
    int stop;
};

static void *add_beside(void *arg) {
    struct beside *b = arg;
    for (; !__atomic_load_n(&b->stop, __ATOMIC_RELAXED); b->added++)
        __atomic_fetch_add(b->word, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* red.global.add beside the host's own additions to memory that both can reach. */
static void test_counts(void) {
    struct run r;
    struct buffers b;
    pthread_t host;
    if (prepare(&r, &b, counts)) {
        struct beside beside = {.word = run_at(&r, b.data, 8)};
        CHECK_EQ(pthread_create(&host, NULL, add_beside, &beside), 0);
        run_ok(&r, "k", (struct run_shape){.grid = CTAS, .block = ELEMENTS}, 3,
               (uint64_t[]){b.data, b.out, UINT64_C(1) << 32});
        __atomic_store_n(&beside.stop, 1, __ATOMIC_RELAXED);
        pthread_join(host, NULL);
        CHECK_EQ(run_u64(&r, b.data, 0), ((uint64_t)CTAS * 200 << 32) + beside.added);
        CHECK_EQ(run_u64(&r, b.data, 31), (uint64_t)CTAS * 200 << 32);
    }
    run_close(&r);
}

struct sums {
    enum tma_element type;
    uint8_t *to;
    uint8_t one[64];
};

static void *reduce(void *arg) {
    const struct sums *s = arg;
    for (uint32_t i = 0; i < 1000; i++)
        tma_reduce_bytes(NUM_OP_ADD, s->type, s->to, s->one, sizeof s->one);
    return NULL;
}

/* Reductions of two copies that run at once, of 2, 4 and 8 bytes. */
static void test_sums(void) {
    _Alignas(8) static uint8_t to[64];
    static struct sums s[] = {
        {.type = TMA_E_F16, .to = to}, {.type = TMA_E_U32, .to = to}, {.type = TMA_E_U64, .to = to}};
    static const uint32_t size[] = {2, 4, 8}, one[] = {0x3c00, 1, 1}, sum[] = {0x67d0 /* 2000 */, 2000, 2000};
    for (unsigned k = 0; k < 3; k++) {
        pthread_t other;
        memset(to, 0, sizeof to);
        for (uint32_t i = 0; i < sizeof to; i += size[k])
            memcpy(s[k].one + i, &one[k], size[k] < 4 ? size[k] : 4);
        CHECK_EQ(pthread_create(&other, NULL, reduce, &s[k]), 0);
        reduce(&s[k]);
        pthread_join(other, NULL);
        for (uint32_t i = 0; i < sizeof to; i += size[k]) {
            uint64_t v = 0;
            memcpy(&v, to + i, size[k]);
            if (!CHECK_EQ(v, sum[k]))
                break;
        }
    }
}

int main(void) {
    test_threads();
    test_engines();
    test_maps();
    test_prints();
    test_counts();
    test_sums();
    return check_report();
}
