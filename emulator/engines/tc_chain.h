/* engines/tc_chain.h - tcgen05.mma's products, put off.
 *
 * An f32 accumulator is the same whether it is stored and read again between two operations or kept, and an integer sum
 * is exact. So operations that continue one sum gather their decoded operands one behind the other along K, and the
 * whole is multiplied when SIMD_MAX_K is reached, when another product starts, or when anything is about to look at the
 * columns of D or to change them (tc_sync). All that can be observed of an operation but those cells happens when it
 * runs: faults, the reading of its operands, the end of D's poison. A host thread has one chain, in the working memory
 * that it keeps; under MACH_SCHED_MODEL, where the CTAs take turns at every operation, each CTA has one, that of a pair
 * the even CTA.
 */
#ifndef ENGINES_TC_CHAIN_H
#define ENGINES_TC_CHAIN_H

#include "engines/tc_operand.h"
#include "simd/fused.h"

#define TC_PARTS 4u   /* of a product, at most */
#define TC_MAX_M 128u /* rows of a part */

/* Some rows and columns of D, in the tensor memory of one CTA (tc_layout.h). */
struct tc_part {
    struct cta *cta;
    uint32_t half;          /* index in the pair */
    uint32_t rows, n;       /* extent */
    uint32_t row0, n0;      /* its first element in matrix D */
    uint32_t row_a;         /* where its rows of A are among all that were loaded */
    uint32_t lane[8];       /* first lane of each 16 rows */
    uint32_t keep[4];       /* lanes that are written, bit per lane */
    uint32_t blank[4];      /* lanes whose rows of A were never written: those of D hold garbage then */
    bool partial;           /* some lane is disabled */
    float *a, *b;           /* panels of simd/multiply.h, K from the chain's first operation on */
    const float *sfa, *sfb; /* --umma=b200: scale factors, which a and b do not have in them; NULL: none */
};

struct tc_chain {
    uint32_t k;        /* gathered so far; 0: there is no chain and nothing below counts */
    struct tc_mma mma; /* the first operation; those that continue it differ in a and b, and enable-input-d is true */
    struct tc_idesc id;
    const struct tc_layout *layout; /* of D */
    enum simd simd;                 /* not SIMD_BEST */
    bool tiles;                     /* the operands are in tc_scratch.amx, not in a and b of the parts */
    struct cta *pair[2];            /* pair[0] alone with cta_group::1 */
    uint32_t column;                /* D's first */
    uint32_t num_parts;             /* the halves of N of each CTA */
    struct tc_part part[TC_PARTS];  /* those of a CTA follow each other */
};

struct tc_scratch {
    enum simd best;     /* of this host */
    uint32_t available; /* bit per enum simd */
    struct tc_chain chain;
    struct tc_decoder decoder;
    uint64_t sum_a; /* checksum of A, of operations with a word for the collector buffer */
    float factors[SIMD_MAX_ROWS * 4], factors_b[SIMD_MAX_ROWS * 4];
    _Alignas(64) float a[SIMD_MAX_ROWS * SIMD_A_STRIDE];
    _Alignas(64) float b[SIMD_MAX_ROWS * SIMD_B_STRIDE];
    _Alignas(64) float scaled_b[SIMD_MAX_ROWS * SIMD_B_STRIDE]; /* of the first CTA of a pair */
    _Alignas(64) uint32_t d[SIMD_MAX_ROWS * TC_MAX_M]; /* D on the side, when it is not f32 or keeps some lanes */
    struct simd_amx amx;
    struct simd_exponents exponents; /* --umma=b200 */
};

/* Does it have the bits of a B200 (--umma=b200)? Integers are exact in any case. */
static inline bool tc_is_fused(const struct tc_chain *c) {
    return c->pair[0]->gpu->config.umma == MACH_UMMA_B200 && c->id.d != TC_D_S32;
}

/* The working memory of the host thread that runs this CTA, made at the first call. */
struct tc_scratch *tc_scratch_of(struct cta *cta);

/* The collector buffer of the CTA, of a pair its even one: is what the operation, whose A has the checksum, asks of it
 * right? False after a fault. tc_collector.c */
bool tc_collect(struct cta *cta, const struct mach_origin *origin, const struct tc_mma *mma, const struct tc_idesc *id,
                uint64_t sum);

/* Multiplies one part of what the chain has gathered and writes D. same_b: its B is that of the part before. */
void tc_multiply_part(struct tc_scratch *s, const struct tc_part *p, bool same_b);
/* Multiplies the chain, if there is one; then there is none. */
void tc_finish(struct tc_scratch *s);

#endif
