/* trace/describe.c - what a log says of an operation, an access and an instruction; contract in describe.h. */
#include "trace/describe.h"

#include <string.h>

/* --- instructions ------------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* The opcode, after the guard. */
static const char *opcode(const char *text) {
    if (text[0] != '@')
        return text;
    text += strcspn(text, " ");
    return text + strspn(text, " ");
}

static bool of_shared(const char *op) {
    const char *space = strchr(op, '.');
    for (; space && *space == '.'; space += 1 + strcspn(space + 1, ". "))
        if (begins(space, ".shared") || begins(space, ".local"))
            return true;
    return false;
}

static enum trace_run run_of(const char *op) {
    static const char *const async[] = {"mbarrier", "barrier", "bar.", "fence", "membar", "tcgen05", "cp.", "wgmma"};
    static const char *const control[] = {"bra",   "brx",   "call",       "ret",  "exit",     "vote",
                                          "elect", "match", "activemask", "setp", "nanosleep"};
    static const char *const memory[] = {"ld", "st", "atom", "red", "ldmatrix", "stmatrix"};
    const size_t word = strcspn(op, ". ;");
    for (size_t i = 0; i < sizeof async / sizeof *async; i++)
        if (begins(op, async[i]))
            return RUN_ASYNC;
    for (size_t i = 0; i < sizeof control / sizeof *control; i++)
        if (word == strlen(control[i]) && begins(op, control[i]))
            return RUN_CONTROL;
    if (begins(op, "ld.param") || begins(op, "ld.const"))
        return RUN_ALU;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        if (word == strlen(memory[i]) && begins(op, memory[i]))
            return of_shared(op) || word > 4 ? RUN_SHARED : RUN_GLOBAL;
    return RUN_ALU;
}

/* Does its result depend on time or on other clusters? */
static bool is_timed(const char *op) {
    return strstr(op, "%clock") || strstr(op, "%globaltimer") || (begins(op, "atom.") && !of_shared(op));
}

struct trace_kind trace_kind_of(const struct diag_site *site) {
    const char *op = opcode(site->ptx_text ? site->ptx_text : "");
    struct trace_kind k = {run_of(op), is_timed(op), 1, 0};
    if (site->sass) {
        k.own = k.run > RUN_CONTROL || site->sass > 1; /* an access to memory or an engine always counts */
        k.more = site->sass > 2 ? site->sass - 2 : 0;
    }
    return k;
}

/* --- operations --------------------------------------------------------------------------------------------------- */

static uint32_t rank_of(const struct cta *cta) { return cta ? cta->rank + 1 : 0; }

/* A key of a map, from the 64 of its 128 bytes that copies read (engines/tensormap.h): FNV-1a. */
static uint64_t map_key(const uint8_t *map) {
    uint64_t key = map ? UINT64_C(0xCBF29CE484222325) : 0;
    for (unsigned i = 0; map && i < 64; i++)
        key = (key ^ map[i]) * UINT64_C(0x100000001B3);
    return key;
}

struct trace_op trace_describe(const struct async_op *op, struct event_work *k) {
    *k = (struct event_work){0};
    if (op->kind->describe)
        op->kind->describe(op, k);
    struct trace_op o = {
        .agent = op->kind->agent,
        .rank = op->cta->rank,
        .warp = op->origin.thread.warp,
        .m = k->m,
        .n = k->n,
        .k = k->k,
        .cta_group = k->cta_group,
        .kind = k->kind,
        .from = rank_of(k->from),
        .from_off = k->from_off,
        .to = rank_of(k->to),
        .to_off = k->to_off,
        .signals = rank_of(k->signals),
        .signals_off = k->signals_off,
        .ctas = k->ctas,
        .accumulate = k->accumulate,
        .a_in_tmem = k->a_in_tmem,
        .taken = k->taken,
        .sfa = k->sfa,
        .sfb = k->sfb,
        .row = k->row,
        .dims = k->coord ? k->rank : 0,
        .bytes = k->bytes,
        .a = k->a,
        .b = k->b,
        .global = k->global,
        .map = map_key(k->map),
        .first = k->first,
    };
    memcpy(o.coord, k->coord ? k->coord : o.coord, o.dims * sizeof *o.coord);
    return o;
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

uint32_t trace_sectors(const struct event_access *a) {
    uint64_t list[2 * MACH_WARP];
    uint32_t n = 0;
    for (uint32_t lanes = a->by.lanes; lanes; lanes &= lanes - 1) {
        const uint64_t at = a->at[__builtin_ctz(lanes)];
        for (uint64_t s = at / 32; s <= (at + a->size - 1) / 32; s++) {
            uint32_t i = n;
            while (i && list[i - 1] != s)
                i--;
            if (!i && n < 2 * MACH_WARP)
                list[n++] = s;
        }
    }
    return n;
}
