/* launch/cfg.c - where lanes that part at a branch meet again: the branch's immediate post-dominator.
 *
 * The chip's compiler places convergence barriers there (BSSY/BSYNC); PTX has no such notion, so the emulator derives
 * it. A branch to a bare `ret` of a kernel, `exit` or `trap` does not count as a way out of a region, since threads that
 * exit leave a convergence barrier: an early `if (done) return;` must not keep the others from meeting. It counts where
 * a loop has no other way out: the last such branch in the text is then the loop's end.
 * Post-dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
 */
#include "launch/state.h"

#include <stdlib.h>

struct block {
    uint32_t first, last; /* instructions, inclusive */
    uint32_t *succ;
    uint32_t num_succ;
    uint32_t *pred;
    uint32_t num_pred;
    uint32_t order; /* number in postorder of the reversed graph; 0: cannot reach the end */
    uint32_t ipdom; /* block, UINT32_MAX: none yet */
    bool exits;     /* ends every thread that enters it */
    bool cut;       /* a way to a block that exits is left out */
    bool is_end;    /* that way counts after all */
};

struct graph {
    struct block *blocks;
    uint32_t num;
    uint32_t *block_of; /* by instruction */
    uint32_t *edges;
};

static bool ends_block(const struct insn *in) {
    switch (in->src->op) {
    case PTX_OP_bra:
    case PTX_OP_brx_idx:
    case PTX_OP_ret:
    case PTX_OP_exit:
    case PTX_OP_trap:
        return true;
    default:
        return false;
    }
}

static bool falls_through(const struct insn *in) {
    if (in->guard != WARP_SINK)
        return true;
    return !ends_block(in);
}

/* Branch targets of the last instruction of a block. */
static uint32_t targets(const struct warp_func *f, const struct insn *in, const uint32_t **list, uint32_t *one) {
    switch (in->src->op) {
    case PTX_OP_bra:
        *one = in->o[0].target;
        *list = one;
        return in->num_opnds && in->o[0].kind == WARP_LABEL ? 1 : 0;
    case PTX_OP_brx_idx:
        if (in->num_opnds < 2 || in->o[1].kind != WARP_TABLE)
            return 0;
        *list = in->o[1].table->labels;
        return in->o[1].table->count;
    case PTX_OP_ret:
        if (f->src->is_entry)
            return 0;
        *one = f->num_insns - 1;
        *list = one;
        return in == &f->code[f->num_insns - 1] ? 0 : 1;
    default:
        return 0;
    }
}

/* A block that does nothing but end the thread: `exit`, `trap`, or a kernel's `ret`. The synthetic last instruction is the
 * end of the graph instead. */
static bool is_exit(const struct warp_func *f, const struct block *b) {
    const struct insn *in = &f->code[b->first];
    if (b->last == f->num_insns - 1 || in->guard != WARP_SINK)
        return false;
    return in->src->op == PTX_OP_exit || in->src->op == PTX_OP_trap || (in->src->op == PTX_OP_ret && f->src->is_entry);
}

static void make_blocks(const struct warp_func *f, struct graph *g) {
    uint32_t n = f->num_insns;
    uint8_t *leader = xcalloc(n + 1, 1);
    leader[0] = leader[n - 1] = 1;
    size_t num_edges = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *list;
        uint32_t one, c = targets(f, &f->code[i], &list, &one);
        for (uint32_t k = 0; k < c; k++)
            if (list[k] < n)
                leader[list[k]] = 1;
        if (ends_block(&f->code[i]))
            leader[i + 1] = 1;
        num_edges += c;
    }
    for (uint32_t i = 0; i < n; i++)
        g->num += leader[i];
    g->blocks = xcalloc(g->num, sizeof *g->blocks);
    g->block_of = xcalloc(n, sizeof *g->block_of);
    g->edges = xcalloc(2 * (num_edges + 2 * (size_t)g->num) + 1, sizeof *g->edges);
    uint32_t b = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (leader[i])
            g->blocks[++b].first = i;
        g->blocks[b].last = i;
        g->block_of[i] = b;
    }
    free(leader);
}

/* Successors of a block: branch targets and the next block, without early exits while another way remains. A block
 * whose every way on ends the thread leads to the end of the graph; one that traps leads nowhere. Fills at most one
 * more than the branch has targets. */
static uint32_t successors(const struct warp_func *f, struct graph *g, uint32_t b, uint32_t *out) {
    struct block *bl = &g->blocks[b];
    const struct insn *in = &f->code[bl->last];
    const uint32_t *list = NULL;
    uint32_t one, n = 0, ways = 0, c = targets(f, in, &list, &one);
    for (uint32_t k = 0; k < c; k++)
        if (list[k] < f->num_insns) {
            ways++;
            if (!g->blocks[g->block_of[list[k]]].exits)
                out[n++] = g->block_of[list[k]];
        }
    if (bl->last + 1 < f->num_insns && falls_through(in)) {
        ways++;
        if (!g->blocks[b + 1].exits)
            out[n++] = b + 1;
    }
    bl->cut = n < ways;
    if (bl->is_end || (n == 0 && b != g->num - 1 && in->src->op != PTX_OP_trap))
        out[n++] = g->num - 1;
    return n;
}

static void connect(const struct warp_func *f, struct graph *g) {
    uint32_t *next = g->edges;
    for (uint32_t b = 0; b < g->num; b++) {
        g->blocks[b].exits = is_exit(f, &g->blocks[b]);
        g->blocks[b].num_pred = 0;
    }
    for (uint32_t b = 0; b < g->num; b++) {
        struct block *bl = &g->blocks[b];
        bl->succ = next;
        bl->num_succ = successors(f, g, b, next);
        next += bl->num_succ;
        for (uint32_t k = 0; k < bl->num_succ; k++)
            g->blocks[bl->succ[k]].num_pred++;
    }
    for (uint32_t b = 0; b < g->num; b++) {
        g->blocks[b].pred = next;
        next += g->blocks[b].num_pred;
        g->blocks[b].num_pred = 0;
    }
    for (uint32_t b = 0; b < g->num; b++)
        for (uint32_t k = 0; k < g->blocks[b].num_succ; k++) {
            struct block *s = &g->blocks[g->blocks[b].succ[k]];
            s->pred[s->num_pred++] = b;
        }
}

/* Marks the blocks that lead to `from`. */
static void lead_to(const struct graph *g, uint32_t from, uint8_t *seen, uint32_t *stack) {
    uint32_t sp = 0;
    stack[sp++] = from;
    seen[from] = 1;
    while (sp) {
        const struct block *b = &g->blocks[stack[--sp]];
        for (uint32_t k = 0; k < b->num_pred; k++)
            if (!seen[b->pred[k]]) {
                seen[b->pred[k]] = 1;
                stack[sp++] = b->pred[k];
            }
    }
}

/* Loops that only early exits leave: their last one counts. */
static void find_ends(const struct warp_func *f, struct graph *g) {
    uint8_t *seen = xcalloc(g->num, 1);
    uint32_t *stack = xcalloc(g->num, sizeof *stack);
    bool any = false;
    lead_to(g, g->num - 1, seen, stack);
    for (uint32_t b = g->num; b-- > 0;)
        if (!seen[b] && g->blocks[b].cut) {
            any = g->blocks[b].is_end = true;
            lead_to(g, b, seen, stack);
        }
    free(seen);
    free(stack);
    if (any)
        connect(f, g);
}

static void postorder(struct graph *g, uint32_t *order, uint32_t *count) {
    /* iterative depth-first search from the end over predecessors */
    uint32_t *stack = xcalloc(g->num, sizeof *stack), *at = xcalloc(g->num, sizeof *at);
    uint8_t *seen = xcalloc(g->num, 1);
    uint32_t sp = 0, n = 0;
    stack[sp++] = g->num - 1;
    seen[g->num - 1] = 1;
    while (sp) {
        uint32_t b = stack[sp - 1];
        if (at[b] < g->blocks[b].num_pred) {
            uint32_t p = g->blocks[b].pred[at[b]++];
            if (!seen[p]) {
                seen[p] = 1;
                stack[sp++] = p;
            }
        } else {
            sp--;
            order[n++] = b;
            g->blocks[b].order = n;
        }
    }
    *count = n;
    free(stack);
    free(at);
    free(seen);
}

static uint32_t meet(const struct graph *g, uint32_t a, uint32_t b) {
    while (a != b) {
        while (g->blocks[a].order < g->blocks[b].order)
            a = g->blocks[a].ipdom;
        while (g->blocks[b].order < g->blocks[a].order)
            b = g->blocks[b].ipdom;
    }
    return a;
}

static void post_dominators(struct graph *g) {
    uint32_t *order = xcalloc(g->num, sizeof *order), n = 0;
    postorder(g, order, &n);
    for (uint32_t b = 0; b < g->num; b++)
        g->blocks[b].ipdom = UINT32_MAX;
    g->blocks[g->num - 1].ipdom = g->num - 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = n; i-- > 0;) {
            uint32_t b = order[i], dom = UINT32_MAX;
            if (b == g->num - 1)
                continue;
            for (uint32_t k = 0; k < g->blocks[b].num_succ; k++) {
                uint32_t s = g->blocks[b].succ[k];
                if (g->blocks[s].ipdom != UINT32_MAX)
                    dom = dom == UINT32_MAX ? s : meet(g, dom, s);
            }
            if (dom != g->blocks[b].ipdom) {
                g->blocks[b].ipdom = dom;
                changed = true;
            }
        }
    }
    free(order);
}

void launch_find_joins(struct warp_module *m, struct warp_func *f) {
    (void)m;
    struct graph g = {0};
    make_blocks(f, &g);
    connect(f, &g);
    find_ends(f, &g);
    post_dominators(&g);
    for (uint32_t b = 0; b < g.num; b++) {
        struct insn *in = &f->code[g.blocks[b].last];
        uint32_t dom = g.blocks[b].ipdom;
        if ((in->src->op == PTX_OP_bra || in->src->op == PTX_OP_brx_idx) && dom != UINT32_MAX && dom != b)
            in->join = g.blocks[dom].first;
    }
    free(g.blocks);
    free(g.block_of);
    free(g.edges);
}
