/* lower/joins.c - where lanes that part at a branch meet again: the branch's immediate post-dominator.
 *
 * The chip's compiler places convergence barriers there (BSSY/BSYNC); PTX has no such notion, so the emulator derives
 * it. A branch to a bare `ret` of a kernel, `exit` or `trap` does not count as a way out of a region, since threads
 * that exit leave a convergence barrier: an early `if (done) return;` must not keep the others from meeting. It counts
 * where a loop has no other way out: the last such branch in the text is then the loop's end.
 * Post-dominators by Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph", on the reversed
 * graph: no text makes that take more than n log n.
 */
#include "lower/parts.h"

#define NONE UINT32_MAX

/* What is known of a block of the flow graph. */
struct node {
    bool exits;      /* ends every thread that enters it: the ways to it are cut */
    bool cut;        /* a way on from here is */
    bool to_end;     /* leads to the end instead */
    bool seen;       /* by `walk` */
    uint32_t number; /* in preorder of the walk; where not seen, it cannot reach the end */
};

/* What is known of a block that the walk came to. Blocks are named by their numbers here. */
struct visit {
    uint32_t block;
    uint32_t parent;   /* the walk came from there */
    uint32_t semi;     /* semidominator */
    uint32_t ancestor; /* in the forest of blocks that are done, NONE: a root */
    uint32_t best;     /* on the way from there to here, the one with the least semidominator */
    uint32_t ipdom;
    uint32_t first, next; /* list of those whose semidominator this is, and the next in the list that this is in */
};

struct regions {
    const struct flow *flow;
    struct node *node;
    uint32_t *ends, num_ends; /* blocks that lead to the end without a way of their own */
    uint32_t *stack, *at;     /* of `walk` */
    struct visit *visit;      /* in preorder */
    uint32_t num_visits;
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

/* Lists the blocks that lead to `from` and were not seen yet, in preorder: depth first, over predecessors. */
static void walk(struct regions *r, uint32_t from) {
    uint32_t depth = 0;
    for (uint32_t enter = from;;) {
        if (enter != NONE && !r->node[enter].seen) {
            r->node[enter].seen = true;
            r->node[enter].number = r->num_visits;
            r->visit[r->num_visits++] =
                (struct visit){.block = enter, .parent = depth ? r->node[r->stack[depth - 1]].number : NONE};
            r->at[depth] = 0;
            r->stack[depth++] = enter;
        }
        const uint32_t b = r->stack[depth - 1];
        enter = predecessor(r, b, r->at[depth - 1]++);
        if (enter == NONE && --depth == 0)
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
    r->num_visits = 0;
    walk(r, n - 1);
}

/* The one with the least semidominator on the way from the root of its tree to `v`, the root left out. Shortens the way
 * for those who ask later; `stack` has room for it. */
static uint32_t evaluate(struct visit *visit, uint32_t *stack, uint32_t v) {
    uint32_t depth = 0;
    if (visit[v].ancestor == NONE)
        return v;
    for (uint32_t u = v; visit[visit[u].ancestor].ancestor != NONE; u = visit[u].ancestor)
        stack[depth++] = u;
    while (depth) {
        struct visit *u = &visit[stack[--depth]];
        const struct visit *above = &visit[u->ancestor];
        if (visit[above->best].semi < visit[u->best].semi)
            u->best = above->best;
        u->ancestor = above->ancestor;
    }
    return visit[v].best;
}

/* The least semidominator that a way from `v` gives to a block before it. */
static void lower_semi(struct regions *r, uint32_t w, uint32_t v) {
    const uint32_t semi = r->visit[evaluate(r->visit, r->stack, v)].semi;
    if (semi < r->visit[w].semi)
        r->visit[w].semi = semi;
}

static void post_dominators(struct regions *r) {
    struct visit *visit = r->visit;
    for (uint32_t w = 0; w < r->num_visits; w++) {
        visit[w].semi = visit[w].best = w;
        visit[w].ancestor = visit[w].first = NONE;
    }
    for (uint32_t w = r->num_visits; w-- > 1;) {
        const struct flow_block *block = &r->flow->blocks[visit[w].block];
        for (uint32_t k = 0; k < block->num_succ; k++) {
            const struct node *to = &r->node[block->succ[k]];
            if (!to->exits && to->seen)
                lower_semi(r, w, to->number);
        }
        if (r->node[visit[w].block].to_end)
            lower_semi(r, w, 0);
        const uint32_t semi = visit[w].semi, parent = visit[w].parent;
        visit[w].next = visit[semi].first;
        visit[semi].first = w;
        visit[w].ancestor = parent;
        for (uint32_t v = visit[parent].first; v != NONE; v = visit[v].next) {
            const uint32_t u = evaluate(visit, r->stack, v);
            visit[v].ipdom = visit[u].semi < visit[v].semi ? u : parent;
        }
        visit[parent].first = NONE;
    }
    for (uint32_t w = 1; w < r->num_visits; w++)
        if (visit[w].ipdom != visit[w].semi)
            visit[w].ipdom = visit[visit[w].ipdom].ipdom;
}

void lower_find_joins(struct warp_func *f, const struct flow *flow) {
    const uint32_t n = flow->num_blocks;
    struct arena a = {0};
    struct regions r = {.flow = flow,
                        .node = arena_array(&a, n, sizeof *r.node),
                        .ends = arena_array(&a, n, sizeof *r.ends),
                        .stack = arena_array(&a, n, sizeof *r.stack),
                        .at = arena_array(&a, n, sizeof *r.at),
                        .visit = arena_array(&a, n, sizeof *r.visit)};
    cut_exits(&r);
    order_blocks(&r);
    post_dominators(&r);
    for (uint32_t b = 0; b + 1 < n; b++) {
        struct insn *in = &f->code[flow->blocks[b].last];
        if ((in->src->op == PTX_OP_bra || in->src->op == PTX_OP_brx_idx) && r.node[b].seen)
            in->join = flow->blocks[r.visit[r.visit[r.node[b].number].ipdom].block].first;
    }
    arena_free(&a);
    for (uint32_t i = 0; i < f->src->num_insns; i++) /* a guard, or several targets, part the lanes of a call */
        if (f->code[i].src->op == PTX_OP_call)
            f->code[i].join = i + 1;
}
