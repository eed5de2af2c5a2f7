/* isa/alu.c - modifiers and operands of the register-to-register families, and the search through their tables. */
#include "isa/alu.h"

static int flag_bit(enum ptx_mod mod) {
    switch (mod) {
#define F(name)                                                                                                        \
    case PTX_MOD_##name:                                                                                               \
        return ALU_BIT_##name;
        ALU_FLAGS(F)
#undef F
    default:
        return -1;
    }
}

bool alu_parse(struct isa_binder *b, const struct ptx_insn *src, struct alu_form *form) {
    *form = (struct alu_form){0};
    for (unsigned i = 0; i < src->num_mods; i++) {
        enum ptx_mod mod = (enum ptx_mod)src->mods[i];
        enum ptx_kind kind = ptx_mod_kind(mod);
        int bit = flag_bit(mod);
        if (bit >= 0 && !(form->flags >> bit & 1)) {
            form->flags |= UINT64_C(1) << bit;
        } else if (bit < 0 && kind == PTX_KIND_type && form->num_types < ALU_MAX_TYPES) {
            form->type[form->num_types++] = mod;
        } else if (kind == PTX_KIND_comparison && !form->cmp) {
            form->cmp = mod;
        } else if (kind == PTX_KIND_space && mod != PTX_MOD_param__func && !form->space) {
            form->space = mod;
        } else {
            return isa_refuse(b, "a modifier does not belong to this instruction");
        }
    }
    return true;
}

uint64_t alu_rounding(uint64_t flags) {
    static const struct {
        uint64_t mod;
        num_round round;
    } rounds[] = {{ALU_M(rn) | ALU_M(rni), NUM_RN},
                  {ALU_M(rz) | ALU_M(rzi), NUM_RZ},
                  {ALU_M(rm) | ALU_M(rmi), NUM_RM},
                  {ALU_M(rp) | ALU_M(rpi), NUM_RP},
                  {ALU_M(rna), NUM_RNA}};
    static const struct {
        uint64_t mod;
        unsigned flag;
    } flag_of[] = {{ALU_M(ftz), NUM_FTZ},        {ALU_M(sat), NUM_SAT}, {ALU_M(relu), NUM_RELU},
                   {ALU_M(NaN), NUM_NAN},        {ALU_M(abs), NUM_ABS}, {ALU_M(satfinite), NUM_SATFINITE},
                   {ALU_M(xorsign), NUM_XORSIGN}};
    uint64_t aux = NUM_RN;
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
        if (flags & rounds[i].mod)
            aux = (uint64_t)rounds[i].round;
    for (size_t i = 0; i < sizeof flag_of / sizeof *flag_of; i++)
        if (flags & flag_of[i].mod)
            aux |= (uint64_t)flag_of[i].flag << 8;
    return aux;
}

static unsigned letter_bits(char c) { return c == 'h' ? 16 : c == 'w' ? 32 : c == 'd' ? 64 : c == 'q' ? 128 : 1; }

bool alu_operands(struct isa_binder *b, const struct insn *in, const char *sig) {
    if (in->num_opnds != strlen(sig))
        return isa_refuse(b, "wrong number of operands");
    for (unsigned i = 0; i < in->num_opnds; i++)
        if (!isa_has_bits(&in->o[i], letter_bits(sig[i])))
            return isa_refuse(b, i ? "a source operand does not have the size that the instruction's type asks for"
                                   : "the destination is not a register of the instruction's size");
    return true;
}

static bool at_most_one(uint64_t flags) { return !(flags & (flags - 1)); }

static bool row_takes(const struct alu_row *row, const struct insn *in, const struct alu_form *form) {
    uint64_t need = row->need & ~ALU_NEED_RND;
    return row->op == in->src->op && row->type == form->type[0] && row->type2 == form->type[1] && !form->type[2] &&
           (form->flags & need) == need && !(form->flags & ~(need | row->may)) &&
           (!(row->need & ALU_NEED_RND) || form->flags & ALU_RND);
}

bool alu_literals(struct isa_binder *b, const struct insn *in, enum ptx_mod type) {
    for (unsigned i = 1; i < in->num_opnds; i++)
        if (in->o[i].is_imm && !isa_takes_constant(&in->o[i], ptx_mod_type(type)))
            return isa_refuse(b, "a constant does not have the kind of the instruction's type");
    return true;
}

bool alu_bind(struct isa_binder *b, struct insn *in, const struct alu_row *rows, size_t num_rows) {
    struct alu_form form;
    if (!alu_parse(b, in->src, &form))
        return false;
    if (form.cmp || form.space || !at_most_one(form.flags & ALU_RND))
        return isa_refuse(b, "this combination of modifiers is not one of the instruction's forms");
    isa_refuse(b, "this combination of modifiers and type is not one of the instruction's forms");
    for (size_t i = 0; i < num_rows; i++) {
        if (!row_takes(&rows[i], in, &form) || !alu_operands(b, in, rows[i].sig))
            continue;
        const bool mixed = rows[i].type2 || rows[i].op == PTX_OP_selp;
        if (!mixed && !alu_literals(b, in, (enum ptx_mod)rows[i].type))
            return false;
        b->why = NULL;
        in->fn = rows[i].fn;
        in->aux = alu_rounding(form.flags);
        return true;
    }
    return false;
}
