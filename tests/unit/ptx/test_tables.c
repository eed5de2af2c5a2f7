/* The tables: naming rule, no doubles, families of opcodes, kinds and types of modifiers. */
#include "isa/isa.h"
#include "unit/ptx/parse.h"

/* Enumerator of a text: runs of '.' and ':' become '_' (opcodes), "::" becomes "__" (modifiers). */
static void op_name(const char *text, char *out) {
    for (; *text; text++)
        if (*text != '.' && *text != ':')
            *out++ = *text;
        else if (out[-1] != '_')
            *out++ = '_';
    *out = '\0';
}

static void opcodes_follow_the_rule(void) {
    static const char *const names[] = {
#define OP(name, ...) #name,
#include "ptx/opcodes.def"
#undef OP
    };
    CHECK_EQ(sizeof names / sizeof *names, PTX_OP_COUNT - 1);
    for (int i = 1; i < PTX_OP_COUNT; i++) {
        char want[64];
        op_name(ptx_op_text(i), want);
        if (i != PTX_OP_match_sync) /* match.any.sync: the mode stands inside */
            CHECK_STR(names[i - 1], want);
        CHECK(strncmp(ptx_op_section(i), "9.7.", 4) == 0);
        for (int k = 1; k < i; k++)
            CHECK(strcmp(ptx_op_text(i), ptx_op_text(k)) != 0);
    }
}

/* Families that no opcode has, where `of` says which one each has. */
static int idle_families(enum ptx_family (*of)(enum ptx_op)) {
    bool used[PTX_FAMILY_COUNT] = {false};
    int idle = 0;
    for (int i = 1; i < PTX_OP_COUNT; i++)
        used[of(i)] = true;
    for (int i = 0; i < PTX_FAMILY_COUNT; i++)
        idle += !used[i];
    return idle;
}

static enum ptx_family all_logic(enum ptx_op op) { return op ? PTX_FAMILY_logic : PTX_FAMILY_none; }

static void families(void) {
    static const isa_bind_fn binders[] = {
#define FAMILY(name) isa_bind_##name,
#include "ptx/families.def"
#undef FAMILY
    };
    CHECK_EQ(sizeof binders / sizeof *binders, PTX_FAMILY_COUNT - 1);
    for (int i = 0; i < PTX_FAMILY_COUNT - 1; i++)
        for (int k = 0; k < i; k++)
            CHECK(binders[i] != binders[k]);
    for (int i = 1; i < PTX_OP_COUNT; i++)
        CHECK(ptx_op_family(i) < PTX_FAMILY_COUNT);
    CHECK_EQ(idle_families(ptx_op_family), 0);
    CHECK_EQ(idle_families(all_logic), PTX_FAMILY_COUNT - 1);
    CHECK_EQ(ptx_op_family(PTX_OP_unknown), PTX_FAMILY_none);
    CHECK_EQ(ptx_op_family(PTX_OP_COUNT), PTX_FAMILY_none);
    CHECK_EQ(ptx_op_family(PTX_OP_wgmma_mma_async), PTX_FAMILY_none);
    CHECK_EQ(ptx_op_family(PTX_OP_add), PTX_FAMILY_arithmetic);
}

static void modifiers_follow_the_rule(void) {
    static const char *const names[] = {
#define MOD(name, ...) #name,
#include "ptx/modifiers.def"
#undef MOD
    };
    CHECK_EQ(sizeof names / sizeof *names, PTX_MOD_COUNT - 1);
    for (int i = 1; i < PTX_MOD_COUNT; i++) {
        char want[64], *w = want;
        const char *text = ptx_mod_text(i);
        if (*text >= '0' && *text <= '9')
            *w++ = '_';
        for (const char *s = text; *s; s++)
            *w++ = *s == ':' ? '_' : *s;
        *w = '\0';
        CHECK_STR(names[i - 1], want);
        for (int k = 1; k < i; k++)
            CHECK(strcmp(text, ptx_mod_text(k)) != 0);
    }
}

/* Words without a kind, where `of` says which one each has. */
static int plain_words(enum ptx_kind (*of)(enum ptx_mod)) {
    int plain = 0;
    for (int i = 1; i < PTX_MOD_COUNT; i++)
        plain += of(i) == PTX_KIND_none || of(i) >= PTX_KIND_COUNT;
    return plain;
}

static enum ptx_kind only_types(enum ptx_mod m) { return ptx_mod_type(m) ? PTX_KIND_type : PTX_KIND_none; }

static void kinds(void) {
    CHECK_EQ(plain_words(ptx_mod_kind), 0);
    CHECK(plain_words(only_types) > 0);
    for (int i = 1; i < PTX_MOD_COUNT; i++)
        CHECK(!ptx_mod_type(i) || ptx_mod_kind(i) == PTX_KIND_type);
    CHECK_EQ(ptx_mod_kind(PTX_MOD_unknown), PTX_KIND_none);
    CHECK_EQ(ptx_mod_kind(PTX_MOD_COUNT), PTX_KIND_none);
    CHECK_EQ(ptx_mod_kind(PTX_MOD_shared__cluster), PTX_KIND_space);
    CHECK_EQ(ptx_mod_number(PTX_MOD_v4), 4);
    CHECK_EQ(ptx_mod_number(PTX_MOD__5d), 5);
    CHECK_EQ(ptx_mod_number(PTX_MOD_x128), 128);
    CHECK_EQ(ptx_mod_number(PTX_MOD_cta_group__2), 2);
    CHECK_EQ(ptx_mod_number(PTX_MOD_relaxed), 0);
    CHECK_EQ(ptx_mod_number(PTX_MOD_unknown), 0);
}

static void special_registers(void) {
    CHECK(ptx_sreg_is_fixed(PTX_SREG_tid_x) && ptx_sreg_is_fixed(PTX_SREG_cluster_ctarank));
    CHECK(!ptx_sreg_is_fixed(PTX_SREG_clock) && !ptx_sreg_is_fixed(PTX_SREG_tid));
    CHECK(!ptx_sreg_is_fixed(PTX_SREG_unknown) && !ptx_sreg_is_fixed(PTX_SREG_COUNT));
}

static void types(void) {
    static const struct {
        enum ptx_mod mod;
        enum ptx_type type;
        unsigned bits;
    } all[] = {
        {PTX_MOD_b8, PTX_B8, 8},        {PTX_MOD_u8, PTX_U8, 8},         {PTX_MOD_s8, PTX_S8, 8},
        {PTX_MOD_b16, PTX_B16, 16},     {PTX_MOD_f16, PTX_F16, 16},      {PTX_MOD_bf16, PTX_BF16, 16},
        {PTX_MOD_b32, PTX_B32, 32},     {PTX_MOD_s32, PTX_S32, 32},      {PTX_MOD_f32, PTX_F32, 32},
        {PTX_MOD_f16x2, PTX_F16X2, 32}, {PTX_MOD_b64, PTX_B64, 64},      {PTX_MOD_f64, PTX_F64, 64},
        {PTX_MOD_f32x2, PTX_F32X2, 64}, {PTX_MOD_b128, PTX_B128, 128},   {PTX_MOD_pred, PTX_PRED, 1},
        {PTX_MOD_tf32, PTX_NOTYPE, 0},  {PTX_MOD_e4m3x2, PTX_NOTYPE, 0}, {PTX_MOD_sync, PTX_NOTYPE, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK_EQ(ptx_mod_type(all[i].mod), all[i].type);
        CHECK_EQ(ptx_type_bits(all[i].type), all[i].bits);
    }
}

static void out_of_range_is_unknown(void) {
    CHECK_STR(ptx_op_text(PTX_OP_COUNT), "(unknown)");
    CHECK_STR(ptx_mod_text(PTX_MOD_COUNT), "(unknown)");
    CHECK_STR(ptx_sreg_text(PTX_SREG_COUNT), "(unknown)");
    CHECK_STR(ptx_sreg_text(PTX_SREG_cluster_ctarank), "%cluster_ctarank");
    CHECK_STR(ptx_op_text(PTX_OP_tcgen05_wait_ld), "tcgen05.wait::ld");
    CHECK_STR(ptx_op_section(PTX_OP_tcgen05_alloc), "9.7.16.7.1");
}

int main(void) {
    opcodes_follow_the_rule();
    families();
    modifiers_follow_the_rule();
    kinds();
    special_registers();
    types();
    out_of_range_is_unknown();
    return check_report();
}
