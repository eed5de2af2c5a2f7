/* view/names_of.h - what names.c and names_ranges.c share. */
#ifndef VIEW_NAMES_OF_H
#define VIEW_NAMES_OF_H

#include "base/arena.h"
#include "base/source.h"
#include "view/names.h"

#define NAMES_CHAIN 32  /* inlined calls around an instruction that are looked at */
#define NAMES_ROLES 64u /* tasks of a log that are told apart */

/* What the source says of an mbarrier.init. */
struct names_init {
    bool known;                  /* was looked for */
    const char *text;            /* NULL: nothing */
    int32_t index;               /* base/source.h */
    const struct trace_call *at; /* the line, or NULL: the PTX */
    uint32_t like;               /* a site that stands for all of the same line */
};

struct names {
    const struct trace_log *log;
    struct arena arena;
    struct source_files files;
    struct names_init *inits; /* by site, 0: none */
    uint32_t *init_sites;     /* those that stand for others */
    uint32_t num_init_sites, init_sites_cap;
    uint32_t *site_roles; /* by site: 1 + a number from 1 in `roles`, 1: it has none, 0: was not looked for */
    const char **roles;
    uint32_t num_roles, roles_cap;
    uint32_t tasks[TRACE_NO_WARP]; /* by warp number: a number from 1 in `roles`, 0: none */
    uint32_t num_warps;            /* warp numbers that the log tells of */
    bool tasks_known, alike;       /* alike: all have the same task */
    struct names *like;            /* of another run whose warps' names these take, or NULL */
    const char *called;            /* names_call_warps, or NULL */
    const char **fills;            /* by site: what the line of a copy calls what it fills or empties, or NULL */
    bool fills_known;
    struct names_cluster **clusters;
    /* By call: it is a trampoline, the one call in a file that many instructions come through, as of a kernel that only
     * calls another function. It says nothing of them. */
    bool *trampolines;
};

/* The calls around the instruction at `site` (0: none), the innermost first, without trampolines; how many. */
uint32_t names_chain(const struct names *names, uint32_t site, const struct trace_call *chain[NAMES_CHAIN]);

/* The ranges of a cluster whose objects have their names. */
void names_find_ranges(struct names *names, const struct trace_cluster *c, struct names_cluster *n);

#endif
