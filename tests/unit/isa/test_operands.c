/* What may stand where an operand stands: every legal form below is run with each of its operands replaced in turn.
 *
 * A row is an instruction, and which replacements it still takes: a group of letters for every operand (register,
 * number, name, `{` and `[`, in the order of the text), and one for the instruction as a whole; `.` for none.
 *
 *   i  the immediate 32            s  a special register that does not change (%tid.x)
 *   _  the sink                    c  one that does (%clock)
 *   g  a variable in .global       n  a narrower register (of a number or a name: 32 bits)
 *   v  a variable in .shared       w  a wider register (64 bits)
 *   p  a register of the other class: a predicate, or 32 bits for a predicate
 *   !  the register negated        |  a pair made of it, or its pair's second left out
 *   {  a vector of it alone        [  an address made of it
 *   }  the vector's first element  +  the vector with its last element twice, the instruction with an operand more
 *   ]  the address's inside        -  the vector without its last element, the instruction without its last operand
 *   ,  the address with a vector behind it
 *
 * Everything else has to be refused by name; what is taken is also executed, which under the sanitizers must touch no
 * memory but the emulator's own. The letters were had by printing what is taken (OPERANDS_TAKEN=1) and asking ptxas of
 * CUDA 13 for sm_100a about every line, in the frame of `source` below. It accepted all but these:
 *   - 32 where the number is out of range (a barrier, a parity, cp.async's size): said when it is executed;
 *   - calls without a prototype or with too few arguments: said when they are executed, as for a pointer;
 *   - a list of one constant in mma, stmatrix and tcgen05.st, whose type ptxas does not find;
 *   - %tid.x as a 16-bit element of mov's list, though mov.u16 reads it;
 *   - the address of a .global variable in cvta.shared, mapa and getctarank: a number as any other.
 * In brackets no number, variable or narrower register is put: 6.4.1 allows [64], the space of a variable is for the
 * access to judge, and a short address is zero-extended, of which ptxas takes some.
 */
#include "unit/run_ptx.h"

#include <ctype.h>

struct row {
    const char *ptx, *takes;
};

static const struct row rows[] = {
    {"add.u32 %r1, %r2, %r3;", ". i i ."},
    {"add.f16 %h1, %h2, %h3;", ". . . ."},
    {"add.cc.u32 %r1, %r2, %r3;", ". i i ."},
    {"add.f32 %r1, %r2, %r3;", ". . . ."},
    {"sub.s64 %d1, %d2, %d3;", ". i i ."},
    {"mul.wide.u32 %d1, %r2, %r3;", ". i i ."},
    {"mad.lo.u32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"mul24.lo.u32 %r1, %r2, %r3;", ". i i ."},
    {"mad24.lo.u32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"sad.u32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"div.u32 %r1, %r2, %r3;", ". i i ."},
    {"rem.u32 %r1, %r2, %r3;", ". i i ."},
    {"abs.s32 %r1, %r2;", ". i ."},
    {"neg.f64 %d1, %d2;", ". . ."},
    {"min.f32 %r1, %r2, %r3;", ". . . +"},
    {"max.u16 %h1, %h2, %h3;", ". i i ."},
    {"popc.b64 %r1, %d2;", ". i ."},
    {"clz.b32 %r1, %r2;", ". i ."},
    {"bfind.u32 %r1, %r2;", ". i ."},
    {"fns.b32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"brev.b32 %r1, %r2;", ". i ."},
    {"bfe.u64 %d1, %d2, %r3, %r4;", ". i i i ."},
    {"bfi.b32 %r1, %r2, %r3, %r4, %r5;", ". i i i i ."},
    {"szext.wrap.s32 %r1, %r2, %r3;", ". i i ."},
    {"bmsk.clamp.b32 %r1, %r2, %r3;", ". i i ."},
    {"dp4a.u32.u32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"addc.u32 %r1, %r2, %r3;", ". i i ."},
    {"subc.u32 %r1, %r2, %r3;", ". i i ."},
    {"madc.lo.u32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"testp.finite.f32 %p1, %r2;", ". . ."},
    {"copysign.f32 %r1, %r2, %r3;", ". . . ."},
    {"fma.rn.f32 %r1, %r2, %r3, %r4;", ". . . . ."},
    {"rcp.rn.f32 %r1, %r2;", ". . ."},
    {"sqrt.rn.f64 %d1, %d2;", ". . ."},
    {"rsqrt.approx.f32 %r1, %r2;", ". . ."},
    {"sin.approx.f32 %r1, %r2;", ". . ."},
    {"cos.approx.f32 %r1, %r2;", ". . ."},
    {"lg2.approx.f32 %r1, %r2;", ". . ."},
    {"ex2.approx.f32 %r1, %r2;", ". . ."},
    {"tanh.approx.f32 %r1, %r2;", ". . ."},
    {"set.lt.u32.f32 %r1, %r2, %r3;", ". . . ."},
    {"set.lt.and.u32.f32 %r1, %r2, %r3, %p4;", ". . . i! ."},
    {"setp.lt.s32 %p1, %r2, %r3;", "_| i i ."},
    {"setp.lt.and.s64 %p1|%p2, %d3, %d4, %p5;", "_ _ i i i! ."},
    {"selp.b32 %r1, %r2, %r3, %p4;", ". i i i! ."},
    {"slct.u64.s32 %d1, %d2, %d3, %r4;", ". i i i ."},
    {"and.b32 %r1, %r2, %r3;", ". i i ."},
    {"and.pred %p1, %p2, %p3;", ". i! i! ."},
    {"or.b16 %h1, %h2, %h3;", ". i i ."},
    {"xor.b64 %d1, %d2, %d3;", ". i i ."},
    {"not.b32 %r1, %r2;", ". i ."},
    {"not.pred %p1, %p2;", ". i! ."},
    {"cnot.b32 %r1, %r2;", ". i ."},
    {"lop3.b32 %r1, %r2, %r3, %r4, 150;", ". i i i . ."},
    {"lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 150, %p5;", "_ . i i i . i! ."},
    {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"shl.b64 %d1, %d2, %r3;", ". i i ."},
    {"shr.u16 %h1, %h2, %r3;", ". i i ."},
    {"mov.b16 %h1, %h2;", ". isv ."},
    {"mov.b32 %r1, %r2;", ". iscv ."},
    {"mov.u64 %d1, %d2;", ". igv ."},
    {"mov.b128 %q1, %q2;", ". . ."},
    {"mov.pred %p1, %p2;", ". i! ."},
    {"mov.b64 {%r1, %r2}, %d3;", ". _ _ igv ."},
    {"mov.b64 %d1, {%r2, %r3};", ". . is is ."},
    {"mov.b64 %d1, {%h2, %h3, %h4, %h5};", ". . is is is is ."},
    {"mov.b128 {%d1, %d2}, %q3;", ". _ _ . ."},
    {"mov.b32 %r1, {%h2, %h3};", ". . is is ."},
    {"shfl.sync.bfly.b32 %r1|%p1, %r2, %r3, %r4, %r5;", ". _ i i i i ."},
    {"shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;", "| i i n n ."},
    {"prmt.b32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"prmt.b32.f4e %r1, %r2, %r3, %r4;", ". i i i ."},
    {"ld.global.b32 %r1, [%d2];", "w{ . . ."},
    {"ld.global.b64 %d1, [%d2];", "w{ . . ."},
    {"ld.shared.u8 %h1, [%r2];", "w{ . w ."},
    {"ld.b128 %q1, [%d2];", "{ . . ."},
    {"ld.global.v2.b32 {%r1, %r2}, [%d3];", ". . . . . ."},
    {"ld.global.v4.b64 {%d1, %d2, %d3, %d4}, [%d5];", ". _ _ _ _ . . ."},
    {"ld.global.L2::cache_hint.b32 %r1, [%d2], %d3;", "w{ . . i ."},
    {"ld.param.b32 %r1, [cr];", "w{ . w ."},
    {"ld.param.b64 %d1, [pa];", "w{ . w ."},
    {"ldu.global.b32 %r1, [%d2];", "w{ . . ."},
    {"st.global.b32 [%d1], %r2;", ". . iw{ ."},
    {"st.shared.u8 [%r1], %h2;", ". w iw{ ."},
    {"st.global.b128 [%d1], %q2;", ". . { ."},
    {"st.global.v2.b32 [%d1], {%r2, %r3};", ". . . is is ."},
    {"st.global.v4.b64 [%d1], {%d2, %d3, %d4, %d5};", ". . . i_ i_ i_ i_ ."},
    {"st.global.L2::cache_hint.b32 [%d1], %r2, %d3;", ". . iw{ i ."},
    {"st.param.b32 [cp], %r1;", ". . iw{ ."},
    {"st.bulk.shared::cta [%r1], %d2, 0;", ". w i . ."},
    {"prefetch.global.L2 [%d1];", ". . ."},
    {"prefetch.tensormap [%d1];", ". . ."},
    {"prefetchu.L1 [%d1];", ". . ."},
    {"applypriority.global.L2::evict_normal [%d1], 128;", ". . . ."},
    {"discard.global.L2 [%d1], 128;", ". . . ."},
    {"createpolicy.fractional.L2::evict_last.b64 %d1, %r2;", ". . -"},
    {"createpolicy.fractional.L2::evict_last.b64 %d1;", ". +"},
    {"createpolicy.range.global.L2::evict_last.b64 %d1, [%d2], %r3, %r4;", ". . . i i ."},
    {"createpolicy.cvt.L2.b64 %d1, %d2;", ". i ."},
    {"isspacep.shared %p1, %d2;", ". . ."},
    {"cvta.shared.u64 %d1, %d2;", ". igv ."},
    {"cvta.to.shared.u64 %d1, %d2;", ". i ."},
    {"cvt.u32.u8 %r1, %h2;", "w isw ."},
    {"cvt.rn.f32.s64 %r1, %d2;", "w i ."},
    {"cvt.rn.bf16x2.f32 %r1, %r2, %r3;", ". . . ."},
    {"cvt.rn.satfinite.e4m3x2.f32 %h1, %r2, %r3;", ". . . ."},
    {"cvt.rn.f16x2.e4m3x2 %r1, %h2;", ". . ."},
    {"cvt.pack.sat.u16.s32 %r1, %r2, %r3;", ". i i ."},
    {"cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;", ". i i i ."},
    {"mapa.shared::cluster.u32 %r1, %r2, %r3;", ". iv i ."},
    {"mapa.u64 %d1, %d2, %r3;", ". igv i ."},
    {"getctarank.shared::cluster.u32 %r1, %r2;", ". iv ."},
    {"getctarank.u64 %r1, %d2;", ". igv ."},
    {"tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;", ". . i ."},
    {"tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 1, %r2;", ". . . i ."},
    {"tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%d1], 1;", ". . . ."},
    {"cp.async.ca.shared.global [%r1], [%d2], 4;", ". w . . . +"},
    {"cp.async.cg.shared.global.L2::cache_hint [%r1], [%d2], 16, %r3, %d4;", ". w . . . ip i ."},
    {"cp.async.ca.shared.global [%r1], [%d2], 4, %p3;", ". w . . . ip! -"},
    {"cp.async.commit_group;", "."},
    {"cp.async.wait_group 1;", ". ."},
    {"cp.async.wait_all;", "."},
    {"cp.async.mbarrier.arrive.shared.b64 [%r1];", ". w ."},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d2], %r3, [%r4];", ". w . . i . w ."},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r1], "
     "[%d2], %r3, [%r4], %h5, %d6;",
     ". w . . i . w i i ."},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], %r3, [%r4];",
     ". w . w i . w ."},
    {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%d1], [%r2], %r3, %d4, %h5;",
     ". . . w i . . ."},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r2], %r3;", ". . . w i ."},
    {"cp.async.bulk.prefetch.L2.global.L2::cache_hint [%d1], %r2, %d3;", ". . i i ."},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d2, {%r3, %r4}], "
     "[%r5];",
     ". w . . . is is . w ."},
    {"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_"
     "hint [%r1], [%d2, {%r3}], [%r5], %h6, %d7;",
     ". w . . . is . w i i ."},
    {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%d1, {%r2, %r3}], [%r4], %d5;",
     ". . . is is . w i ."},
    {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%d1, {%r2}], [%r4];", ". . . is . w ."},
    {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d1, {%r2, %r3}];", ". . . is is ."},
    {"cp.async.bulk.commit_group;", "."},
    {"cp.async.bulk.wait_group 1;", ". ."},
    {"bra L1;", ". ."},
    {"brx.idx %r1, T1;", "i . ."},
    {"call (cr), fn, (cp);", ". w . -"},
    {"call (cr), %d1, (cp), P1;", ". . . . -"},
    {"ret;", "."},
    {"exit;", "."},
    {"bar.sync 1, 32;", "n n -"},
    {"bar.sync %r1, %r2;", "i i -"},
    {"barrier.sync.aligned %r1;", "i +"},
    {"bar.red.popc.u32 %r1, %r2, %r3, %p4;", ". i i i! ."},
    {"barrier.red.and.pred %p1, %r2, %p4;", ". i i! ."},
    {"bar.warp.sync %r1;", "i ."},
    {"barrier.cluster.arrive;", "."},
    {"barrier.cluster.wait;", "."},
    {"membar.gl;", "."},
    {"membar.proxy.alias;", "."},
    {"fence.acq_rel.gpu;", "."},
    {"fence.proxy.async;", "."},
    {"fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;", ". . . ."},
    {"fence.mbarrier_init.release.cluster;", "."},
    {"atom.global.add.u32 %r1, [%d2], %r3;", "_ . . i ."},
    {"atom.shared.cas.b64 %d1, [%r2], %d3, %d4;", "_ . w i i ."},
    {"atom.global.exch.b128 %q1, [%d2], %q3;", "_ . . . ."},
    {"atom.cas.b16 %h1, [%d2], %h3, %h4;", "_ . . i i ."},
    {"atom.global.v2.f32.add {%r1, %r2}, [%d3], {%r4, %r5};", ". _ _ . . . s s ."},
    {"atom.global.add.L2::cache_hint.u32 %r1, [%d2], %r3, %d4;", "_ . . i i ."},
    {"red.global.add.u32 [%d1], %r2;", ". . i ."},
    {"red.global.add.noftz.v2.f16x2 [%d1], {%r2, %r3};", ". . . s s ."},
    {"vote.sync.any.pred %p1, %p2, %r3;", ". i! i ."},
    {"vote.sync.ballot.b32 %r1, %p2, %r3;", ". i! i ."},
    {"match.any.sync.b32 %r1, %r2, %r3;", ". i i ."},
    {"match.all.sync.b64 %r1|%p1, %d2, %r3;", "_ _ i i ."},
    {"activemask.b32 %r1;", ". ."},
    {"redux.sync.add.u32 %r1, %r2, %r3;", ". i i ."},
    {"griddepcontrol.wait;", "."},
    {"elect.sync %r1|%p1, %r2;", "_ . i ."},
    {"mbarrier.init.shared.b64 [%r1], %r2;", ". w i ."},
    {"mbarrier.inval.shared.b64 [%r1];", ". w ."},
    {"mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r2;", ". w i ."},
    {"mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], %r2;", ". w i ."},
    {"mbarrier.arrive.shared.b64 %d1, [%r2], %r3;", "_ . w i -"},
    {"mbarrier.arrive.shared.b64 %d1, [%r2];", "_ . w +"},
    {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2], %r3;", ". . w i -"},
    {"mbarrier.arrive.expect_tx.shared.b64 %d1, [%r2], %r3;", "_ . w i ."},
    {"mbarrier.arrive.noComplete.b64 %d1, [%d2], %r3;", "_ . . i ."},
    {"mbarrier.arrive_drop.shared.b64 %d1, [%r2], %r3;", "_ . w i -"},
    {"mbarrier.test_wait.shared.b64 %p1, [%r2], %d3;", ". . w i ."},
    {"mbarrier.test_wait.parity.shared.b64 %p1, [%r2], %r3;", ". . w i ."},
    {"mbarrier.try_wait.shared.b64 %p1, [%r2], %d3, %r4;", ". . w i i -"},
    {"mbarrier.try_wait.parity.shared.b64 %p1, [%r2], %r3, %r4;", ". . w i i -"},
    {"mbarrier.pending_count.b64 %r1, %d2;", ". i ."},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r2], 128;",
     ". . . w . ."},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];", ". w . w ."},
    {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q2;", ". . ."},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, %r4}, %q5;", ". _ _ _ _ . ."},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q2;", ". . ."},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r1, %r2}, {%r3, "
     "%r4, %r5, %r6};",
     ". _ _ _ _ . is is is is . is is . is is is is ."},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r5, %r6}, {%r1}, {%r3, %r4};",
     ". _ _ . is is . is . is is ."},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];", ". _ _ . w ."},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};", ". w . is ."},
    {"movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", ". . ."},
    {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], %r2;", ". w i ."},
    {"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, %r2;", "i i ."},
    {"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "."},
    {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];", ". . . . . ."},
    {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r3];", ". . . . ."},
    {"tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r3], 2;", ". . . . . ."},
    {"tcgen05.st.sync.aligned.32x32b.x2.b32 [%r1], {%r2, %r3};", ". . . i i ."},
    {"tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r1], 2, {%r2};", ". . . . i ."},
    {"tcgen05.wait::ld.sync.aligned;", "."},
    {"tcgen05.wait::st.sync.aligned;", "."},
    {"tcgen05.cp.cta_group::1.128x256b [%r1], %d2;", ". . . ."},
    {"tcgen05.shift.cta_group::1.down [%r1];", ". . ."},
    {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %d2, %d3, %r4, %p5;", ". . . . i i! ."},
    {"tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r2], %d3, %r4, {%r5, %r6, %r7, %r8}, %p5, 3;",
     ". . . . . i . is is is is i! . -"},
    {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], %d2, %d3, %r4, [%r5], [%r6], %p5;",
     ". . . . i . . . . i! ."},
    {"tcgen05.fence::before_thread_sync;", "."},
    {"tcgen05.fence::after_thread_sync;", "."},
    {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];", ". w ."},
    {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%d1], %h2;", ". . . ."},
    {"brkpt;", "."},
    {"nanosleep.u32 %r1;", "i ."},
    {"pmevent 1;", ". ."},
    {"trap;", "."},
    {"setmaxnreg.inc.sync.aligned.u32 24;", ". ."},
};

/* --- replacements ------------------------------------------------------------------------------------------------- */

struct place {
    const char *at, *end; /* of the text to replace */
    char kind;            /* its first character: % { [ or else a number or a name */
    bool top;             /* outside of braces, brackets and parentheses */
    bool base;            /* first in brackets */
};
enum { MAX_PLACES = 32 };

static bool in_word(char c) { return isalnum((unsigned char)c) || strchr("_%$.-", c) != NULL; }

static const char *operands_of(const char *ptx) {
    const char *p = strchr(ptx, ' ');
    return p ? p + 1 : strchr(ptx, ';');
}

static unsigned find_places(const char *ptx, struct place *out) {
    unsigned n = 0, depth = 0;
    char before = 0;
    for (const char *p = operands_of(ptx); *p != ';'; p++) {
        const bool opens = *p == '{' || *p == '[';
        if (*p == ' ' || *p == ',' || *p == '|')
            continue;
        if (opens || in_word(*p)) {
            const char *end = p + 1;
            for (unsigned inner = 1; opens && inner; end++)
                inner += (*end == '{' || *end == '[') - (*end == '}' || *end == ']');
            while (!opens && in_word(*end))
                end++;
            if (n < MAX_PLACES)
                out[n++] = (struct place){p, end, *p, depth == 0, before == '['};
            before = *p;
            if (!opens)
                p = end - 1;
        }
        depth += (opens || *p == '(') - (*p == '}' || *p == ']' || *p == ')');
    }
    return n;
}

/* The register of class `c`, "hrdq", one step narrower or wider; a number or a name counts as 16 bits wide or 32. */
static const char *resized(const struct place *p, int step) {
    static const char *const registers[] = {"%h9", "%r9", "%d9", "%q9"}, *const classes = "hrdq";
    if (p->kind != '%')
        return step < 0 ? "%r9" : "%d9";
    const char *class = strchr(classes, p->at[1]);
    const long i = class ? class - classes + step : -1;
    return i >= 0 && i < 4 ? registers[i] : NULL;
}

/* The word that letter `c` puts in place of a word; NULL where it puts none. */
static const char *other_word(const struct place *p, char c) {
    const bool number = isdigit((unsigned char)p->kind) || p->kind == '-';
    switch (c) {
    case 'i':
        return number || p->base ? NULL : "32";
    case '_':
        return p->kind == '_' ? NULL : "_";
    case 's':
        return "%tid.x";
    case 'c':
        return "%clock";
    case 'g':
        return p->base ? NULL : "gv";
    case 'v':
        return p->base ? NULL : "sv";
    case 'n':
        return p->base ? NULL : resized(p, -1);
    case 'w':
        return resized(p, 1);
    case 'p':
        return p->kind == '%' && p->at[1] == 'p' ? "%r9" : "%p9";
    default:
        return NULL;
    }
}

/* The vector's first element, or the vector with its last element twice, or without it. */
static bool other_vector(const struct place *p, char c, char *out, size_t size) {
    const char *last = p->end - 1;
    while (last > p->at && !strchr("{ ", last[-1]))
        last--;
    if (c == '}')
        return snprintf(out, size, "%.*s", (int)strcspn(p->at + 1, ",}"), p->at + 1) > 0;
    if (c == '+')
        return snprintf(out, size, "%.*s, %.*s", (int)(p->end - p->at) - 1, p->at, (int)(p->end - last), last) > 0;
    return snprintf(out, size, "%.*s}", last[-1] == '{' ? 1 : (int)(last - p->at) - 2, p->at) > 0;
}

/* Writes the text that letter `c` puts into the place; false where it puts none. */
static bool replacement(const struct place *p, char c, char *out, size_t size) {
    const int n = (int)(p->end - p->at);
    const bool vector = p->kind == '{', address = p->kind == '[', word = !vector && !address;
    const char *text = NULL;
    switch (c) {
    case '!':
        return word && p->kind == '%' && snprintf(out, size, "!%.*s", n, p->at) > 0;
    case '{':
        return word && (p->top || p->base) && snprintf(out, size, "{%.*s}", n, p->at) > 0;
    case '[':
        return p->top && !address && snprintf(out, size, "[%.*s]", n, p->at) > 0;
    case '|':
        return word && p->top && *p->end != '|' && p->at[-1] != '|' && snprintf(out, size, "%.*s|%%p9", n, p->at) > 0;
    case ']':
        return address && !memchr(p->at, ',', (size_t)n) && snprintf(out, size, "%.*s", n - 2, p->at + 1) > 0;
    case ',':
        return address && snprintf(out, size, "%.*s, {%%r9}]", n - 1, p->at) > 0;
    case '}':
    case '+':
    case '-':
        return vector && other_vector(p, c, out, size);
    default:
        text = word ? other_word(p, c) : NULL;
        return text && snprintf(out, size, "%s", text) > 0;
    }
}

/* The instruction with one operand more or fewer. */
static bool recounted(const char *ptx, char c, char *out, size_t size) {
    const char *end = strchr(ptx, ';'), *first = operands_of(ptx), *last = first;
    if (c == '+')
        return snprintf(out, size, "%.*s%s%%r9;", (int)(end - ptx), ptx, first < end ? ", " : " ") > 0;
    for (int depth = 0; first < end; first++) {
        depth += (strchr("{[(", *first) != NULL) - (strchr("}])", *first) != NULL);
        last = *first == ',' && !depth ? first : last;
    }
    return c == '-' && last < end && snprintf(out, size, "%.*s;", (int)(last - ptx), ptx) > 0;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

static const char source[] =
    RUN_HEADER ".global .align 16 .b32 gv[64];\n.shared .align 16 .b32 sv[64];\n"
               ".func (.param .b32 r) fn(.param .b32 p) { ret; }\n"
               ".visible .entry k(.param .u64 pa) {\n"
               ".reg .pred %%p<10>; .reg .b16 %%h<10>; .reg .b32 %%r<10>; .reg .b64 %%d<10>; .reg .b128 %%q<10>;\n"
               ".param .b32 cp; .param .b32 cr;\n"
               "T1: .branchtargets L1, L1;\nP1: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
               "st.param.b32 [cp], 0; call (cr), fn, (cp);\n"
               "%s\n%s\nL1: ret;\n}\n";

static const char tensor_memory[] =
    "mov.u32 %r1, sv; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;"
    "ld.shared.u32 %r9, [%r1];";

/* Every register gets a value that may be used: addresses of 256 bytes, or of tensor memory. */
static void prologue(char *out, size_t size, const char *ptx) {
    const bool tmem = strncmp(ptx, "tcgen05", 7) == 0 && strncmp(ptx, "tcgen05.alloc", 13) != 0;
    int n = snprintf(out, size, "%s", tmem ? tensor_memory : "mov.u32 %r9, sv;");
    for (int i = 1; i < 10; i++)
        n += snprintf(out + n, size - (size_t)n,
                      "ld.param.u64 %%d%d, [pa]; mov.b128 %%q%d, {%%d%d, %%d%d}; mov.u32 %%r%d, %%r9;"
                      "mov.u16 %%h%d, 1; setp.eq.u32 %%p%d, 0, 0;\n",
                      i, i, i, i, i, i, i);
}

/* Is the instruction bound, and not refused? Executes it then. */
static bool taken(struct run *r, const char *ptx, uint64_t buffer, enum ptx_op *op) {
    char start[2048], text[4096];
    prologue(start, sizeof start, ptx);
    snprintf(text, sizeof text, source, start, ptx);
    r->log_len = 0;
    r->log[0] = 0;
    struct ptx_module *m = ptx_parse(text, strlen(text), "test.ptx", &r->gpu->sink);
    r->module = m ? lower_module_load(r->gpu, m) : NULL;
    if (!r->module)
        return false;
    const struct ptx_func *f = ptx_find_func(m, "k");
    *op = f->insns[f->num_insns - 2].op;
    run_kernel(r, "k", (struct run_shape){.block = 32}, 1, &buffer);
    lower_module_unload(r->module);
    r->module = NULL;
    return strstr(r->log, "unsupported: ") == NULL;
}

/* Adds the letters of the replacements that are taken, as a group. */
static void try_all(struct run *r, const struct row *row, const struct place *p, uint64_t buffer, char *takes) {
    const size_t before = strlen(takes);
    for (const char *c = p ? "i_scgvnwp!{[|],}+-" : "+-"; *c; c++) {
        char text[512], part[256];
        enum ptx_op op;
        if (p ? !replacement(p, *c, part, sizeof part) : !recounted(row->ptx, *c, text, sizeof text))
            continue;
        if (p)
            snprintf(text, sizeof text, "%.*s%s%s", (int)(p->at - row->ptx), row->ptx, part, p->end);
        if (!taken(r, text, buffer, &op))
            continue;
        const size_t n = strlen(takes);
        takes[n] = *c;
        takes[n + 1] = '\0';
        if (getenv("OPERANDS_TAKEN"))
            printf("%s\n", text);
    }
    strcat(takes, takes[before] ? " " : ". ");
}

static bool tried[PTX_OP_COUNT];

static void try_row(const struct row *row) {
    struct mach_config config = mach_config_b200();
    config.watchdog = 100000;
    struct run r;
    if (!run_open_config(&r, RUN_HEADER, &config))
        return;
    lower_module_unload(r.module);
    const uint64_t buffer = run_alloc(&r, 4096);
    enum ptx_op op = PTX_OP_unknown;
    if (!CHECK(taken(&r, row->ptx, buffer, &op)))
        fprintf(stderr, "%s: %s\n", row->ptx, r.log);
    tried[op] = true;
    struct place places[MAX_PLACES];
    const unsigned n = find_places(row->ptx, places);
    char takes[512] = "";
    for (unsigned i = 0; i <= n; i++)
        try_all(&r, row, i < n ? &places[i] : NULL, buffer, takes);
    takes[strlen(takes) - 1] = '\0';
    if (!CHECK_STR(takes, row->takes))
        fprintf(stderr, "    {\"%s\", \"%s\"},\n", row->ptx, takes);
    run_close(&r);
}

int main(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        try_row(&rows[i]);
    for (int op = 1; op < PTX_OP_COUNT; op++)
        if (ptx_op_operands(op)[0] != '-' && !CHECK(tried[op]))
            fprintf(stderr, "    no row for %s\n", ptx_op_text(op));
    return check_report();
}
