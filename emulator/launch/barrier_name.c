/* launch/barrier_name.c - what a program calls an mbarrier; contract in stuck.h.
 *
 * An mbarrier is 8 bytes at an offset. A static variable of 8 bytes, or an array of them, has its name in the PTX. What
 * lies in a larger structure or in dynamic memory has none, nor has the machine code's debug information: there the
 * line of the source that initialised the barrier names it, by the argument of a call whose name ends in `init`, or by
 * the object whose member of that name it calls. Of the lines that the instruction was inlined from the innermost one
 * that says more than `this` counts. A file that is newer than the program is not asked.
 */
#include "base/heap.h"
#include "launch/stuck.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MAX_SOURCE (8l << 20) /* bytes; a longer file is not looked at */
#define MAX_LINE 400u

/* --- variables ---------------------------------------------------------------------------------------------------- */

/* The last name in a C++ symbol (_ZZ4kernvE3bar: "bar"), or the symbol. */
static void plain_name(const char *symbol, char *out, size_t size) {
    const char *best = symbol;
    size_t length = strlen(symbol);
    for (const char *s = symbol; symbol[0] == '_' && symbol[1] == 'Z' && *s;) {
        char *after;
        const unsigned long n = isdigit((unsigned char)*s) ? strtoul(s, &after, 10) : 0;
        if (n == 0 || n > strlen(after)) {
            s++;
            continue;
        }
        best = after;
        length = n;
        s = after + n;
    }
    snprintf(out, size, "%.*s", (int)(length < 48 ? length : 48), best);
}

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
    plain_name(found->name, out, size);
    if (found->size > 8)
        snprintf(out + strlen(out), size - strlen(out), "[%u]", (off - at) / 8);
    return true;
}

/* --- the source --------------------------------------------------------------------------------------------------- */

/* Was the file changed after the program was made? Then its lines are others. */
static bool is_newer(const char *path) {
    struct stat source, program;
    return stat(path, &source) != 0 || stat("/proc/self/exe", &program) != 0 || source.st_mtime > program.st_mtime;
}

static void read_source(struct stuck_names *names, const char *path) {
    if (names->path && strcmp(names->path, path) == 0)
        return;
    xfree(names->text);
    names->path = path;
    names->text = NULL;
    FILE *f = is_newer(path) ? NULL : fopen(path, "rb");
    long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (n > 0 && n < MAX_SOURCE && fseek(f, 0, SEEK_SET) == 0) {
        names->text = xcalloc((size_t)n + 1, 1);
        names->text[fread(names->text, 1, (size_t)n, f)] = 0;
    }
    if (f)
        fclose(f);
}

/* Copies a line of a file; false where there is none. */
static bool read_line(struct stuck_names *names, const char *path, uint32_t line, char out[MAX_LINE]) {
    if (!path || !line)
        return false;
    read_source(names, path);
    const char *s = names->text;
    for (uint32_t i = 1; s && i < line; i++) {
        s = strchr(s, '\n');
        s += s != NULL;
    }
    if (!s)
        return false;
    snprintf(out, MAX_LINE, "%.*s", (int)strcspn(s, "\n"), s);
    return true;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Where the expression that begins at s ends: at a comma, or a bracket that it did not open. */
static const char *end_of(const char *s) {
    for (int depth = 0; *s && (depth || (*s != ',' && *s != ')' && *s != ']' && *s != ';')); s++)
        depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    return s;
}

/* Where the object expression in front of s begins, as of a[i].b-> in front of init. */
static const char *start_of(const char *line, const char *s) {
    for (int depth = 0; s > line; s--) {
        const char c = s[-1];
        depth += (c == ')' || c == ']') - (c == '(' || c == '[');
        if (depth < 0 || (!depth && !is_word(c) && c != '.' && c != '>' && c != '-' && c != '[' && c != '('))
            break;
    }
    return s;
}

/* The last member that the expression names, without what is in front of it and without an index. */
static bool last_member(const char *s, const char *end, char *out, size_t size) {
    const char *amp = memchr(s, '&', (size_t)(end - s));
    if (amp) {
        s = amp + 1;
        end = end_of(s);
    }
    for (int depth = 0; end > s && (depth || end[-1] == ']' || end[-1] == ' '); end--)
        depth += (end[-1] == ']') - (end[-1] == '[');
    const char *name = end;
    while (name > s && is_word(name[-1]))
        name--;
    if (name == end || !(isalpha((unsigned char)*name) || *name == '_') || strncmp(s, "this", 4) == 0)
        return false;
    snprintf(out, size, "%.*s", (int)(end - name < 40 ? end - name : 40), name);
    return true;
}

/* What the line initialises; false where that is not clear, or more than one thing. */
static bool name_in(const char *line, char *out, size_t size) {
    const char *call = NULL;
    for (const char *s = strstr(line, "init"); s; s = strstr(s + 1, "init")) {
        const char *open = s + 4 + strspn(s + 4, " ");
        if (*open != '(')
            continue;
        if (call)
            return false;
        call = s;
    }
    if (!call)
        return false;
    const char *open = strchr(call, '(');
    if (call > line + 1 && (call[-1] == '.' || (call[-1] == '>' && call[-2] == '-'))) {
        const char *end = call - (call[-1] == '.' ? 1 : 2);
        return last_member(start_of(line, end), end, out, size);
    }
    return last_member(open + 1, end_of(open + 1), out, size);
}

/* The line that names the barrier: of the calls that the instruction was inlined from. */
static const struct diag_inline *naming_call(struct stuck_names *names, const struct diag_site *init, char *out,
                                             size_t size) {
    char line[MAX_LINE];
    for (const struct diag_inline *call = init ? init->inlined : NULL; call; call = call->outer)
        if (read_line(names, call->file, call->line, line) && name_in(line, out, size))
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

static void find_in_source(struct stuck_names *names, const struct cta *cta, const struct mach_mbar *object, char *out,
                           size_t size) {
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

const char *stuck_barrier_name(struct stuck_names *names, const struct cta *cta, uint32_t off, const struct warp *w) {
    const uint32_t i = mbar_index(cta, off);
    if (i == UINT32_MAX)
        return "";
    const struct mach_mbar *object = &cta->mbars[i];
    struct stuck_name *n = &names->known[off / 8 % (sizeof names->known / sizeof *names->known)];
    if (n->init == object->init && n->off == off && n->init)
        return n->text;
    *n = (struct stuck_name){.init = object->init, .off = off};
    if (!find_variable(w, off, n->text, sizeof n->text))
        find_in_source(names, cta, object, n->text, sizeof n->text);
    return n->text;
}

void stuck_forget_names(struct stuck_names *names) { xfree(names->text); }
