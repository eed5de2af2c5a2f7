/* ptx/tables.c - the texts of the .def tables and the small questions about types and instructions of ir.h. */
#include "ptx/ir.h"

#include <stdlib.h>
#include <string.h>

const struct ptx_op_row ptx_ops[PTX_OP_COUNT] = {
    [PTX_OP_unknown] = {"(unknown)", "9.7", PTX_FAMILY_none, "-"},
#define OP(name, text, section, family, operands) [PTX_OP_##name] = {text, section, PTX_FAMILY_##family, operands},
#include "ptx/opcodes.def"
#undef OP
};

static const struct {
    const char *text;
    enum ptx_kind kind;
} mods[PTX_MOD_COUNT] = {
    [PTX_MOD_unknown] = {"(unknown)", PTX_KIND_none},
#define MOD(name, text, kind) [PTX_MOD_##name] = {text, PTX_KIND_##kind},
#include "ptx/modifiers.def"
#undef MOD
};

enum change { other, fixed };
static const struct {
    const char *text;
    unsigned bits;
    enum change change;
} sregs[PTX_SREG_COUNT] = {
    [PTX_SREG_unknown] = {"(unknown)", 0, other},
#define SREG(name, text, bits, change) [PTX_SREG_##name] = {text, bits, change},
#include "ptx/sregs.def"
#undef SREG
};

const char *ptx_mod_text(enum ptx_mod mod) { return mods[(unsigned)mod < PTX_MOD_COUNT ? mod : 0].text; }

const char *ptx_insn_form(const struct ptx_insn *in) {
    const char *s = ptx_op_operands(in->op);
    while (*s == '.') {
        const size_t n = strcspn(++s, " ");
        for (unsigned i = 0; i < in->num_mods; i++) {
            const char *word = ptx_mod_text((enum ptx_mod)in->mods[i]);
            if (strlen(word) == n && memcmp(word, s, n) == 0)
                return s + n + 1;
        }
        s += strcspn(s, ";") + 2;
    }
    return s;
}

bool ptx_has_destination(const struct ptx_insn *in) {
    const char *s = ptx_insn_form(in);
    return s[*s == '{'] == '=';
}

enum ptx_kind ptx_mod_kind(enum ptx_mod mod) { return mods[(unsigned)mod < PTX_MOD_COUNT ? mod : 0].kind; }

unsigned ptx_mod_number(enum ptx_mod mod) {
    const char *text = ptx_mod_text(mod);
    return (unsigned)strtoul(text + strcspn(text, "0123456789"), NULL, 10);
}

const char *ptx_sreg_text(enum ptx_sreg r) { return sregs[(unsigned)r < PTX_SREG_COUNT ? r : 0].text; }

unsigned ptx_sreg_bits(enum ptx_sreg r) { return sregs[(unsigned)r < PTX_SREG_COUNT ? r : 0].bits; }

bool ptx_sreg_is_fixed(enum ptx_sreg r) { return (unsigned)r < PTX_SREG_COUNT && sregs[r].change == fixed; }

unsigned ptx_type_bits(enum ptx_type t) {
    static const uint8_t bits[] = {
        [PTX_B8] = 8,     [PTX_U8] = 8,      [PTX_S8] = 8,   [PTX_B16] = 16, [PTX_U16] = 16, [PTX_S16] = 16,
        [PTX_F16] = 16,   [PTX_BF16] = 16,   [PTX_B32] = 32, [PTX_U32] = 32, [PTX_S32] = 32, [PTX_F32] = 32,
        [PTX_F16X2] = 32, [PTX_BF16X2] = 32, [PTX_B64] = 64, [PTX_U64] = 64, [PTX_S64] = 64, [PTX_F64] = 64,
        [PTX_F32X2] = 64, [PTX_B128] = 128,  [PTX_PRED] = 1,
    };
    return (unsigned)t < sizeof bits ? bits[t] : 0;
}

enum ptx_type ptx_mod_type(enum ptx_mod mod) {
    static const uint8_t types[PTX_MOD_COUNT] = {
        [PTX_MOD_b8] = PTX_B8,       [PTX_MOD_u8] = PTX_U8,         [PTX_MOD_s8] = PTX_S8,
        [PTX_MOD_b16] = PTX_B16,     [PTX_MOD_u16] = PTX_U16,       [PTX_MOD_s16] = PTX_S16,
        [PTX_MOD_f16] = PTX_F16,     [PTX_MOD_bf16] = PTX_BF16,     [PTX_MOD_b32] = PTX_B32,
        [PTX_MOD_u32] = PTX_U32,     [PTX_MOD_s32] = PTX_S32,       [PTX_MOD_f32] = PTX_F32,
        [PTX_MOD_f16x2] = PTX_F16X2, [PTX_MOD_bf16x2] = PTX_BF16X2, [PTX_MOD_b64] = PTX_B64,
        [PTX_MOD_u64] = PTX_U64,     [PTX_MOD_s64] = PTX_S64,       [PTX_MOD_f64] = PTX_F64,
        [PTX_MOD_f32x2] = PTX_F32X2, [PTX_MOD_b128] = PTX_B128,     [PTX_MOD_pred] = PTX_PRED,
    };
    return (unsigned)mod < PTX_MOD_COUNT ? (enum ptx_type)types[mod] : PTX_NOTYPE;
}

bool ptx_has(const struct ptx_insn *in, enum ptx_mod mod) {
    for (unsigned i = 0; i < in->num_mods; i++)
        if (in->mods[i] == mod)
            return true;
    return false;
}

enum ptx_type ptx_insn_type(const struct ptx_insn *in, unsigned n) {
    for (unsigned i = 0; i < in->num_mods; i++) {
        enum ptx_type t = ptx_mod_type((enum ptx_mod)in->mods[i]);
        if (t != PTX_NOTYPE && n-- == 0)
            return t;
    }
    return PTX_NOTYPE;
}

uint64_t ptx_param_offset(const struct ptx_func *f, uint32_t i, uint64_t *total) {
    uint64_t at = 0, found = 0;
    for (uint32_t k = 0; k < f->num_params; k++) {
        const struct ptx_var *v = &f->params[k];
        at = (at + v->align - 1) & ~(uint64_t)(v->align - 1);
        if (k == i)
            found = at;
        at += v->size;
    }
    if (total)
        *total = at;
    return found;
}
