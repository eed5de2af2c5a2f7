/* deadlock/barrier_name.c - what a program calls an mbarrier; contract in blame.h.
 *
 * An mbarrier is 8 bytes at an offset. A static variable of 8 bytes, or an array of them, has its name in the PTX. What
 * lies in a larger structure or in dynamic memory has none, nor has the machine code's debug information: there the
 * line of the source that initialised the barrier names it, by the argument of a call whose name ends in `init`, or by
 * the object whose member of that name it calls. Of the lines that the instruction was inlined from the innermost one
 * that says more than `this` counts. A file that is newer than the program is not asked.
 */
#include "deadlock/blame.h"

#include <stdio.h>

/* --- variables ---------------------------------------------------------------------------------------------------- */

static bool covers(const struct ptx_var *v, uint32_t at, uint32_t off) {
    return v->space == PTX_SPACE_SHARED && at && off >= at && off < at + v->size &&
           (v->size == 8 || ptx_type_bits(v->type) * (v->vector ? v->vector : 1) == 64);
}

/* The static variable there, an mbarrier or an array of them. */
static bool find_variable(const struct warp *w, uint32_t off, char *out, size_t size) {
    const struct warp_module *m = w->grid->kernel->module;
    const uint32_t *offset = w->grid->smem_offset;
    const struct ptx_var *found = NULL;
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->ptx->num_vars && !found; i++)
        if (covers(m->ptx->vars[i], at = offset[i], off))
            found = m->ptx->vars[i];
    for (uint32_t f = 0; f < m->ptx->num_funcs && !found; f++)
        for (uint32_t i = 0; i < m->ptx->funcs[f]->num_vars && !found; i++)
            if (covers(m->ptx->funcs[f]->vars[i], at = offset[m->var_base[f] + i], off))
                found = m->ptx->funcs[f]->vars[i];
    if (!found)
        return false;
    source_symbol(found->name, out, size);
    if (found->size > 8)
        snprintf(out + strlen(out), size - strlen(out), "[%u]", (off - at) / 8);
    return true;
}

/* --- the source --------------------------------------------------------------------------------------------------- */

/* The line that names the barrier: of the calls that the instruction was inlined from. */
static const struct diag_inline *naming_call(struct deadlock_names *names, const struct diag_site *init, char *out,
                                             size_t size) {
    char line[SOURCE_LINE];
    if (!names->files.newest)
        names->files.newest = source_program_time();
    for (const struct diag_inline *call = init ? init->inlined : NULL; call; call = call->outer)
        if (source_line(&names->files, call->file, call->line, line) && source_initialises(line, out, size, NULL))
            return call;
    return NULL;
}

/* Was the object initialised by the same line? The chains may be those of other copies of an unrolled loop. */
static bool same_line(const struct diag_site *site, const struct diag_inline *line) {
    for (const struct diag_inline *call = site ? site->inlined : NULL; call; call = call->outer)
        if (call->line == line->line && strcmp(call->file ? call->file : "", line->file ? line->file : "") == 0)
            return true;
    return false;
}

static void find_in_source(struct deadlock_names *names, const struct cta *cta, const struct mach_mbar *object,
                           char *out, size_t size) {
    const struct diag_inline *call = naming_call(names, object->init, out, size);
    uint32_t before = 0, all = 0;
    for (uint32_t i = 0; call && i < cta->num_mbars; i++) {
        const struct mach_mbar *other = &cta->mbars[i];
        const bool same = same_line(other->init, call);
        all += same;
        before += same && other->off < object->off;
    }
    if (all > 1)
        snprintf(out + strlen(out), size - strlen(out), "[%u]", before);
}

const char *deadlock_barrier_name(struct deadlock_names *names, const struct cta *cta, uint32_t off,
                                  const struct warp *w) {
    const uint32_t i = mbar_index(cta, off);
    if (i == UINT32_MAX)
        return "";
    const struct mach_mbar *object = &cta->mbars[i];
    struct deadlock_name *n = &names->known[off / 8 % (sizeof names->known / sizeof *names->known)];
    if (n->init == object->init && n->off == off && n->init)
        return n->text;
    *n = (struct deadlock_name){.init = object->init, .off = off};
    if (!find_variable(w, off, n->text, sizeof n->text))
        find_in_source(names, cta, object, n->text, sizeof n->text);
    return n->text;
}

void deadlock_forget_names(struct deadlock_names *names) { source_free(&names->files); }
