/* clock/table.c - the table of costs by name. */
#include "clock/table.h"

#include <stddef.h>
#include <string.h>

static const struct {
    struct clock_cost cost;
    size_t at;
} lines[] = {
#define COST(name, value, unit, source) {{#name, unit, source, value}, offsetof(struct clock_table, name)},
#include "clock/table.def"
#undef COST
};
enum { LINES = sizeof lines / sizeof lines[0] };

static double *cost_of(struct clock_table *table, size_t line) { return (double *)((char *)table + lines[line].at); }

/* Converts a cost to cycles, or to bytes in a cycle, of an SM at `ghz`. */
static double in_cycles(const char *unit, double value, double ghz) {
    if (strcmp(unit, "ns") == 0)
        return value * ghz;
    return strcmp(unit, "GB/s") == 0 ? value / ghz : value;
}

/* Converts the costs that do not follow the SM's clock. */
static void set_clock(struct clock_table *table, double ghz) {
    for (size_t i = 0; i < LINES; i++) {
        double *cost = cost_of(table, i);
        *cost = in_cycles(lines[i].cost.unit, *cost, ghz / table->clock);
    }
    table->clock = ghz;
}

struct clock_table clock_b200(void) {
    struct clock_table table = {
#define COST(name, value, unit, source) .name = value,
#include "clock/table.def"
#undef COST
    };
    const double ghz = table.clock;
    table.clock = 1;
    set_clock(&table, ghz);
    return table;
}

bool clock_table_set(struct clock_table *table, const char *name, double value) {
    for (size_t i = 0; i < LINES; i++)
        if (strcmp(lines[i].cost.name, name) == 0) {
            if (cost_of(table, i) == &table->clock)
                set_clock(table, value);
            else
                *cost_of(table, i) = in_cycles(lines[i].cost.unit, value, table->clock);
            return true;
        }
    return false;
}

struct clock_cost clock_table_line(unsigned n) {
    return n < LINES ? lines[n].cost : (struct clock_cost){0};
}
