/* lower/counts.c - how many machine instructions a PTX instruction became; contract in lower.h. */
#include "lower/flow.h"
#include "lower/lower.h"
#include "warp/warp.h"

/* Instructions of the block on this line, and which of them `at` is, from 0 on. */
static uint32_t on_line(const struct ptx_func *f, const struct flow_block *b, uint32_t at, uint32_t *which) {
    uint32_t n = 0;
    for (uint32_t i = b->first; i <= b->last && i < f->num_insns; i++) {
        if (i == at)
            *which = n;
        n += f->insns[i].site.ptx_line == f->insns[at].site.ptx_line;
    }
    return n;
}

enum { MOST = 1000 }; /* of one instruction: a division, or a damaged table */

/* The instruction's part of what its line became. */
static uint32_t part_of(const struct ptx_func *f, const struct flow_block *b, uint32_t at, const uint32_t *counts,
                        uint32_t lines) {
    const uint32_t line = f->insns[at].site.ptx_line, all = line < lines ? counts[line] : 0;
    uint32_t which = 0;
    const uint32_t n = at > b->first && f->insns[at - 1].site.ptx_line != line &&
                               (at == b->last || at + 1 == f->num_insns || f->insns[at + 1].site.ptx_line != line)
                           ? 1
                           : on_line(f, b, at, &which);
    const uint32_t part = n ? all / n + (which < all % n) : 0;
    return part < MOST ? part : MOST;
}

void lower_set_counts(struct warp_module *m, const uint32_t *counts, uint32_t lines) {
    for (uint32_t k = 0; k < m->ptx->num_funcs; k++) {
        const struct ptx_func *f = m->ptx->funcs[k];
        struct flow g = lower_flow(f);
        for (uint32_t b = 0; b + 1 < g.num_blocks; b++) {
            const struct flow_block *block = &g.blocks[b];
            uint64_t sum = 0;
            for (uint32_t i = block->first; i <= block->last; i++)
                sum += part_of(f, block, i, counts, lines);
            for (uint32_t i = block->first; i <= block->last && sum && sum <= 2 * (block->last - block->first + 1u);
                 i++)
                ((struct ptx_insn *)(uintptr_t)&f->insns[i])->site.sass = 1 + part_of(f, block, i, counts, lines);
        }
        arena_free(&g.arena);
    }
}
