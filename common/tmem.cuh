/* tmem.cuh - tensor memory: allocate, free, load, store, copy; one function per instruction form.
 *
 * Tensor memory (TMEM) is 128 lanes x 512 columns of 32-bit cells in each SM, shared by the CTAs that run there. An
 * address is lane << 16 | column. A CTA owns whole columns; it gets them from tcgen05.alloc and gives them back with
 * tcgen05.dealloc. Threads reach cells only by tcgen05.ld and st, a warp at a time. A warp reaches only the 32 lanes
 * of its window: warp w of the CTA reaches lanes 32 (w % 4) ... 32 (w % 4) + 31.
 * Everything here is cta_group::1, except tmem_pair_*. PTX ISA 9.7.16.1, 9.7.16.7 - 9.7.16.9.
 */
#ifndef COMMON_TMEM_CUH
#define COMMON_TMEM_CUH

#include <stdint.h>

enum { TMEM_LANES = 128, TMEM_COLUMNS = 512, TMEM_WINDOW = 32 /* lanes a warp can reach */ };

/* The address of a cell, relative to an allocation's base or absolute. */
static __device__ __forceinline__ uint32_t tmem_at(uint32_t base, uint32_t lane, uint32_t column) {
    return base + (lane << 16) + column;
}

/* ---------------------------------------------------------------- allocation */

/* Allocates `columns` columns (all 128 lanes of each) and writes the base address into shared memory.
 * dst: 32-bit shared-window address of 4 bytes of this CTA. columns: 32, 64, 128, 256 or 512, the same in all threads
 * of the warp, and never more than in an earlier allocation of the CTA.
 * Who: one converged warp; blocks while the SM has no such free columns.
 * Completion: synchronous; the store is an ordinary weak store, so a barrier shows it to the other threads.
 * PTX ISA 9.7.16.7.1. */
static __device__ __forceinline__ void tmem_alloc(uint32_t dst, uint32_t columns) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(dst), "r"(columns)
                 : "memory");
}

/* Gives an allocation back: its base address and its size. Every allocation must be given back before the CTA ends.
 * Who: one converged warp, after all accesses of the CTA to these columns are complete.
 * Completion: synchronous. PTX ISA 9.7.16.7.1. */
static __device__ __forceinline__ void tmem_dealloc(uint32_t base, uint32_t columns) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns) : "memory");
}

/* Promises that this CTA allocates no more; tcgen05.alloc is illegal for the CTA from here on. It keeps what it has.
 * Who: one converged warp, after the last alloc. Completion: synchronous. PTX ISA 9.7.16.7.1. */
static __device__ __forceinline__ void tmem_relinquish_alloc_permit(void) {
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}

/* The same three for a CTA pair (cta_group::2): one warp of each of the two CTAs executes it, with the same `columns`,
 * and either may wait for the other. Each CTA gets these columns of its own tensor memory, at the same address.
 * tmem_pair_alloc(): the peer must have been launched. dst: of the executing CTA; each gets the address.
 * tmem_pair_dealloc(): after the accesses of both CTAs to these columns, which the two must synchronise.
 * PTX ISA 9.7.16.7.1, Tables 46 - 48. */
static __device__ __forceinline__ void tmem_pair_alloc(uint32_t dst, uint32_t columns) {
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(dst), "r"(columns)
                 : "memory");
}

static __device__ __forceinline__ void tmem_pair_dealloc(uint32_t base, uint32_t columns) {
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns) : "memory");
}

static __device__ __forceinline__ void tmem_pair_relinquish_alloc_permit(void) {
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
}

/* ---------------------------------------------------------------- waiting for loads and stores */

/* Blocks until this thread's earlier tcgen05.ld are complete: registers filled, cells free to be overwritten.
 * Who: a converged warp. PTX ISA 9.7.16.8.5. */
static __device__ __forceinline__ void tmem_wait_ld(void) {
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

/* Blocks until this thread's earlier tcgen05.st are complete: cells written.
 * Who: a converged warp. PTX ISA 9.7.16.8.5. */
static __device__ __forceinline__ void tmem_wait_st(void) {
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

/* ---------------------------------------------------------------- shared memory to tensor memory */

/* tmem_cp_128x256b(to, desc)   128 rows x 32 bytes from shared memory into 128 lanes x 8 columns: row i to lane i
 * tmem_cp_128x128b(to, desc)   128 rows x 16 bytes into 128 lanes x 4 columns
 *
 * to: TMEM address. desc: SMEM descriptor of the source, as for an operand of UMMA.
 * Who: one thread. Reads shared memory through the async proxy.
 * Completion: asynchronous; tracked by tcgen05.commit. A later UMMA of the same thread runs after it without a wait
 * (9.7.16.6.2); an earlier UMMA that reads the same cells must be waited for. PTX ISA 9.7.16.9.2. */
static __device__ __forceinline__ void tmem_cp_128x256b(uint32_t to, uint64_t desc) {
    asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(to), "l"(desc) : "memory");
}

static __device__ __forceinline__ void tmem_cp_128x128b(uint32_t to, uint64_t desc) {
    asm volatile("tcgen05.cp.cta_group::1.128x128b [%0], %1;" ::"r"(to), "l"(desc) : "memory");
}

/* ---------------------------------------------------------------- tensor memory to registers and back
 *
 * tmem_ld_<shape>_<num>(r, from)          tmem_st_<shape>_<num>(to, r)
 * tmem_ld_16x32bx2_<num>(r, from)         second half `num` columns after the first
 *
 *   shape     lanes x columns of x1   registers of x1   counts
 *   32x32b    32 x 1                  1                 x1 ... x128
 *   16x64b    16 x 2                  1                 x1 ... x128
 *   16x128b   16 x 4                  2                 x1 ... x64
 *   16x256b   16 x 8                  4                 x1 ... x32
 *   16x32bx2  16 x 1, twice           1                 x1 ... x128
 *
 * A count of xN repeats the shape N times along the columns. Which thread and register holds which cell is what step 01
 * shows. r: an array of registers x count 32-bit words, indexed by constants only (it lives in registers). from, to:
 * TMEM address of the first cell, the same in all threads: its lane is the first of the warp's window, or for the
 * 16-lane shapes the first or the seventeenth.
 * Who: a converged warp. Completion: asynchronous; tmem_wait_ld() or tmem_wait_st(). Using a loaded register waits for
 * it, overwriting the cells does not (9.7.16.6.4.5). PTX ISA 9.7.16.8.3, 9.7.16.8.4, Tables 49, 50. */

/* Operand lists of 1 ... 128 registers: "%0, %1, ..." and the constraints that go with them. */
#define TMEM_OPERANDS_1_ "%0"
#define TMEM_OPERANDS_2_ "%0, %1"
#define TMEM_OPERANDS_4_ "%0, %1, %2, %3"
#define TMEM_OPERANDS_8_ "%0, %1, %2, %3, %4, %5, %6, %7"
#define TMEM_OPERANDS_16_ "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define TMEM_OPERANDS_32_                                                                                              \
    TMEM_OPERANDS_16_                                                                                                  \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TMEM_OPERANDS_64_                                                                                              \
    TMEM_OPERANDS_32_                                                                                                  \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"                                 \
    ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TMEM_OPERANDS_128_                                                                                             \
    TMEM_OPERANDS_64_                                                                                                  \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"                                 \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"                                 \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"                     \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define TMEM_OUT_1_(r, i) "=r"((r)[i])
#define TMEM_OUT_2_(r, i) TMEM_OUT_1_(r, i), TMEM_OUT_1_(r, (i) + 1)
#define TMEM_OUT_4_(r, i) TMEM_OUT_2_(r, i), TMEM_OUT_2_(r, (i) + 2)
#define TMEM_OUT_8_(r, i) TMEM_OUT_4_(r, i), TMEM_OUT_4_(r, (i) + 4)
#define TMEM_OUT_16_(r, i) TMEM_OUT_8_(r, i), TMEM_OUT_8_(r, (i) + 8)
#define TMEM_OUT_32_(r, i) TMEM_OUT_16_(r, i), TMEM_OUT_16_(r, (i) + 16)
#define TMEM_OUT_64_(r, i) TMEM_OUT_32_(r, i), TMEM_OUT_32_(r, (i) + 32)
#define TMEM_OUT_128_(r, i) TMEM_OUT_64_(r, i), TMEM_OUT_64_(r, (i) + 64)
#define TMEM_IN_1_(r, i) "r"((r)[i])
#define TMEM_IN_2_(r, i) TMEM_IN_1_(r, i), TMEM_IN_1_(r, (i) + 1)
#define TMEM_IN_4_(r, i) TMEM_IN_2_(r, i), TMEM_IN_2_(r, (i) + 2)
#define TMEM_IN_8_(r, i) TMEM_IN_4_(r, i), TMEM_IN_4_(r, (i) + 4)
#define TMEM_IN_16_(r, i) TMEM_IN_8_(r, i), TMEM_IN_8_(r, (i) + 8)
#define TMEM_IN_32_(r, i) TMEM_IN_16_(r, i), TMEM_IN_16_(r, (i) + 16)
#define TMEM_IN_64_(r, i) TMEM_IN_32_(r, i), TMEM_IN_32_(r, (i) + 32)
#define TMEM_IN_128_(r, i) TMEM_IN_64_(r, i), TMEM_IN_64_(r, (i) + 64)

/* regs: registers a thread; address: number of the operand after them; split: the text of immHalfSplitoff. */
#define TMEM_DEFINE_(shape, num, regs, split)                                                                          \
    static __device__ __forceinline__ void tmem_ld_##shape##_##num(uint32_t *r, uint32_t from) {                       \
        asm volatile("tcgen05.ld.sync.aligned." #shape "." #num ".b32 {" TMEM_OPERANDS_##regs##_ "}, [%" #regs         \
                                                                                                 "]" split ";"         \
                     : TMEM_OUT_##regs##_(r, 0)                                                                        \
                     : "r"(from));                                                                                     \
    }                                                                                                                  \
    static __device__ __forceinline__ void tmem_st_##shape##_##num(uint32_t to, const uint32_t *r) {                   \
        asm volatile("tcgen05.st.sync.aligned." #shape "." #num ".b32 [%" #regs "]" split                              \
                     ", {" TMEM_OPERANDS_##regs##_ "};" ::TMEM_IN_##regs##_(r, 0),                                     \
                     "r"(to)                                                                                           \
                     : "memory");                                                                                      \
    }

TMEM_DEFINE_(32x32b, x1, 1, "")
TMEM_DEFINE_(32x32b, x2, 2, "")
TMEM_DEFINE_(32x32b, x4, 4, "")
TMEM_DEFINE_(32x32b, x8, 8, "")
TMEM_DEFINE_(32x32b, x16, 16, "")
TMEM_DEFINE_(32x32b, x32, 32, "")
TMEM_DEFINE_(32x32b, x64, 64, "")
TMEM_DEFINE_(32x32b, x128, 128, "")

TMEM_DEFINE_(16x64b, x1, 1, "")
TMEM_DEFINE_(16x64b, x2, 2, "")
TMEM_DEFINE_(16x64b, x4, 4, "")
TMEM_DEFINE_(16x64b, x8, 8, "")
TMEM_DEFINE_(16x64b, x16, 16, "")
TMEM_DEFINE_(16x64b, x32, 32, "")
TMEM_DEFINE_(16x64b, x64, 64, "")
TMEM_DEFINE_(16x64b, x128, 128, "")

TMEM_DEFINE_(16x128b, x1, 2, "")
TMEM_DEFINE_(16x128b, x2, 4, "")
TMEM_DEFINE_(16x128b, x4, 8, "")
TMEM_DEFINE_(16x128b, x8, 16, "")
TMEM_DEFINE_(16x128b, x16, 32, "")
TMEM_DEFINE_(16x128b, x32, 64, "")
TMEM_DEFINE_(16x128b, x64, 128, "")

TMEM_DEFINE_(16x256b, x1, 4, "")
TMEM_DEFINE_(16x256b, x2, 8, "")
TMEM_DEFINE_(16x256b, x4, 16, "")
TMEM_DEFINE_(16x256b, x8, 32, "")
TMEM_DEFINE_(16x256b, x16, 64, "")
TMEM_DEFINE_(16x256b, x32, 128, "")

TMEM_DEFINE_(16x32bx2, x1, 1, ", 1")
TMEM_DEFINE_(16x32bx2, x2, 2, ", 2")
TMEM_DEFINE_(16x32bx2, x4, 4, ", 4")
TMEM_DEFINE_(16x32bx2, x8, 8, ", 8")
TMEM_DEFINE_(16x32bx2, x16, 16, ", 16")
TMEM_DEFINE_(16x32bx2, x32, 32, ", 32")
TMEM_DEFINE_(16x32bx2, x64, 64, ", 64")
TMEM_DEFINE_(16x32bx2, x128, 128, ", 128")

/* tmem_ld_32x32b_x32() of f32 cells into f32 registers: the same bits, and no move from one type to the other. */
#define TMEM_OUT_F32_4_(x, i) "=f"((x)[i]), "=f"((x)[(i) + 1]), "=f"((x)[(i) + 2]), "=f"((x)[(i) + 3])
#define TMEM_OUT_F32_16_(x, i)                                                                                         \
    TMEM_OUT_F32_4_(x, i), TMEM_OUT_F32_4_(x, (i) + 4), TMEM_OUT_F32_4_(x, (i) + 8), TMEM_OUT_F32_4_(x, (i) + 12)

static __device__ __forceinline__ void tmem_ld_32x32b_x32_f32(float *x, uint32_t from) {
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 {" TMEM_OPERANDS_32_ "}, [%32];"
                 : TMEM_OUT_F32_16_(x, 0), TMEM_OUT_F32_16_(x, 16)
                 : "r"(from));
}

#endif
