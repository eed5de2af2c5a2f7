/* Instructions: opcode, modifiers, every kind of operand, guards, sites. */
#include "unit/ptx/parse.h"

static void opcode_is(const char *text, enum ptx_op op, unsigned mods, const char *last) {
    char body[512];
    snprintf(body, sizeof body, "%s%s\n}\n", KERNEL_HEAD, text);
    struct ptx_module *m = parse(body);
    const struct ptx_insn *in = insn(m, 0);
    CHECK_STR(ptx_op_text(in->op), ptx_op_text(op));
    CHECK_EQ(in->num_mods, mods);
    if (in->num_mods)
        CHECK_STR(ptx_mod_text(in->mods[in->num_mods - 1]), last);
    ptx_module_free(m);
}

static void opcodes(void) {
    opcode_is("add.s32 %r1, %r2, %r3;", PTX_OP_add, 1, "s32");
    opcode_is("add.cc.u32 %r1, %r2, %r3;", PTX_OP_add, 2, "u32");
    opcode_is("cp.async.cg.shared.global [%r1], [%rd1], 16;", PTX_OP_cp_async, 3, "global");
    opcode_is("cp.async.wait_group 1;", PTX_OP_cp_async_wait_group, 0, "");
    opcode_is("cp.async.bulk.commit_group;", PTX_OP_cp_async_bulk_commit_group, 0, "");
    opcode_is("cp.async.bulk.wait_group.read 0;", PTX_OP_cp_async_bulk_wait_group, 1, "read");
    opcode_is("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];",
              PTX_OP_cp_async_bulk, 3, "mbarrier::complete_tx::bytes");
    opcode_is("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1, %r2}];",
              PTX_OP_cp_async_bulk_prefetch_tensor, 4, "tile");
    opcode_is("tcgen05.wait::ld.sync.aligned;", PTX_OP_tcgen05_wait_ld, 2, "aligned");
    opcode_is("tcgen05.fence::after_thread_sync;", PTX_OP_tcgen05_fence_after_thread_sync, 0, "");
    opcode_is("tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r2], %r3, %p1;", PTX_OP_tcgen05_mma_ws_sp,
              2, "kind::f16");
    opcode_is("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64;", PTX_OP_mbarrier_arrive, 3, "b64");
    opcode_is("match.any.sync.b32 %r1, %r2, -1;", PTX_OP_match_sync, 3, "b32");
    opcode_is("vote.sync.ballot.b32 %r1, %p1, -1;", PTX_OP_vote_sync, 2, "b32");
    opcode_is("vote.ballot.sync.b32 %r1, %p1, -1;", PTX_OP_vote_sync, 2, "b32");
    opcode_is("vote.ballot.b32 %r1, %p1;", PTX_OP_vote, 2, "b32");
    opcode_is("barrier.cluster.arrive.relaxed.aligned;", PTX_OP_barrier_cluster_arrive, 2, "aligned");
    opcode_is("bar.sync 0;", PTX_OP_bar, 1, "sync");
    opcode_is("bar.warp.sync -1;", PTX_OP_bar_warp_sync, 0, "");
    opcode_is("fence.proxy.async.shared::cta;", PTX_OP_fence_proxy, 2, "shared::cta");
    opcode_is("fence.mbarrier_init.release.cluster;", PTX_OP_fence_mbarrier_init, 2, "cluster");
    opcode_is("fence.acq_rel.gpu;", PTX_OP_fence, 2, "gpu");
    opcode_is("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, "
              "{%f2}, %r3, 0;",
              PTX_OP_mma_sp_ordered_metadata, 9, "f32");
    opcode_is("mov .b32 %r1, %r2;", PTX_OP_mov, 1, "b32"); /* a blank before a modifier is allowed */
    opcode_is("frobnicate.b32 %r1, %r2;", PTX_OP_unknown, 1, "b32");
    opcode_is("tcgen05.frobnicate.b32 %r1;", PTX_OP_unknown, 2, "b32");
    opcode_is("add.frobnicate %r1, %r2, %r3;", PTX_OP_add, 1, "(unknown)");
}

static void operands(void) {
    struct ptx_module *m = parse(KERNEL("setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;\n"
                                        "mov.b32 %r4, %ctaid.y;\n"
                                        "ld.global.v4.f32 {%f1, _, %f3, %f4}, [%rd1+-16];\n"
                                        "ld.shared.b32 %r1, [16];\n"
                                        "ld.param.u64 %rd1, [a];\n"
                                        "ld.shared.b32 %r1, [%r2-0x10];\n"
                                        "elect.sync _|%p1, 0xFFFFFFFF;\n"
                                        "mov.u64 %rd2, a+8;\n"
                                        "mov.b64 {%r1, %r2}, %rd1;\n"
                                        "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;\n"));
    const struct ptx_operand *o = insn(m, 0)->operands;
    CHECK_EQ(insn(m, 0)->num_operands, 4);
    CHECK_EQ(o[0].kind, PTX_OPND_PAIR);
    CHECK_EQ(o[0].num_elems, 2);
    CHECK_STR(o[0].elems[0].reg->name, "%p1");
    CHECK_STR(o[0].elems[1].reg->name, "%p2");
    CHECK_EQ(o[0].elems[0].reg->type, PTX_PRED);
    CHECK_EQ(o[2].kind, PTX_OPND_IMM);
    CHECK_EQ(o[2].imm, -5);
    CHECK(o[3].neg && o[3].kind == PTX_OPND_REG);
    CHECK(!o[0].neg);

    o = insn(m, 1)->operands;
    CHECK_EQ(o[1].kind, PTX_OPND_SREG);
    CHECK_EQ(o[1].sreg, PTX_SREG_ctaid_y);

    o = insn(m, 2)->operands;
    CHECK_EQ(o[0].kind, PTX_OPND_VEC);
    CHECK_EQ(o[0].num_elems, 4);
    CHECK_EQ(o[0].elems[1].kind, PTX_OPND_SINK);
    CHECK_STR(o[0].elems[3].reg->name, "%f4");
    CHECK_EQ(o[1].kind, PTX_OPND_MEM);
    CHECK_STR(o[1].reg->name, "%rd1");
    CHECK_EQ(o[1].offset, -16);

    o = insn(m, 3)->operands;
    CHECK(o[1].kind == PTX_OPND_MEM && !o[1].reg && !o[1].var);
    CHECK_EQ(o[1].offset, 16);

    o = insn(m, 4)->operands;
    CHECK(o[1].kind == PTX_OPND_MEM && !o[1].reg);
    CHECK(o[1].var == &ptx_find_func(m, "k")->params[0]);

    CHECK_EQ(insn(m, 5)->operands[1].offset, -16);
    o = insn(m, 6)->operands;
    CHECK(o[0].kind == PTX_OPND_PAIR && o[0].elems[0].kind == PTX_OPND_SINK);
    CHECK_EQ(o[1].imm, 0xFFFFFFFFu);

    o = insn(m, 7)->operands;
    CHECK_EQ(o[1].kind, PTX_OPND_VAR);
    CHECK_EQ(o[1].offset, 8);
    CHECK_EQ(insn(m, 8)->operands[0].num_elems, 2);
    CHECK_EQ(insn(m, 9)->operands[1].sreg, PTX_SREG_tid);
    ptx_module_free(m);
}

static void compound_addresses(void) {
    struct ptx_module *m =
        parse(KERNEL(".shared .align 8 .b64 bar;\n"
                     "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes\n"
                     "  [%r1+128], [%rd1, {%r2, %r3, -1}], [bar+8], {%h1, 2};\n"
                     "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r1, %r2}, [%r3], 16;\n"));
    const struct ptx_operand *o = insn(m, 0)->operands;
    CHECK_EQ(insn(m, 0)->op, PTX_OP_cp_async_bulk_tensor);
    CHECK_EQ(insn(m, 0)->num_operands, 4);
    CHECK_EQ(o[0].offset, 128);
    CHECK_EQ(o[1].kind, PTX_OPND_MEM);
    CHECK_EQ(o[1].num_elems, 1);
    CHECK_EQ(o[1].elems[0].kind, PTX_OPND_VEC);
    CHECK_EQ(o[1].elems[0].num_elems, 3);
    CHECK_EQ(o[1].elems[0].elems[2].imm, -1);
    CHECK_STR(o[2].var->name, "bar");
    CHECK_EQ(o[2].offset, 8);
    CHECK_EQ(o[3].elems[1].imm, 2);
    CHECK_EQ(insn(m, 1)->operands[2].imm, 16);
    ptx_module_free(m);
}

static void immediate_is(const char *text, enum ptx_imm_kind kind, uint64_t bits) {
    char body[512];
    snprintf(body, sizeof body, "%smov.b64 %%rd1, %s;\n}\n", KERNEL_HEAD, text);
    struct ptx_module *m = parse(body);
    const struct ptx_operand *o = &insn(m, 0)->operands[1];
    if (!CHECK_EQ(o->kind, PTX_OPND_IMM) || !CHECK_EQ(o->imm_kind, kind) || !CHECK_EQ(o->imm, bits))
        fprintf(stderr, "    of %s\n", text);
    ptx_module_free(m);
}

static uint64_t bits_of(double d) {
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

static void immediates(void) {
    static const struct {
        const char *text;
        uint64_t value;
    } integers[] = {
        {"0", 0},
        {"42", 42},
        {"0x1F", 31},
        {"0XfU", 15},
        {"017", 15},
        {"0b101", 5},
        {"42U", 42},
        {"0xFFFFFFFFFFFFFFFF", UINT64_MAX},
        {"-1", UINT64_MAX},
        {"- 0x10", (uint64_t)-16},
        {"!7", 0},
        {"!0", 1},
        {"~0", UINT64_MAX},
        {"(3 + 4) * 2", 14},
        {"3 + 4 * 2", 11},
        {"10 - 4 - 3", 3},
        {"WARP_SZ", 32},
        {"WARP_SZ - 1", 31},
        {"1 << 4 | 3", 19},
        {"7 & 3 ^ 1", 2},
        {"1 ? 5 : 6", 5},
        {"0 ? 5 : 0 ? 6 : 7", 7},
        {"-7 / 2", (uint64_t)-3},
        {"-8 >> 1", (uint64_t)-4},
        {"(.u64)-8 >> 60", 15},
        {"-1 < 0", 1},
        {"-1 < 0U", 0},
        {"1 << 64", 0},
        {"-1 >> 64", UINT64_MAX},
        {"3 % 2", 1},
        {"2 >= 2 && 1 != 1", 0},
        {"0x8000000000000000 / -1", 0},
        {"(.s64)0x8000000000000000 / -1", 0x8000000000000000u},
        {"1.5 < 2.0", 1},
    };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        immediate_is(integers[i].text, PTX_IMM_INT, integers[i].value);
    immediate_is("0f3F800000", PTX_IMM_F32, 0x3F800000);
    immediate_is("0Fff800000", PTX_IMM_F32, 0xFF800000);
    immediate_is("0d3FF0000000000000", PTX_IMM_F64, 0x3FF0000000000000);
    immediate_is("1.5", PTX_IMM_F64, bits_of(1.5));
    immediate_is("-.5", PTX_IMM_F64, bits_of(-.5));
    immediate_is("1.", PTX_IMM_F64, bits_of(1));
    immediate_is("1e3", PTX_IMM_F64, bits_of(1e3));
    immediate_is("2.5E-3", PTX_IMM_F64, bits_of(2.5e-3));
    immediate_is("1.0 / 4.0 + 2.0", PTX_IMM_F64, bits_of(2.25));
}

static void guards_and_sites(void) {
    struct ptx_module *m =
        parse(KERNEL("@%p1 mov.b32 %r1, 1;\n"
                     "\t@!%p2   add.s32\t%r1, /* one */ %r2,\n  %r3; // two\n"
                     ".loc 1 57 3\nret;\n.loc 2 9 1, function_name $L__info+4, inlined_at 1 60 5\nexit;\n"
                     ".loc 3 1 1\ntrap;") ".file 1 \"dir/k.cu\", 12, 34\n.file 2 \"h.cuh\"\n");
    CHECK_STR(insn(m, 0)->guard->name, "%p1");
    CHECK(!insn(m, 0)->guard_neg);
    CHECK(insn(m, 1)->guard_neg);
    CHECK_STR(insn(m, 1)->site.ptx_text, "@!%p2 add.s32 %r1, %r2, %r3;");
    CHECK_EQ(insn(m, 1)->site.ptx_line, 9);
    CHECK_STR(insn(m, 1)->site.ptx_name, "t.ptx");
    CHECK_STR(insn(m, 1)->site.func, "k");
    CHECK(!insn(m, 1)->site.src_file && !insn(m, 1)->site.src_line);
    CHECK(!insn(m, 2)->guard);
    CHECK_STR(insn(m, 2)->site.src_file, "dir/k.cu");
    CHECK_EQ(insn(m, 2)->site.src_line, 57);
    CHECK_STR(insn(m, 3)->site.src_file, "h.cuh"); /* the line itself, not where it was inlined */
    CHECK_EQ(insn(m, 3)->site.src_line, 9);
    const struct diag_inline *call = insn(m, 3)->site.inlined;
    if (CHECK(call != NULL)) {
        CHECK_STR(call->file, "dir/k.cu");
        CHECK_EQ(call->line, 60);
        CHECK(!call->outer);
    }
    CHECK(!insn(m, 2)->site.inlined);
    CHECK(!insn(m, 4)->site.src_file); /* .file 3 is nowhere */
    ptx_module_free(m);
}

static void questions(void) {
    struct ptx_module *m = parse(KERNEL("cvt.rn.satfinite.f16x2.f32 %r1, %f1, %f2; bar.sync 0;"));
    CHECK(ptx_has(insn(m, 0), PTX_MOD_satfinite));
    CHECK(!ptx_has(insn(m, 0), PTX_MOD_relu));
    CHECK_EQ(ptx_insn_type(insn(m, 0), 0), PTX_F16X2);
    CHECK_EQ(ptx_insn_type(insn(m, 0), 1), PTX_F32);
    CHECK_EQ(ptx_insn_type(insn(m, 0), 2), PTX_NOTYPE);
    CHECK_EQ(ptx_insn_type(insn(m, 1), 0), PTX_NOTYPE);
    ptx_module_free(m);
}

int main(void) {
    opcodes();
    operands();
    compound_addresses();
    immediates();
    guards_and_sites();
    questions();
    return check_report();
}
