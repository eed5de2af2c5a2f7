/* engines/tc_idesc.c - the instruction descriptor and the tables of legal forms (PTX
 * ISA 9.7.16.2.1, 9.7.16.4.2, 9.7.16.10.1 to .3). What a table excludes is refused with the table's number.
 */
#include "engines/tc_desc.h"

#include <stdio.h>

DIAG(bad_idesc) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-instruction-descriptor", "9.7.16.4.2"),
    .rule = "the fields of the instruction descriptor are those of Table 42",
    .hint = "Build the descriptor for the instruction's .kind. Its format codes are f16: 0 f16, 1 bf16, tf32: 2 tf32, "
            "f8f6f4: 0 e4m3, 1 e5m2, 3 e2m3, 4 e3m2, 5 e2m1, i8: 0 u8, 1 s8",
    .reason = "the bits name no operation of the kind.",
};
DIAG(bad_shape) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-mma-shape", "9.7.16.2.1"),
    .rule = "M, N and K are those that Table 39 lists for the kind and the cta_group",
    .hint = "Check M and N: the descriptor holds N >> 3 in bits 17-22 and M >> 4 in bits 24-28",
    .reason = "the chip traps on a shape that it does not have.",
};
DIAG(bad_transposed_n) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-mma-shape", "9.7.16.10.1"),
    .rule = "a transposed (N-major) B of 8 bits has N = 16, 32, ... 256 with cta_group::1, and N = 32, 64, ... 256 "
            "with cta_group::2 (Table 52)",
};
DIAG(bad_major) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-mma-major", "9.7.16.10.2"),
    .rule = "A in tensor memory is K-major (Table 53)",
    .reason = "the bits name no operation of the kind.",
};
/* Table 51 grants both kinds transposition, without a word on the width of the elements. */
DIAG(narrow_major) = {
    DIAG_HEAD(STRICT, "tcgen05-mma-narrow-major", "9.7.16.10.3"),
    .rule = "Table 54 lists transposed matrices of 8, 16 and 32 bits, but none of 4 and 6 bits",
    .hint = "Lay the matrix out K-major. Chips read it like an 8-bit matrix, with 16 elements along M or N in each 16 "
            "bytes",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
    .reason = "the chip reads it like an 8-bit matrix, as CUTLASS's tests of 4- and 6-bit types do, and so does the "
              "emulator.",
};
DIAG(bad_swizzle) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-mma-swizzle", "9.7.16.10.3"),
    .rule =
        "transposed 32-bit matrices need 128B swizzling with 32B atoms, and no other matrix may use it (Tables 54, 55)",
    .reason = "the bits name no layout for these elements.",
};

static const char *kind_name(enum tc_kind kind) {
    static const char *const names[] = {".kind::f16",      ".kind::tf32", ".kind::f8f6f4",  ".kind::i8",
                                        ".kind::mxf8f6f4", ".kind::mxf4", ".kind::mxf4nvf4"};
    return names[kind];
}

const char *tc_elem_name(enum tc_elem e) {
    static const char *const names[] = {"f16",  "bf16", "tf32", "e4m3", "e5m2", "e2m3",
                                        "e3m2", "e2m1", "u8",   "s8",   "e2m1"};
    return names[e];
}

uint32_t tc_elem_bytes(enum tc_elem e) { return e == TC_TF32 ? 4 : e == TC_F16 || e == TC_BF16 ? 2 : 1; }

static uint32_t field(uint32_t bits, unsigned first, unsigned count) { return bits >> first & ((1u << count) - 1); }

/* Element type of a code in bits 7-9 or 10-12 of Table 42; false: not a type of the kind. */
static bool elem_of(enum tc_kind kind, uint32_t code, enum tc_elem *e) {
    static const int f8f6f4[8] = {TC_E4M3, TC_E5M2, -1, TC_E2M3, TC_E3M2, TC_E2M1, -1, -1};
    int v = -1;
    switch (kind) {
    case TC_KIND_F16:
        v = code == 0 ? TC_F16 : code == 1 ? TC_BF16 : -1;
        break;
    case TC_KIND_TF32:
        v = code == 2 ? TC_TF32 : -1;
        break;
    case TC_KIND_F8F6F4:
    case TC_KIND_MXF8F6F4:
        v = f8f6f4[code];
        break;
    case TC_KIND_MXF4:
    case TC_KIND_MXF4NVF4:
        v = code == 1 ? TC_E2M1X2 : -1;
        break;
    case TC_KIND_I8:
        v = code == 0 ? TC_U8 : code == 1 ? TC_S8 : -1;
        break;
    }
    if (v < 0)
        return false;
    *e = (enum tc_elem)v;
    return true;
}

static bool dtype_of(enum tc_kind kind, uint32_t code, enum tc_dtype *d) {
    *d = code == 0 ? TC_D_F16 : code == 1 ? TC_D_F32 : TC_D_S32;
    switch (kind) {
    case TC_KIND_F16:
    case TC_KIND_F8F6F4:
        return code <= 1;
    case TC_KIND_TF32:
        return code == 1;
    case TC_KIND_I8:
        return code == 2;
    default: /* with block scaling D is f32, without a field */
        break;
    }
    return false;
}

static bool refuse(struct tc_problem *p, const struct diag *rule, const char *what, enum tc_kind kind, uint32_t value) {
    p->rule = rule;
    snprintf(p->text, sizeof p->text, "%s: %s is %u", kind_name(kind), what, value);
    return false;
}

/* Bits whose value Table 42 fixes for the kind. */
static bool check_bits(enum tc_kind kind, uint32_t bits, struct tc_problem *p) {
    if (field(bits, 2, 1))
        return refuse(p, &bad_idesc, "the sparsity bit (2) of a dense tcgen05.mma", kind, 1);
    if (kind != TC_KIND_I8 && field(bits, 3, 1))
        return refuse(p, &bad_idesc, "the saturate bit (3), an integer option,", kind, 1);
    if (field(bits, 6, 1))
        return refuse(p, &bad_idesc, "reserved bit 6 of the instruction descriptor", kind, 1);
    if (field(bits, 23, 1))
        return refuse(p, &bad_idesc, "reserved bit 23 of the instruction descriptor", kind, 1);
    if (field(bits, 29, 1))
        return refuse(p, &bad_idesc, "reserved bit 29 of the instruction descriptor", kind, 1);
    if (kind == TC_KIND_I8 && field(bits, 13, 2))
        return refuse(p, &bad_idesc, "the negate field (bits 13-14; Table 51 has none for integers)", kind,
                      field(bits, 13, 2));
    return true;
}

/* N of Table 39: steps of 8 per CTA, of 16 for integers beyond 32. */
static bool legal_n(enum tc_kind kind, unsigned group, uint32_t n) {
    if (n < 8 * group || n > 256 || n % (8 * group))
        return false;
    if (kind != TC_KIND_I8)
        return true;
    return group == 2 ? n % 32 == 0 : n <= 32 || n % 16 == 0;
}

static bool check_shape(enum tc_kind kind, unsigned group, bool a_in_tmem, const struct tc_idesc *d,
                        struct tc_problem *p) {
    static const char *const m_of[] = {"M (64 or 128 with cta_group::1, Table 39)",
                                       "M (128 or 256 with cta_group::2, Table 39)"};
    static const char *const scaled_m[] = {"M (128 with cta_group::1, Table 39)",
                                           "M (128 or 256 with cta_group::2, Table 39)"};
    static const char *const n_of[][2] = {
        {"N (8, 16, 24, ... 256 with cta_group::1, Table 39)",
         "N (8, 16, 24, 32, 48, ... 256 with cta_group::1, Table 39)"},
        {"N (16, 32, ... 256 with cta_group::2, Table 39)", "N (32, 64, ... 256 with cta_group::2, Table 39)"}};
    if (tc_is_scaled(kind) ? d->m != 128 && d->m != 128 * group : d->m != 64 * group && d->m != 128 * group)
        return refuse(p, &bad_shape, (tc_is_scaled(kind) ? scaled_m : m_of)[group - 1], kind, d->m);
    if (!legal_n(kind, group, d->n))
        return refuse(p, &bad_shape, n_of[group - 1][kind == TC_KIND_I8], kind, d->n);
    if (d->mn_major_b && tc_elem_bytes(d->b) == 1 && d->n % (16 * group))
        return refuse(p, &bad_transposed_n, "N with transposed 8-bit B (Table 52)", kind, d->n);
    if (a_in_tmem && d->mn_major_a)
        return refuse(p, &bad_major, "the transpose bit (15) of A in tensor memory (Table 53)", kind, 1);
    return true;
}

/* The fixed bits of Tables 43 and 44. */
static bool check_scaled_bits(enum tc_kind kind, uint32_t bits, struct tc_problem *p) {
    static const struct {
        unsigned first, count;
        const char *what;
    } zero[] = {{0, 2, "bits 0-1, reserved,"},
                {2, 1, "the sparsity bit (2) of a dense tcgen05.mma"},
                {3, 1, "reserved bit 3"},
                {6, 1, "reserved bit 6"},
                {24, 3, "bits 24-26, reserved,"},
                {31, 1, "bit 31 (K = 96, a feature of sm_103a, with 4-bit types)"},
                {12, 1, "reserved bit 12"},
                {15, 2, "the transpose field (bits 15-16; Table 51 has none for 4-bit types)"}};
    unsigned count = kind == TC_KIND_MXF8F6F4 ? 6 : 8;
    for (unsigned i = 0; i < count; i++)
        if (field(bits, zero[i].first, zero[i].count))
            return refuse(p, &bad_idesc, zero[i].what, kind, field(bits, zero[i].first, zero[i].count));
    if (kind != TC_KIND_MXF4NVF4 && !field(bits, 23, 1))
        return refuse(p, &bad_idesc, "the scale matrix type (bit 23; 1 is ue8m0)", kind, 0);
    return true;
}

bool tc_check_scale(enum tc_kind kind, const struct tc_idesc *d, uint32_t factors, struct tc_problem *p) {
    if (d->scale_ue4m3 && factors != 4)
        return refuse(p, &bad_idesc, "the scale matrix type (bit 23; 0 is ue4m3, for .scale_vec::4X only, Table 57)",
                      kind, 0);
    if (factors > 1 && (d->sfa_id % factors || d->sfb_id % factors))
        return refuse(p, &bad_idesc,
                      factors == 2 ? "a scale factor ID (bits 4-5, 29-30; 0 or 2 with .scale_vec::2X)"
                                   : "a scale factor ID (bits 4-5, 29-30; 0 with .scale_vec::4X)",
                      kind, d->sfa_id % factors ? d->sfa_id : d->sfb_id);
    return true;
}

static bool is_sub_byte(enum tc_elem e) { return e == TC_E2M3 || e == TC_E3M2 || e == TC_E2M1; }

bool tc_idesc_decode(enum tc_kind kind, unsigned group, uint32_t bits, bool a_in_tmem, struct tc_idesc *out,
                     struct tc_problem *p) {
    struct tc_idesc d = {
        .m = field(bits, 24, 5) << 4,
        .n = field(bits, 17, 6) << 3,
        .negate_a = field(bits, 13, 1),
        .negate_b = field(bits, 14, 1),
        .mn_major_a = field(bits, 15, 1),
        .mn_major_b = field(bits, 16, 1),
        .saturate = field(bits, 3, 1),
    };
    if (tc_is_scaled(kind)) {
        d.m = field(bits, 27, 2) << 7;
        d.saturate = false;
        d.d = TC_D_F32;
        d.sfa_id = field(bits, 29, 2);
        d.sfb_id = field(bits, 4, 2);
        d.scale_ue4m3 = !field(bits, 23, 1);
    }
    if (!(tc_is_scaled(kind) ? check_scaled_bits : check_bits)(kind, bits, p))
        return false;
    if (!tc_is_scaled(kind) && !dtype_of(kind, field(bits, 4, 2), &d.d))
        return refuse(p, &bad_idesc, "dtype (bits 4-5)", kind, field(bits, 4, 2));
    if (!elem_of(kind, field(bits, 7, 3), &d.a))
        return refuse(p, &bad_idesc, "atype (bits 7-9)", kind, field(bits, 7, 3));
    if (!elem_of(kind, field(bits, 10, 3), &d.b))
        return refuse(p, &bad_idesc, "btype (bits 10-12)", kind, field(bits, 10, 3));
    if (kind == TC_KIND_F16 && d.d == TC_D_F16 && (d.a != TC_F16 || d.b != TC_F16))
        return refuse(p, &bad_shape, "dtype f16 with a bf16 operand (Table 39); dtype (bits 4-5)", kind, 0);
    d.k = d.a == TC_E2M1X2 ? 64 : 32 / tc_elem_bytes(d.a);
    if (!check_shape(kind, group, a_in_tmem, &d, p))
        return false;
    p->rule = NULL;
    if (d.mn_major_a && is_sub_byte(d.a))
        refuse(p, &narrow_major, "the transpose bit (15) of a 4- or 6-bit A (Table 54)", kind, 1);
    else if (d.mn_major_b && is_sub_byte(d.b))
        refuse(p, &narrow_major, "the transpose bit (16) of a 4- or 6-bit B (Table 54)", kind, 1);
    *out = d;
    return true;
}

bool tc_check_swizzle(const char *matrix, enum tc_elem e, bool mn_major, enum tc_swizzle s, struct tc_problem *p) {
    bool wide = mn_major && e == TC_TF32;
    if (wide == (s == TC_SW_128B_32B))
        return true;
    p->rule = &bad_swizzle;
    if (s == TC_SW_128B_32B && !mn_major)
        snprintf(p->text, sizeof p->text, "K-major %s of type %s with %s, for which Table 55 has no layout", matrix,
                 tc_elem_name(e), tc_swizzle_name(s));
    else
        snprintf(p->text, sizeof p->text, "transposed (MN-major) %s of type %s with %s (Table 54)", matrix,
                 tc_elem_name(e), tc_swizzle_name(s));
    return false;
}
