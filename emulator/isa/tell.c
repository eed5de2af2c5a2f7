/* isa/tell.c - events of instructions; contract in tell.h. */
#include "isa/tell.h"

/* What an instruction orders when its words do not say: the defaults of the sections. */
static void default_semantics(enum ptx_op op, struct event_by *by) {
    switch (op) {
    case PTX_OP_atom: /* 9.7.13.5, 9.7.13.6 */
    case PTX_OP_red:
        by->order = ORDER_RELAXED;
        by->scope = SCOPE_GPU;
        break;
    case PTX_OP_mbarrier_arrive: /* 9.7.13.15.13, .14 */
    case PTX_OP_mbarrier_arrive_drop:
        by->order = ORDER_RELEASE;
        by->scope = SCOPE_CTA;
        break;
    case PTX_OP_mbarrier_expect_tx: /* 9.7.13.15.11, .12 */
    case PTX_OP_mbarrier_complete_tx:
        by->order = ORDER_RELAXED;
        by->scope = SCOPE_CTA;
        break;
    case PTX_OP_mbarrier_test_wait: /* 9.7.13.15.16 */
    case PTX_OP_mbarrier_try_wait:
        by->order = ORDER_ACQUIRE;
        by->scope = SCOPE_CTA;
        break;
    case PTX_OP_bar: /* 9.7.13.1 */
    case PTX_OP_barrier:
    case PTX_OP_bar_warp_sync: /* 9.7.13.2 */
        by->order = ORDER_ACQ_REL;
        by->scope = SCOPE_CTA;
        break;
    case PTX_OP_barrier_cluster_arrive: /* 9.7.13.3 */
        by->order = ORDER_RELEASE;
        by->scope = SCOPE_CLUSTER;
        break;
    case PTX_OP_barrier_cluster_wait:
        by->order = ORDER_ACQUIRE;
        by->scope = SCOPE_CLUSTER;
        break;
    case PTX_OP_fence: /* 9.7.13.4 */
        by->order = ORDER_ACQ_REL;
        break;
    case PTX_OP_membar: /* a synonym of fence.sc */
        by->order = ORDER_SC;
        break;
    default:
        break;
    }
}

static void read_word(enum ptx_mod word, struct event_by *by) {
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
        by->order = (enum event_order)(order[word] - 1);
    if (scope[word])
        by->scope = (enum event_scope)scope[word];
}

struct event_by isa_by(const struct warp *w, const struct insn *in, uint32_t lanes) {
    struct event_by by = warp_by(w, in, lanes);
    default_semantics(in->src->op, &by);
    for (unsigned i = 0; i < in->src->num_mods; i++)
        read_word((enum ptx_mod)in->src->mods[i], &by);
    return by;
}

static enum event_space space_of(enum warp_space space) {
    return space == XS_SHARED_CTA ? SPACE_SHARED : space == XS_LOCAL ? SPACE_LOCAL : SPACE_GLOBAL;
}

void isa_tell_span(const struct warp *w, const struct insn *in, const struct warp_span *s, uint32_t size, uint32_t mask,
                   enum event_effect effect, enum event_doubt doubt, const uint64_t *value) {
    const struct event_by by = isa_by(w, in, mask);
    const uint64_t apart = s->space == XS_LOCAL ? w->local_stride : 0;
    uint64_t at[MACH_WARP];
    WARP_FOR_LANES(l, mask) { at[l] = s->base + warp_span_at(s, l) - l * apart; }
    events_send_access(w->gpu, &(struct event_access){.by = by,
                                                      .agent = AGENT_THREAD,
                                                      .space = space_of(s->space),
                                                      .effect = effect,
                                                      .owner = s->space == XS_SHARED_CTA ? s->cta : NULL,
                                                      .doubt = doubt,
                                                      .at = at,
                                                      .size = size,
                                                      .value = by.order == ORDER_WEAK ? NULL : value});
}

void isa_tell_loc(const struct warp *w, const struct insn *in, const struct warp_loc *loc, uint64_t addr, uint32_t size,
                  uint32_t lane, enum event_effect effect) {
    struct warp_span s = {.host = loc->host, .space = loc->space, .cta = loc->cta};
    s.base =
        loc->space == XS_GLOBAL ? addr : loc->off + (loc->space == XS_LOCAL ? (uint64_t)lane * w->local_stride : 0);
    uint64_t found[MACH_WARP] = {0};
    if (effect == EFFECT_READ)
        memcpy(&found[lane], loc->host, size < 8 ? size : 8);
    isa_tell_span(w, in, &s, size, 1u << lane, effect, DOUBT_NONE, effect == EFFECT_READ ? found : NULL);
}
