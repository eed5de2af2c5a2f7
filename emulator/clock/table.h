/* clock/table.h - the table of costs, clock/table.def, as a struct.
 *
 * The model counts in cycles of an SM. Costs that do not follow the SM's clock have their own unit in table.def, ns or
 * GB/s. The struct holds them in cycles, or in bytes in a cycle, at the table's `clock`. */
#ifndef CLOCK_TABLE_H
#define CLOCK_TABLE_H

#include <stdbool.h>

struct clock_table {
#define COST(name, value, unit, source) double name;
#include "clock/table.def"
#undef COST
};

/* The costs of a B200, at the clock in table.def. */
struct clock_table clock_b200(void);

/* Sets the cost of this name, in its unit of table.def. False: there is none. `clock`, in GHz and more than 0, converts
 * all costs in ns and GB/s to cycles again. */
bool clock_table_set(struct clock_table *table, const char *name, double value);

struct clock_cost {
    const char *name, *unit, *source;
    double value;
};
/* The n-th line of the table for a B200; name NULL: there are fewer. */
struct clock_cost clock_table_line(unsigned n);

#endif
