/* engines/tc_layout.c - the data-path layouts of D; contract in tc_layout.h. */
#include "engines/tc_layout.h"

#include "machine/machine.h"

static const struct tc_layout layouts[] = {
    {.m = 128, .group = 1, .rows = 128, .halves = 1, .stride = 16}, /* D */
    {.m = 64, .group = 1, .rows = 64, .halves = 1, .stride = 32},   /* F */
    {.m = 256, .group = 2, .rows = 128, .halves = 1, .stride = 16}, /* A */
    {.m = 128, .group = 2, .rows = 64, .halves = 2, .stride = 16},  /* B */
};

const struct tc_layout *tc_layout_of(uint32_t m, uint32_t group) {
    for (uint32_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].m == m && layouts[i].group == group)
            return &layouts[i];
    return NULL;
}

struct tc_place tc_layout_place(const struct tc_layout *l, uint32_t n, uint32_t row, uint32_t column) {
    const uint32_t columns = n / l->halves, r = row % l->rows;
    return (struct tc_place){
        .cta = row / l->rows,
        .lane = column / columns * (TMEM_LANES / l->halves) + r / 16 * l->stride + r % 16,
        .column = column % columns,
    };
}

uint32_t tc_layout_row(const struct tc_layout *l, uint32_t lane) {
    return lane % (TMEM_LANES / l->halves) / l->stride * 16 + lane % 16;
}
