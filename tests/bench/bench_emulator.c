/* bench_emulator.c - the emulator's speed on one core, in one run with OpenBLAS where the host has it; [CSV]: a file
 * that gets the same.
 *
 * The tensor core against sgemm, every inner loop, and the interpreter. Figures are medians of several measurements in
 * turn (the other's beside each), so that a noisy host disturbs both.
 */
#include "../unit/engines/fixture.h"
#include "base/fatal.h"
#include "unit/run_ptx.h"

#include "simd/multiply.h"

#include "blas.h"

#include <time.h>

enum { ROUNDS = 7, N = 1024 };

/* CPU time of the one thread that works: other processes on the host do not count. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 2];
}

static FILE *csv;

/* A line of the file: a rate in 10^9 or 10^6 a second, and what it is beside; 0: nothing. */
static void note(const char *part, const char *name, const char *how, double rate, double beside, double ratio) {
    if (csv && beside > 0)
        fprintf(csv, "%s %s %s,%.1f,%.1f,%.3f\n", part, name, how, rate, beside, ratio);
    else if (csv)
        fprintf(csv, "%s %s %s,%.1f,,\n", part, name, how, rate);
}

/* --- the tensor core ---------------------------------------------------------------------------------------------- */

struct product {
    const char *name;
    enum tc_kind kind;
    uint32_t type, k, group;
    bool fast;      /* --umma=fast sums it in another way */
    uint32_t block; /* elements of a scale factor; 0: there are none */
};
static const struct product products[] = {
    {"f16  128x256x16", TC_KIND_F16, 0, 16, 1, true, 0},
    {"f16  pair 256x256x16", TC_KIND_F16, 0, 16, 2, true, 0},
    {"bf16 128x256x16", TC_KIND_F16, 1, 16, 1, false, 0},
    {"bf16 pair 256x256x16", TC_KIND_F16, 1, 16, 2, false, 0},
    {"tf32 128x256x8", TC_KIND_TF32, 2, 8, 1, true, 0},
    {"e4m3 128x256x32", TC_KIND_F8F6F4, 0, 32, 1, false, 0},
    {"mxf8 128x256x32", TC_KIND_MXF8F6F4, 0, 32, 1, false, 32},
    {"mxf4 128x256x64", TC_KIND_MXF4, 1, 64, 1, false, 32},
    {"nvf4 128x256x64", TC_KIND_MXF4NVF4, 1, 64, 1, false, 16},
    {"s8   128x256x32", TC_KIND_I8, 1, 32, 1, false, 0},
};

enum { SFA = 256, SFB = 264, SCALE_COLUMNS = 16 }; /* behind the accumulator */

/* Tiles of 128 bytes along K at the start of shared memory, 128-byte swizzle: A 128 rows, then B 256 (a pair: 128). */
static uint64_t descriptor(uint32_t offset) {
    return (uint64_t)(MACH_SMEM_FIRST + offset) >> 4 | UINT64_C(1) << 16 | UINT64_C(64) << 32 | UINT64_C(1) << 46 |
           UINT64_C(2) << 61;
}

static void fill(struct cta *cta) {
    uint64_t state = 1;
    for (uint32_t i = MACH_SMEM_FIRST; i < cta->smem_end; i += 2) {
        /* moderate numbers of either sign in every type */
        uint32_t r = (uint32_t)(fixture_random(&state) >> 20), v = (r & 0x83ff) | 0x3800;
        cta->smem[i] = (uint8_t)(v & 0xbf);
        cta->smem[i + 1] = (uint8_t)(v >> 8);
    }
    smem_clear_poison(cta, MACH_SMEM_FIRST, cta->smem_end - MACH_SMEM_FIRST);
}

/* Seconds for N^3 multiply-adds, four MMAs to a tile as a kernel issues them. */
static double mma_run(struct fixture *f, const struct product *p, uint32_t column) {
    uint32_t m = 128 * p->group;
    uint32_t tiles = (uint32_t)((uint64_t)N * N * N / ((uint64_t)m * 256 * p->k * 4));
    uint32_t d = p->kind == TC_KIND_I8 ? 2 : 1;
    struct tc_mma mma = {.kind = p->kind, .group = p->group, .d = column, .block = p->block};
    mma.idesc = p->type << 7 | p->type << 10 | 256u >> 3 << 17;
    mma.idesc |= p->block ? (p->block == 32) << 23 | m >> 7 << 27 : d << 4 | m >> 4 << 24;
    mma.sfa = column + SFA;
    mma.sfb = column + SFB;
    double t = now();
    for (uint32_t i = 0; i < tiles; i++) {
        for (uint32_t s = 0; s < 4; s++) {
            mma.a = descriptor(32 * s);
            mma.b = descriptor(16384 + 32 * s);
            mma.accumulate = i || s;
            tc_issue_mma(f->cta, NULL, &mma);
        }
        fixture_run(f);
    }
    tc_flush(&f->cluster);
    t = now() - t;
    if (f->island.fault)
        fatal_broken("%s: %s", p->name, fixture_report(f));
    return t;
}

static uint32_t open_product(struct fixture *f, const struct product *p, enum simd simd) {
    uint32_t column = 0;
    fixture_open_on(f, p->group, 48 * 1024, p->group);
    struct cta *cta = f->cluster.cta;
    for (uint32_t i = 0; i < p->group; i++)
        fill(&cta[i]);
    if (p->group == 1) {
        tc_alloc(f->cta, NULL, p->block ? 512 : 256, &column);
        for (uint32_t c = SFA; p->block && c < SFA + SCALE_COLUMNS; c++) {
            struct tmem *t = f->cta->sm->tmem;
            memset(t->poison[c], 0, sizeof t->poison[c]);
            memset(t->cell[c], p->block == 32 ? 127 : 0x38, sizeof t->cell[c]); /* 1 */
        }
    } else {
        tc_pair_alloc(&cta[0], NULL, 0, 256, &column);
        tc_pair_alloc(&cta[1], NULL, 0, 256, &column);
        tc_pair_alloc(&cta[0], NULL, 0, 256, &column);
    }
    tc_state_of(f->cta)->simd = simd;
    return column;
}

static double blas_seconds(const struct blas *blas) {
    double t = now();
    blas_run(blas);
    return now() - t;
}

static const char *const simd_names[] = {"best", "portable", "AVX2", "AVX-512", "AMX"};

static void bench_mma(const struct product *p, enum simd simd, bool fast, const struct blas *blas) {
    const double flops = 2e-9 * N * N * N;
    struct fixture f;
    double mma[ROUNDS], sgemm[ROUNDS], ratio[ROUNDS];
    int rounds = simd == SIMD_PORTABLE ? 3 : ROUNDS;
    uint32_t column = open_product(&f, p, simd);
    f.gpu->config.umma = fast ? MACH_UMMA_FAST : MACH_UMMA_EXACT;
    mma_run(&f, p, column);
    for (int i = 0; i < rounds; i++) {
        mma[i] = mma_run(&f, p, column);
        if (blas->sgemm) {
            sgemm[i] = blas_seconds(blas);
            ratio[i] = mma[i] / sgemm[i];
        }
    }
    const char *how = fast ? "AMX, fast" : simd_names[simd];
    const double rate = flops / median(mma, rounds);
    printf("  %-21s %-9s %7.1f GFLOP/s", p->name, how, rate);
    if (blas->sgemm) {
        const double beside = flops / median(sgemm, rounds), times = median(ratio, rounds);
        printf("   sgemm %7.1f GFLOP/s   time ratio %.2f", beside, times);
        note("mma", p->name, fast ? "AMX fast" : how, rate, beside, times);
    } else {
        note("mma", p->name, fast ? "AMX fast" : how, rate, 0, 0);
    }
    putchar('\n');
    fixture_close(&f);
}

/* --umma=b200 beside exact, in turn. */
static void bench_b200(const struct product *p, enum simd simd) {
    const double flops = 2e-9 * N * N * N;
    struct fixture f;
    double seconds[2][ROUNDS], ratio[ROUNDS];
    const int rounds = 3;
    const uint32_t column = open_product(&f, p, simd);
    for (int i = 0; i < rounds; i++) {
        for (int b200 = 0; b200 < 2; b200++) {
            f.gpu->config.umma = b200 ? MACH_UMMA_B200 : MACH_UMMA_EXACT;
            seconds[b200][i] = mma_run(&f, p, column);
        }
        ratio[i] = seconds[1][i] / seconds[0][i];
    }
    const double rate = flops / median(seconds[1], rounds), exact = flops / median(seconds[0], rounds);
    printf("  %-21s %-9s %7.1f GFLOP/s   exact %7.1f GFLOP/s   time ratio %.2f\n", p->name, simd_names[simd], rate,
           exact, median(ratio, rounds));
    note("b200", p->name, simd_names[simd], rate, exact, median(ratio, rounds));
    fixture_close(&f);
}

static void bench_tensor_core(void) {
    struct blas blas;
    bool have = blas_open(&blas, N, 1);
    printf("tensor core, one core, %d^3 multiply-adds", N);
    if (have)
        printf("; OpenBLAS %s\n", blas.core);
    else
        printf("; OpenBLAS is not installed (Debian, Ubuntu: libopenblas0; Fedora: openblas): no ratios\n");
    enum simd best = simd_best(SIMD_BEST);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        bench_mma(&products[i], best, false, &blas);
    for (enum simd s = SIMD_PORTABLE; s <= SIMD_AMX; s++)
        if (s != best && simd_available(s))
            bench_mma(&products[0], s, false, &blas);
    for (size_t i = 0; simd_available(SIMD_AMX) && i < sizeof products / sizeof *products; i++)
        if (products[i].fast)
            bench_mma(&products[i], best, true, &blas);
    blas_close(&blas);
    puts("the same with --umma=b200");
    for (enum simd s = SIMD_PORTABLE + 1; s <= SIMD_AMX; s++)
        for (size_t i = 0; simd_available(s) && i < sizeof products / sizeof *products; i++)
            bench_b200(&products[i], s);
}

/* --- the interpreter ---------------------------------------------------------------------------------------------- */

static const char kernels[] = RUN_HEADER
    ".visible .entry alu(.param .u64 out) { .reg .u32 %r<10>; .reg .f32 %f<4>; .reg .u64 %d<3>; .reg .pred "
    "%p<3>;\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000; mov.u32 %r6, 1;\n"
    "top: mad.lo.s32 %r3, %r1, %r2, 7; shl.b32 %r4, %r3, 3; xor.b32 %r5, %r4, %r1; and.b32 %r4, %r5, 1023;\n"
    "fma.rn.f32 %f1, %f1, %f2, %f2; add.f32 %f3, %f1, %f2; mul.f32 %f1, %f3, %f2; shr.u32 %r7, %r5, 5;\n"
    "or.b32 %r8, %r7, %r4; sub.s32 %r9, %r8, %r1; setp.lt.s32 %p1, %r9, 100; selp.b32 %r6, %r9, %r6, %p1;\n"
    "max.s32 %r6, %r6, %r4; add.s32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 2000; @%p2 bra top;\n"
    "ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r6; ret; }\n"
    ".visible .entry memory(.param .u64 out) { .reg .u32 %r<10>; .reg .b32 %v<5>; .reg .u64 %d<6>; .reg "
    ".pred %p<3>;\n"
    ".shared .align 16 .b8 tile[4096];\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 16; add.u64 %d3, "
    "%d1, %d2;\n"
    "mov.u32 %r3, tile; shl.b32 %r4, %r1, 4; add.u32 %r5, %r3, %r4;\n"
    "top: ld.global.v4.b32 {%v1, %v2, %v3, %v4}, [%d3]; xor.b32 %r6, %r4, 112; add.u32 %r7, %r3, %r6;\n"
    "st.shared.v4.b32 [%r7], {%v1, %v2, %v3, %v4}; ld.shared.b32 %v1, [%r5]; add.u32 %r8, %v1, %r2;\n"
    "st.global.b32 [%d3], %r8; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2000; @%p1 bra top; ret; }\n";

static void bench_kernel(struct run *r, const char *name, uint64_t out) {
    double rate[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double t = now();
        if (!run_ok(r, name, (struct run_shape){.grid = 4, .block = 256}, 1, (uint64_t[]){out}))
            exit(1);
        rate[i] = (double)r->gpu->clock / (now() - t) * 1e-6;
    }
    printf("  %-21s %7.1f million warp instructions a second\n", name, median(rate, ROUNDS));
    note("interpreter", name, "", median(rate, ROUNDS), 0, 0);
}

static void bench_interpreter(void) {
    struct run r;
    puts("interpreter, one core");
    if (!run_open(&r, kernels))
        exit(1);
    uint64_t out = run_alloc(&r, 4096);
    bench_kernel(&r, "alu", out);
    bench_kernel(&r, "memory", out);
    run_close(&r);
}

int main(int argc, char **argv) {
    if (argc > 1 && !(csv = fopen(argv[1], "w")))
        fatal_broken("%s cannot be written", argv[1]);
    if (csv)
        fprintf(csv, "name,rate,beside,time_ratio\n");
    bench_tensor_core();
    bench_interpreter();
    return csv && fclose(csv) != 0;
}
