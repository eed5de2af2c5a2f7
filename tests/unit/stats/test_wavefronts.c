/* Wavefronts and sectors of hand-made accesses, a rule a row, and of random ones against a plain count. */
#include "check.h"
#include "silicon/wavefronts.h"
#include "stats/wavefronts.h"

enum { LANES = 32, BANKS = 32 };

/* --- shared memory ------------------------------------------------------------------------------------------------ */

/* Lane l accesses `size` bytes at first + l * stride, chunk l * stride of a 128-byte-swizzled tile with `swizzled`. */
struct pattern {
    const char *what;
    uint32_t size, stride, lanes;
    bool swizzled;
    uint32_t wavefronts, least;
};

static const struct pattern patterns[] = {
    {"words side by side", 4, 4, UINT32_MAX, false, 1, 1},
    {"bytes of 8 words", 1, 1, UINT32_MAX, false, 1, 1},
    {"halves of 16 words", 2, 2, UINT32_MAX, false, 1, 1},
    {"one word for all: a broadcast", 4, 0, UINT32_MAX, false, 1, 1},
    {"every second word: 2 ways", 4, 8, UINT32_MAX, false, 2, 1},
    {"odd stride: none", 4, 12, UINT32_MAX, false, 1, 1},
    {"a row of 128 bytes each: 32 ways", 4, 128, UINT32_MAX, false, 32, 1},
    {"the same with a word of padding", 4, 132, UINT32_MAX, false, 1, 1},
    {"the same, of 5 lanes", 4, 128, 0x1f, false, 5, 1},
    {"the same, of 1 lane", 4, 128, 0x80, false, 1, 1},
    {"nobody", 4, 128, 0, false, 0, 0},
    {"64 bits side by side: half-warps", 8, 8, UINT32_MAX, false, 2, 2},
    {"64 bits, of a half-warp", 8, 8, 0xffff0000, false, 1, 1},
    {"64 bits, every second", 8, 16, UINT32_MAX, false, 4, 2},
    {"64 bits, rows of 128 bytes", 8, 128, UINT32_MAX, false, 32, 2},
    {"128 bits side by side: quarter-warps", 16, 16, UINT32_MAX, false, 4, 4},
    {"128 bits, of a quarter-warp", 16, 16, 0x0000ff00, false, 1, 1},
    {"128 bits, a chunk of every row", 16, 128, UINT32_MAX, false, 32, 4},
    {"128 bits, a chunk of every row, swizzled", 16, 128, UINT32_MAX, true, 4, 4},
    {"128 bits, rows with a chunk of padding", 16, 144, UINT32_MAX, false, 4, 4},
};

static void fill(const struct pattern *p, uint64_t *at) {
    for (uint32_t l = 0; l < LANES; l++) {
        at[l] = 0x400 + (uint64_t)l * p->stride;
        at[l] ^= p->swizzled ? at[l] >> 3 & 0x70 : 0;
    }
}

static void table_of_banks(void) {
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const struct pattern *p = &patterns[i];
        uint64_t at[LANES];
        uint32_t least;
        fill(p, at);
        if (!CHECK_EQ(stats_wavefronts(at, p->size, p->lanes, false, &least), p->wavefronts) ||
            !CHECK_EQ(least, p->least))
            fprintf(stderr, "    %s\n", p->what);
    }
}

/* A matrix of ldmatrix: 8 rows of 16 bytes, 32 lanes of a word. */
static void matrices(void) {
    static const struct {
        uint32_t stride, wavefronts;
    } rows[] = {{16, 1}, {32, 2}, {64, 4}, {128, 8}, {144, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t words[LANES], halves[2 * LANES];
        for (uint32_t l = 0; l < LANES; l++) {
            words[l] = 0x400 + (uint64_t)(l / 4) * rows[i].stride + l % 4 * 4;
            for (uint32_t h = 0; h < 2; h++) /* .trans: rows and columns change places */
                halves[h * LANES + l] = 0x400 + (uint64_t)(2 * (l % 4) + h) * rows[i].stride + l / 4 * 2;
        }
        CHECK_EQ(stats_portion(words, 4, LANES), rows[i].wavefronts);
        CHECK_EQ(stats_portion(halves, 2, 2 * LANES), rows[i].wavefronts);
    }
}

/* What an H200 took. */
static void silicon(void) {
    uint32_t state = 1;
    for (unsigned i = 0; i < WAVEFRONTS_ACCESSES; i++) {
        const struct wavefronts_case c = wavefronts_access(&state, i);
        uint64_t at[LANES];
        uint32_t least;
        for (uint32_t l = 0; l < LANES; l++)
            at[l] = c.at[l];
        if (!CHECK_EQ(stats_wavefronts(at, c.size, c.lanes, !c.store, &least), wavefronts_of_accesses[i]))
            fprintf(stderr, "    access %u\n", i);
        CHECK(least <= wavefronts_of_accesses[i]);
    }
    state = 1;
    for (unsigned i = 0; i < WAVEFRONTS_MATRICES; i++) {
        const struct wavefronts_case c = wavefronts_matrix(&state, i);
        uint64_t words[LANES], at[LANES];
        uint32_t sum = 0, least;
        for (uint32_t m = 0; m < c.matrices; m++) {
            for (uint32_t l = 0; l < LANES; l++)
                words[l] = c.at[8 * m + l / 4] + l % 4 * 4;
            sum += stats_portion(words, 4, LANES);
        }
        for (uint32_t l = 0; l < LANES; l++)
            at[l] = c.at[l];
        sum += c.matrices ? 0 : stats_wavefronts(at, c.size, c.lanes, false, &least);
        if (c.kind != 7 && !CHECK_EQ(sum, wavefronts_of_matrices[i]))
            fprintf(stderr, "    matrix %u\n", i);
    }
}

/* --- global memory ------------------------------------------------------------------------------------------------ */

static void sectors_of(uint32_t size, uint64_t first, int64_t stride, uint32_t n, uint32_t sectors, uint64_t bytes) {
    struct stats_piece p[256];
    uint64_t found;
    for (uint32_t i = 0; i < n; i++)
        p[i] = (struct stats_piece){first + (uint64_t)((int64_t)i * stride), size};
    CHECK_EQ(stats_sectors(p, n, &found), sectors);
    CHECK_EQ(found, bytes);
}

static void table_of_sectors(void) {
    sectors_of(4, 0x1000, 4, 32, 4, 128);      /* coalesced */
    sectors_of(4, 0x107c, -4, 32, 4, 128);     /* the same from behind */
    sectors_of(4, 0x1004, 4, 32, 5, 128);      /* not aligned */
    sectors_of(4, 0x1000, 32, 32, 32, 128);    /* a sector each */
    sectors_of(4, 0x1000, 8, 32, 8, 128);      /* every second word */
    sectors_of(4, 0x1000, 0, 32, 1, 4);        /* all of them the same */
    sectors_of(16, 0x1000, 16, 32, 16, 512);   /* 128 bits */
    sectors_of(16, 0x1000, 4096, 32, 32, 512); /*  a row each */
    sectors_of(16, 0x1018, 0, 1, 2, 16);       /* over the edge */
    sectors_of(8, 0x1000, 4, 2, 1, 12);        /* overlapping */
    sectors_of(128, 0x1010, 96, 2, 8, 224);    /* overlapping, of several sectors */
    sectors_of(4, 0x1000, 4, 0, 0, 0);
}

/* --- both against a plain count ----------------------------------------------------------------------------------- */

static uint64_t state = 0x9E3779B97F4A7C15;
static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % below;
}

/* Of a portion, words that are touched, bank by bank. */
static uint32_t plain_portion(const uint8_t *word, uint32_t words) {
    uint32_t most = 0;
    for (uint32_t b = 0; b < BANKS; b++) {
        uint32_t n = 0;
        for (uint32_t w = b; w < words; w += BANKS)
            n += word[w];
        most = n > most ? n : most;
    }
    return most;
}

static void random_banks(void) {
    enum { WORDS = 4096 };
    static uint8_t touched[WORDS];
    for (unsigned round = 0; round < 5000; round++) {
        const uint32_t size = 1u << draw(5), range = 16u << draw(10), lanes = draw(4) ? UINT32_MAX : draw(UINT32_MAX);
        const uint32_t width = size <= 4 ? 32 : 128 / size;
        uint64_t at[LANES];
        uint32_t want = 0, least = 0, portions = 0;
        for (uint32_t l = 0; l < LANES; l++)
            at[l] = (uint64_t)draw(range < 4 * WORDS ? range / size : 4 * WORDS / size) * size;
        for (uint32_t first = 0; first < LANES; first += width) {
            memset(touched, 0, sizeof touched);
            for (uint32_t l = first; l < first + width; l++)
                for (uint32_t b = 0; b < size && lanes >> l & 1; b++)
                    touched[(at[l] + b) / 4] = 1;
            const uint32_t n = plain_portion(touched, WORDS);
            want += n;
            portions += n != 0;
        }
        CHECK_EQ(stats_wavefronts(at, size, lanes, false, &least), want);
        CHECK_EQ(least, portions);
    }
}

static void random_sectors(void) {
    enum { BYTES = 8192 };
    static uint8_t touched[BYTES];
    for (unsigned round = 0; round < 5000; round++) {
        struct stats_piece p[64];
        const uint32_t n = draw(65), range = 64u << draw(7);
        uint32_t sectors = 0;
        uint64_t bytes = 0, found;
        memset(touched, 0, sizeof touched);
        for (uint32_t i = 0; i < n; i++) {
            p[i] = (struct stats_piece){draw(range), 1 + draw(32)};
            memset(touched + p[i].at, 1, p[i].size);
        }
        for (uint32_t s = 0; s < BYTES; s += STATS_SECTOR) {
            uint32_t in = 0;
            for (uint32_t b = 0; b < STATS_SECTOR; b++)
                in += touched[s + b];
            sectors += in != 0;
            bytes += in;
        }
        CHECK_EQ(stats_sectors(p, n, &found), sectors);
        CHECK_EQ(found, bytes);
    }
}

int main(void) {
    table_of_banks();
    matrices();
    silicon();
    table_of_sectors();
    random_banks();
    random_sectors();
    return check_report();
}
