/* isa/unit.h - families that are compiled once more for each vector unit of the host.
 *
 * The Makefile compiles their files again with ISA_UNIT=avx2 or avx512 and the compiler's flags for that unit. The
 * names that other files see then end in _avx2 or _avx512, and isa/bind.c takes the best that the host has and
 * config.host_vectors allows. What is not x86-64 has the plain ones alone. All give the same bits.
 */
#ifndef ISA_UNIT_H
#define ISA_UNIT_H

#include "simd/target.h"

/* As memcpy, of which gcc makes a call or a slow instruction; a constant multiple of 32 bytes. */
typedef int unit_vector __attribute__((vector_size(32), aligned(4), may_alias));
static ALWAYS_INLINE void unit_copy(void *d, const void *s, unsigned bytes) {
    UNROLL
    for (unsigned i = 0; i < bytes / 32; i++)
        ((unit_vector *)d)[i] = ((const unit_vector *)s)[i];
}

/* clang-format off */
#define ISA_UNIT_FAMILIES(F) \
    F(arithmetic) F(integer) F(float) F(compare) F(select) F(logic) F(move) F(permute) F(convert) F(memory) \
    F(mma) F(warp) F(cp_async) F(cp_async_arrive)
/* clang-format on */

#if defined(ISA_UNIT)
#define ISA_UNIT_PASTE_(name, unit) name##_##unit
#define ISA_UNIT_PASTE(name, unit) ISA_UNIT_PASTE_(name, unit)
#define ISA_UNIT_NAME(name) ISA_UNIT_PASTE(name, ISA_UNIT)
#define isa_bind_arithmetic ISA_UNIT_NAME(isa_bind_arithmetic)
#define isa_bind_integer ISA_UNIT_NAME(isa_bind_integer)
#define isa_bind_float ISA_UNIT_NAME(isa_bind_float)
#define isa_bind_compare ISA_UNIT_NAME(isa_bind_compare)
#define isa_bind_select ISA_UNIT_NAME(isa_bind_select)
#define isa_bind_logic ISA_UNIT_NAME(isa_bind_logic)
#define isa_bind_move ISA_UNIT_NAME(isa_bind_move)
#define isa_bind_permute ISA_UNIT_NAME(isa_bind_permute)
#define isa_bind_convert ISA_UNIT_NAME(isa_bind_convert)
#define isa_bind_memory ISA_UNIT_NAME(isa_bind_memory)
#define isa_bind_mma ISA_UNIT_NAME(isa_bind_mma)
#define isa_bind_warp ISA_UNIT_NAME(isa_bind_warp)
#define isa_bind_cp_async ISA_UNIT_NAME(isa_bind_cp_async)
#define isa_bind_cp_async_arrive ISA_UNIT_NAME(isa_bind_cp_async_arrive)
#define alu_bind_half ISA_UNIT_NAME(alu_bind_half)
#define alu_bind_narrow ISA_UNIT_NAME(alu_bind_narrow)
#endif

#endif
