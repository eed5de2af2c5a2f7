/* mutate.h - changes PTX as text so that most of it stays PTX: operands, words, immediates, the order of statements,
 * statements of other kernels, and forms of every family (forms.def).
 *
 * A statement is what stands between two of `;` and the ends of lines. The forms use registers of their own (%zu, %zl,
 * ...), which a prologue declares and fills at the start of the kernel that they are put into.
 */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- chance ------------------------------------------------------------------------------------------------------- */

/* splitmix64: the same on every host. */
static inline uint64_t chance(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline uint32_t below(uint64_t *state, uint64_t n) { return n ? (uint32_t)(chance(state) % n) : 0; }
#define CHOOSE(state, list) (list)[below(state, sizeof(list) / sizeof *(list))]

/* --- text --------------------------------------------------------------------------------------------------------- */

struct text {
    char *p; /* `len` bytes of at most `max` */
    size_t len, max;
};

/* `cut` bytes at `at` become s[0..n); nothing where that does not fit. */
static inline void text_splice(struct text *t, size_t at, size_t cut, const char *s, size_t n) {
    if (t->len - cut + n > t->max)
        return;
    memmove(t->p + at + n, t->p + at + cut, t->len - at - cut);
    memcpy(t->p + at, s, n);
    t->len += n - cut;
}

struct span {
    size_t at, len;
};

static inline bool ends_statement(char c) { return c == ';' || c == '\n'; }

/* A statement, its end included; the last of a text may be empty. */
static inline struct span statement_at(const struct text *t, size_t at) {
    size_t end = at;
    while (at > 0 && !ends_statement(t->p[at - 1]))
        at--;
    while (end < t->len && !ends_statement(t->p[end]))
        end++;
    return (struct span){at, end + (end < t->len) - at};
}
static inline struct span any_statement(uint64_t *r, const struct text *t) { return statement_at(t, below(r, t->len)); }

static inline bool in_word(char c) { return isalnum((unsigned char)c) || c == '%' || c == '_' || c == '$' || c == '.'; }

/* A word of a statement behind the first `skip`, which are its opcode or the like; len 0 where there is none. */
static inline struct span any_word(uint64_t *r, const struct text *t, struct span in, unsigned skip) {
    struct span found = {0, 0};
    unsigned seen = 0;
    for (size_t i = in.at; i < in.at + in.len;) {
        size_t end = i;
        while (end < in.at + in.len && in_word(t->p[end]))
            end++;
        if (end > i && seen++ >= skip && below(r, seen - skip) == 0)
            found = (struct span){i, end - i};
        i = end + (end == i);
    }
    return found;
}

/* --- words of PTX ------------------------------------------------------------------------------------------------- */

static const char *const mutate_modifiers[] = {
#define MOD(name, text, kind) text,
#include "ptx/modifiers.def"
#undef MOD
};
static const char *const mutate_opcodes[] = {
#define OP(name, text, section, ...) text,
#include "ptx/opcodes.def"
#undef OP
};
static const char *const mutate_operands[] = {
    "_",
    "0",
    "%tid.x",
    "%laneid",
    "%clock64",
    "%envreg3",
    "%dynamic_smem_size",
    "%cluster_ctarank",
    "%ctaid",
    "WARP_SZ",
    "zsmem",
    "zglobal",
    "zmap",
    "zlocal",
    "dynamic",
    "fib",
    "%zp2",
    "%zh0",
    "%zx0",
    "%zf0",
    "%zd0",
    "%zu0",
    "%zu1",
    "%zl0",
    "%zl1",
    "%zl2",
    "%zl3",
    "%zl4",
    "0f7FC00000",
    "0d7FF0000000000001",
    "1.5",
    "-1",
    "{}",
    "!%zp2",
    "-%zu5",
};
static const uint64_t mutate_numbers[] = {
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    255,
    256,
    511,
    512,
    1023,
    1024,
    4095,
    8192,
    65535,
    65536,
    0xffffff,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    UINT64_MAX,
};
static const char *const mutate_forms[] = {
#define FORM(text) text,
#include "fuzz/forms.def"
};

static const char mutate_globals[] = "\n.global .align 128 .b8 zglobal[512]; .global .align 128 .b8 zmap[128];\n";
static const char mutate_prologue[] =
    "\n.reg .b16 %zh<8>; .reg .b32 %zu<16>; .reg .b64 %zl<10>; .reg .f32 %zf<4>; .reg .f64 %zd<2>; .reg .pred %zp<4>;\n"
    ".reg .b128 %zx<2>; .shared .align 1024 .b8 zsmem[4096]; .local .align 16 .b8 zlocal[64];\n"
    "mov.b32 %zu0, zsmem; mov.u32 %zu2, %tid.x; mov.u32 %zu3, %ctaid.x; mov.u32 %zu4, %laneid; mov.b32 %zu5, 1;\n"
    "mov.b32 %zu6, 0x04080010; mov.b32 %zu7, 64; mov.b32 %zu1, 0; cvt.u16.u32 %zh0, %zu2; mov.b16 %zh1, 3;\n"
    "mov.b16 %zh2, 7; mov.b16 %zh3, 0x3c00; mov.b64 %zl0, zsmem; cvta.shared.u64 %zl0, %zl0; mov.b64 %zl1, zglobal;\n"
    "cvta.global.u64 %zl1, %zl1; mov.b64 %zl2, 0x4000404000010040; mov.b64 %zl3, zmap; cvta.global.u64 %zl3, %zl3;\n"
    "mov.b64 %zl4, -3; mov.b64 %zl5, 64; mov.b64 %zl6, zlocal; cvta.local.u64 %zl6, %zl6; mov.b64 %zl7, 0;\n"
    "mov.b64 %zl8, 0; mov.b64 %zl9, 8; mov.b32 %zf0, 1.5; mov.b32 %zf1, -2.0; mov.b32 %zf2, 0f7F800000;\n"
    "mov.b32 %zf3, 1.0; mov.f64 %zd0, 1.25; setp.eq.u32 %zp0, %zu2, 0; setp.ne.u32 %zp1, %zu5, 1; mov.pred %zp2, 0;\n"
    "setp.lt.u32 %zp3, %zu4, 9; mov.b128 %zx0, {%zl4, %zl5}; mov.b32 %zu8, 8; mov.b32 %zu9, 9; mov.b32 %zu10, 10;\n"
    "mov.b32 %zu11, 11; mov.b32 %zu12, 12; mov.b32 %zu13, 13; mov.b32 %zu14, 14; mov.b32 %zu15, 15; mov.f64 %zd1, "
    "2.0;\n"
    "mov.b16 %zh4, 4; mov.b16 %zh5, 5; mov.b16 %zh6, 6; mov.b16 %zh7, 7; mov.b128 %zx1, {%zl5, %zl4};\n"
    "st.local.v2.b64 [zlocal], {%zl5, %zl4}; @%zp0 mbarrier.init.shared::cta.b64 [%zu0], 1; fence.proxy.async;\n"
    "st.bulk.weak.shared::cta [%zu0+8], 1016, 0; setp.lt.u32 %zp2, %zu2, 32; bar.sync 0;\n"
    "@%zp2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [zsmem+32], 128; bar.sync 0;\n"
    "ld.shared.b32 %zu1, [zsmem+32]; // ready\n";
static const char mutate_epilogue[] = "// end\nbar.sync 0; setp.lt.u32 %zp2, %zu2, 32;\n"
                                      "@%zp2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %zu1, 128;\n";

static inline char *find_text(const struct text *t, size_t from, const char *what) {
    return t->len > from ? memmem(t->p + from, t->len - from, what, strlen(what)) : NULL;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

/* The first line says how the kernels are launched (fuzz_exec.c). */
static inline void change_launch(uint64_t *r, struct text *t) {
    char line[32];
    size_t n = (size_t)snprintf(line, sizeof line, "//! %016" PRIx64 "\n", chance(r));
    bool has = t->len > n && memcmp(t->p, "//! ", 4) == 0 && t->p[n - 1] == '\n';
    text_splice(t, 0, has ? n : 0, line, n);
}

static inline void change_operand(uint64_t *r, struct text *t) {
    struct span to = any_word(r, t, any_statement(r, t), 1), from = any_word(r, t, any_statement(r, t), 1);
    for (int tries = 0; tries < 8 && (!from.len || !to.len || t->p[from.at] != t->p[to.at]); tries++)
        from = any_word(r, t, any_statement(r, t), 1);
    if (!to.len)
        return;
    char word[64];
    const char *s = CHOOSE(r, mutate_operands);
    size_t n = strlen(s);
    if (from.len && from.len < sizeof word && below(r, 4)) {
        memcpy(word, t->p + from.at, n = from.len);
        s = word;
    }
    text_splice(t, to.at, to.len, s, n);
}

static inline void change_number(uint64_t *r, struct text *t) {
    struct span w = {0, 0};
    for (int tries = 0; tries < 30 && !w.len; tries++) {
        w = any_word(r, t, any_statement(r, t), 1);
        if (w.len && !isdigit((unsigned char)t->p[w.at]))
            w.len = 0;
    }
    if (!w.len)
        return;
    char number[40] = {0};
    memcpy(number, t->p + w.at, w.len < 20 ? w.len : 20);
    uint64_t v = strtoull(number, NULL, 0);
    switch (below(r, 4)) {
    case 0:
        v += below(r, 9) - 4u;
        break;
    case 1:
        v ^= UINT64_C(1) << below(r, 64);
        break;
    case 2:
        v ^= UINT64_C(1) << below(r, 32);
        break;
    default:
        v = CHOOSE(r, mutate_numbers);
    }
    int n = snprintf(number, sizeof number, below(r, 2) ? "%" PRIu64 : "0x%" PRIx64, v);
    text_splice(t, w.at, w.len, number, (size_t)n);
}

/* Another word of the instruction, one more, or one less; or another opcode. */
static inline void change_words(uint64_t *r, struct text *t) {
    struct span s = any_statement(r, t), w = {0, 0};
    for (size_t i = s.at; i < s.at + s.len && !w.len; i++) {
        if (islower((unsigned char)t->p[i]) && (i == s.at || !in_word(t->p[i - 1])))
            w.at = i;
        while (w.at == i && i + w.len < s.at + s.len && (in_word(t->p[i + w.len]) || t->p[i + w.len] == ':'))
            w.len++;
    }
    const char *dot = w.len ? memchr(t->p + w.at, '.', w.len) : NULL;
    if (!dot || below(r, 12) == 0) {
        const char *op = CHOOSE(r, mutate_opcodes);
        text_splice(t, w.at, dot ? (size_t)(dot - t->p) - w.at : w.len, op, strlen(op));
        return;
    }
    size_t at = (size_t)(dot - t->p), end = w.at + w.len;
    for (size_t i = at + 1; i < end; i++) /* any of the words */
        if (t->p[i] == '.' && below(r, 2))
            at = i;
    size_t stop = at + 1;
    while (stop < end && t->p[stop] != '.')
        stop++;
    char word[64];
    int n = snprintf(word, sizeof word, ".%s", CHOOSE(r, mutate_modifiers));
    uint32_t how = below(r, 4);
    text_splice(t, at, how == 1 ? 0 : stop - at, word, how == 2 ? 0 : (size_t)n);
}

static inline void change_order(uint64_t *r, struct text *t) {
    struct span s = any_statement(r, t);
    char copy[512];
    if (!s.len || s.len > sizeof copy)
        return;
    memcpy(copy, t->p + s.at, s.len);
    uint32_t how = below(r, 4); /* 0: twice, 1: gone, else elsewhere, near by half of the time */
    if (how)
        text_splice(t, s.at, s.len, "", 0);
    if (how == 1 || !t->len)
        return;
    size_t at = how == 2 ? s.at + below(r, 400) : below(r, t->len);
    text_splice(t, statement_at(t, at < t->len ? at : t->len - 1).at, 0, copy, s.len);
}

static inline void change_guard(uint64_t *r, struct text *t) {
    static const char *const guards[] = {"@%zp0 ", "@!%zp0 ", "@%zp3 ", "@%p1 ", "@!%p1 "};
    struct span s = any_statement(r, t);
    while (s.len && isspace((unsigned char)t->p[s.at]))
        s.at++, s.len--;
    if (s.len && t->p[s.at] == '@')
        text_splice(t, s.at, strcspn(t->p + s.at, " ;") + 1 < s.len ? strcspn(t->p + s.at, " ;") + 1 : 0, "", 0);
    else if (s.len) {
        const char *g = CHOOSE(r, guards);
        text_splice(t, s.at, 0, g, strlen(g));
    }
}

/* A list of registers gets one more or one less. */
static inline void change_list(uint64_t *r, struct text *t) {
    struct span s = {0, 0};
    char *brace = NULL;
    for (int tries = 0; tries < 20 && !brace; tries++) {
        s = any_statement(r, t);
        brace = memchr(t->p + s.at, '{', s.len);
    }
    char *comma = brace ? memchr(brace, ',', s.at + s.len - (size_t)(brace - t->p)) : NULL;
    if (!comma)
        return;
    size_t from = (size_t)(brace - t->p) + 1, n = (size_t)(comma - brace);
    char copy[64];
    if (n > sizeof copy)
        return;
    memcpy(copy, t->p + from, n);
    if (below(r, 2))
        text_splice(t, from, n, "", 0);
    else
        text_splice(t, from, 0, copy, n);
}

/* A form behind the prologue of a kernel, which gets one where it has none. */
static inline void change_form(uint64_t *r, struct text *t) {
    size_t from = below(r, t->len);
    char *entry = find_text(t, from, ".entry");
    if (!entry)
        entry = find_text(t, 0, ".entry");
    char *body = entry ? find_text(t, (size_t)(entry - t->p), "{") : NULL;
    if (!body)
        return;
    size_t at = (size_t)(body - t->p) + 1;
    if (!find_text(t, 0, "zglobal[")) {
        char *size = find_text(t, 0, ".address_size 64");
        size_t n = sizeof mutate_globals - 1;
        if (!size || (size_t)(size - t->p) > at || t->len + n > t->max)
            return;
        text_splice(t, (size_t)(size - t->p) + 16, 0, mutate_globals, n);
        at += n;
    }
    if (t->len < at + 200 || memcmp(t->p + at, mutate_prologue, 64) != 0) {
        char *ret = find_text(t, at, "ret;\n}");
        if (t->len + sizeof mutate_prologue + sizeof mutate_epilogue > t->max)
            return;
        if (ret)
            text_splice(t, (size_t)(ret - t->p), 0, mutate_epilogue, sizeof mutate_epilogue - 1);
        text_splice(t, at, 0, mutate_prologue, sizeof mutate_prologue - 1);
    }
    char *ready = find_text(t, at, "// ready\n"), *end = find_text(t, at, "// end\n");
    if (!end)
        end = find_text(t, at, "\n}");
    if (!ready || !end || end < ready)
        return;
    size_t first = (size_t)(ready - t->p) + 9, room = (size_t)(end - t->p) + 1 - first;
    struct span s = statement_at(t, first + below(r, room + 1));
    char form[600];
    const char *f = CHOOSE(r, mutate_forms);
    uint32_t fresh = below(r, 100000);
    size_t n = 0;
    for (; *f && n + 8 < sizeof form; f++)
        n += *f == '#' ? (size_t)snprintf(form + n, 8, "%u", fresh) : (form[n] = *f, 1u);
    form[n++] = '\n';
    text_splice(t, s.at < first ? first : s.at, 0, form, n);
}

static inline void change_once(uint64_t *r, struct text *t) {
    static void (*const changes[])(uint64_t *, struct text *) = {
        change_form,    change_form,    change_form,  change_form,   change_operand,
        change_operand, change_operand, change_list,  change_number, change_number,
        change_words,   change_words,   change_order, change_guard,  change_launch,
    };
    if (t->len)
        CHOOSE(r, changes)(r, t);
}

/* A few changes to data[0..size) of at most `max` bytes; the new size. */
static inline size_t mutate_ptx(uint8_t *data, size_t size, size_t max, uint64_t seed) {
    struct text t = {(char *)data, size, max};
    uint64_t r = seed;
    for (uint32_t n = 1 + below(&r, 1 + below(&r, 6)); n > 0; n--)
        change_once(&r, &t);
    return t.len;
}

/* One to six statements of b in the place of some of a, in out[0..max); the size. */
static inline size_t cross_ptx(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                               size_t max, uint64_t seed) {
    uint64_t r = seed;
    struct text t = {(char *)out, a_size < max ? a_size : max, max}, from = {(char *)(uintptr_t)b, b_size, b_size};
    memcpy(out, a, t.len);
    if (!t.len || !b_size)
        return t.len;
    struct span s = any_statement(&r, &from);
    for (uint32_t n = below(&r, 6); n > 0 && s.at + s.len < from.len; n--)
        s.len += statement_at(&from, s.at + s.len).len;
    struct span to = any_statement(&r, &t);
    text_splice(&t, to.at, below(&r, 2) ? to.len : 0, (const char *)b + s.at, s.len);
    return t.len;
}

#endif
