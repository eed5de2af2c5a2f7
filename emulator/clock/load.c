/* clock/load.c - see clock/load.h. */
#include "clock/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOWEST 0.1
#define HIGHEST 3.0

static const char *const names[] = {[CLOCK_SUSTAINED] = "sustained", [CLOCK_BURST] = "burst", [CLOCK_BOOST] = "boost"};

bool clock_state_parse(const char *text, struct clock_state *state) {
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *state = (struct clock_state){.kind = i};
            return true;
        }
    const size_t digits = strspn(text, "0123456789."); /* no sign, no hexadecimal digits, no "inf" */
    char *end;
    const double value = strtod(text, &end);
    const double ghz = strcmp(text + digits, "MHz") == 0 ? value / 1000 : value;
    if (end != text + digits || digits == 0 || (strcmp(end, "GHz") != 0 && strcmp(end, "MHz") != 0) ||
        !(ghz >= LOWEST && ghz <= HIGHEST))
        return false;
    *state = (struct clock_state){CLOCK_LOCKED, ghz};
    return true;
}

void clock_state_text(const struct clock_state *state, char *text, unsigned long size) {
    if (state->kind == CLOCK_LOCKED)
        snprintf(text, size, "%.4gGHz", state->ghz);
    else
        snprintf(text, size, "%s", names[state->kind]);
}

struct clock_table clock_b200_in(const struct clock_state *state) {
    struct clock_table table = clock_b200();
    if (state->kind == CLOCK_LOCKED)
        clock_table_set(&table, "clock", state->ghz);
    return table;
}

struct clock_time clock_time(const struct clock_table *costs, const struct clock_state *state, double cycles,
                             struct clock_load load) {
    const double falls = state->kind == CLOCK_SUSTAINED ? costs->load_sustained * load.all
                         : state->kind == CLOCK_BURST   ? costs->load_burst * load.gpcs
                                                        : 0;
    const double ghz = costs->clock * (1 - falls), ns = cycles / ghz;
    const bool known = state->kind == CLOCK_SUSTAINED;
    return (struct clock_time){ghz, ns, ns * (known ? costs->band_low : 1), ns * (known ? costs->band_high : 1)};
}
