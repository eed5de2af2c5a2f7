/* isa/memory_words.h - private to isa/memory.c: the words that ld, ldu and st may have (PTX ISA 9.7.9.8 - 9.7.9.11). */
#ifndef ISA_MEMORY_WORDS_H
#define ISA_MEMORY_WORDS_H

#include "isa/form.h"

/* The words of ld, ldu and st. */
#define MEM_WORDS                                                                                                      \
    ISA_WORDS(PTX_MOD_weak, PTX_MOD_volatile, PTX_MOD_relaxed, PTX_MOD_acquire, PTX_MOD_release, PTX_MOD_mmio,         \
              PTX_MOD_nc, PTX_MOD_unified, PTX_MOD_L2__cache_hint, PTX_MOD_L2__evict_normal, PTX_MOD_L2__evict_first,  \
              PTX_MOD_L2__evict_last, ISA_ANY(scope), ISA_ANY(space), ISA_ANY(cache), ISA_ANY(evict_l1),               \
              ISA_ANY(prefetch), ISA_ANY(vector), ISA_ANY(type))

/* Why a form has no such memory order (8.3, 9.7.9.8), or NULL. */
static inline const char *order_refused(const struct ptx_insn *src, const struct isa_words *k, enum warp_space space) {
    const unsigned order = k->of[PTX_KIND_order];
    const bool scoped = order && order != PTX_MOD_weak && order != PTX_MOD_volatile;
    const bool global = space == XS_GLOBAL || space == XS_GENERIC;
    if (scoped != (k->of[PTX_KIND_scope] != 0))
        return ".relaxed, .acquire and .release need a scope, and nothing else has one";
    if (order && order != PTX_MOD_weak && k->of[PTX_KIND_cache])
        return "cache operators go with weak accesses only";
    if (order == (src->op == PTX_OP_st ? PTX_MOD_acquire : PTX_MOD_release))
        return "loads acquire, stores release";
    if (scoped && !global && space != XS_SHARED_CTA && space != XS_SHARED_CLUSTER)
        return "ordered accesses are for global and shared memory";
    if (ptx_has(src, PTX_MOD_mmio) &&
        (order != PTX_MOD_relaxed || k->of[PTX_KIND_scope] != PTX_MOD_sys || k->of[PTX_KIND_vector] || !global))
        return ".mmio is .mmio.relaxed.sys, scalar, global";
    if (ptx_has(src, PTX_MOD_nc) && (src->op != PTX_OP_ld || space != XS_GLOBAL || order))
        return ".nc is for weak ld.global";
    return NULL;
}

static inline bool is_access_type(enum ptx_type t) {
    return t != PTX_NOTYPE && t != PTX_PRED && t != PTX_F16 && t != PTX_BF16 && t != PTX_F16X2 && t != PTX_BF16X2 &&
           t != PTX_F32X2;
}

/* Why there is no such access of `count` elements, or none with such hints, or NULL. */
static inline const char *access_refused(const struct ptx_insn *src, const struct isa_words *k, enum warp_space space,
                                         unsigned bytes, unsigned count) {
    const bool global = space == XS_GLOBAL || space == XS_GENERIC, wide = bytes == 32 && count > 2;
    if (!bytes)
        return "a load or store has no such type; use .b16, .b32 or .b64";
    if ((ptx_has(src, PTX_MOD_L2__cache_hint) || k->of[PTX_KIND_prefetch]) && !global)
        return "cache hints are for global memory";
    if (src->op == PTX_OP_st && space == XS_CONST)
        return "constant memory cannot be stored to";
    if (src->op == PTX_OP_st && k->of[PTX_KIND_prefetch])
        return "a store does not prefetch";
    if (src->op == PTX_OP_ldu && (count == 8 || !global))
        return "ldu is for global memory, and has no .v8";
    if (k->of[PTX_KIND_evict_l2] && !wide)
        return "L2 eviction priorities are for 32-byte vectors";
    if (bytes > 16 && !(wide && global))
        return "a vector is at most 16 bytes, or 32 in global memory";
    if (count == 8 && bytes != 32)
        return ".v8 is for 32-bit elements";
    return NULL;
}

#endif
