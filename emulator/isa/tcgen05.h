/* isa/tcgen05.h - what the tcgen05 handlers share (PTX ISA 9.7.16). Decoding is here, semantics in
 * engines/tc_*. */
#ifndef ISA_TCGEN05_H
#define ISA_TCGEN05_H

#include "engines/tc.h"
#include "isa/form.h"

/* Sorts the words of an instruction that .target lets a text use; false with a reason. */
bool isa_tmem_sort(struct isa_binder *b, const struct ptx_insn *p, const uint16_t *form, struct isa_words *k);
/* The same, and in->aux becomes the number of the .cta_group, which must be there. */
bool isa_tmem_group(struct isa_binder *b, struct insn *in, const uint16_t *form, struct isa_words *k);
/* A 32-bit source, register or [address], which must be the same and no poison in all lanes of `mask`: false
 * after a fault. `what`: "the tensor memory address". */
bool isa_tmem_uniform(struct warp *w, const struct insn *in, uint32_t mask, const struct warp_opnd *o, const char *what,
                      uint32_t *value);
/* A binder's last step for an instruction of a whole warp: .sync.aligned. */
bool isa_tmem_aligned(struct isa_binder *b, struct insn *in, warp_fn fn);

#endif
