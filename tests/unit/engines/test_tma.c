/* Tensor copies: a sweep of loads and stores against a reference that goes element by element, reductions, types. */
#include "engines/tma_copy.h"
#include "tma_bench.h"

/* --- the reference ------------------------------------------------------------------------------------------------ */

/* 5.5.7: which 16-byte chunk lies at each place of a line of 128 bytes. The tables as the ISA prints them. */
static const uint8_t swizzle_32[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
static const uint8_t swizzle_64[4][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4}};
static const uint8_t swizzle_128[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5},
                                          {3, 2, 1, 0, 7, 6, 5, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                          {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
static const uint8_t swizzle_atom32[4][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 6, 7, 4, 5}, {4, 5, 6, 7, 0, 1, 2, 3}, {6, 7, 4, 5, 2, 3, 0, 1}};
static const uint8_t swizzle_atom64[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}};

/* Where the byte at linear shared offset `a` lies. */
static uint32_t place(uint32_t swizzle, uint32_t a) {
    const uint32_t line = a / 128, chunk = a / 16 % 8;
    const uint8_t *row = swizzle == TMAP_SWIZZLE_32B    ? swizzle_32[line % 2]
                         : swizzle == TMAP_SWIZZLE_64B  ? swizzle_64[line % 4]
                         : swizzle == TMAP_SWIZZLE_128B ? swizzle_128[line % 8]
                         : swizzle == TMAP_SWIZZLE_128B_ATOM_32B || swizzle == TMAP_SWIZZLE_128B_ATOM_32B_FLIP_8B
                             ? swizzle_atom32[line % 4]
                         : swizzle == TMAP_SWIZZLE_128B_ATOM_64B ? swizzle_atom64[line % 2]
                                                                 : swizzle_32[0];
    uint32_t p = 0;
    while (row[p] != chunk)
        p++;
    uint32_t in = a % 16;
    if (swizzle == TMAP_SWIZZLE_128B_ATOM_32B_FLIP_8B && line % 2)
        in ^= 8;
    return line * 128 + p * 16 + in;
}

/* An element of a box: linear offset in shared memory, and the offset in global memory where it lies inside the
 * tensor. */
struct element {
    uint32_t linear;
    bool inside;
    int64_t global;
};

static struct element element(const struct tmap *m, const int32_t *coord, uint64_t n, uint32_t size) {
    const uint32_t span = tmap_swizzle_span(m->swizzle), pitch = span ? span : m->box[0] * size;
    struct element e = {(uint32_t)(n % m->box[0]) * size, true, 0};
    int64_t x = coord[0] + (int64_t)(n % m->box[0]);
    e.inside = x >= 0 && x < (int64_t)m->dim[0];
    e.global = x * size;
    n /= m->box[0];
    e.linear += (uint32_t)n * pitch;
    for (uint32_t i = 1; i < m->rank; i++) {
        uint32_t count = (m->box[i] + m->step[i] - 1) / m->step[i];
        x = coord[i] + (int64_t)(n % count) * m->step[i];
        n /= count;
        e.inside = e.inside && x >= 0 && x < (int64_t)m->dim[i];
        e.global += x * (int64_t)m->stride[i - 1];
    }
    return e;
}

static uint64_t elements(const struct tmap *m) {
    uint64_t n = m->box[0];
    for (uint32_t i = 1; i < m->rank; i++)
        n *= (m->box[i] + m->step[i] - 1) / m->step[i];
    return n;
}

/* A random map whose box fits 32 KiB of shared memory and whose tensor fits half the global memory; coordinates as the
 * hardware takes them: whole 16 bytes along a row. */
static bool random_case(struct bench *b, struct tmap *m, int32_t *coord, bool store) {
    *m = map_2d(b);
    m->type = below(b, store ? TMAP_TF32_FTZ + 1 : TMAP_TF32);
    m->swizzle = below(b, TMAP_SWIZZLE_96B);
    m->rank = 1 + below(b, 5);
    const uint32_t size = tmap_element_bits(m->type) / 8, span = tmap_swizzle_span(m->swizzle);
    m->box[0] = (1 + below(b, (span ? span : 256) / 16)) * 16 / size;
    m->address += 16 * below(b, 8);
    m->dim[0] = 1 + below(b, 2 * m->box[0] + 3);
    m->fill_nan = !store && m->type >= TMAP_F16 && below(b, 2);
    uint64_t stride = (m->dim[0] * size + 15 + 16 * below(b, 3)) / 16 * 16, smem = span ? span : m->box[0] * size;
    coord[0] = (int32_t)(below(b, (uint32_t)m->dim[0] + 2) * size / 16 * 16 / size);
    if (!store && below(b, 3) == 0)
        coord[0] = -(int32_t)(below(b, m->box[0] + 4) * size / 16 * 16 / size);
    for (uint32_t i = 1; i < m->rank; i++) {
        m->dim[i] = 1 + below(b, i == 1 ? 30 : 5);
        m->box[i] = 1 + below(b, i == 1 ? 24 : 4);
        m->step[i] = below(b, 3) ? 1 : 1 + below(b, 4);
        m->stride[i - 1] = stride;
        stride = stride * m->dim[i] + 16 * below(b, 2);
        coord[i] = (int32_t)below(b, (uint32_t)m->dim[i] + 2);
        if (!store && below(b, 4) == 0)
            coord[i] = -(int32_t)below(b, m->box[i] + 2);
        smem *= (m->box[i] + m->step[i] - 1) / m->step[i];
    }
    return m->box[0] <= 256 && smem <= 32768 && stride + 256 < GLOBAL / 2;
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

static void load_case(struct bench *b, const struct tmap *m, const int32_t *coord, uint32_t off) {
    static uint8_t want[SMEM + 0x400], written[SMEM + 0x400];
    struct cta *cta = b->f.cta;
    const uint32_t size = tmap_element_bits(m->type) / 8;
    smem_set_poison(cta, DATA, cta->smem_end - DATA);
    memset(cta->smem + DATA, 0xcc, cta->smem_end - DATA);
    memcpy(want, cta->smem, cta->smem_end);
    memset(written, 0, sizeof written);
    for (uint64_t n = 0, count = elements(m); n < count; n++) {
        struct element e = element(m, coord, n, size);
        for (uint32_t k = 0; k < size; k++) {
            uint32_t to = place(m->swizzle, off + e.linear + k);
            want[to] = e.inside      ? b->bytes[m->address - b->global + (uint64_t)e.global + k]
                       : m->fill_nan ? (k % 2 ? 0x7f : 0xf7)
                                     : 0;
            written[to] = 1;
        }
    }
    const uint32_t before = phase(cta);
    expect(cta, (uint32_t)elements(m) * size);
    encode(b, m);
    struct tma_box box = {.map = b->map, .rank = m->rank};
    memcpy(box.coord, coord, sizeof box.coord);
    struct tma_target to = {.dst = at(0, off), .mbar = at(0, MBAR), .cta_group = 1};
    CHECK(tma_issue_load(cta, NULL, &box, &to));
    memset(b->map, 0, sizeof b->map); /* the issuer may change it behind wait_group, while the copy is under way */
    CHECK_EQ(phase(cta), before);
    fixture_drain(&b->f);
    CHECK_EQ(b->f.length, 0);
    CHECK_EQ(phase(cta), before ^ 1); /* the whole box counts */
    CHECK_MEM(cta->smem + DATA, want + DATA, cta->smem_end - DATA);
    for (uint32_t i = DATA; i < cta->smem_end; i++)
        if (smem_poisoned(cta, i, 1) == (written[i] != 0)) {
            CHECK_EQ(i, 0); /* poison does not follow what was written */
            break;
        }
}

static void test_loads(void) {
    struct bench b;
    bench_open(&b, 1);
    CHECK_EQ(mbar_init(&somebody, b.f.cta, MBAR, 1), MBAR_OK);
    for (unsigned done = 0; done < 600;) {
        struct tmap m;
        int32_t coord[5] = {0};
        if (!random_case(&b, &m, coord, false))
            continue;
        load_case(&b, &m, coord, DATA + 128 * below(&b, 16));
        done++;
    }
    bench_close(&b);
}

/* Tiles of matrices: whole lines of 128 bytes, all of them inside or some of them not. */
static void test_lines(void) {
    static const uint32_t types[] = {TMAP_U8, TMAP_F16, TMAP_F32};
    struct bench b;
    bench_open(&b, 1);
    CHECK_EQ(mbar_init(&somebody, b.f.cta, MBAR, 1), MBAR_OK);
    for (unsigned i = 0; i < 120; i++) {
        struct tmap m = map_2d(&b);
        m.type = types[i % 3];
        m.swizzle = TMAP_SWIZZLE_128B;
        const uint32_t size = tmap_element_bits(m.type) / 8;
        m.rank = 2 + i / 3 % 2;
        m.box[0] = 128 / size;
        m.box[1] = 1 + below(&b, 64);
        m.box[2] = m.rank == 3 ? 1 + below(&b, 3) : 1;
        m.step[1] = 1 + (i % 5 == 0);
        m.dim[0] = 512 / size;
        m.dim[1] = 100;
        m.dim[2] = m.rank == 3 ? 4 : 1;
        m.stride[0] = 512;
        m.stride[1] = 512 * 100 + 16;
        const int32_t coord[5] = {(int32_t)(below(&b, 4) * 128 / size), (int32_t)below(&b, 60) - 8,
                                  m.rank == 3 ? (int32_t)below(&b, 3) : 0};
        load_case(&b, &m, coord, DATA + 128 * below(&b, 16));
    }
    bench_close(&b);
}

/* A tensor whose two rows lie in an allocation each: no object holds the box, and every row is inside one. */
static void test_two_allocations(void) {
    struct bench b;
    bench_open(&b, 1);
    struct cta *cta = b.f.cta;
    struct devmem *mem = b.f.gpu->mem;
    const uint64_t one = mem_alloc(mem, 1024, 256, MEM_DEVICE, NULL), two = mem_alloc(mem, 1024, 256, MEM_DEVICE, NULL);
    struct tmap m = map_2d(&b);
    m.address = one + 128;
    m.stride[0] = two - one;
    m.dim[1] = m.box[1] = 2;
    m.swizzle = TMAP_SWIZZLE_128B;
    for (uint32_t i = 0; i < 128; i++) {
        mem_at(mem, one + 128, 128)[i] = (uint8_t)i;
        mem_at(mem, two + 128, 128)[i] = (uint8_t)~i;
    }
    encode(&b, &m);
    CHECK_EQ(mbar_init(&somebody, cta, MBAR, 1), MBAR_OK);
    expect(cta, 256);
    struct tma_box box = {.map = b.map, .rank = 2};
    const struct tma_target to = {.dst = DATA, .mbar = MBAR, .cta_group = 1};
    CHECK(tma_issue_load(cta, NULL, &box, &to));
    fixture_drain(&b.f);
    CHECK_EQ(b.f.length, 0);
    CHECK_EQ(phase(cta), 1);
    for (uint32_t i = 0; i < 128; i++) {
        CHECK_EQ(cta->smem[place(m.swizzle, DATA + i)], (uint8_t)i);
        CHECK_EQ(cta->smem[place(m.swizzle, DATA + 128 + i)], (uint8_t)~i);
    }
    memset(cta->smem + DATA, 0x5a, 256);
    struct tma_track track = {0};
    CHECK(tma_issue_store(cta, NULL, &box, at(0, DATA), NUM_OP_NONE, &track));
    fixture_drain(&b.f);
    CHECK_EQ(b.f.length, 0);
    for (uint32_t i = 0; i < 1024; i++) {
        const uint8_t want = i >= 128 && i < 256 ? 0x5a : 0;
        CHECK_EQ(mem_at(mem, one, 1024)[i], want);
        CHECK_EQ(mem_at(mem, two, 1024)[i], want);
    }
    mem_free(mem, two);
    expect(cta, 256);
    CHECK(tma_issue_load(cta, NULL, &box, &to));
    fixture_drain(&b.f);
    CHECK(fixture_faulted(&b.f, "bulk-copy-global-bounds"));
    bench_close(&b);
}

/* What an H200 makes of f32 elements in a load of type TFLOAT32 and TFLOAT32_FTZ. */
static void test_tf32(void) {
    static const uint32_t pairs[][2] = {{0, 0},
                                        {0x80000000, 0x80000000},
                                        {1, 0},
                                        {0x7fffff, 0x800000},
                                        {0x400000, 0x400000},
                                        {0x1000, 0},
                                        {0x1001, 0x2000},
                                        {0x3000, 0x4000},
                                        {0x3f800fff, 0x3f800000},
                                        {0x3f801000, 0x3f800000},
                                        {0x3f801001, 0x3f802000},
                                        {0x3f803000, 0x3f804000},
                                        {0xbf803000, 0xbf804000},
                                        {0x7f7fffff, 0x7f800000},
                                        {0x7f7fefff, 0x7f7fe000},
                                        {0xff800000, 0xff800000},
                                        {0x7f800001, 0x7fffe000},
                                        {0xffffffff, 0x7fffe000},
                                        {0xffc00123, 0x7fffe000},
                                        {0x3f7fffff, 0x3f800000}};
    struct bench b;
    bench_open(&b, 1);
    CHECK_EQ(mbar_init(&somebody, b.f.cta, MBAR, 1), MBAR_OK);
    for (uint32_t type = TMAP_F32; type <= TMAP_TF32_FTZ; type++) {
        if (type == TMAP_F64 || type == TMAP_BF16)
            continue;
        for (uint32_t i = 0; i < 20; i++)
            memcpy(b.bytes + 4 * i, &pairs[i][0], 4);
        struct tmap m = map_2d(&b);
        m.type = type;
        m.rank = 1;
        m.dim[0] = m.box[0] = 20;
        encode(&b, &m);
        expect(b.f.cta, 80);
        CHECK(tma_issue_load(b.f.cta, NULL, &(struct tma_box){.map = b.map, .rank = 1},
                             &(struct tma_target){.dst = DATA, .mbar = MBAR, .cta_group = 1}));
        fixture_drain(&b.f);
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t v;
            memcpy(&v, b.f.cta->smem + DATA + 4 * i, 4);
            CHECK_EQ(v, pairs[i][type >= TMAP_TF32]);
        }
    }
    bench_close(&b);
}

/* --- stores ------------------------------------------------------------------------------------------------------- */

static void store_case(struct bench *b, const struct tmap *m, const int32_t *coord, uint32_t off) {
    static uint8_t want[GLOBAL];
    struct cta *cta = b->f.cta;
    const uint32_t size = tmap_element_bits(m->type) / 8;
    for (uint32_t i = DATA; i < cta->smem_end; i++)
        cta->smem[i] = (uint8_t)below(b, 256);
    smem_clear_poison(cta, DATA, cta->smem_end - DATA);
    memcpy(want, b->bytes, GLOBAL);
    for (uint64_t n = 0, count = elements(m); n < count; n++) {
        struct element e = element(m, coord, n, size);
        /* a chunk of 16 bytes is written whole as soon as one of its elements is inside */
        uint64_t first = n / m->box[0] * m->box[0] + n % m->box[0] * size / 16 * 16 / size;
        if (!element(m, coord, first, size).inside)
            continue;
        for (uint32_t k = 0; k < size; k++)
            want[m->address - b->global + (uint64_t)e.global + k] = cta->smem[place(m->swizzle, off + e.linear + k)];
    }
    encode(b, m);
    struct tma_box box = {.map = b->map, .rank = m->rank};
    memcpy(box.coord, coord, sizeof box.coord);
    struct tma_track track = {0};
    CHECK(tma_issue_store(cta, NULL, &box, at(0, off), NUM_OP_NONE, &track));
    CHECK(track.reading == 1 && track.writing == 1);
    fixture_drain(&b->f);
    CHECK_EQ(b->f.length, 0);
    CHECK(track.reading == 0 && track.writing == 0);
    CHECK_MEM(b->bytes, want, GLOBAL);
}

static void test_stores(void) {
    struct bench b;
    bench_open(&b, 1);
    for (unsigned done = 0; done < 150;) {
        struct tmap m;
        int32_t coord[5] = {0};
        if (!random_case(&b, &m, coord, true))
            continue;
        store_case(&b, &m, coord, DATA + 128 * below(&b, 16));
        done++;
    }
    bench_close(&b);
}

/* One reduction of 16 bytes that begin with `old` in global and `src` in shared memory. */
static uint64_t reduced(struct bench *b, uint32_t type, num_op op, uint64_t old, uint64_t src, bool *fault) {
    struct tmap m = map_2d(b);
    const uint32_t size = tmap_element_bits(type) / 8;
    m.type = type;
    m.rank = 1;
    m.dim[0] = m.box[0] = 16 / size;
    encode(b, &m);
    memset(b->bytes, 0, 16);
    memset(b->f.cta->smem + DATA, 0, 16);
    smem_clear_poison(b->f.cta, DATA, 16);
    memcpy(b->bytes, &old, size);
    memcpy(b->f.cta->smem + DATA, &src, size);
    struct tma_track track = {0};
    CHECK(tma_issue_store(b->f.cta, NULL, &(struct tma_box){.map = b->map, .rank = 1}, DATA, op, &track));
    fixture_drain(&b->f);
    *fault = b->f.island.fault != 0 && CHECK(fixture_faulted(&b->f, "tensor-reduce-type"));
    fixture_clear(&b->f);
    uint64_t now = 0;
    memcpy(&now, b->bytes, size);
    return now;
}

static void test_reductions(void) {
    static const struct {
        uint32_t type;
        num_op op;
        uint64_t old, src, want;
    } cases[] = {
        {TMAP_U32, NUM_OP_ADD, 0xfffffffe, 5, 3},
        {TMAP_S32, NUM_OP_ADD, 0x7fffffff, 1, 0x80000000},
        {TMAP_U64, NUM_OP_ADD, 0xffffffff, 1, 0x100000000},
        {TMAP_U32, NUM_OP_MIN, 0x80000000, 1, 1},
        {TMAP_S32, NUM_OP_MIN, 0x80000000, 1, 0x80000000},
        {TMAP_S64, NUM_OP_MAX, UINT64_C(1) << 63, 1, 1},
        {TMAP_U64, NUM_OP_MAX, UINT64_C(1) << 63, 1, UINT64_C(1) << 63},
        {TMAP_U32, NUM_OP_INC, 7, 9, 8},
        {TMAP_U32, NUM_OP_INC, 9, 9, 0},
        {TMAP_U32, NUM_OP_DEC, 0, 9, 9},
        {TMAP_U32, NUM_OP_DEC, 10, 9, 9},
        {TMAP_U32, NUM_OP_DEC, 5, 9, 4},
        {TMAP_U32, NUM_OP_AND, 0xff00ff00, 0xf0f0f0f0, 0xf000f000},
        {TMAP_S32, NUM_OP_OR, 0xff00ff00, 0x000000f0, 0xff00fff0},
        {TMAP_U64, NUM_OP_XOR, UINT64_C(0xff00000000000001), 1, UINT64_C(0xff00000000000000)},
        {TMAP_F16, NUM_OP_ADD, 0x3c00, 0x4000, 0x4200},
        {TMAP_F16, NUM_OP_ADD, 0x0001, 0x0001, 0x0002}, /* subnormals stay */
        {TMAP_F16, NUM_OP_MIN, 0x7e00, 0x4000, 0x4000}, /* a NaN gives way */
        {TMAP_BF16, NUM_OP_ADD, 0x3f80, 0x4000, 0x4040},
        {TMAP_BF16, NUM_OP_MAX, 0x8000, 0x0000, 0x0000},
        {TMAP_F32, NUM_OP_ADD, 0x3f800000, 0x40000000, 0x40400000},
        {TMAP_F32, NUM_OP_ADD, 1, 1, 2},
        {TMAP_F32_FTZ, NUM_OP_ADD, 1, 1, 0},
    };
    static const struct {
        uint32_t type;
        num_op op;
    } refused[] = {{TMAP_U8, NUM_OP_ADD},  {TMAP_U16, NUM_OP_ADD}, {TMAP_S64, NUM_OP_ADD}, {TMAP_S64, NUM_OP_AND},
                   {TMAP_F32, NUM_OP_MIN}, {TMAP_S32, NUM_OP_INC}, {TMAP_F16, NUM_OP_OR},  {TMAP_F64, NUM_OP_ADD},
                   {TMAP_U64, NUM_OP_DEC}, {TMAP_TF32, NUM_OP_MAX}};
    struct bench b;
    bool fault;
    bench_open(&b, 1);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(reduced(&b, cases[i].type, cases[i].op, cases[i].old, cases[i].src, &fault), cases[i].want);
        CHECK(!fault);
    }
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK_EQ(reduced(&b, refused[i].type, refused[i].op, 3, 4, &fault), 3);
        CHECK(fault);
    }
    bench_close(&b);
}

/* A store reads shared memory in one step and writes global memory in the next. */
static void test_two_steps(void) {
    struct bench b;
    bench_open(&b, 1);
    struct cta *cta = b.f.cta;
    struct tma_track track = {0};
    memset(cta->smem + DATA, 0x11, 64);
    smem_clear_poison(cta, DATA, 64);
    CHECK(tma_issue_bulk_store(cta, NULL, b.global, DATA, 64, 0xffff, NUM_OP_NONE, TMA_E_NONE, &track));
    CHECK(async_step(cta->queues));
    CHECK(track.reading == 0 && track.writing == 1);
    memset(cta->smem + DATA, 0x22, 64); /* what wait_group.read allows */
    memset(b.bytes, 0x33, 64);
    CHECK(async_step(cta->queues));
    CHECK(track.writing == 0);
    CHECK_EQ(b.bytes[0], 0x11);
    CHECK(!async_step(cta->queues));
    memset(b.bytes, 0x33, 64);
    CHECK(tma_issue_bulk_store(cta, NULL, b.global, DATA, 64, 0x8001, NUM_OP_NONE, TMA_E_NONE, &track));
    fixture_drain(&b.f);
    CHECK(b.bytes[0] == 0x22 && b.bytes[1] == 0x33 && b.bytes[15] == 0x22 && b.bytes[16] == 0x22 &&
          b.bytes[62] == 0x33);
    bench_close(&b);
}

/* --- four rows, padded types -------------------------------------------------------------------------------------- */

static void test_rows4(void) {
    struct bench b;
    bench_open(&b, 1);
    struct cta *cta = b.f.cta;
    struct tmap m = map_2d(&b);
    m.box[0] = 32;
    m.box[1] = 1;
    m.swizzle = TMAP_SWIZZLE_64B;
    encode(&b, &m);
    CHECK_EQ(mbar_init(&somebody, cta, MBAR, 1), MBAR_OK);
    expect(cta, 4 * 64);
    struct tma_box box = {.map = b.map, .rank = 2, .rows4 = true, .coord = {8, 5, 31, 40, 0}};
    CHECK(tma_issue_load(cta, NULL, &box, &(struct tma_target){.dst = DATA, .mbar = MBAR, .cta_group = 1}));
    fixture_drain(&b.f);
    CHECK_EQ(phase(cta), 1);
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t k = 0; k < 64; k++) {
            uint32_t y = (uint32_t)box.coord[1 + r], v = y < 32 ? b.bytes[256 * y + 16 + k] : 0;
            CHECK_EQ(cta->smem[place(m.swizzle, DATA + 64 * r + k)], v);
        }
    struct tma_track track = {0};
    box.coord[3] = 9; /* all inside */
    CHECK(tma_issue_store(cta, NULL, &box, DATA, NUM_OP_NONE, &track));
    memset(b.bytes + 256 * 31, 0, 256);
    memset(b.bytes + 256 * 9, 7, 256);
    fixture_drain(&b.f);
    CHECK_EQ(b.bytes[256 * 9 + 16], 0);
    CHECK_EQ(b.bytes[256 * 9 + 15], 7);
    CHECK_EQ(b.bytes[256 * 31 + 16], cta->smem[place(m.swizzle, DATA + 64)]);
    m.box[1] = 2;
    encode(&b, &m);
    CHECK(tma_issue_load(cta, NULL, &box, &(struct tma_target){.dst = DATA, .mbar = MBAR, .cta_group = 1}));
    fixture_drain(&b.f);
    CHECK(fixture_faulted(&b.f, "tensor-copy-box"));
    bench_close(&b);
}

static void test_padded(void) {
    struct bench b;
    bench_open(&b, 1);
    struct cta *cta = b.f.cta;
    CHECK_EQ(mbar_init(&somebody, cta, MBAR, 1), MBAR_OK);
    for (uint32_t type = TMAP_4X16_P64; type <= TMAP_6X16_P32; type++) {
        const uint32_t unit = type == TMAP_4X16_P64 ? 8 : 12, row = 8 * unit;
        struct tmap m = map_2d(&b);
        m.type = type;
        m.dim[0] = 256;
        m.box[0] = 128;
        m.box[1] = 4;
        m.swizzle = TMAP_SWIZZLE_128B;
        encode(&b, &m);
        smem_set_poison(cta, DATA, 512);
        const uint32_t before = phase(cta);
        expect(cta, 4 * row); /* the padding does not count */
        struct tma_box box = {.map = b.map, .rank = 2, .coord = {128, 3}};
        CHECK(tma_issue_load(cta, NULL, &box, &(struct tma_target){.dst = DATA, .mbar = MBAR, .cta_group = 1}));
        fixture_drain(&b.f);
        CHECK_EQ(phase(cta), before ^ 1);
        for (uint32_t i = 0; i < 512; i++) {
            uint32_t p = place(m.swizzle, DATA + i), in = i % 16;
            CHECK_EQ(smem_poisoned(cta, p, 1), in >= unit);
            if (in < unit)
                CHECK_EQ(cta->smem[p], b.bytes[256 * (3 + i / 128) + row + i % 128 / 16 * unit + in]);
        }
        struct tma_track track = {0};
        smem_clear_poison(cta, DATA, 512);
        memset(cta->smem + DATA, 0xc0 | 0x21, 512); /* 6-bit values 0x21 in bytes of their own */
        CHECK(tma_issue_store(cta, NULL, &box, DATA, NUM_OP_NONE, &track));
        fixture_drain(&b.f);
        if (type == TMAP_4X16_P64)
            CHECK(fixture_faulted(&b.f, "tensor-copy-box")); /* a type for loads */
        else {
            static const uint8_t want[3] = {0x61, 0x18, 0x86};
            CHECK_MEM(b.bytes + 256 * 3 + row, want, 3);
            CHECK_MEM(b.bytes + 256 * 3 + row + 93, want, 3);
        }
        box.coord[0] = 64;
        CHECK(tma_issue_load(cta, NULL, &box, &(struct tma_target){.dst = DATA, .mbar = MBAR, .cta_group = 1}));
        fixture_drain(&b.f);
        CHECK(fixture_faulted(&b.f, "tensor-copy-box"));
    }
    bench_close(&b);
}

int main(void) {
    test_loads();
    test_lines();
    test_two_allocations();
    test_tf32();
    test_stores();
    test_reductions();
    test_two_steps();
    test_rows4();
    test_padded();
    return check_report();
}
