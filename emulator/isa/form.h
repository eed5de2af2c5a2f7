/* isa/form.h - has an instruction the words of a form? Sorts them by kind (ptx/modifiers.def), or says why not.
 *
 * A form says which words and kinds it has; of one kind it has one word, and none is written twice. ptxas takes words
 * in nearly any order, so that sorting forgets it; where the order is the form, isa_spelled compares word by word.
 */
#ifndef ISA_FORM_H
#define ISA_FORM_H

#include "isa/isa.h"
#include "num/num.h"

/* What a form has: a list of words, PTX_MOD_..., and of kinds. */
#define ISA_WORDS(...) ((const uint16_t[]){__VA_ARGS__, PTX_MOD_unknown})
#define ISA_ANY(kind) (PTX_MOD_COUNT + PTX_KIND_##kind) /* any word of the kind */
#define ISA_MORE(entry) (0x8000 | (entry))              /* sorted: two of its kind; spelled: may be left out */

struct isa_words {
    enum ptx_mod of[PTX_KIND_COUNT]; /* of each kind but flag; PTX_MOD_unknown: not written */
    enum ptx_mod second;             /* the later one of a kind that may have two */
};

/* Elements of the vector, 1 where none is written. */
static inline unsigned isa_elements(const struct isa_words *k) {
    return k->of[PTX_KIND_vector] ? ptx_mod_number(k->of[PTX_KIND_vector]) : 1;
}

/* The reduction that a word of its kind names; NUM_OP_NONE for any other, as where none is written. */
num_op isa_reduction(enum ptx_mod m);
/* The state space that a word of its kind names; XS_GENERIC for any other, as where none is written. */
enum warp_space isa_space(enum ptx_mod m);

/* Sorts the instruction's words; false, with the reason, when the form does not have them. */
bool isa_sort(struct isa_binder *b, const struct ptx_insn *src, const uint16_t *form, struct isa_words *k);
/* Are these the words of the instruction, in this order? */
bool isa_spelled(const struct ptx_insn *src, const uint16_t *form);

#endif
