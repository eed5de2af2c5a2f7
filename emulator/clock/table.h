/* clock/table.h - the one table of costs, clock/table.def, as a struct. */
#ifndef CLOCK_TABLE_H
#define CLOCK_TABLE_H

#include <stdbool.h>

struct clock_table {
#define COST(name, value, unit, source) double name;
#include "clock/table.def"
#undef COST
};

/* A B200's. */
struct clock_table clock_b200(void);

/* Sets the cost of this name; false when there is none. */
bool clock_table_set(struct clock_table *table, const char *name, double value);

struct clock_cost {
    const char *name, *unit, *source;
    double value;
};
/* The n-th line of the table, as it is for a B200; name NULL: there are fewer. */
struct clock_cost clock_table_line(unsigned n);

#endif
