/* The data-path layouts of D beside the figures of PTX ISA 9.7.16.10.5, written out, and that no two elements share a
 * cell.
 */
#include "../../check.h"
#include "engines/tc_layout.h"

#include <stddef.h>

static struct tc_place figure(uint32_t m, uint32_t group, uint32_t n, uint32_t row, uint32_t column) {
    if (group == 1)
        return (struct tc_place){0, m == 64 ? row / 16 * 32 + row % 16 : row, column};
    if (m == 256)
        return (struct tc_place){row / 128, row % 128, column};
    return (struct tc_place){row / 64, row % 64 + (column >= n / 2 ? 64 : 0), column % (n / 2)};
}

int main(void) {
    static const uint32_t forms[][3] = {{128, 1, 16}, {64, 1, 8},    {256, 2, 32},
                                        {128, 2, 32}, {128, 1, 256}, {128, 2, 256}};
    static const uint32_t none[][2] = {{256, 1}, {64, 2}, {32, 1}, {128, 0}};
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        static bool taken[2][128][256];
        const uint32_t m = forms[i][0], group = forms[i][1], n = forms[i][2];
        const struct tc_layout *l = tc_layout_of(m, group);
        uint32_t wrong = 0, twice = 0;
        memset(taken, 0, sizeof taken);
        for (uint32_t r = 0; r < m; r++)
            for (uint32_t c = 0; c < n; c++) {
                const struct tc_place p = tc_layout_place(l, n, r, c), want = figure(m, group, n, r, c);
                wrong += p.cta != want.cta || p.lane != want.lane || p.column != want.column ||
                         tc_layout_row(l, p.lane) != r % l->rows;
                twice += taken[p.cta][p.lane][p.column];
                taken[p.cta][p.lane][p.column] = true;
            }
        CHECK_EQ(wrong, 0);
        CHECK_EQ(twice, 0);
    }
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
        CHECK(tc_layout_of(none[i][0], none[i][1]) == NULL);
    return check_report();
}
