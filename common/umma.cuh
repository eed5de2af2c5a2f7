/* umma.cuh - tcgen05.mma and tcgen05.commit, one function per instruction.
 *
 * UMMA: D[m x n] (TMEM) = A[m x K] (SMEM or TMEM) * B[n x K]^T (SMEM) + D, K being 32 bytes of a row. One thread issues
 * it for the whole CTA; the tensor core reads its operands later, when the operation runs.
 * umma_*: cta_group::1, one CTA and its own tensor memory; umma_pair_*: cta_group::2, two. A kernel uses one of them
 * only. PTX ISA 9.7.16.10.9.1, 9.7.16.12.
 *
 * Order (9.7.16.6.2): UMMAs of one thread on the same accumulator and shape run in program order, and after an earlier
 * tcgen05.cp of that thread. Everything else needs a wait or a fence (fence.cuh).
 */
#ifndef COMMON_UMMA_CUH
#define COMMON_UMMA_CUH

#include <stdint.h>

#include "descriptors.h"

/* umma_<kind>_ss(d, a_desc, b_desc, idesc, accumulate)   A and B from shared memory
 * umma_<kind>_ts(d, a, b_desc, idesc, accumulate)        A from tensor memory
 *
 *   d, a             TMEM addresses, lane << 16 | column. D takes N columns, f32 or s32, one element a cell. A takes 8
 *                    columns: row i in lane i, the 32 bytes of its K elements packed low byte first.
 *   a_desc, b_desc   SMEM descriptors (descriptors.h)
 *   idesc            instruction descriptor of the same kind
 *   accumulate       0: D = A B, the old D is not read. Otherwise D = A B + D.
 *
 * Who: one thread. All tcgen05 instructions of a kernel use the same cta_group.
 * Completion: asynchronous; umma_commit() makes an mbarrier track it. Until then neither operand may be overwritten and
 * D may not be read. */
#define UMMA_DEFINE_(name, instruction, a_type, a_constraint)                                                          \
    static __device__ __forceinline__ void name(uint32_t d, a_type a, uint64_t b_desc, uint32_t idesc,                 \
                                                uint32_t accumulate) {                                                 \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred p;\n\t"                                                                               \
                     "setp.ne.b32 p, %4, 0;\n\t" instruction ", %2, %3, p;\n\t"                                        \
                     "}" ::"r"(d),                                                                                     \
                     a_constraint(a), "l"(b_desc), "r"(idesc), "r"(accumulate)                                         \
                     : "memory");                                                                                      \
    }

UMMA_DEFINE_(umma_f16_ss, "tcgen05.mma.cta_group::1.kind::f16 [%0], %1", uint64_t, "l")
UMMA_DEFINE_(umma_f16_ts, "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1]", uint32_t, "r")
UMMA_DEFINE_(umma_tf32_ss, "tcgen05.mma.cta_group::1.kind::tf32 [%0], %1", uint64_t, "l")
UMMA_DEFINE_(umma_tf32_ts, "tcgen05.mma.cta_group::1.kind::tf32 [%0], [%1]", uint32_t, "r")
UMMA_DEFINE_(umma_f8f6f4_ss, "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1", uint64_t, "l")
UMMA_DEFINE_(umma_f8f6f4_ts, "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], [%1]", uint32_t, "r")
/* sm_100a, sm_101a, sm_110a only: a program that calls these cannot be built for sm_100f */
UMMA_DEFINE_(umma_i8_ss, "tcgen05.mma.cta_group::1.kind::i8 [%0], %1", uint64_t, "l")
UMMA_DEFINE_(umma_i8_ts, "tcgen05.mma.cta_group::1.kind::i8 [%0], [%1]", uint32_t, "r")

/* The kind as a value, uniform over the CTA: the opcode cannot be a register, so this is a branch. i8 is left out
 * because the family target has none. Arguments as above. */
static __device__ __forceinline__ void umma_ss(enum umma_kind kind, uint32_t d, uint64_t a_desc, uint64_t b_desc,
                                               uint32_t idesc, uint32_t accumulate) {
    if (kind == UMMA_KIND_F16)
        umma_f16_ss(d, a_desc, b_desc, idesc, accumulate);
    else if (kind == UMMA_KIND_TF32)
        umma_tf32_ss(d, a_desc, b_desc, idesc, accumulate);
    else
        umma_f8f6f4_ss(d, a_desc, b_desc, idesc, accumulate);
}

static __device__ __forceinline__ void umma_ts(enum umma_kind kind, uint32_t d, uint32_t a, uint64_t b_desc,
                                               uint32_t idesc, uint32_t accumulate) {
    if (kind == UMMA_KIND_F16)
        umma_f16_ts(d, a, b_desc, idesc, accumulate);
    else if (kind == UMMA_KIND_TF32)
        umma_tf32_ts(d, a, b_desc, idesc, accumulate);
    else
        umma_f8f6f4_ts(d, a, b_desc, idesc, accumulate);
}

/* When all earlier tcgen05.mma, cp and shift of this thread are complete, one arrival happens on `bar` (32-bit
 * shared-window address of an mbarrier). Performs tcgen05_fence_before() by itself.
 * Who: the thread that issued the operations. Completion: asynchronous, seen by waiting on bar; a reader of TMEM then
 * executes tcgen05_fence_after(). PTX ISA 9.7.16.12.1. */
static __device__ __forceinline__ void umma_commit(uint32_t bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory");
}

/* The same, with one arrival in each CTA whose rank is a bit of `ctas`, on its barrier at the offset of `bar`. None of
 * them may exit before its arrival has come. PTX ISA 9.7.16.12.1. */
static __device__ __forceinline__ void umma_commit_multicast(uint32_t bar, uint16_t ctas) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
                 "[%0], %1;" ::"r"(bar),
                 "h"(ctas)
                 : "memory");
}

/* ---------------------------------------------------------------- CTA pairs
 *
 * umma_pair_<kind>_ss(d, a_desc, b_desc, idesc, accumulate)   D of both CTAs = A of both times B of both
 *
 * M is 128 or 256, half of it in each CTA: the even one holds the first M / 2 rows of A and of D. Each CTA also holds
 * half of B, N / 2 of its rows, which both use. a_desc, b_desc, d: one value for both CTAs, so both halves lie at the
 * same offset of their shared memory, and the accumulators at the same columns. D of M 256 is layout A (row i of the
 * half in lane i, N columns), of M 128 layout B (columns 0 ... N/2 - 1 of row i in lane i, the others in lane 64 + i;
 * N / 2 columns), PTX ISA 9.7.16.10.5.1, 9.7.16.10.5.2.
 * Who: one thread of one of the two CTAs, while the other is there. Completion: asynchronous, umma_pair_commit. */
UMMA_DEFINE_(umma_pair_f16_ss, "tcgen05.mma.cta_group::2.kind::f16 [%0], %1", uint64_t, "l")
UMMA_DEFINE_(umma_pair_tf32_ss, "tcgen05.mma.cta_group::2.kind::tf32 [%0], %1", uint64_t, "l")
UMMA_DEFINE_(umma_pair_f8f6f4_ss, "tcgen05.mma.cta_group::2.kind::f8f6f4 [%0], %1", uint64_t, "l")

/* The kind as a value, as umma_ss() has it. */
static __device__ __forceinline__ void umma_pair_ss(enum umma_kind kind, uint32_t d, uint64_t a_desc, uint64_t b_desc,
                                                    uint32_t idesc, uint32_t accumulate) {
    if (kind == UMMA_KIND_F16)
        umma_pair_f16_ss(d, a_desc, b_desc, idesc, accumulate);
    else if (kind == UMMA_KIND_TF32)
        umma_pair_tf32_ss(d, a_desc, b_desc, idesc, accumulate);
    else
        umma_pair_f8f6f4_ss(d, a_desc, b_desc, idesc, accumulate);
}

/* umma_commit_multicast() for this thread's umma_pair_*: cta_group::1 would not track them. */
static __device__ __forceinline__ void umma_pair_commit_multicast(uint32_t bar, uint16_t ctas) {
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
                 "[%0], %1;" ::"r"(bar),
                 "h"(ctas)
                 : "memory");
}

#endif
