/* stats/kinds.c - instructions as the field sorts them; contract in stats.h. */
#include "stats/stats.h"

#include <string.h>

/* `begins`: opcodes, or what they begin with where a '.' ends the word; the first that fits counts. `st` and the like
 * are told apart by their words. */
static const struct {
    const char *name, *key, *begins[10]; /* NULL behind the last */
} kinds[STATS_KINDS] = {
    [STATS_INTEGER] = {"integer, logic, compare", "integer", {NULL}},
    [STATS_FLOAT] = {"floating point", "floating_point", {NULL}},
    [STATS_CONVERT] = {"conversion", "conversion", {"cvt"}},
    [STATS_MOVE] = {"moves, addresses",
                    "move",
                    {"mov", "selp", "slct", "prmt", "cvta", "mapa", "getctarank", "isspacep", "createpolicy"}},
    [STATS_LD_ST_GLOBAL] = {"global memory", "global_memory", {"prefetch", "prefetchu", "applypriority", "discard"}},
    [STATS_LD_ST_SHARED] = {"shared memory", "shared_memory", {NULL}},
    [STATS_LD_ST_LOCAL] = {"local memory", "local_memory", {NULL}},
    [STATS_LD_PARAM] = {"parameters, constants", "parameters", {NULL}},
    [STATS_MATRIX] = {"warp-level matrix", "warp_matrix", {"ldmatrix", "stmatrix", "movmatrix", "mma"}},
    [STATS_CONTROL] = {"control flow", "control", {"bra", "brx", "call", "ret", "exit", "trap", "brkpt"}},
    [STATS_WARP] = {"warp votes, shuffles",
                    "warp",
                    {"bar.warp", "shfl", "vote", "match", "redux", "elect", "activemask"}},
    [STATS_BARRIER] = {"barriers, fences",
                       "barrier",
                       {"bar", "barrier", "membar", "fence", "tensormap.cp_fenceproxy", "griddepcontrol"}},
    [STATS_MBARRIER] = {"mbarrier", "mbarrier", {"cp.async.mbarrier", "mbarrier"}},
    [STATS_COPY] = {"asynchronous copies", "async_copy", {"cp"}},
    [STATS_TCGEN05] = {"tcgen05", "tcgen05", {"tcgen05"}},
    [STATS_OTHER] = {"other", "other", {"clusterlaunchcontrol", "nanosleep", "pmevent", "setmaxnreg"}},
};

const char *stats_kind_name(enum stats_kind kind) { return kinds[kind].name; }
const char *stats_kind_key(enum stats_kind kind) { return kinds[kind].key; }

static const char *const accesses[] = {"ld", "ldu", "st", "st.bulk", "atom", "red", "tensormap.replace"};

static bool begins_with(const char *text, const char *begin) {
    const size_t n = strlen(begin);
    return strncmp(text, begin, n) == 0 && (text[n] == 0 || text[n] == '.');
}

/* Has the opcode of the instruction the word? `word` with its dot; the guard is skipped. */
static bool has_word(const struct diag_site *site, const char *word) {
    const char *at = site->ptx_text ? site->ptx_text : "";
    if (*at == '@')
        at += strcspn(at, " ");
    at += strspn(at, " ");
    const size_t len = strcspn(at, " "), n = strlen(word);
    for (size_t i = 0; i + n <= len; i++)
        if (strncmp(at + i, word, n) == 0 && (i + n == len || strchr(".:;", at[i + n])))
            return true;
    return false;
}

static enum stats_kind access_kind(const struct stats_site *s) {
    if (has_word(s->site, ".param") || has_word(s->site, ".const"))
        return STATS_LD_PARAM;
    if (has_word(s->site, ".local"))
        return STATS_LD_ST_LOCAL;
    if (has_word(s->site, ".global") || s->global.bytes)
        return STATS_LD_ST_GLOBAL;
    return has_word(s->site, ".shared") || s->shared.bytes ? STATS_LD_ST_SHARED : STATS_LD_ST_LOCAL;
}

enum stats_kind stats_kind_of(const struct stats_site *s) {
    static const char *const floats[] = {".f32", ".f16", ".f16x2", ".bf16", ".bf16x2", ".f64", ".f32x2"};
    for (unsigned i = 0; i < sizeof accesses / sizeof *accesses; i++)
        if (strcmp(s->what, accesses[i]) == 0)
            return access_kind(s);
    for (enum stats_kind kind = 0; kind < STATS_KINDS; kind++)
        for (const char *const *begin = kinds[kind].begins; *begin; begin++)
            if (begins_with(s->what, *begin))
                return kind;
    for (unsigned i = 0; i < sizeof floats / sizeof *floats; i++)
        if (has_word(s->site, floats[i]))
            return STATS_FLOAT;
    return STATS_INTEGER;
}
