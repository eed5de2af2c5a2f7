/* The images of tensor memory in registers, for every shape and repeat factor, against the layouts of CUTLASS
 * copy_traits_sm100.hpp written as (shape):(stride) tuples and evaluated here; packing; windows; poison.
 */
#include "fixture.h"

/* A CuTe layout of up to four modes: the index is split by shape, leftmost fastest, and each part times its
 * stride. */
struct layout {
    uint32_t shape[4], stride[4];
};
static uint32_t at(const struct layout *l, uint32_t i) {
    uint32_t sum = 0;
    for (int m = 0; m < 4 && l->shape[m]; m++) {
        sum += i % l->shape[m] * l->stride[m];
        i /= l->shape[m];
    }
    return sum;
}

/* Thread and value (bit of the thread's registers) to a bit of the moved block: lane * bits per lane + bit.
 */
struct traits {
    struct layout thread, value;
    uint32_t lane_bits;
};

static struct traits traits_of(enum tc_shape s, uint32_t num) {
    uint32_t n = num;
    switch (s) {
    case TC_32X32B: /* 32dp32bNx: (_32, 32N):(32N, 1) */
        return (struct traits){{{32}, {32 * n}}, {{32 * n}, {1}}, 32 * n};
    case TC_16X64B: /* 16dp64bNx: ((_2,_2,_8),(_32,N)):((512N,_32,64N),(_1,_64)) */
        return (struct traits){{{2, 2, 8}, {512 * n, 32, 64 * n}}, {{32, n}, {1, 64}}, 64 * n};
    case TC_16X128B: /* 16dp128bNx: ((_4,_8),(_32,_2,N)):((_32,128N),(_1,1024N,_128)) */
        return (struct traits){{{4, 8}, {32, 128 * n}}, {{32, 2, n}, {1, 1024 * n, 128}}, 128 * n};
    case TC_16X256B: /* 16dp256bNx: ((_4,_8),(_64,_2,N)):((_64,256N),(_1,2048N,_256)) */
        return (struct traits){{{4, 8}, {64, 256 * n}}, {{64, 2, n}, {1, 2048 * n, 256}}, 256 * n};
    case TC_16X32BX2: /* 16dp32bNx, whose split is N columns: ((_16,_2),32N):((64N,32N),_1) */
        return (struct traits){{{16, 2}, {64 * n, 32 * n}}, {{32 * n}, {1}}, 64 * n};
    }
    return (struct traits){0};
}

static const struct {
    enum tc_shape shape;
    uint32_t max_num, regs_per_num;
} SHAPES[] = {
    {TC_32X32B, 128, 1}, {TC_16X64B, 128, 1}, {TC_16X128B, 64, 2}, {TC_16X256B, 32, 4}, {TC_16X32BX2, 128, 1}};

/* Table 49. */
static void register_counts(void) {
    for (int s = 0; s < 5; s++)
        for (uint32_t num = 0; num <= 256; num++) {
            bool power = num && !(num & (num - 1));
            uint32_t want = power && num <= SHAPES[s].max_num ? num * SHAPES[s].regs_per_num : 0;
            CHECK_EQ(tc_image_regs(SHAPES[s].shape, num), want);
        }
}

static void fill(struct tmem *t) {
    for (uint32_t c = 0; c < TMEM_COLUMNS; c++)
        for (uint32_t l = 0; l < TMEM_LANES; l++) {
            t->cell[c][l] = c << 16 | l << 8 | ((c * 7 + l * 13) & 0xff);
            t->poison[c][l / 32] = 0;
        }
}

/* The 32 bits that the traits give register `reg` of a thread; packed: bits of the low halves of the columns.
 */
static uint32_t expected(const struct tmem *t, const struct traits *tr, bool pack, uint32_t lane, uint32_t column,
                         uint32_t thread, uint32_t reg) {
    uint32_t v = 0;
    for (uint32_t bit = 0; bit < 32; bit++) {
        uint32_t where = at(&tr->thread, thread) + at(&tr->value, reg * 32 + bit);
        uint32_t l = lane + where / tr->lane_bits, b = where % tr->lane_bits;
        uint32_t word = pack ? t->cell[column + b / 16][l] >> (b % 16) : t->cell[column + b / 32][l] >> (b % 32);
        v |= (word & 1) << bit;
    }
    return v;
}

static void images(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    uint32_t base = fixture_alloc(&f, f.cta, 512);
    struct tmem *t = f.gpu->sms[0].tmem;
    static uint32_t data[128 * 32], poison[128];
    for (int s = 0; s < 5; s++)
        for (uint32_t num = 1; num <= SHAPES[s].max_num; num *= 2)
            for (uint32_t warp = 0; warp < 4; warp++)
                for (int pack = 0; pack < 2; pack++) {
                    enum tc_shape shape = SHAPES[s].shape;
                    struct traits tr = traits_of(shape, num);
                    uint32_t columns = tr.lane_bits / (pack ? 16 : 32);
                    if (columns > TMEM_COLUMNS)
                        continue;
                    uint32_t column = (TMEM_COLUMNS - columns) / 2, lane = 32 * warp;
                    if (shape != TC_32X32B && (num & 2))
                        lane += 16;
                    struct tc_access a = {.shape = shape,
                                          .num = num,
                                          .pack = pack,
                                          .split = shape == TC_16X32BX2 ? num << pack : 0,
                                          .taddr = (base + column) | lane << 16,
                                          .threads = UINT32_MAX};
                    fill(t);
                    CHECK(tc_check_window(f.cta, NULL, "tcgen05.ld", &a, warp + 4));
                    CHECK(tc_load(f.cta, NULL, &a, data, poison));
                    uint32_t regs = tc_image_regs(shape, num), bad = 0;
                    for (uint32_t r = 0; r < regs; r++)
                        for (uint32_t th = 0; th < 32; th++)
                            bad += data[r * 32 + th] != expected(t, &tr, pack, lane, column, th, r);
                    CHECK_EQ(bad, 0);
                    /* A store of what was loaded restores exactly the cells it covers (packed: their low
                     * halves). */
                    for (uint32_t c = 0; c < TMEM_COLUMNS; c++)
                        memset(t->cell[c], 0xff, sizeof t->cell[c]);
                    CHECK(tc_store(f.cta, NULL, &a, data, poison));
                    uint32_t lanes = tc_image_lanes(shape);
                    for (uint32_t c = 0; c < TMEM_COLUMNS; c++)
                        for (uint32_t l = 0; l < TMEM_LANES; l++) {
                            bool in = c >= column && c < column + columns && l >= lane && l < lane + lanes;
                            uint32_t v = c << 16 | l << 8 | ((c * 7 + l * 13) & 0xff);
                            bad += t->cell[c][l] != (in ? pack ? v & 0xffff : v : UINT32_MAX);
                        }
                    CHECK_EQ(bad, 0);
                }
    fixture_close(&f);
}

/* .16x32bx2 with a split that is not the repeat factor. */
static void split(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    uint32_t base = fixture_alloc(&f, f.cta, 512), data[4 * 32], poison[4];
    fill(f.gpu->sms[0].tmem);
    struct tc_access a = {.shape = TC_16X32BX2, .num = 4, .split = 100, .taddr = base + 8, .threads = UINT32_MAX};
    CHECK(tc_load(f.cta, NULL, &a, data, poison));
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t th = 0; th < 32; th++)
            CHECK_EQ(data[r * 32 + th], f.gpu->sms[0].tmem->cell[8 + r + (th >= 16 ? 100 : 0)][th % 16]);
    fixture_close(&f);
}

static void windows(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    f.gpu->config.check = MACH_CHECK_STRICT;
    for (uint32_t warp = 0; warp < 8; warp++)
        for (uint32_t lane = 0; lane < 160; lane += 8) {
            const uint32_t first = warp % 4 * 32;
            for (unsigned half = 0; half < 2; half++) { /* .32x32b, .16x64b */
                struct tc_access a = {
                    .shape = half ? TC_16X64B : TC_32X32B, .num = 1, .taddr = lane << 16 | 7, .threads = UINT32_MAX};
                const bool aligned = lane % (half ? 16 : 32) == 0;
                CHECK_EQ(tc_check_window(f.cta, NULL, "tcgen05.ld", &a, warp), aligned);
                if (!aligned) {
                    CHECK(fixture_faulted(&f, "tcgen05-lane-alignment"));
                    continue;
                }
                CHECK_EQ(a.taddr, (first + lane % 32) << 16 | 7);
                CHECK_EQ(strstr(fixture_report(&f), "tcgen05-lane-window") != NULL, lane / 32 != warp % 4);
                fixture_clear(&f);
            }
        }
    struct tc_access wide = {.shape = TC_16X256B, .num = 2, .taddr = 512 - 16};
    CHECK(tc_check_window(f.cta, NULL, "tcgen05.ld", &wide, 0));
    wide.taddr++;
    CHECK(!tc_check_window(f.cta, NULL, "tcgen05.ld", &wide, 0));
    CHECK(fixture_faulted(&f, "tcgen05-tmem-columns"));
    struct tc_access halves = {.shape = TC_16X32BX2, .num = 4, .split = 500, .taddr = 9};
    CHECK(!tc_check_window(f.cta, NULL, "tcgen05.ld", &halves, 0));
    CHECK(fixture_faulted(&f, "tcgen05-tmem-columns"));
    struct tc_access packed = {.shape = TC_32X32B, .num = 128, .pack = true, .taddr = 257};
    CHECK(!tc_check_window(f.cta, NULL, "tcgen05.ld", &packed, 0));
    CHECK(fixture_faulted(&f, "tcgen05-tmem-columns"));
    fixture_close(&f);
}

/* Only columns of the CTA's own; the second half of .16x32bx2 too. */
static void ownership(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    uint32_t base = fixture_alloc(&f, f.cta, 64), data[8 * 32] = {0}, poison[8] = {0};
    struct tc_access a = {.shape = TC_32X32B, .num = 8, .taddr = base + 56, .threads = UINT32_MAX};
    CHECK(tc_store(f.cta, NULL, &a, data, poison));
    a.taddr++;
    CHECK(!tc_store(f.cta, NULL, &a, data, poison));
    CHECK(fixture_faulted(&f, "tcgen05-tmem-unallocated"));
    struct tc_access b = {.shape = TC_16X32BX2, .num = 8, .split = 60, .taddr = base, .threads = UINT32_MAX};
    CHECK(!tc_load(f.cta, NULL, &b, data, poison));
    CHECK(fixture_faulted(&f, "tcgen05-tmem-unallocated"));
    fixture_close(&f);
}

static void poison_travels(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    uint32_t base = fixture_alloc(&f, f.cta, 32), data[4 * 32] = {0}, poison[4] = {0, 0x80000002, 0, 0};
    struct tc_access a = {.shape = TC_16X128B, .num = 2, .taddr = base, .threads = 0x7fffffff};
    CHECK(tc_store(f.cta, NULL, &a, data, poison));
    a.threads = UINT32_MAX;
    CHECK(tc_load(f.cta, NULL, &a, data, poison));
    CHECK_EQ(poison[0], 0x80000000u); /* thread 31 took no part in the store */
    CHECK_EQ(poison[1], 0x80000002u);
    CHECK_EQ(poison[2], 0x80000000u);
    /* Packed: one of the two columns is enough. Thread 1 stored register 1 in lane 8, column 1. */
    struct tc_access p = {.shape = TC_32X32B, .num = 1, .pack = true, .taddr = base, .threads = UINT32_MAX};
    CHECK(tc_load(f.cta, NULL, &p, data, poison));
    CHECK_EQ(poison[0] & 0xffff, 1u << 8);
    p.taddr++;
    CHECK(tc_load(f.cta, NULL, &p, data, poison));
    CHECK_EQ(poison[0] & 0xffff, 1u << 8);
    p.taddr++;
    CHECK(tc_load(f.cta, NULL, &p, data, poison));
    CHECK_EQ(poison[0] & 0xffff, 1u << 7 | 1u << 15); /* thread 31, column 3 */
    fixture_close(&f);
}

static void asynchronous(void) {
    struct fixture f;
    fixture_open(&f, 1, 1024);
    uint32_t base = fixture_alloc(&f, f.cta, 32), in[32], out[32] = {0}, poison = 0, outstanding = 0;
    bool done = false;
    struct async_queue *q = async_queue_create(f.cta, "ld/st");
    struct tc_access a = {.shape = TC_32X32B, .num = 1, .taddr = base, .threads = UINT32_MAX};
    for (uint32_t i = 0; i < 32; i++)
        in[i] = i * 3 + 1;
    tc_issue_st(q, NULL, &a, in, &poison, &outstanding);
    memset(in, 0, sizeof in); /* the store has its own copy */
    tc_issue_ld(q, NULL, &a, out, &poison, &done);
    CHECK_EQ(outstanding, 1);
    CHECK(!done);
    CHECK(async_step(q));
    CHECK_EQ(outstanding, 0);
    CHECK(!done);
    CHECK(async_step(q));
    CHECK(done);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(out[i], i * 3 + 1);
    fixture_close(&f);
}

int main(void) {
    register_counts();
    images();
    split();
    windows();
    ownership();
    poison_travels();
    asynchronous();
    return check_report();
}
