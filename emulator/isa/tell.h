/* isa/tell.h - what instructions tell those who watch (machine/events.h): who executes them, with which semantics, and
 * the memory that a warp's lanes touch. Costs a test where nobody listens.
 */
#ifndef ISA_TELL_H
#define ISA_TELL_H

#include "isa/isa.h"
#include "machine/events.h"
#include "warp/loads.h"

/* Gives the instruction the order and scope that its words say or, where they are silent, its section does (8.3, 8.5,
 * 9.7.13), and the proxy of its accesses to global memory. */
void isa_read_semantics(struct insn *in);
/* Lanes of the warp that execute `in`. */
static inline struct event_by isa_by(const struct warp *w, const struct insn *in, uint32_t lanes) {
    struct event_by by = warp_by(w, in, lanes);
    by.order = (enum event_order)in->order;
    by.scope = (enum event_scope)in->scope;
    return by;
}

/* Lanes of the warp synchronise: *e, which gets who and the CTA. */
void isa_tell_sync(const struct warp *w, const struct insn *in, uint32_t lanes, struct event_sync *e);

/* Where lanes access memory: as at[], affine, halves, step and high of struct event_access. */
struct isa_lanes {
    struct cta *cta; /* whose shared memory; NULL: global memory */
    bool affine, halves;
    bool spread; /* at[0] and at[16] alone are written */
    int64_t step, high;
    uint64_t at[MACH_WARP];
};
/* All lanes, `step` bytes apart. */
static inline void isa_lanes_row(struct isa_lanes *t, uint64_t first, int64_t step) {
    t->affine = t->halves = t->spread = true;
    t->step = t->high = step;
    t->at[0] = first;
    t->at[MACH_WARP / 2] = first + MACH_WARP / 2 * (uint64_t)step;
}
/* All lanes, with the addresses in at[]. */
static inline void isa_lanes_halves(struct isa_lanes *t) {
    const uint64_t step = t->at[1] - t->at[0], high = t->at[17] - t->at[16];
    uint64_t odd = 0;
    for (uint32_t l = 1; l < MACH_WARP / 2; l++)
        odd |= ((t->at[l] - t->at[l - 1]) ^ step) | ((t->at[16 + l] - t->at[15 + l]) ^ high);
    t->spread = false;
    t->halves = !odd;
    t->affine = !odd && step == high && t->at[16] - t->at[15] == step;
    t->step = (int64_t)step;
    t->high = (int64_t)high;
}
/* Lanes `mask` have read or written `size` bytes each at *t. */
static inline void isa_tell_at(const struct warp *w, const struct insn *in, struct isa_lanes *t, uint32_t size,
                               uint32_t mask, enum event_effect effect, const uint64_t *value) {
    /* every member by name: gcc clears a large struct by an instruction that takes longer than the rest */
    const struct event_access e = {.by = {.cta = w->cta,
                                          .op = NULL,
                                          .site = &in->src->site,
                                          .what = ptx_op_text(in->src->op),
                                          .warp = w->index,
                                          .lanes = mask,
                                          .order = (enum event_order)in->order,
                                          .scope = (enum event_scope)in->scope},
                                   .agent = AGENT_THREAD,
                                   .space = t->cta ? SPACE_SHARED : SPACE_GLOBAL,
                                   .effect = effect,
                                   .proxy = t->cta ? PROXY_GENERIC : (enum event_proxy)in->proxy,
                                   .owner = t->cta,
                                   .what = NULL,
                                   .at = t->at,
                                   .size = size,
                                   .affine = t->affine,
                                   .halves = t->halves,
                                   .step = t->step,
                                   .high = t->high,
                                   .spread = t->spread ? t->at : NULL,
                                   .pieces = 0,
                                   .rows = 0,
                                   .stride = 0,
                                   .of_a = NULL,
                                   .columns = 0,
                                   .tmem_lanes = NULL,
                                   .value = in->order == ORDER_WEAK ? NULL : value,
                                   .load = w->loads ? w->loads->num : 0};
    events_send_access(w->gpu, &e);
}
/* The same of all lanes in shared memory, weakly, in its short form. `rows`: bit for each half of the warp whose lanes
 * follow each other; those of another have the same bytes. False: this is not told yet. */
static inline bool isa_told_halves(const struct warp *w, const struct insn *in, uint32_t first, uint32_t second,
                                   uint32_t rows, uint32_t size, bool writes) {
    const uint32_t row = rows == 3 && second - first == MACH_WARP / 2 * size ? HALVES_ROW : 0;
    return events_took_halves(w->gpu, w->cta, &in->src->site, first, second,
                              w->index | size << 16 | rows * HALVES_FIRST | row | (writes ? HALVES_WRITE : 0));
}
/* The same of a matrix: enum event_matrix. Returns how many of its accesses are told. */
static inline uint32_t isa_told_matrix(const struct warp *w, const struct insn *in, const uint64_t row[8], bool trans,
                                       bool writes) {
    return events_took_matrix(w->gpu, w->cta, &in->src->site, row,
                              w->index | (trans ? MATRIX_TRANS : 0) | (writes ? HALVES_WRITE : 0));
}
/* Lanes `mask` have read or written `size` bytes each at *s, of shared or global memory. `value`: what each lane found,
 * of larger ones the first 8 bytes, which is told of strong accesses; or NULL. */
void isa_tell_span(const struct warp *w, const struct insn *in, const struct warp_span *s, uint32_t size, uint32_t mask,
                   enum event_effect effect, const uint64_t *value);
/* One lane has, at a location; `addr`: its address, where that is global. It reads no global memory: that may hold
 * something else by now. */
void isa_tell_loc(const struct warp *w, const struct insn *in, const struct warp_loc *loc, uint64_t addr, uint32_t size,
                  uint32_t lane, enum event_effect effect);

/* Who would be told; nobody of parameters and local memory, which have one thread. */
static inline uint32_t isa_wants(enum warp_space space, enum event_effect effect) {
    const uint32_t shared = effect & EFFECT_WRITE ? WANT_SHARED_WRITE : WANT_SHARED_READ;
    return space == XS_SHARED_CTA ? shared : space == XS_GLOBAL ? WANT_GLOBAL : 0;
}

static inline void isa_saw_write(const struct warp *w, const struct insn *in, const struct warp_span *s, uint32_t size,
                                 uint32_t mask) {
    if (events_wanted(w->gpu, isa_wants(s->space, EFFECT_WRITE)))
        isa_tell_span(w, in, s, size, mask, EFFECT_WRITE, NULL);
}
static inline void isa_saw_sync(const struct warp *w, const struct insn *in, uint32_t lanes, uint32_t wants,
                                struct event_sync e) {
    if (events_wanted(w->gpu, wants))
        isa_tell_sync(w, in, lanes, &e);
}
static inline void isa_saw_loc(const struct warp *w, const struct insn *in, const struct warp_loc *loc, uint64_t addr,
                               uint32_t size, uint32_t lane, enum event_effect effect) {
    if (size && events_wanted(w->gpu, isa_wants(loc->space, effect)))
        isa_tell_loc(w, in, loc, addr, size, lane, effect);
}
/* An atomic or a strong store has changed the word at `addr`, which others may wait for. */
static inline void isa_note_writer(const struct warp *w, const struct insn *in, uint64_t addr) {
    *island_writer(w->island, addr) =
        (struct mach_writer){.addr = addr, .site = &in->src->site, .cta = w->cta->id, .warp = w->index};
}

#endif
