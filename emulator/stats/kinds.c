/* stats/kinds.c - instructions as the field sorts them; contract in stats.h. */
#include "stats/stats.h"

#include <string.h>

static const struct {
    const char *name, *key;
} kinds[STATS_KINDS] = {
    [STATS_INTEGER] = {"integer, logic, compare", "integer"},
    [STATS_FLOAT] = {"floating point", "floating_point"},
    [STATS_CONVERT] = {"conversion", "conversion"},
    [STATS_MOVE] = {"moves, addresses", "move"},
    [STATS_LD_ST_GLOBAL] = {"global memory", "global_memory"},
    [STATS_LD_ST_SHARED] = {"shared memory", "shared_memory"},
    [STATS_LD_ST_LOCAL] = {"local memory", "local_memory"},
    [STATS_LD_PARAM] = {"parameters, constants", "parameters"},
    [STATS_MATRIX] = {"warp-level matrix", "warp_matrix"},
    [STATS_CONTROL] = {"control flow", "control"},
    [STATS_WARP] = {"warp votes, shuffles", "warp"},
    [STATS_BARRIER] = {"barriers, fences", "barrier"},
    [STATS_MBARRIER] = {"mbarrier", "mbarrier"},
    [STATS_COPY] = {"asynchronous copies", "async_copy"},
    [STATS_TCGEN05] = {"tcgen05", "tcgen05"},
    [STATS_OTHER] = {"other", "other"},
};

const char *stats_kind_name(enum stats_kind kind) { return kinds[kind].name; }
const char *stats_kind_key(enum stats_kind kind) { return kinds[kind].key; }

/* Opcodes, or what they begin with where a '.' ends the word; the first that fits counts. `st` and the like are told
 * apart by their words. */
static const struct {
    const char *begin;
    enum stats_kind kind;
} begins[] = {
    {"tcgen05", STATS_TCGEN05},
    {"cp.async.mbarrier", STATS_MBARRIER},
    {"cp", STATS_COPY},
    {"mbarrier", STATS_MBARRIER},
    {"clusterlaunchcontrol", STATS_OTHER},
    {"bar.warp", STATS_WARP},
    {"bar", STATS_BARRIER},
    {"barrier", STATS_BARRIER},
    {"membar", STATS_BARRIER},
    {"fence", STATS_BARRIER},
    {"tensormap.cp_fenceproxy", STATS_BARRIER},
    {"griddepcontrol", STATS_BARRIER},
    {"ldmatrix", STATS_MATRIX},
    {"stmatrix", STATS_MATRIX},
    {"movmatrix", STATS_MATRIX},
    {"mma", STATS_MATRIX},
    {"bra", STATS_CONTROL},
    {"brx", STATS_CONTROL},
    {"call", STATS_CONTROL},
    {"ret", STATS_CONTROL},
    {"exit", STATS_CONTROL},
    {"trap", STATS_CONTROL},
    {"brkpt", STATS_CONTROL},
    {"shfl", STATS_WARP},
    {"vote", STATS_WARP},
    {"match", STATS_WARP},
    {"redux", STATS_WARP},
    {"elect", STATS_WARP},
    {"activemask", STATS_WARP},
    {"cvt", STATS_CONVERT},
    {"mov", STATS_MOVE},
    {"selp", STATS_MOVE},
    {"slct", STATS_MOVE},
    {"prmt", STATS_MOVE},
    {"cvta", STATS_MOVE},
    {"mapa", STATS_MOVE},
    {"getctarank", STATS_MOVE},
    {"isspacep", STATS_MOVE},
    {"createpolicy", STATS_MOVE},
    {"nanosleep", STATS_OTHER},
    {"pmevent", STATS_OTHER},
    {"setmaxnreg", STATS_OTHER},
    {"prefetch", STATS_LD_ST_GLOBAL},
    {"prefetchu", STATS_LD_ST_GLOBAL},
    {"applypriority", STATS_LD_ST_GLOBAL},
    {"discard", STATS_LD_ST_GLOBAL},
};
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
    for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
        if (begins_with(s->what, begins[i].begin))
            return begins[i].kind;
    for (unsigned i = 0; i < sizeof floats / sizeof *floats; i++)
        if (has_word(s->site, floats[i]))
            return STATS_FLOAT;
    return STATS_INTEGER;
}
