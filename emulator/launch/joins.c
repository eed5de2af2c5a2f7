/* launch/joins.c - where lanes that part at a branch meet again: the branch's immediate post-dominator.
 *
 * The chip's compiler places convergence barriers there (BSSY/BSYNC); PTX has no such notion, so the emulator derives
 * it. A branch to a bare `ret` of a kernel, `exit` or `trap` does not count as a way out of a region, since threads
 * that exit leave a convergence barrier: an early `if (done) return;` must not keep the others from meeting. It counts
 * where a loop has no other way out: the last such branch in the text is then the loop's end.
 * Post-dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
 */
#include "launch/state.h"

#define NONE UINT32_MAX

/* What is known of a block of the flow graph. */
struct node {
    bool exits;     /* ends every thread that enters it: the ways to it are cut */
    bool cut;       /* a way on from here is */
    bool to_end;    /* leads to the end instead */
    bool seen;      /* by `walk` */
    uint32_t order; /* in postorder of the reversed graph, from 1; 0: cannot reach the end */
    uint32_t ipdom; /* block, NONE: none yet */
};

struct regions {
    const struct flow *flow;
    struct node *node;
    uint32_t *ends, num_ends; /* blocks that lead to the end without a way of their own */
    uint32_t *stack, *at;     /* of `walk` */
    uint32_t *order, num_order;
};

static bool is_exit(const struct flow *g, uint32_t b) {
    if (b + 1 == g->num_blocks)
        return false;
    const struct ptx_insn *in = &g->func->insns[g->blocks[b].first];
    return !in->guard &&
           (in->op == PTX_OP_exit || in->op == PTX_OP_trap || (in->op == PTX_OP_ret && g->func->is_entry));
}

static void lead_to_end(struct regions *r, uint32_t b) {
    r->node[b].to_end = true;
    r->ends[r->num_ends++] = b;
}

/* Leaves early exits out while another way remains. A block whose every way on ends the thread leads to the end of the
 * graph; one that traps leads nowhere. */
static void cut_exits(struct regions *r) {
    const struct flow *g = r->flow;
    for (uint32_t b = 0; b < g->num_blocks; b++)
        r->node[b].exits = is_exit(g, b);
    for (uint32_t b = 0; b + 1 < g->num_blocks; b++) {
        uint32_t ways = 0;
        for (uint32_t k = 0; k < g->blocks[b].num_succ; k++)
            ways += !r->node[g->blocks[b].succ[k]].exits;
        r->node[b].cut = ways < g->blocks[b].num_succ;
        if (ways == 0 && g->func->insns[g->blocks[b].last].op != PTX_OP_trap)
            lead_to_end(r, b);
    }
}

/* The k-th block that leads to b, or NONE. */
static uint32_t predecessor(const struct regions *r, uint32_t b, uint32_t k) {
    const struct flow_block *block = &r->flow->blocks[b];
    if (r->node[b].exits)
        return NONE;
    if (k < block->num_pred)
        return block->pred[k];
    k -= block->num_pred;
    return b + 1 == r->flow->num_blocks && k < r->num_ends ? r->ends[k] : NONE;
}

/* Lists the blocks that lead to `from` and were not seen yet, in postorder: depth first, over predecessors. */
static void walk(struct regions *r, uint32_t from) {
    uint32_t depth = 0;
    for (uint32_t enter = from;;) {
        if (enter != NONE && !r->node[enter].seen) {
            r->node[enter].seen = true;
            r->at[depth] = 0;
            r->stack[depth++] = enter;
        }
        const uint32_t b = r->stack[depth - 1];
        enter = predecessor(r, b, r->at[depth - 1]++);
        if (enter != NONE)
            continue;
        r->order[r->num_order++] = b;
        r->node[b].order = r->num_order;
        if (--depth == 0)
            return;
    }
}

/* The blocks in the order of a walk from the end. Loops that only early exits leave: their last one counts. */
static void order_blocks(struct regions *r) {
    const uint32_t n = r->flow->num_blocks, ends = r->num_ends;
    walk(r, n - 1);
    for (uint32_t b = n; b-- > 0;)
        if (!r->node[b].seen && r->node[b].cut) {
            lead_to_end(r, b);
            walk(r, b);
        }
    if (r->num_ends == ends)
        return;
    for (uint32_t b = 0; b < n; b++)
        r->node[b].seen = false;
    r->num_order = 0;
    walk(r, n - 1);
}

static uint32_t meet(const struct node *node, uint32_t a, uint32_t b) {
    while (a != b) {
        while (node[a].order < node[b].order)
            a = node[a].ipdom;
        while (node[b].order < node[a].order)
            b = node[b].ipdom;
    }
    return a;
}

/* Where all ways from b meet, as far as is known. */
static uint32_t successors_meet(const struct regions *r, uint32_t b) {
    const uint32_t end = r->flow->num_blocks - 1;
    uint32_t dom = r->node[b].to_end ? end : NONE;
    for (uint32_t k = 0; k < r->flow->blocks[b].num_succ; k++) {
        const uint32_t s = r->flow->blocks[b].succ[k];
        if (!r->node[s].exits && r->node[s].ipdom != NONE)
            dom = dom == NONE ? s : meet(r->node, dom, s);
    }
    return dom;
}

static void post_dominators(struct regions *r) {
    const uint32_t end = r->flow->num_blocks - 1;
    for (uint32_t b = 0; b < end; b++)
        r->node[b].ipdom = NONE;
    r->node[end].ipdom = end;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = r->num_order - 1; i-- > 0;) { /* without the end, which is the last */
            const uint32_t b = r->order[i], dom = successors_meet(r, b);
            changed |= dom != r->node[b].ipdom;
            r->node[b].ipdom = dom;
        }
    }
}

void launch_find_joins(struct warp_func *f, const struct flow *flow) {
    const uint32_t n = flow->num_blocks;
    struct arena a = {0};
    struct regions r = {.flow = flow,
                        .node = arena_array(&a, n, sizeof *r.node),
                        .ends = arena_array(&a, n, sizeof *r.ends),
                        .stack = arena_array(&a, n, sizeof *r.stack),
                        .at = arena_array(&a, n, sizeof *r.at),
                        .order = arena_array(&a, n, sizeof *r.order)};
    cut_exits(&r);
    order_blocks(&r);
    post_dominators(&r);
    for (uint32_t b = 0; b + 1 < n; b++) {
        struct insn *in = &f->code[flow->blocks[b].last];
        const uint32_t dom = r.node[b].ipdom;
        if ((in->src->op == PTX_OP_bra || in->src->op == PTX_OP_brx_idx) && dom != NONE && dom != b)
            in->join = flow->blocks[dom].first;
    }
    arena_free(&a);
}
