/* isa/form.c - contract in form.h. */
#include "isa/form.h"

#include <stdio.h>

/* Refuses with a sentence about one or two words. */
static bool refuse_word(struct isa_binder *b, const char *format, enum ptx_mod m, enum ptx_mod other) {
    char why[128];
    int n = snprintf(why, sizeof why, format, ptx_mod_text(m), ptx_mod_text(other));
    return isa_refuse(b, arena_strndup(b->arena, why, (size_t)n));
}

static bool names(uint16_t entry, enum ptx_mod m) {
    entry &= (uint16_t)~ISA_MORE(0);
    return entry == m || entry == PTX_MOD_COUNT + ptx_mod_kind(m);
}

bool isa_sort(struct isa_binder *b, const struct ptx_insn *src, const uint16_t *form, struct isa_words *k) {
    *k = (struct isa_words){0};
    for (unsigned i = 0; i < src->num_mods; i++) {
        const enum ptx_mod m = (enum ptx_mod)src->mods[i];
        const enum ptx_kind kind = ptx_mod_kind(m);
        const uint16_t *entry = form;
        while (*entry && !names(*entry, m))
            entry++;
        if (!*entry)
            return refuse_word(b, ".%s does not belong to this instruction", m, m);
        bool twice = false;
        for (unsigned e = 0; e < i; e++)
            twice |= src->mods[e] == m;
        if (*entry >= ISA_MORE(0) && k->of[kind] && !k->second)
            k->second = m;
        else if (twice)
            return refuse_word(b, ".%s is written twice", m, m);
        else if (kind != PTX_KIND_flag && k->of[kind])
            return refuse_word(b, ".%s and .%s exclude each other", k->of[kind], m);
        else
            k->of[kind] = m;
    }
    return true;
}

bool isa_spelled(const struct ptx_insn *src, const uint16_t *form) {
    unsigned i = 0;
    for (; *form; form++)
        if (i < src->num_mods && names(*form, (enum ptx_mod)src->mods[i]))
            i++;
        else if (*form < ISA_MORE(0))
            return false;
    return i == src->num_mods;
}

num_op isa_reduction(enum ptx_mod m) {
    static const struct {
        enum ptx_mod mod;
        num_op op;
    } ops[] = {{PTX_MOD_add, NUM_OP_ADD}, {PTX_MOD_min, NUM_OP_MIN}, {PTX_MOD_max, NUM_OP_MAX},
               {PTX_MOD_inc, NUM_OP_INC}, {PTX_MOD_dec, NUM_OP_DEC}, {PTX_MOD_and, NUM_OP_AND},
               {PTX_MOD_or, NUM_OP_OR},   {PTX_MOD_xor, NUM_OP_XOR}};
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].mod == m)
            return ops[i].op;
    return NUM_OP_NONE;
}

enum warp_space isa_space(enum ptx_mod m) {
    static const uint8_t spaces[PTX_MOD_COUNT] = {
        [PTX_MOD_global] = XS_GLOBAL,
        [PTX_MOD_shared] = XS_SHARED_CTA,
        [PTX_MOD_shared__cta] = XS_SHARED_CTA,
        [PTX_MOD_shared__cluster] = XS_SHARED_CLUSTER,
        [PTX_MOD_local] = XS_LOCAL,
        [PTX_MOD_const] = XS_CONST,
        [PTX_MOD_param] = XS_PARAM,
        [PTX_MOD_param__entry] = XS_PARAM,
        [PTX_MOD_param__func] = XS_PARAM,
    };
    return (enum warp_space)spaces[m];
}
