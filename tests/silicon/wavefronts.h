/* wavefronts.h - accesses of a warp to shared memory, drawn by a generator, and the wavefronts that an H200 took.
 *
 * wavefronts.cu has a kernel for each. The numbers are Nsight Compute's, of driver 580.159 and nvcc 13.0:
 *     ncu --clock-control none --metrics METRIC ./wavefronts
 * with l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum plus ..._op_st.sum for accesses, and for matrices
 * l1tex__data_pipe_lsu_wavefronts_mem_shared.sum less the one that a kernel without an access has.
 */
#ifndef SILICON_WAVEFRONTS_H
#define SILICON_WAVEFRONTS_H

#include <stdbool.h>
#include <stdint.h>

enum { WAVEFRONTS_ACCESSES = 240, WAVEFRONTS_MATRICES = 160, WAVEFRONTS_BYTES = 16384 };

struct wavefronts_case {
    uint32_t at[32], lanes;
    uint32_t size;     /* 4, 8, 16 */
    bool store;        /* or a load */
    uint32_t matrices; /* of ldmatrix or stmatrix: row r of matrix m at at[8 m + r]; else 0 */
    unsigned kind;     /* matrices: which instruction, wavefronts.cu */
};

static inline uint32_t wavefronts_draw(uint32_t *state, uint32_t below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* Case i of the accesses; in their order, *state 1 before the first. */
static inline struct wavefronts_case wavefronts_access(uint32_t *state, unsigned i) {
    struct wavefronts_case c = {0};
    c.lanes = UINT32_MAX;
    c.size = i % 2 ? 8 : 16;
    c.store = i % 6 == 5;
    const uint32_t alike = wavefronts_draw(state, 5), range = 2u << wavefronts_draw(state, 8);
    const uint32_t some = wavefronts_draw(state, 4);
    if (some == 2) {
        c.lanes = wavefronts_draw(state, 65536) << 16;
        c.lanes |= wavefronts_draw(state, 65536);
    } else if (some == 3) {
        c.lanes = wavefronts_draw(state, 2) ? 0xffffu : 0xff00ff00u;
    }
    for (unsigned l = 0; l < 32; l++)
        c.at[l] = wavefronts_draw(state, range) % (WAVEFRONTS_BYTES / c.size) * c.size;
    for (unsigned l = 0; l < 32 && alike > 0 && alike < 4; l++) /* 1, 2 or 4 lanes further the same */
        c.at[l] = c.at[l & ~(1u << (alike - 1))];
    return c;
}

/* The same of the matrices, and of red, every eighth; a state of its own. */
static inline struct wavefronts_case wavefronts_matrix(uint32_t *state, unsigned i) {
    static const uint32_t matrices[] = {1, 2, 4, 4, 4, 2, 0, 0};
    struct wavefronts_case c = {0};
    c.lanes = UINT32_MAX;
    c.matrices = matrices[i % 8];
    c.size = c.matrices ? 16 : 4;
    c.store = true;
    c.kind = i % 8;
    const uint32_t range = 2u << wavefronts_draw(state, 8);
    if (!wavefronts_draw(state, 2))
        c.lanes = wavefronts_draw(state, 65536);
    for (unsigned l = 0; l < 32; l++)
        c.at[l] = wavefronts_draw(state, range) % (WAVEFRONTS_BYTES / c.size) * c.size;
    return c;
}

static const uint8_t wavefronts_of_accesses[WAVEFRONTS_ACCESSES] = {
    10, 2, 2, 4, 7, 6, 4, 4,  2,  1, 4, 2, 2,  2, 3,  2, 4, 2, 4, 1,  2,  4, 9, 2, 5, 3, 7, 2, 4, 2, 7, 5, 2, 6,  6,
    2,  7, 4, 5, 1, 6, 4, 10, 3,  9, 3, 4, 1,  6, 2,  4, 2, 4, 2, 3,  2,  4, 3, 4, 5, 8, 2, 4, 6, 2, 3, 2, 5, 5,  4,
    3,  2, 4, 7, 9, 3, 5, 2,  11, 2, 2, 4, 4,  2, 10, 2, 4, 2, 4, 4,  10, 8, 4, 1, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2,  4,
    2,  7, 2, 4, 4, 2, 3, 4,  5,  5, 1, 2, 2,  2, 2,  4, 1, 4, 2, 11, 5,  4, 4, 8, 1, 4, 2, 8, 1, 2, 1, 4, 5, 12, 2,
    5,  2, 4, 4, 6, 4, 4, 3,  4,  2, 5, 2, 11, 1, 4,  2, 4, 3, 2, 2,  2,  2, 4, 3, 4, 2, 9, 2, 5, 3, 3, 2, 5, 7,  5,
    2,  4, 2, 3, 4, 5, 1, 4,  2,  5, 4, 5, 2,  5, 2,  5, 5, 7, 3, 6,  2,  4, 2, 2, 2, 2, 1, 4, 2, 4, 2, 5, 2, 7,  2,
    4,  1, 4, 2, 2, 4, 5, 4,  4,  4, 6, 5, 4,  1, 2,  3, 2, 2, 5, 2,  4,  1, 2, 2, 5, 6, 4, 4, 2, 4};

/* Kind 7, an atom that returns a value, is here for completeness: stats/wavefronts.h does not count its turns. */
static const uint8_t wavefronts_of_matrices[WAVEFRONTS_MATRICES] = {
    1, 4, 9,  9,  4, 5, 1, 3, 3, 4, 9,  4, 8,  5, 3, 4,  2, 6, 7, 9,  11, 6, 1, 1,  5, 4, 4,  4, 4,  2, 1, 2,
    3, 5, 4,  8,  7, 2, 2, 4, 1, 4, 4,  4, 12, 4, 1, 18, 2, 2, 9, 4,  10, 2, 1, 9,  1, 5, 9,  4, 8,  4, 1, 3,
    2, 2, 9,  4,  4, 2, 1, 2, 2, 2, 7,  6, 4,  2, 1, 8,  1, 5, 4, 4,  8,  5, 1, 18, 1, 6, 4,  8, 10, 2, 1, 3,
    4, 2, 12, 4,  9, 2, 1, 4, 2, 2, 8,  4, 7,  4, 1, 8,  1, 2, 4, 10, 9,  5, 2, 4,  1, 2, 8,  8, 4,  7, 1, 5,
    2, 6, 4,  11, 8, 2, 1, 4, 2, 2, 10, 4, 10, 2, 1, 3,  2, 5, 7, 4,  9,  2, 1, 4,  2, 6, 10, 4, 10, 6, 3, 4};

#endif
