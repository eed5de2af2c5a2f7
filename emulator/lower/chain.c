/* lower/chain.c - finds the chains of a kernel (warp/chain.h): unguarded straight instructions in a row. */
#include "warp/chain.h"
#include "base/arena.h"
#include "lower/parts.h"

/* Writes no register. */
static bool stores(const struct insn *in) { return in->o[0].kind == WARP_MEM; }

/* What has no link of its own writes one register or memory: a pair of predicates has two. An operation may have to run
 * before the next instruction (machine/async.h). */
static bool is_link(const struct insn *in) {
    if (!in->straight || in->guard != WARP_SINK || !in->num_opnds || in->src->operands[0].kind == PTX_OPND_PAIR ||
        in->src->op == PTX_OP_cp_async || in->src->op == PTX_OP_mbarrier_arrive)
        return false;
    return (in->o[0].kind == WARP_SLOT && in->o[0].slot >= 0) || stores(in);
}

/* Constants lie behind the frame. */
static uint64_t place(const struct warp_func *f, warp_slot s, unsigned i) {
    return chain_place(s < 0 ? f->frame_slots + (uint32_t)~s : (uint32_t)s, i);
}

/* Sources of a link, from 1 on; the last one of a store is its address. */
static unsigned num_sources(const struct insn *in) { return in->num_opnds - !stores(in); }
static warp_slot source(const struct insn *in, unsigned k) { return in->o[k < in->num_opnds ? k : 0].slot; }

static bool among(const uint32_t *list, uint32_t n, uint32_t what) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == what)
            return true;
    return false;
}

/* Each stretch of links of their own has one list. */
static void note_fresh(const struct warp_chain *c, struct chain_entry *entry, struct arena *a) {
    uint32_t *fresh = arena_array(a, c->num, sizeof *fresh);
    for (uint32_t i = 0, n; i < c->num; i += n ? n : 1) {
        uint32_t count = 0;
        for (n = 0; i + n < c->num && c->code[i + n].link; n++) {
            const uint32_t what = (uint32_t)c->code[i + n].o[0].slot;
            if (!stores(&c->code[i + n]) && !among(fresh, count, what) && !among(c->live, c->num_live, what))
                fresh[count++] = what;
        }
        for (uint32_t k = 0; k < n; k++) {
            entry[i + k].fresh = fresh;
            entry[i + k].num_fresh = count;
        }
        fresh += count;
    }
}

/* What comes after the last link: a branch to the first one by what a link wrote, or any other instruction. */
static struct chain_op make_end(const struct warp_func *f, const struct warp_chain *c, uint32_t num_written) {
    const struct insn *in = c->code + c->num;
    struct chain_op end = {.fn = c->links->end};
    if (in->branch && in->o[0].target == c->code - f->code && among(c->written, num_written, (uint32_t)in->guard)) {
        end.at = place(f, in->guard, 0);
        end.in = in;
    }
    return end;
}

static chain_fn own(const struct chain_links *links, unsigned link, unsigned handed, bool fixed) {
    const chain_fn *of = links->own[link][handed];
    return fixed && of[1] ? of[1] : of[0];
}

/* A chain of the `num` instructions from `in` on. */
static const struct warp_chain *make(const struct warp_func *f, const struct chain_links *links, struct arena *a,
                                     const struct insn *in, uint32_t num) {
    struct warp_chain *c = arena_alloc(a, sizeof *c);
    struct chain_op *op = arena_array(a, num + 2, sizeof *op);
    struct chain_entry *entry = arena_array(a, num + 1, sizeof *entry);
    uint32_t *live = arena_array(a, 3 * num, sizeof *live), *written = arena_array(a, num, sizeof *written), count = 0;
    *c = (struct warp_chain){
        .num = num, .op = op, .entry = entry, .live = live, .written = written, .code = in, .links = links};
    for (uint32_t i = 0; i < num; i++, in++) {
        unsigned handed = 0;
        entry[i].written = count;
        for (unsigned k = 1; in->link && k <= num_sources(in); k++) {
            const warp_slot s = source(in, k);
            op[i].at |= place(f, s, k);
            if (s >= 0 && !among(written, count, (uint32_t)s) && !among(live, c->num_live, (uint32_t)s))
                live[c->num_live++] = (uint32_t)s;
            if (i && in[-1].link && !stores(&in[-1]) && s == in[-1].o[0].slot && links->own[in->link][k][0])
                handed = k;
        }
        const bool fixed = in->link && num_sources(in) > 1 && source(in, 2) < 0;
        op[i].fn = in->link ? own(links, in->link, handed, fixed) : links->any;
        op[i].in = in;
        entry[i].fn = in->link ? own(links, in->link, 0, fixed) : links->any;
        const warp_slot d = stores(in) ? f->clean : in->o[0].slot;
        op[i].at |= place(f, d, 0);
        if (!among(written, count, (uint32_t)d))
            written[count++] = (uint32_t)d;
    }
    op[num] = make_end(f, c, count);
    op[num + 1].fn = links->end;
    note_fresh(c, entry, a);
    return c;
}

/* Links of a chain from `in` on; 0: none is worth it. A handler that is called in between costs more than it saves. */
static uint32_t length(const struct insn *in) {
    uint32_t most = 0;
    for (uint32_t n = 0, own = 0; n < CHAIN_MOST && n < in->run && is_link(in + n); n++) {
        own += in[n].link != CHAIN_NONE;
        if (n + 1 >= CHAIN_LEAST && 4 * own >= 3 * (n + 1))
            most = n + 1;
    }
    return most;
}

void lower_chains(struct warp_func *f, const struct chain_links *links, struct arena *a) {
    if (!links || !f->src->is_entry || f->frame_slots + f->num_consts > CHAIN_SLOTS)
        return;
    for (uint32_t i = 0, n; i < f->num_insns; i += n ? n : 1) {
        n = length(&f->code[i]);
        const struct warp_chain *c = n ? make(f, links, a, &f->code[i], n) : NULL;
        f->chained |= c != NULL;
        for (uint32_t k = 0; k < n; k++) {
            f->code[i + k].chain = c;
            f->code[i + k].chain_at = k;
        }
    }
}
