/* ptx/intern.c - contract in intern.h. */
#include "ptx/intern.h"

#include <string.h>
#include <sys/random.h>

/* Folds 8 bytes into the hash with one 64x64 -> 128 bit multiplication. */
static uint64_t mix(uint64_t a, uint64_t b) {
    __extension__ unsigned __int128 m = (unsigned __int128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Keyed, so that a hostile text cannot choose its collisions. */
static uint64_t hash_of(uint64_t seed, const char *s, size_t len) {
    uint64_t h = seed ^ len, w;
    while (len >= 8) {
        memcpy(&w, s, 8);
        h = mix(h ^ w, 0x9e3779b97f4a7c15u ^ seed);
        s += 8;
        len -= 8;
    }
    w = 0;
    memcpy(&w, s, len);
    return mix(h ^ w, 0xe7037ed1a0b428dbu ^ seed);
}

struct ptx_name *ptx_intern_find(const struct ptx_interned *t, const char *s, size_t len) {
    uint64_t h = hash_of(t->seed, s, len);
    for (struct ptx_name *n = t->slots[h & (t->cap - 1)]; n; n = n->chain)
        if (n->hash == h && n->len == len && memcmp(n->text, s, len) == 0)
            return n;
    return NULL;
}

static void double_slots(struct ptx_interned *t) {
    uint32_t cap = t->cap * 2;
    struct ptx_name **slots = arena_array(t->arena, cap, sizeof *slots);
    for (uint32_t i = 0; i < t->cap; i++) {
        for (struct ptx_name *n = t->slots[i], *next; n; n = next) {
            next = n->chain;
            n->chain = slots[n->hash & (cap - 1)];
            slots[n->hash & (cap - 1)] = n;
        }
    }
    t->slots = slots;
    t->cap = cap;
}

/* Splits "%r12" into prefix "%r" and suffix 12; a suffix has at most 9 digits and no leading zero. */
static void split_suffix(struct ptx_interned *t, struct ptx_name *n) {
    size_t cut = n->len;
    while (cut > 0 && n->len - cut < 10 && n->text[cut - 1] >= '0' && n->text[cut - 1] <= '9')
        cut--;
    size_t digits = n->len - cut;
    if (cut == 0 || digits == 0 || digits > 9 || (digits > 1 && n->text[cut] == '0'))
        return;
    for (size_t i = cut; i < n->len; i++)
        n->suffix = n->suffix * 10 + (uint32_t)(n->text[i] - '0');
    n->prefix = ptx_intern(t, n->text, cut);
}

struct ptx_name *ptx_intern(struct ptx_interned *t, const char *s, size_t len) {
    struct ptx_name *n = ptx_intern_find(t, s, len);
    if (n)
        return n;
    if (t->count >= t->cap)
        double_slots(t);
    n = arena_alloc(t->arena, sizeof *n);
    n->text = arena_strndup(t->arena, s, len);
    n->len = (uint32_t)len;
    n->hash = hash_of(t->seed, s, len);
    n->chain = t->slots[n->hash & (t->cap - 1)];
    t->slots[n->hash & (t->cap - 1)] = n;
    t->count++;
    split_suffix(t, n);
    return n;
}

static struct ptx_name *put(struct ptx_interned *t, const char *s) { return ptx_intern(t, s, strlen(s)); }

static void put_op(struct ptx_interned *t, enum ptx_op op) {
    const char *text = ptx_op_text(op);
    put(t, text)->op = op;
    for (const char *dot = strchr(text, '.'); dot; dot = strchr(dot + 1, '.'))
        ptx_intern(t, text, (size_t)(dot - text))->op_prefix = true;
}

struct ptx_interned *ptx_intern_new(struct arena *a) {
    struct ptx_interned *t = arena_alloc(a, sizeof *t);
    t->arena = a;
    t->cap = 4096;
    t->slots = arena_array(a, t->cap, sizeof *t->slots);
    if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != sizeof t->seed)
        t->seed = (uint64_t)(uintptr_t)t;
    for (int i = 1; i < PTX_OP_COUNT; i++)
        put_op(t, (enum ptx_op)i);
    for (int i = 1; i < PTX_MOD_COUNT; i++)
        put(t, ptx_mod_text((enum ptx_mod)i))->mod = (uint16_t)i;
    for (int i = 1; i < PTX_SREG_COUNT; i++)
        put(t, ptx_sreg_text((enum ptx_sreg)i))->sreg = (uint16_t)i;
#define DIR(name) put(t, #name)->dir = PTX_DIR_##name;
#include "ptx/directives.def"
#undef DIR
    return t;
}
