/* view/tiles.c - which tile of D each tcgen05.mma works on; contract in tiles.h. */
#include "view/tiles.h"

#include "base/heap.h"

uint32_t *tiles_of(const struct trace_cluster *c) {
    uint32_t *tiles = xcalloc((size_t)c->num_ops + 1, sizeof *tiles), begun[16] = {0};
    bool accumulates[16] = {false};
    for (uint32_t i = 0; i < c->num_ops; i++) {
        const struct trace_op *op = &c->ops[i];
        tiles[i] = TILES_NONE;
        if (op->agent != AGENT_TENSOR_CORE || op->rank >= 16)
            continue;
        if (!op->accumulate && (accumulates[op->rank] || !begun[op->rank]))
            begun[op->rank]++;
        accumulates[op->rank] = op->accumulate;
        tiles[i] = begun[op->rank] ? begun[op->rank] - 1 : 0;
    }
    return tiles;
}
