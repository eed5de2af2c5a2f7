/* isa/tcgen05.h - what the tcgen05 handlers share (PTX ISA 9.7.16). Decoding is here, semantics in
 * engines/tc_*. */
#ifndef ISA_TCGEN05_H
#define ISA_TCGEN05_H

#include "engines/tc.h"
#include "isa/isa.h"

/* Refuses with a constant sentence. */
bool isa_tmem_refuse(struct isa_binder *b, const char *why);
/* Does the instruction have only modifiers of `allowed` (ends with PTX_MOD_unknown)? */
bool isa_tmem_mods_in(const struct ptx_insn *in, const uint16_t *allowed);
/* What .target lets a text use of tcgen05; false with a reason. */
bool isa_tmem_target(struct isa_binder *b, const struct ptx_insn *p);
/* The .cta_group; false with a reason when it is missing, or the target lacks the instruction. */
bool isa_tmem_group(struct isa_binder *b, const struct ptx_insn *in, unsigned *group);
/* A 32-bit source, register or [address], which must be the same and no poison in all lanes of `mask`: false
 * after a fault. `what`: "the tensor memory address". */
bool isa_tmem_uniform(struct warp *w, const struct insn *in, uint32_t mask, const struct warp_opnd *o, const char *what,
                      uint32_t *value);
/* A source that one lane uses for itself: false after a fault when it is poison. */
bool isa_tmem_known(struct warp *w, const struct insn *in, uint32_t lane, const struct warp_opnd *o, const char *what);
/* A binder's last step for an instruction of a whole warp: .sync.aligned. */
bool isa_tmem_aligned(struct isa_binder *b, struct insn *in, warp_fn fn);

#endif
