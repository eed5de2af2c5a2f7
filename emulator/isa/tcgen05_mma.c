/* isa/tcgen05_mma.c - the instructions that one thread issues to the tensor core: tcgen05.mma, .cp, .shift
 * and .commit (PTX ISA 9.7.16.5, .9, .10, .12). Every active lane issues its own operation.
 */
#include "isa/tcgen05.h"
#include "machine/mbarrier.h"

DIAG(many_threads) = {
    DIAG_HEAD(WARNING, "tcgen05-many-threads", "9.7.16.5 (Table 46), 9.7.16.6"),
    .rule = "one thread issues tcgen05.mma or .commit. If several threads execute it, each issues its own, and nothing "
            "orders those of different threads",
    .hint = "Choose one thread by elect.sync, and let only this thread branch to the instruction",
    .reason = "each lane's operation is executed, although only one was meant.",
};

/* Lanes of `mask` that name the same address by `o` as the lowest one does. */
static uint32_t alike(const struct warp *w, const struct warp_opnd *o, uint32_t mask) {
    const uint64_t first = warp_address(w, o, warp_lowest(mask));
    uint32_t lanes = 0;
    WARP_FOR_LANES(l, mask) { lanes |= warp_address(w, o, l) == first ? 1u << l : 0; }
    return lanes;
}

/* --- mma ---------------------------------------------------------------------------------------------------------- */

/* Do several threads issue an operation each on the same D? False after a fault. */
static bool issues_once(struct warp *w, const struct insn *in, uint32_t mask, const struct warp_opnd *d) {
    const uint32_t lanes = mask & (mask - 1) ? alike(w, d, mask) : 0;
    if (!(lanes & (lanes - 1)))
        return true;
    const struct mach_origin origin = warp_origin(w, in, lanes);
    return mach_warn(w->island, &origin, &many_threads, "%u threads of a warp each issue this tcgen05.mma on D at 0x%x",
                     (unsigned)__builtin_popcount(lanes), (uint32_t)warp_address(w, d, warp_lowest(lanes)));
}

struct umma_form {
    enum tc_kind kind;
    enum tc_collector_usage collector;
    bool a_in_tmem, ashift;
    uint32_t scale_d;
    uint32_t block; /* block scaling: elements for each scale factor */
    const struct warp_opnd *d, *a, *b, *idesc, *sfa, *sfb, *disable, *enable;
};

static bool mma_operands_known(struct warp *w, const struct insn *in, uint32_t l, const struct umma_form *f) {
    if (!warp_known(w, in, 1u << l, f->d, "the address of D") ||
        !warp_known(w, in, 1u << l, f->a, f->a_in_tmem ? "the address of A" : "the descriptor of A") ||
        !warp_known(w, in, 1u << l, f->b, "the descriptor of B") ||
        !warp_known(w, in, 1u << l, f->idesc, "the instruction descriptor") ||
        !warp_known(w, in, 1u << l, f->enable, "the predicate enable-input-d"))
        return false;
    if (f->sfa && (!warp_known(w, in, 1u << l, f->sfa, "the address of scale_A") ||
                   !warp_known(w, in, 1u << l, f->sfb, "the address of scale_B")))
        return false;
    for (uint32_t i = 0; f->disable && i < f->disable->num_sub; i++)
        if (!warp_known(w, in, 1u << l, &f->disable->more->sub[i], "the disable-output-lane mask"))
            return false;
    return true;
}

static uint64_t source64(const struct warp *w, const struct warp_opnd *o, uint32_t l) {
    return o->is_imm ? o->more->imm : warp_src64(w, o->slot)[l];
}

static enum warp_status do_mma(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct umma_form *f = in->data;
    WARP_FOR_LANES(l, mask) {
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        if (!mma_operands_known(w, in, l, f) || !tc_use_group(w->cta, &origin, (unsigned)in->aux))
            return WARP_FAULT;
        struct cta *pair[2];
        if (!tc_pair(w->cta, &origin, (unsigned)in->aux, "tcgen05.mma", pair))
            return WARP_FAULT;
        struct tc_mma mma = {
            .kind = f->kind,
            .collector = f->collector,
            .group = (unsigned)in->aux,
            .d = (uint32_t)warp_address(w, f->d, l),
            .a_in_tmem = f->a_in_tmem,
            .a = f->a_in_tmem ? (uint32_t)warp_address(w, f->a, l) : source64(w, f->a, l),
            .b = source64(w, f->b, l),
            .idesc = warp_u32(w, f->idesc, l),
            .accumulate = warp_pred(w, f->enable) >> l & 1,
            .ashift = f->ashift,
            .scale_d = f->scale_d,
        };
        if (f->sfa) {
            mma.block = f->block;
            mma.sfa = (uint32_t)warp_address(w, f->sfa, l);
            mma.sfb = (uint32_t)warp_address(w, f->sfb, l);
        }
        for (uint32_t i = 0; f->disable && i < f->disable->num_sub; i++)
            mma.disable[i] = warp_src32(w, f->disable->list[i])[l];
        tc_issue_mma(w->cta, &origin, &mma);
    }
    return issues_once(w, in, mask, f->d) ? WARP_NEXT : WARP_FAULT;
}

/* Kinds, what sizes of the vectors that share a scale factor each takes, and that in elements (Tables 56, 57; aliases
 * 9.7.16.10.9.1). */
static const struct kind_row {
    enum ptx_mod word, scale;
    enum tc_kind kind;
    uint32_t block; /* 0: no block scaling */
} kinds[] = {
    {PTX_MOD_kind__f16, PTX_MOD_unknown, TC_KIND_F16, 0},
    {PTX_MOD_kind__tf32, PTX_MOD_unknown, TC_KIND_TF32, 0},
    {PTX_MOD_kind__f8f6f4, PTX_MOD_unknown, TC_KIND_F8F6F4, 0},
    {PTX_MOD_kind__i8, PTX_MOD_unknown, TC_KIND_I8, 0},
    {PTX_MOD_kind__mxf8f6f4, PTX_MOD_unknown, TC_KIND_MXF8F6F4, 32},
    {PTX_MOD_kind__mxf8f6f4, PTX_MOD_scale_vec__1X, TC_KIND_MXF8F6F4, 32},
    {PTX_MOD_kind__mxf8f6f4, PTX_MOD_block32, TC_KIND_MXF8F6F4, 32},
    {PTX_MOD_kind__mxf4, PTX_MOD_unknown, TC_KIND_MXF4, 32},
    {PTX_MOD_kind__mxf4, PTX_MOD_scale_vec__2X, TC_KIND_MXF4, 32},
    {PTX_MOD_kind__mxf4, PTX_MOD_block32, TC_KIND_MXF4, 32},
    {PTX_MOD_kind__mxf4nvf4, PTX_MOD_scale_vec__2X, TC_KIND_MXF4NVF4, 32},
    {PTX_MOD_kind__mxf4nvf4, PTX_MOD_block32, TC_KIND_MXF4NVF4, 32},
    {PTX_MOD_kind__mxf4nvf4, PTX_MOD_scale_vec__4X, TC_KIND_MXF4NVF4, 16},
    {PTX_MOD_kind__mxf4nvf4, PTX_MOD_block16, TC_KIND_MXF4NVF4, 16},
};

static bool mma_kind(struct isa_binder *b, const struct ptx_insn *p, const struct isa_words *k, struct umma_form *f) {
    const struct kind_row *row = kinds, *end = kinds + sizeof kinds / sizeof *kinds;
    if (!k->of[PTX_KIND_kind])
        return isa_refuse(b, "the .kind is missing");
    while (row < end && (row->word != k->of[PTX_KIND_kind] || row->scale != k->of[PTX_KIND_scale]))
        row++;
    if (row == end)
        return isa_refuse(b,
                          "the .scale_vectorsize is .scale_vec::1X or .block32 for .kind::mxf8f6f4, .scale_vec::2X or "
                          ".block32 for mxf4, and one of these or .scale_vec::4X or .block16 for mxf4nvf4 (Table 56)");
    if (ptx_has(p, PTX_MOD_block_scale) != (row->block != 0))
        return isa_refuse(b, row->block ? "this .kind needs .block_scale" : "this .kind has no .block_scale");
    f->kind = row->kind;
    f->block = row->block;
    return true;
}

/* [d], a | [a], b, idesc {, {m0, m1, m2, m3}}, p {, scale}; with block scaling ... idesc, [sfa], [sfb], p */
static bool mma_operands(struct isa_binder *b, struct insn *in, struct umma_form *f) {
    const struct warp_opnd *o = in->o + 4;
    const bool scales = o[0].kind == WARP_MEM && o[1].kind == WARP_MEM && in->num_opnds == 7;
    f->d = &in->o[0];
    f->a = &in->o[1];
    f->b = &in->o[2];
    f->idesc = &in->o[3];
    f->a_in_tmem = f->a->kind == WARP_MEM;
    if (tc_is_scaled(f->kind)) {
        if (!scales)
            return isa_refuse(b, "with block scaling the operands are [d], a, b, idesc, [scale-A], [scale-B], "
                                 "enable-input-d");
        f->sfa = o++;
        f->sfb = o++;
    } else if (o->kind == WARP_VEC) {
        f->disable = o++;
        if (f->disable->num_sub != 4 * in->aux)
            return isa_refuse(b, "disable-output-lane has 4 elements of 32 bits with .cta_group::1, 8 with ::2");
    }
    if (o->kind != WARP_SLOT)
        return isa_refuse(b, "operands are [d], a, b, idesc {, disable-output-lane}, enable-input-d {, scale-input-d}");
    f->enable = o++;
    if (o == in->o + in->num_opnds)
        return true;
    if (o->more->imm > 15 || (f->kind != TC_KIND_F16 && f->kind != TC_KIND_TF32))
        return isa_refuse(b, "scale-input-d is 0 to 15 and for .kind::f16 and .kind::tf32 only");
    f->scale_d = (uint32_t)o->more->imm;
    return true;
}

bool isa_bind_tcgen05_mma(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *p = in->src;
    struct isa_words k;
    if (p->op != PTX_OP_tcgen05_mma)
        return isa_refuse(b, p->op == PTX_OP_tcgen05_mma_sp ? "sparse matrices (.sp) are not supported yet"
                                                            : "weight-stationary mode (.ws) is not supported yet");
    struct umma_form *f = arena_alloc(b->arena, sizeof *f);
    if (!isa_tmem_group(b, in,
                        ISA_WORDS(ISA_ANY(cta_group), ISA_ANY(kind), PTX_MOD_block_scale, ISA_ANY(scale),
                                  PTX_MOD_ashift, PTX_MOD_collector__a__fill, PTX_MOD_collector__a__use,
                                  PTX_MOD_collector__a__lastuse, PTX_MOD_collector__a__discard),
                        &k) ||
        !mma_kind(b, p, &k, f) || !mma_operands(b, in, f))
        return false;
    f->ashift = ptx_has(p, PTX_MOD_ashift);
    f->collector = ptx_has(p, PTX_MOD_collector__a__fill)      ? TC_COLLECTOR_FILL
                   : ptx_has(p, PTX_MOD_collector__a__use)     ? TC_COLLECTOR_USE
                   : ptx_has(p, PTX_MOD_collector__a__lastuse) ? TC_COLLECTOR_LASTUSE
                                                               : TC_COLLECTOR_DISCARD;
    if (f->ashift && f->block)
        return isa_refuse(b, ".ashift is for kinds without block scaling");
    if (f->ashift && (k.of[PTX_KIND_collector] == PTX_MOD_collector__a__use ||
                      k.of[PTX_KIND_collector] == PTX_MOD_collector__a__fill))
        return isa_refuse(b, ".ashift excludes .collector::a::use and ::fill");
    if (f->ashift && !f->a_in_tmem)
        return isa_refuse(b, ".ashift needs A in tensor memory");
    in->data = f;
    in->fn = do_mma;
    return true;
}

/* --- cp, shift ---------------------------------------------------------------------------------------------------- */

struct cp_form {
    enum tc_cp_shape shape;
    enum tc_cp_format format;
};

static enum warp_status do_cp(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct cp_form *f = in->data;
    WARP_FOR_LANES(l, mask) {
        struct cta *pair[2];
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        if (!warp_known(w, in, 1u << l, &in->o[0], "the tensor memory address") ||
            !warp_known(w, in, 1u << l, &in->o[1], "the matrix descriptor") ||
            !tc_use_group(w->cta, &origin, (unsigned)in->aux) ||
            !tc_pair(w->cta, &origin, (unsigned)in->aux, "tcgen05.cp", pair))
            return WARP_FAULT;
        tc_issue_cp(w->cta, &origin, (unsigned)in->aux, f->shape, f->format, (uint32_t)warp_address(w, &in->o[0], l),
                    source64(w, &in->o[1], l));
    }
    return WARP_NEXT;
}

static enum warp_status do_shift(struct warp *w, const struct insn *in, uint32_t mask) {
    WARP_FOR_LANES(l, mask) {
        struct cta *pair[2];
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        if (!warp_known(w, in, 1u << l, &in->o[0], "the tensor memory address") ||
            !tc_use_group(w->cta, &origin, (unsigned)in->aux) ||
            !tc_pair(w->cta, &origin, (unsigned)in->aux, "tcgen05.shift", pair))
            return WARP_FAULT;
        tc_issue_shift(w->cta, &origin, (unsigned)in->aux, (uint32_t)warp_address(w, &in->o[0], l));
    }
    return WARP_NEXT;
}

/* Shape and the multicast that goes with it (9.7.16.9.2). */
static bool cp_shape(const struct isa_words *k, enum tc_cp_shape *shape) {
    static const struct {
        enum ptx_mod shape, multicast;
        enum tc_cp_shape cp;
    } forms[] = {{PTX_MOD__128x256b, PTX_MOD_unknown, TC_CP_128X256B},
                 {PTX_MOD__4x256b, PTX_MOD_unknown, TC_CP_4X256B},
                 {PTX_MOD__128x128b, PTX_MOD_unknown, TC_CP_128X128B},
                 {PTX_MOD__64x128b, PTX_MOD_warpx2__02_13, TC_CP_64X128B_02_13},
                 {PTX_MOD__64x128b, PTX_MOD_warpx2__01_23, TC_CP_64X128B_01_23},
                 {PTX_MOD__32x128b, PTX_MOD_warpx4, TC_CP_32X128B}};
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].shape == k->of[PTX_KIND_shape] && forms[i].multicast == k->of[PTX_KIND_warps]) {
            *shape = forms[i].cp;
            return true;
        }
    return false;
}

bool isa_bind_tcgen05_cp(struct isa_binder *b, struct insn *in) {
    struct cp_form *f = arena_alloc(b->arena, sizeof *f);
    struct isa_words k;
    if (!isa_tmem_group(b, in,
                        ISA_WORDS(ISA_ANY(cta_group), ISA_ANY(shape), ISA_ANY(warps), PTX_MOD_b8x16, PTX_MOD_b6x16_p32,
                                  PTX_MOD_b4x16_p64),
                        &k))
        return false;
    if (!cp_shape(&k, &f->shape))
        return isa_refuse(b, ".64x128b needs .warpx2, .32x128b needs .warpx4, the other shapes take neither");
    const enum ptx_mod packed = k.of[PTX_KIND_packed];
    if ((k.of[PTX_KIND_unpacked] != 0) != (packed != 0))
        return isa_refuse(b, "decompression is .b8x16.b6x16_p32 or .b8x16.b4x16_p64");
    f->format = packed == PTX_MOD_b6x16_p32 ? TC_CP_B6X16_P32 : packed ? TC_CP_B4X16_P64 : TC_CP_RAW;
    in->data = f;
    in->fn = do_cp;
    return true;
}

bool isa_bind_tcgen05_shift(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    if (!isa_tmem_group(b, in, ISA_WORDS(ISA_ANY(cta_group), PTX_MOD_down), &k) || !ptx_has(in->src, PTX_MOD_down))
        return false;
    in->fn = do_shift;
    return true;
}

/* --- commit ------------------------------------------------------------------------------------------------------- */

DIAG(bad_mask) = {
    DIAG_HEAD(ERROR, "tcgen05-commit-mask", "9.7.16.12.1"),
    .rule = "each bit of ctaMask names a CTA of the cluster by its %cluster_ctarank",
    .hint = "Build the mask from ranks in the cluster, not in the grid",
    .reason = "the arrival goes to a CTA that does not exist.",
};

/* Do several threads issue an arrival each on an mbarrier that awaits fewer? A phase is over before they all have
 * arrived, and others begin. False after a fault. */
static bool commits_once(struct warp *w, const struct insn *in, uint32_t mask, const struct cta *cta, uint32_t off) {
    const uint32_t lanes = alike(w, &in->o[0], mask), count = (uint32_t)__builtin_popcount(lanes);
    struct mbar_view v;
    if (count < 2 || mbar_peek(cta, off, &v) != MBAR_OK || count <= v.expected)
        return true;
    const struct mach_origin origin = warp_origin(w, in, lanes);
    return mach_warn(w->island, &origin, &many_threads,
                     "%u threads of the warp execute a tcgen05.commit together, for an mbarrier that awaits %u "
                     "arrival%s in a phase",
                     count, v.expected, v.expected == 1 ? "" : "s");
}

static enum warp_status do_commit(struct warp *w, const struct insn *in, uint32_t mask) {
    bool generic = !ptx_has(in->src, PTX_MOD_shared__cluster), multicast = ptx_has(in->src, PTX_MOD_multicast__cluster);
    struct cta *cta = NULL, *pair[2];
    uint32_t off = 0;
    WARP_FOR_LANES(l, mask) {
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        uint32_t ctas, count = w->cta->cluster->num_ctas;
        if (!warp_smem_operand(w, in, l, &in->o[0], true, generic, 8, &cta, &off) ||
            !tc_use_group(w->cta, &origin, (unsigned)in->aux) ||
            !tc_pair(w->cta, &origin, (unsigned)in->aux, "tcgen05.commit", pair))
            return WARP_FAULT;
        ctas = 1u << cta->rank;
        if (multicast) {
            if (!warp_known(w, in, 1u << l, &in->o[1], "the CTA mask"))
                return WARP_FAULT;
            ctas = warp_u32(w, &in->o[1], l) & 0xffff;
            if (ctas >> count)
                return warp_fault(w, in, 1u << l, &bad_mask, "ctaMask is 0x%04x in a cluster of %u CTAs", ctas, count);
        }
        tc_issue_commit(w->cta, &origin, ctas, off);
    }
    return mask & (mask - 1) && !commits_once(w, in, mask, cta, off) ? WARP_FAULT : WARP_NEXT;
}

bool isa_bind_tcgen05_commit(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    if (!isa_tmem_group(b, in,
                        ISA_WORDS(ISA_ANY(cta_group), PTX_MOD_mbarrier__arrive__one, PTX_MOD_shared__cluster,
                                  PTX_MOD_multicast__cluster, PTX_MOD_b64),
                        &k))
        return false;
    if (!k.of[PTX_KIND_completion])
        return isa_refuse(b, "the completion mechanism .mbarrier::arrive::one is missing");
    in->fn = do_commit;
    return true;
}
