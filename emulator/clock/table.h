/* clock/table.h - the one table of costs, clock/table.def, as a struct.
 *
 * The model counts in cycles of an SM. What does not follow the SM's clock has its own unit in table.def, ns or GB/s;
 * the struct holds it in cycles, or in bytes a cycle, at the table's `clock`. */
#ifndef CLOCK_TABLE_H
#define CLOCK_TABLE_H

#include <stdbool.h>

struct clock_table {
#define COST(name, value, unit, source) double name;
#include "clock/table.def"
#undef COST
};

/* A B200's, at the clock that table.def has. */
struct clock_table clock_b200(void);

/* Sets the cost of this name, in its unit of table.def; false when there is none. `clock`, in GHz and more than 0,
 * turns all costs in ns and GB/s into cycles anew. */
bool clock_table_set(struct clock_table *table, const char *name, double value);

struct clock_cost {
    const char *name, *unit, *source;
    double value;
};
/* The n-th line of the table, as it is for a B200; name NULL: there are fewer. */
struct clock_cost clock_table_line(unsigned n);

#endif
