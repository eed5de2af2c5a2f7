/* lower/flow.c - blocks and the ways between them; contract in flow.h. */
#include "lower/flow.h"

static bool ends_block(const struct ptx_insn *in) {
    switch (in->op) {
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

/* Where an instruction may jump to. */
static uint32_t targets(const struct ptx_func *f, const struct ptx_insn *in, const uint32_t **list) {
    const struct ptx_operand *o = in->operands;
    switch (in->op) {
    case PTX_OP_bra:
        *list = &o[0].label;
        return in->num_operands && o[0].kind == PTX_OPND_LABEL ? 1 : 0;
    case PTX_OP_brx_idx:
        if (in->num_operands < 2 || o[1].kind != PTX_OPND_TABLE || !o[1].table->labels)
            return 0;
        *list = o[1].table->labels;
        return o[1].table->count;
    case PTX_OP_ret:
        *list = &f->num_insns;
        return f->is_entry ? 0 : 1;
    default:
        return 0;
    }
}

static void find_blocks(struct flow *g) {
    const uint32_t end = g->func->num_insns;
    bool *leads = arena_array(&g->arena, (size_t)end + 1, sizeof *leads);
    leads[0] = leads[end] = true;
    for (uint32_t i = 0; i < end; i++) {
        const uint32_t *list = NULL, count = targets(g->func, &g->func->insns[i], &list);
        for (uint32_t k = 0; k < count; k++)
            leads[list[k]] = true;
        if (ends_block(&g->func->insns[i]))
            leads[i + 1] = true;
    }
    for (uint32_t i = 0; i <= end; i++)
        g->num_blocks += leads[i];
    g->blocks = arena_array(&g->arena, g->num_blocks, sizeof *g->blocks);
    g->block_of = arena_array(&g->arena, (size_t)end + 1, sizeof *g->block_of);
    for (uint32_t i = 0, b = UINT32_MAX; i <= end; i++) {
        if (leads[i])
            g->blocks[++b].first = i;
        g->blocks[b].last = i;
        g->block_of[i] = b;
    }
}

static void find_successors(struct flow *g) {
    for (uint32_t b = 0; b + 1 < g->num_blocks; b++) {
        struct flow_block *from = &g->blocks[b];
        const struct ptx_insn *in = &g->func->insns[from->last];
        const uint32_t *list = NULL, count = targets(g->func, in, &list);
        from->succ = arena_array(&g->arena, (size_t)count + 1, sizeof *from->succ);
        for (uint32_t k = 0; k < count; k++)
            from->succ[from->num_succ++] = g->block_of[list[k]];
        if (in->guard || !ends_block(in))
            from->succ[from->num_succ++] = b + 1;
        for (uint32_t k = 0; k < from->num_succ; k++)
            g->blocks[from->succ[k]].num_pred++;
        g->num_edges += from->num_succ;
    }
}

static void find_predecessors(struct flow *g) {
    uint32_t *next = arena_array(&g->arena, g->num_edges, sizeof *next);
    for (uint32_t b = 0; b < g->num_blocks; b++) {
        g->blocks[b].pred = next;
        next += g->blocks[b].num_pred;
        g->blocks[b].num_pred = 0;
    }
    for (uint32_t b = 0; b < g->num_blocks; b++)
        for (uint32_t k = 0; k < g->blocks[b].num_succ; k++) {
            struct flow_block *to = &g->blocks[g->blocks[b].succ[k]];
            to->pred[to->num_pred++] = b;
        }
}

struct flow lower_flow(const struct ptx_func *func) {
    struct flow g = {.func = func};
    find_blocks(&g);
    find_successors(&g);
    find_predecessors(&g);
    return g;
}
