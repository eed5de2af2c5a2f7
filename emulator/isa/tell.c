/* isa/tell.c - events of instructions; contract in tell.h. */
#include "isa/tell.h"

/* What an instruction orders when its words do not say: the defaults of the sections. */
static const struct semantics {
    enum event_order order;
    enum event_scope scope;
} defaults[PTX_OP_COUNT] = {
    [PTX_OP_atom] = {ORDER_RELAXED, SCOPE_GPU}, /* 9.7.13.5, 9.7.13.6 */
    [PTX_OP_red] = {ORDER_RELAXED, SCOPE_GPU},
    [PTX_OP_mbarrier_arrive] = {ORDER_RELEASE, SCOPE_CTA}, /* 9.7.13.15.13, .14 */
    [PTX_OP_mbarrier_arrive_drop] = {ORDER_RELEASE, SCOPE_CTA},
    [PTX_OP_mbarrier_expect_tx] = {ORDER_RELAXED, SCOPE_CTA}, /* 9.7.13.15.11, .12 */
    [PTX_OP_mbarrier_complete_tx] = {ORDER_RELAXED, SCOPE_CTA},
    [PTX_OP_mbarrier_test_wait] = {ORDER_ACQUIRE, SCOPE_CTA}, /* 9.7.13.15.16 */
    [PTX_OP_mbarrier_try_wait] = {ORDER_ACQUIRE, SCOPE_CTA},
    [PTX_OP_bar] = {ORDER_ACQ_REL, SCOPE_CTA}, /* 9.7.13.1 */
    [PTX_OP_barrier] = {ORDER_ACQ_REL, SCOPE_CTA},
    [PTX_OP_bar_warp_sync] = {ORDER_ACQ_REL, SCOPE_CTA},              /* 9.7.13.2 */
    [PTX_OP_barrier_cluster_arrive] = {ORDER_RELEASE, SCOPE_CLUSTER}, /* 9.7.13.3 */
    [PTX_OP_barrier_cluster_wait] = {ORDER_ACQUIRE, SCOPE_CLUSTER},
    [PTX_OP_fence] = {ORDER_ACQ_REL, SCOPE_NONE}, /* 9.7.13.4 */
    [PTX_OP_membar] = {ORDER_SC, SCOPE_NONE},     /* a synonym of fence.sc */
};

static void read_word(enum ptx_mod word, struct insn *in) {
    static const uint8_t order[PTX_MOD_COUNT] = {
        [PTX_MOD_weak] = ORDER_WEAK + 1,        [PTX_MOD_relaxed] = ORDER_RELAXED + 1,
        [PTX_MOD_acquire] = ORDER_ACQUIRE + 1,  [PTX_MOD_release] = ORDER_RELEASE + 1,
        [PTX_MOD_acq_rel] = ORDER_ACQ_REL + 1,  [PTX_MOD_sc] = ORDER_SC + 1,
        [PTX_MOD_volatile] = ORDER_RELAXED + 1, /* 8.4: relaxed at system scope */
        [PTX_MOD_mmio] = ORDER_RELAXED + 1};
    static const uint8_t scope[PTX_MOD_COUNT] = {
        [PTX_MOD_cta] = SCOPE_CTA, [PTX_MOD_cluster] = SCOPE_CLUSTER, [PTX_MOD_gpu] = SCOPE_GPU,
        [PTX_MOD_gl] = SCOPE_GPU,  [PTX_MOD_sys] = SCOPE_SYS,         [PTX_MOD_volatile] = SCOPE_SYS,
    };
    if (order[word])
        in->order = order[word] - 1;
    if (scope[word])
        in->scope = scope[word];
}

void isa_read_semantics(struct insn *in) {
    const bool noncoherent = in->src->op == PTX_OP_ldu || ptx_has(in->src, PTX_MOD_nc);
    in->proxy = noncoherent ? PROXY_NONCOHERENT : PROXY_GENERIC;
    in->order = (uint8_t)defaults[in->src->op].order;
    in->scope = (uint8_t)defaults[in->src->op].scope;
    for (unsigned i = 0; i < in->src->num_mods; i++)
        read_word((enum ptx_mod)in->src->mods[i], in);
}

void isa_tell_sync(const struct warp *w, const struct insn *in, uint32_t lanes, struct event_sync *e) {
    struct event_by *by = &e->by; /* member by member: a copy of what was just written has to wait for it */
    by->cta = w->cta;
    by->op = NULL;
    by->site = &in->src->site;
    by->what = ptx_op_text(in->src->op);
    by->warp = w->index;
    by->lanes = lanes;
    by->order = (enum event_order)in->order;
    by->scope = (enum event_scope)in->scope;
    e->owner = w->cta;
    events_send_sync(w->gpu, e);
}

void isa_tell_span(const struct warp *w, const struct insn *in, const struct warp_span *s, uint32_t size, uint32_t mask,
                   enum event_effect effect, const uint64_t *value) {
    struct isa_lanes t;
    t.cta = s->space == XS_SHARED_CTA ? s->cta : NULL;
    t.affine = t.halves = t.spread = false;
    t.step = t.high = 0;
    if (mask != WARP_ALL_LANES)
        WARP_FOR_LANES(l, mask) { t.at[l] = s->base + warp_span_at(s, l); }
    else if (s->affine)
        isa_lanes_row(&t, s->base + s->at[0], s->stride);
    else {
        for (uint32_t l = 0; l < MACH_WARP; l++)
            t.at[l] = s->base + s->at[l];
        isa_lanes_halves(&t);
    }
    isa_tell_at(w, in, &t, size, mask, effect, value);
}

void isa_tell_loc(const struct warp *w, const struct insn *in, const struct warp_loc *loc, uint64_t addr, uint32_t size,
                  uint32_t lane, enum event_effect effect) {
    struct warp_span s = {.host = loc->host, .space = loc->space, .cta = loc->cta};
    s.base = loc->space == XS_GLOBAL ? addr : loc->off;
    uint64_t found[MACH_WARP] = {0};
    if (effect == EFFECT_READ)
        memcpy(&found[lane], loc->host, size < 8 ? size : 8);
    isa_tell_span(w, in, &s, size, 1u << lane, effect, effect == EFFECT_READ ? found : NULL);
}
