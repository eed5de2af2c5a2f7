/* A tensor map that a kernel writes, and the fences between that and the copies that use it (PTX ISA 9.7.13.4). */
#include "unit/run_ptx.h"

#include "engines/tensormap.h"

#define WRITE "tensormap.replace.tile.global_address.global.b1024.b64 [%m], %d;\n"
#define RELEASE "fence.proxy.tensormap::generic.release.gpu;\n"
#define ACQUIRE "fence.proxy.tensormap::generic.acquire.gpu [%m], 128;\n"
#define USE                                                                                                            \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024;\n"                                                       \
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%m, {0, 0}], [mb];\n"            \
    "L: mbarrier.try_wait.parity.shared::cta.b64 %p, [mb], 0; @!%p bra L;\n"
#define SET "st.release.gpu.global.b32 [%f], 1;\n"
#define WAIT "W: ld.acquire.gpu.global.b32 %x, [%f]; setp.eq.u32 %p, %x, 0; @%p bra W;\n"

/* What the first CTA does, and the second; in one CTA, the first warp and the second. */
static const struct sample {
    const char *told;
    const char *agent[2];
} samples[] = {
    {NULL, {WRITE RELEASE ACQUIRE USE}},
    {NULL, {WRITE RELEASE SET, WAIT ACQUIRE USE}},
    {NULL, {USE, ""}},
    {"[tensormap-fence-missing]", {WRITE USE}},
    {"[tensormap-fence-missing]", {WRITE RELEASE USE}},
    {"[tensormap-fence-missing]", {WRITE ACQUIRE USE}},
    {"[tensormap-fence-missing]", {WRITE RELEASE SET, WAIT USE}},
    {"[tensormap-fence-missing]", {WRITE SET, WAIT ACQUIRE USE}},
    {"[tensormap-fence-missing]", {RELEASE WRITE SET, WAIT ACQUIRE USE}},
    {"[tensormap-fence-missing]", {WRITE RELEASE SET, ACQUIRE WAIT USE}},
    {"[global-race]", {WRITE RELEASE, ACQUIRE USE}},
    /* copied from shared memory by all lanes of a warp, which releases */
    {NULL, {"COPY" SET, WAIT ACQUIRE USE}},
    {"[tensormap-fence-missing]", {"COPY" SET, WAIT USE}},
};

static void write_kernel(char *text, size_t size, const struct sample *s, bool grid) {
    size_t len = 0;
    char line[160];
    const char *head =
        RUN_HEADER ".visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 map) {\n"
                   ".reg .b32 %x, %y, %who, %lane; .reg .b64 %d, %f, %m, %v; .reg .pred %p, %q, %first;\n"
                   ".shared .align 1024 .b8 tile[1024]; .shared .align 128 .b8 here[128]; .shared .align 8 .b64 mb;\n"
                   "ld.param.u64 %d, [data]; ld.param.u64 %f, [flag]; ld.param.u64 %m, [map]; mov.u32 %x, %tid.x;\n"
                   "and.b32 %lane, %x, 31; setp.eq.u32 %first, %lane, 0; setp.eq.u32 %p, %x, 0;\n"
                   "@%p mbarrier.init.shared::cta.b64 [mb], 1; @%p fence.proxy.async.shared::cta; bar.sync 0;\n";
    check_append(text, size, &len, head, strlen(head));
    snprintf(line, sizeof line, grid ? "mov.u32 %%who, %%ctaid.x;\n" : "shr.u32 %%who, %%x, 5;\n");
    check_append(text, size, &len, line, strlen(line));
    for (unsigned k = 0; k < 2 && s->agent[k]; k++) {
        const bool copies = strncmp(s->agent[k], "COPY", 4) == 0;
        const char *copy = "shl.b32 %x, %lane, 2; cvt.u64.u32 %v, %x; add.u64 %v, %v, %m; ld.global.b32 %y, [%v];\n"
                           "mov.u32 %who, here; add.u32 %x, %x, %who; st.shared.b32 [%x], %y; bar.warp.sync -1;\n"
                           "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                           "[%m], [here], 128;\n@!%first bra END;\n";
        char piece[2048];
        snprintf(piece, sizeof piece, "setp.ne.u32 %%q, %%who, %u; @%%q bra NOT%u; {\n%s%s} bra END;\nNOT%u:\n", k, k,
                 copies ? copy : "@!%first bra END;\n", s->agent[k] + (copies ? 4 : 0), k);
        check_append(text, size, &len, piece, strlen(piece));
    }
    check_append(text, size, &len, "END: bar.sync 0; ret; }\n", 24);
}

static void run_sample(const struct sample *s, bool grid) {
    static char text[8192];
    struct mach_config c = mach_config_b200();
    struct run r;
    c.watchdog = 1000000;
    c.check = MACH_CHECK_STRICT;
    write_kernel(text, sizeof text, s, grid);
    if (run_open_config(&r, text, &c)) {
        run_check_races(&r);
        const uint64_t data = run_alloc(&r, 4096), flag = run_alloc(&r, 256), map = run_alloc(&r, TMAP_BYTES);
        const struct tmap m = {.type = TMAP_U8,
                               .rank = 2,
                               .address = data,
                               .dim = {128, 8},
                               .stride = {128},
                               .box = {128, 8},
                               .step = {1, 1}};
        CHECK(!tmap_encode(&m, run_at(&r, map, TMAP_BYTES)));
        run_ok(&r, "k", (struct run_shape){.grid = grid ? 2 : 1, .block = grid ? 32 : 64}, 3,
               (uint64_t[]){data, flag, map});
        if (!CHECK(s->told ? strstr(r.log, s->told) != NULL : r.log_len == 0))
            fprintf(stderr, "expected %s\n%s%s\n%s\n", s->told ? s->told : "nothing", s->agent[0],
                    s->agent[1] ? s->agent[1] : "", r.log);
    }
    run_close(&r);
}

/* Boxes of 128 bytes by 8 rows that two CTAs store in a tensor of 512 by 32, CTA `who` at (x, y): do they meet? */
static const char boxes[] = RUN_HEADER
    ".visible .entry k(.param .u64 map, .param .u32 x, .param .u32 y, .param .u32 who) {\n"
    ".reg .b32 %x, %y, %b, %s; .reg .b64 %m; .reg .pred %p;\n"
    ".shared .align 1024 .b8 tile[1024];\n"
    "ld.param.u64 %m, [map]; ld.param.u32 %x, [x]; ld.param.u32 %y, [y]; mov.u32 %b, %tid.x; shl.b32 %b, %b, 3;\n"
    "mov.u32 %s, tile; add.u32 %s, %s, %b; st.shared.b64 [%s], 0; fence.proxy.async.shared::cta; bar.sync 0;\n"
    "setp.ne.u32 %p, %b, 0; @%p bra END;\n"
    "ld.param.u32 %s, [who]; mov.u32 %b, %ctaid.x; sub.u32 %b, %b, %s; add.u32 %b, %b, 1; and.b32 %b, %b, 1;\n"
    "mul.lo.u32 %x, %x, %b; mul.lo.u32 %y, %y, %b;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {%x, %y}], [tile];\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n"
    "END: ret; }\n";

static void run_boxes(uint32_t x, uint32_t y, uint32_t who, bool meet) {
    struct run r;
    if (run_open(&r, boxes)) {
        run_check_races(&r);
        const uint64_t data = run_alloc(&r, 512 * 32), map = run_alloc(&r, TMAP_BYTES);
        const struct tmap m = {.type = TMAP_U8,
                               .rank = 2,
                               .address = data,
                               .dim = {512, 32},
                               .stride = {512},
                               .box = {128, 8},
                               .step = {1, 1}};
        CHECK(!tmap_encode(&m, run_at(&r, map, TMAP_BYTES)));
        run_ok(&r, "k", (struct run_shape){.grid = 2, .block = 128}, 4, (uint64_t[]){map, x, y, who});
        if (!CHECK_EQ(strstr(r.log, "[global-race]") != NULL, meet))
            fprintf(stderr, "%u, %u: %s\n", x, y, r.log);
    }
    run_close(&r);
}

static void test_boxes(void) {
    static const struct {
        uint32_t x, y;
        bool meet;
    } at[] = {{0, 0, true},   {112, 0, true},  {128, 0, false}, {0, 7, true},   {0, 8, false},
              {112, 7, true}, {112, 8, false}, {384, 1, false}, {496, 1, false}}; /* of the last, most lies outside */
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (uint32_t who = 0; who < 2; who++)
            run_boxes(at[i].x, at[i].y, who, at[i].meet);
}

int main(void) {
    test_boxes();
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (int grid = 0; grid < 2; grid++)
            run_sample(&samples[i], grid);
    return check_report();
}
