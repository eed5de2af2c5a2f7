/* report/keep.c - what a finding is about: its key, and a copy that lasts; contracts in diag.h. */
#include "base/arena.h"
#include "report/diag.h"

#include <string.h>

/* --- keys --------------------------------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t mix(uint64_t key, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        key = (key ^ p[i]) * UINT64_C(0x100000001B3);
    return key;
}

static uint64_t mix_line(uint64_t key, const char *file, uint32_t line) {
    key = mix(key, file ? file : "", file ? strlen(file) + 1 : 1);
    return mix(key, &line, sizeof line);
}

/* The line of the source, else that of the PTX. An inlined function has a bug for each of its calls. */
static uint64_t mix_site(uint64_t key, const struct diag_site *s) {
    if (!s)
        return mix_line(key, NULL, 0);
    key =
        s->src_file && s->src_line ? mix_line(key, s->src_file, s->src_line) : mix_line(key, s->ptx_name, s->ptx_line);
    for (const struct diag_inline *call = s->inlined; call; call = call->outer)
        key = mix_line(key, call->file, call->line);
    return key;
}

uint64_t diag_key(const struct diag *d) {
    uint64_t key = UINT64_C(0xCBF29CE484222325);
    key = mix(key, d->id ? d->id : "", d->id ? strlen(d->id) : 0);
    key = mix_site(key, d->site);
    return d->other && !d->by_site ? mix_site(key, d->other->site) : key;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static const char *keep_text(struct arena *a, const char *text) {
    return text ? arena_strndup(a, text, strlen(text)) : NULL;
}

static const struct diag_inline *keep_calls(struct arena *a, const struct diag_inline *call) {
    const struct diag_inline *first = NULL, **link = &first;
    for (; call; call = call->outer) {
        struct diag_inline *copy = arena_alloc(a, sizeof *copy);
        *copy = (struct diag_inline){.file = keep_text(a, call->file), .line = call->line, .column = call->column};
        *link = copy;
        link = &copy->outer;
    }
    return first;
}

static const struct diag_site *keep_site(struct arena *a, const struct diag_site *s) {
    if (!s)
        return NULL;
    struct diag_site *copy = arena_alloc(a, sizeof *copy);
    *copy = *s;
    copy->src_file = keep_text(a, s->src_file);
    copy->inlined = keep_calls(a, s->inlined);
    copy->ptx_name = keep_text(a, s->ptx_name);
    copy->ptx_text = keep_text(a, s->ptx_text);
    copy->func = keep_text(a, s->func);
    return copy;
}

static const struct diag_thread *keep_thread(struct arena *a, const struct diag_thread *t) {
    return t ? memcpy(arena_alloc(a, sizeof *t), t, sizeof *t) : NULL;
}

const struct diag *diag_keep(struct arena *a, const struct diag *d) {
    struct diag *copy = arena_alloc(a, sizeof *copy);
    *copy = *d;
    copy->id = keep_text(a, d->id);
    copy->rule = keep_text(a, d->rule);
    copy->section = keep_text(a, d->section);
    copy->hint = keep_text(a, d->hint);
    copy->site = keep_site(a, d->site);
    copy->thread = keep_thread(a, d->thread);
    if (d->other) {
        struct diag_party *other = arena_alloc(a, sizeof *other);
        *other = (struct diag_party){keep_text(a, d->other->what), keep_site(a, d->other->site),
                                     keep_thread(a, d->other->thread)};
        copy->other = other;
    }
    return copy;
}
