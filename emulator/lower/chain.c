/* lower/chain.c - finds the chains of a kernel (warp/chain.h): unguarded straight instructions in a row. */
#include "warp/chain.h"
#include "base/arena.h"
#include "lower/parts.h"

#define MOST_SLOTS 4096u /* of a frame and its constants */

/* What has no link of its own writes one register or memory, beside predicates, which no link reads. */
static bool is_link(const struct insn *in) {
    if (!in->straight || in->guard != WARP_SINK || !in->num_opnds)
        return false;
    return (in->o[0].kind == WARP_SLOT && in->o[0].slot >= 0) || in->o[0].kind == WARP_MEM;
}

static uint32_t place(const struct warp_func *f, warp_slot s) {
    return (s < 0 ? f->frame_slots + (uint32_t)~s : (uint32_t)s) * MACH_WARP * (uint32_t)sizeof(uint32_t);
}

static bool among(const uint32_t *list, uint32_t n, uint32_t what) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == what)
            return true;
    return false;
}

/* Each stretch of links of their own has one list. */
static void note_fresh(const struct warp_chain *c, struct chain_op *op, struct arena *a) {
    uint32_t *fresh = arena_array(a, c->num, sizeof *fresh);
    for (uint32_t i = 0, n; i < c->num; i += n ? n : 1) {
        uint32_t count = 0;
        for (n = 0; i + n < c->num && op[i + n].in->link; n++)
            if (!among(fresh, count, op[i + n].pz) && !among(c->live, c->num_live, op[i + n].pz))
                fresh[count++] = op[i + n].pz;
        for (uint32_t k = 0; k < n; k++) {
            op[i + k].fresh = fresh;
            op[i + k].num_fresh = count;
        }
        fresh += count;
    }
}

/* A chain of the `num` instructions from `in` on. */
static const struct warp_chain *make(const struct warp_func *f, const struct chain_links *links, struct arena *a,
                                     const struct insn *in, uint32_t num) {
    struct warp_chain *c = arena_alloc(a, sizeof *c);
    struct chain_op *op = arena_array(a, num + 1, sizeof *op);
    uint32_t *live = arena_array(a, 3 * num, sizeof *live), written[CHAIN_MOST], own = 0;
    *c = (struct warp_chain){.num = num, .op = op, .live = live, .links = links};
    for (uint32_t i = 0; i < num; i++, in++) {
        unsigned handed = 0;
        own += in->link != CHAIN_NONE;
        for (unsigned k = 0; in->link && k < in->num_opnds; k++) {
            const warp_slot s = in->o[k].slot;
            op[i].at[k] = place(f, s);
            if (k && s >= 0 && !among(written, i, (uint32_t)s) && !among(live, c->num_live, (uint32_t)s))
                live[c->num_live++] = (uint32_t)s;
            if (k && i && in[-1].link && s == in[-1].o[0].slot && links->own[in->link][k])
                handed = k;
        }
        op[i].fn = in->link ? links->own[in->link][handed] : links->any;
        op[i].entered = in->link ? links->own[in->link][0] : links->any;
        op[i].in = in;
        written[i] = op[i].pz = (uint32_t)(in->o[0].kind == WARP_SLOT ? in->o[0].slot : f->clean);
    }
    op[num].fn = links->end;
    note_fresh(c, op, a);
    return 4 * own >= 3 * num ? c : NULL; /* a handler called in between costs more than it saves */
}

void lower_chains(struct warp_func *f, const struct chain_links *links, struct arena *a) {
    if (!links || !f->src->is_entry || f->frame_slots + f->num_consts > MOST_SLOTS)
        return;
    for (uint32_t i = 0, n; i < f->num_insns; i += n ? n : 1) {
        for (n = 0; n < CHAIN_MOST && n < f->code[i].run && is_link(&f->code[i + n]);)
            n++;
        const struct warp_chain *c = n >= CHAIN_LEAST ? make(f, links, a, &f->code[i], n) : NULL;
        f->chained |= c != NULL;
        for (uint32_t k = 0; c && k < n; k++) {
            f->code[i + k].chain = c;
            f->code[i + k].chain_at = k;
        }
    }
}
