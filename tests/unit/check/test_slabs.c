/* Slabs of shared memory, in which each lane of a warp has a row, beside accesses that make stamps of them: pieces of
 * PTX for three warps, in a kernel with an mbarrier, so that it has no epochs. */
#include "unit/check/agents.h"

struct sample {
    const char *told;     /* a part of the report, or NULL: nothing is told */
    const char *agent[3]; /* a piece of each warp */
};

/* Each lane has 16 bytes of its row of 64, swizzled: lane 5 has those at 336 in step 0, at 320 in step 1. */
#define AT(i) "xor.b32 %y, %l, " #i "; and.b32 %y, %y, 3; shl.b32 %y, %y, 4; add.u32 %y, %y, %r; "
#define ST(i) AT(i) "st.shared.v4.u32 [%y], {%l, %l, 2, 3}; "
#define LD(i) AT(i) "ld.shared.v4.u32 {%x, %x, %x, %x}, [%y]; "
#define ALL ST(0) ST(1) ST(2) ST(3)
#define LANE(n) "setp.eq.u32 %p, %l, " #n "; @%p "
/* Warps 0 and n meet, at a barrier of their own. */
#define MEET(n) "bar.sync " #n ", 64; "
#define FENCE "fence.proxy.async; "
/* Goes on later, ordered by nothing. */
#define SET "st.relaxed.cta.shared.u32 [flag], 1; "
#define LATER "W: ld.relaxed.cta.shared.u32 %x, [flag]; setp.ne.u32 %p, %x, 1; @%p bra W; "
#define BULK(bytes)                                                                                                    \
    LANE(0) "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d], " #bytes ", [mb]; "
#define AWAIT(bytes)                                                                                                   \
    LANE(0)                                                                                                            \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], " #bytes "; "                                                  \
    "P: mbarrier.try_wait.parity.shared::cta.b64 %p, [mb], 0; @!%p bra P; "
#define SEEN "Q: mbarrier.try_wait.parity.shared::cta.b64 %p, [mb], 0; @!%p bra Q; "
#define STORE LANE(0) "cp.async.bulk.global.shared::cta.bulk_group [%d], [tile], 2048; "

static const struct sample samples[] = {
    {NULL, {ALL ST(0) LD(2), "", ""}},
    /* another warp: without order, in order, with the value that is there, with another one */
    {"warp 0, lane 5", {ALL SET, LATER LANE(9) "ld.shared.u32 %x, [tile+340]; ", ""}},
    {NULL, {ALL MEET(1), MEET(1) LANE(9) "ld.shared.u32 %x, [tile+340]; ", ""}},
    {NULL, {ALL SET, LATER LANE(3) "st.shared.u32 [tile+344], 2; ", ""}},
    {"warp 0, lane 5", {ALL SET, LATER LANE(3) "st.shared.u32 [tile+344], 7; ", ""}},
    {NULL, {ALL SET, LATER ST(1), ""}},
    {"warp 0, lane", {ALL SET, LATER LD(1), ""}},
    {"warp 0, lane 5", {ST(1) LD(1) SET, LATER LANE(9) "ld.shared.u32 %x, [tile+324]; ", ""}},
    /* a row of words, which has a path of its own */
    {"warp 0, lane", {ALL SET, LATER "mad.lo.u32 %y, %l, 4, %t; ld.shared.u32 %x, [%y]; ", ""}},
    /* the other warp knows the store, but not the read that came after it, though one like it came before */
    {"warp 0, lane 5", {LD(1) ST(1) MEET(1) LD(1) SET, MEET(1) LATER LANE(3) "st.shared.u32 [tile+320], 7; ", ""}},
    {NULL, {LD(1) ST(1) LD(1) MEET(1), MEET(1) LANE(3) "st.shared.u32 [tile+320], 7; ", ""}},
    /* the last two lanes of the warp exchange rows */
    {"warp 0, lane",
     {ALL "setp.ge.u32 %p, %l, 30; mov.u32 %r, %l; @%p xor.b32 %r, %l, 1; mad.lo.u32 %r, %r, 64, %t; " LD(0), "", ""}},
    /* operations */
    {"warp 0, lane", {ALL MEET(1), MEET(1) STORE, ""}},
    {NULL, {ALL FENCE MEET(1), MEET(1) STORE, ""}},
    {NULL, {ALL FENCE MEET(1), MEET(1) BULK(2048), AWAIT(2048) ALL}},
    {"warp 0, lane", {ALL FENCE SET, LATER BULK(2048), AWAIT(2048)}},
    /* the operation knows accesses, but not the same ones that came again */
    {"warp 0, lane", {ALL FENCE MEET(1) ALL SET, MEET(1) LATER STORE, ""}},
    {"warp 0, lane", {LD(0) FENCE MEET(1) LD(0) SET, MEET(1) LATER BULK(2048), AWAIT(2048)}},
    /* after an operation has replaced a warp's accesses, another warp makes one of them */
    {NULL,
     {ALL FENCE MEET(1) SEEN LATER LANE(9) "ld.shared.u32 %x, [tile+340]; ", MEET(1) BULK(2048),
      AWAIT(2048) ST(1) SET}},
    {"warp 2, lane 5",
     {ALL FENCE MEET(1) SEEN LATER LANE(9) "ld.shared.u32 %x, [tile+324]; ", MEET(1) BULK(2048),
      AWAIT(2048) ST(1) SET}},
    /* the same warp makes them again */
    {"warp 0, lane", {LD(0) ST(0) FENCE MEET(1) SEEN LD(0) ST(0) SET, MEET(1) BULK(2048), AWAIT(2048) LATER STORE}},
    /* and while the operation may still write */
    {"copy-not-awaited", {ST(1) FENCE "bar.warp.sync -1; " BULK(2048) ST(1) AWAIT(2048), "", ""}},
    /* one that replaces only the first two rows */
    {"warp 0, lane 5",
     {ALL FENCE MEET(1), MEET(1) BULK(128) AWAIT(128) SET, LATER LANE(9) "ld.shared.u32 %x, [tile+340]; "}},
    {NULL, {ALL FENCE MEET(1), MEET(1) BULK(128) AWAIT(128) LANE(0) "ld.shared.u32 %x, [tile+68]; ", ""}},
};

static void run_sample(const struct sample *s) {
    run_agents(RUN_HEADER
               ".shared .align 1024 .b8 tile[2048]; .shared .align 8 .b64 mb; .shared .align 4 .b8 flag[4];\n"
               ".visible .entry k(.param .u64 data) {\n"
               ".reg .b32 %x, %y, %w, %l, %r, %t; .reg .b64 %d; .reg .pred %p;\n"
               "ld.param.u64 %d, [data]; mov.u32 %x, %tid.x; shr.u32 %w, %x, 5; and.b32 %l, %x, 31;\n"
               "mov.u32 %t, tile; mad.lo.u32 %r, %l, 64, %t; setp.eq.u32 %p, %x, 0;\n"
               "@%p mbarrier.init.shared::cta.b64 [mb], 1; @%p st.relaxed.cta.shared.u32 [flag], 0;\n"
               "@%p fence.mbarrier_init.release.cluster; bar.sync 0;\n",
               s->agent, s->told, (size_t)(s - samples));
}

int main(void) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        run_sample(&samples[i]);
    return check_report();
}
