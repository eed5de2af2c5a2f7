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

struct clock_table clock_b200(void) {
    return (struct clock_table){
#define COST(name, value, unit, source) .name = value,
#include "clock/table.def"
#undef COST
    };
}

bool clock_table_set(struct clock_table *table, const char *name, double value) {
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strcmp(lines[i].cost.name, name) == 0) {
            memcpy((char *)table + lines[i].at, &value, sizeof value);
            return true;
        }
    return false;
}

struct clock_cost clock_table_line(unsigned n) {
    return n < sizeof lines / sizeof lines[0] ? lines[n].cost : (struct clock_cost){0};
}
