/* Rows of a warp in shared memory, which the checker keeps by lines, beside accesses that take a line apart: pieces of
 * PTX for three warps, in a kernel with an mbarrier, so that it has no epochs. */
#include "unit/check/agents.h"

struct sample {
    const char *told;     /* a part of the report, or NULL: nothing is told */
    const char *agent[3]; /* a piece of each warp */
};

/* Each lane has a word of the tile, in order, or 16 bytes; at %q those of the last two lanes are exchanged. */
#define ST "st.shared.u32 [%r], %w; "
#define ST4 "st.shared.v4.u32 [%r4], {%w, 2, 3, 4}; "
#define LD "ld.shared.u32 %x, [%r]; "
#define LANE(n) "setp.eq.u32 %p, %l, " #n "; @%p "
/* The same bytes as matrices: row r of each is the 16 bytes of lane r, or those of lane r ^ 1. */
#define MATRIX(how, at, trans) how ".sync.aligned.m8n8.x4" trans ".shared.b16 " at "; "
#define STM(at, trans) MATRIX("stmatrix", "[" at "], {%m0, %m0, %m0, %m0}", trans)
#define LDM(at, trans) MATRIX("ldmatrix", "{%m0, %m1, %m2, %m3}, [" at "]", trans)
/* Warps 0 and n meet, at a barrier of their own. */
#define MEET(n) "bar.sync " #n ", 64; "
/* Goes on later, ordered by nothing. */
#define SET "st.relaxed.cta.shared.u32 [flag], 1; "
#define LATER "W: ld.relaxed.cta.shared.u32 %x, [flag]; setp.ne.u32 %p, %x, 1; @%p bra W; "
/* Warp 0 stores a row, which warps 1 and 2 know; then warp 1 does. */
#define ROWS ST ST "fence.proxy.async; " MEET(2) MEET(1)
#define THEN MEET(1) ST SET
#define BULK "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d], 128, [mb]; "
#define STORE "cp.async.bulk.global.shared::cta.bulk_group [%d], [tile], 128; "
#define HALF(at)                                                                                                       \
    LANE(0)                                                                                                            \
    "cp.async.bulk.global.shared::cta.bulk_group [%d+" #at "], [tile+" #at                                             \
    "], 64; " LANE(0) "cp.async.bulk.commit_group; "

static const struct sample samples[] = {
    {NULL, {ST ST LD, "", ""}},
    {"warp 0, lane 5", {ST SET, LATER LANE(9) "ld.shared.u32 %x, [tile+20]; ", ""}},
    {NULL, {ST MEET(1), MEET(1) LANE(9) "ld.shared.u32 %x, [tile+20]; ", ""}},
    /* quads of one row by several warps: another warp knows the first of them alone */
    {"warp 1, lane 0",
     {ST MEET(2) MEET(1) MEET(3) LD SET, MEET(1) LANE(0) "st.shared.v4.u32 [tile+16], {1, 2, 3, 4}; " MEET(3),
      MEET(2) LATER LANE(5) "ld.shared.u32 %x, [tile+20]; "}},
    /* a row that begins in the middle of another one's lines */
    {"warp 1, lane 1",
     {ST MEET(2) MEET(1) MEET(3) SET, MEET(1) "st.shared.u32 [%r+16], %w; " MEET(3),
      MEET(2) LATER LANE(5) "ld.shared.u32 %x, [tile+20]; "}},
    /* rows by two warps, of which the last knows the first alone: all its lanes access them, not in order; some; one */
    {"warp 1, lane 0",
     {MEET(2) MEET(1), MEET(1) ST4 SET, ST4 ST4 MEET(2) LATER "st.shared.v4.u32 [%q], {%l, 2, 3, 4}; "}},
    {"warp 1, lane", {ROWS, THEN, MEET(2) LATER "setp.lt.u32 %p, %l, 16; @%p ld.shared.u32 %x, [%r]; "}},
    {"warp 1, lane", {ROWS, THEN, MEET(2) LATER LANE(3) "ld.shared.u16 %h, [tile+66]; "}},
    {"warp 1, lane", {ROWS, THEN, MEET(2) LATER LANE(0) STORE}},
    /* operations */
    {"warp 0, lane", {ST MEET(1), MEET(1) LANE(0) STORE, ""}},
    {NULL, {ST "fence.proxy.async; " MEET(1), MEET(1) LANE(0) STORE, ""}},
    {"warp 0, lane", {ST "fence.proxy.async; " MEET(1) ST SET, MEET(1) LATER LANE(0) STORE, ""}},
    {"warp 0, lane",
     {ST LD "fence.proxy.async; " MEET(1) LD SET,
      MEET(1) LATER LANE(0) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 128; " LANE(0) BULK
      "P: mbarrier.try_wait.parity.shared::cta.b64 %p, [mb], 0; @!%p bra P; ",
      ""}},
    {NULL,
     {ST ST "fence.proxy.async; " MEET(1), MEET(1) LANE(0) BULK,
      LANE(0) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 128; "
              "P: mbarrier.try_wait.parity.shared::cta.b64 %p, [mb], 0; @!%p bra P; " LD}},
    /* two stores in groups of their own: the second is awaited later, its write to global memory last */
    {NULL,
     {ST "fence.proxy.async; bar.warp.sync 0xffffffff; " HALF(0) HALF(64)
          LANE(0) "cp.async.bulk.wait_group.read 1; " LANE(0) "cp.async.bulk.wait_group.read 0; " LANE(
              0) "st.shared.u32 [tile+64], 1; " LANE(0) "cp.async.bulk.wait_group 0; " LANE(0) "ld.global.u32 %x, "
                                                                                               "[%d+64]; ",
      "", ""}},
    {"bulk-store-overwritten",
     {ST "fence.proxy.async; bar.warp.sync 0xffffffff; " HALF(0) HALF(64)
          LANE(0) "cp.async.bulk.wait_group.read 1; " LANE(0) "cp.async.bulk.wait_group.read 1; " LANE(
              0) "st.shared.u32 [tile+64], 1; ",
      "", ""}},
    /* matrices, again and again */
    {"warp 0, lane 1 (", {STM("%s", "") STM("%s", "") SET, LATER LANE(9) "ld.shared.u32 %x, [tile+20]; ", ""}},
    {"warp 0, lane 9 (",
     {STM("%r4", ".trans") STM("%r4", ".trans") SET, LATER LANE(5) "ld.shared.u16 %h, [tile+52]; ", ""}},
    {"warp 1, lane 27 (",
     {ST4 MEET(1) LATER LANE(0) "st.shared.u8 [tile+508], 1; ", MEET(1) LDM("%s", "") LDM("%s", "") SET, ""}},
    {"warp 1, lane 30 (",
     {ST4 MEET(1) LATER LANE(0) "st.shared.u8 [tile+479], 1; ", MEET(1) LDM("%r4", ".trans") LDM("%r4", ".trans") SET,
      ""}},
    {"warp 1, lane 9 (",
     {STM("%s", "") STM("%s", "") MEET(1) LATER STM("%s", ""), MEET(1) LANE(9) "st.shared.u32 [tile+20], 5; " SET, ""}},
    {NULL, {STM("%s", "") "mov.u32 %m0, 7; " STM("%s", "") SET, LATER LANE(9) "st.shared.u32 [tile+20], 7; ", ""}},
    {NULL,
     {STM("%s", "") STM("%s", "") MEET(1) MEET(2), MEET(1) LDM("%s", "") LDM("%s", ""), MEET(2) LDM("%r4", ".trans")}},
    {"nothing orders it after cp.async.bulk",
     {ST4 "bar.warp.sync -1; " LDM("%s", "") LDM("%s", "") "fence.proxy.async; " MEET(1) LATER LDM("%s", ""),
      MEET(1) LANE(0) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 128; " LANE(0) BULK SET, ""}},
    {"nothing orders it after cp.async.bulk",
     {ST4 "bar.warp.sync -1; " LDM("%r4", ".trans") LDM("%r4", ".trans") "fence.proxy.async; " MEET(1)
          LATER LDM("%r4", ".trans"),
      MEET(1) LANE(0) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 128; " LANE(0) BULK SET, ""}},
    /* atomics: after a read, and after atomics */
    {"warp 0, lane 0",
     {LANE(0) "ld.shared.u32 %x, [tile]; " SET, LATER LANE(0) "red.relaxed.cta.shared.add.u32 [tile], 1; ", ""}},
    {"warp 0, lane 0",
     {LANE(0) "st.shared.u32 [tile], 1; " SET, LATER LANE(0) "red.relaxed.cta.shared.add.u32 [tile], 1; ", ""}},
    {NULL,
     {LANE(0) "red.relaxed.cta.shared.add.u32 [tile], 1; " SET,
      LATER LANE(0) "red.relaxed.cta.shared.add.u32 [tile], 1; ", ""}},
};

static void run_sample(const struct sample *s) {
    run_agents(RUN_HEADER ".shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 mb; .shared .align 4 .b8 flag[4];\n"
                          ".visible .entry k(.param .u64 data) {\n"
                          ".reg .b16 %h; .reg .b32 %x, %w, %l, %r, %r4, %q, %s, %m<4>; .reg .b64 %d; .reg .pred %p;\n"
                          "ld.param.u64 %d, [data]; mov.u32 %x, %tid.x; shr.u32 %w, %x, 5; and.b32 %l, %x, 31;\n"
                          "mov.u32 %r, tile; mad.lo.u32 %r, %l, 4, %r;\n"
                          "mov.u32 %r4, tile; mad.lo.u32 %r4, %l, 16, %r4; setp.ge.u32 %p, %l, 30;\n"
                          "mov.u32 %q, %r4; @%p xor.b32 %q, %q, 16; xor.b32 %s, %r4, 16; mov.u32 %m0, %l;\n"
                          "mov.u32 %x, %tid.x; setp.eq.u32 %p, %x, 0;\n"
                          "@%p mbarrier.init.shared::cta.b64 [mb], 1; @%p st.relaxed.cta.shared.u32 [flag], 0;\n"
                          "@%p fence.mbarrier_init.release.cluster; bar.sync 0;\n",
               s->agent, s->told, (size_t)(s - samples));
}

int main(void) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        run_sample(&samples[i]);
    return check_report();
}
