/* isa/mbarrier.h - what the files of the mbarrier instructions share. For isa/mbarrier*.c alone. */
#ifndef ISA_MBARRIER_H
#define ISA_MBARRIER_H

#include "isa/form.h"
#include "isa/tell.h"
#include "machine/mbarrier.h"

struct mbar_form {
    bool cluster; /* the object may lie in another CTA (9.7.13.15.8) */
    bool generic; /* generic addressing */
    bool expect_tx, drop, no_complete, parity;
    bool has_state; /* arrive returns the state */
    bool is_try;
    bool together;                        /* of arrive: lanes that name one object may arrive there at once, */
    uint32_t count, bytes;                /*  each with this */
    const struct warp_opnd *addr, *value; /* value: count or bytes; NULL: count 1 */
    warp_slot dst;                        /* state or predicate; WARP_SINK */
};

/* Where the object of a lane is; false after a fault. */
static inline bool isa_mbar_locate(struct warp *w, const struct insn *in, const struct mbar_form *f, uint32_t lane,
                                   struct cta **cta, uint32_t *off) {
    return warp_smem_operand(w, in, lane, f->addr, f->cluster, f->generic, 8, cta, off);
}

/* Who acts, with the order only if a listener needs it. */
static inline struct event_by isa_mbar_actor(const struct warp *w, const struct insn *in, uint32_t lanes) {
    if (events_wanted(w->gpu, WANT_MBARRIER | WANT_LIFE))
        return isa_by(w, in, lanes);
    return (struct event_by){.cta = w->cta, .site = &in->src->site, .warp = w->index, .lanes = lanes};
}

/* The launch ends with the error of the object at `off`. `value`: the operand that the message needs (count, bytes or
 * state); `together`: the lanes that arrive at once. */
enum warp_status isa_mbar_fault(struct warp *w, const struct insn *in, uint32_t lane, struct cta *cta, uint32_t off,
                                enum mbar_error e, uint32_t value, uint32_t together);

/* mbarrier.init: isa/mbarrier_init.c */
enum warp_status isa_do_mbar_init(struct warp *w, const struct insn *in, uint32_t mask);

#endif
