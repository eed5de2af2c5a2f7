/* Accesses to global memory that nothing orders are told, and no others: pieces of PTX for two or three agents, that
 * are lanes of a warp, warps of a CTA, CTAs of a cluster or of a grid. */
#include "unit/run_ptx.h"

enum agents { LANES = 1, WARPS = 2, CLUSTER = 4, GRID = 8, APART = WARPS | CLUSTER | GRID, ANY = LANES | APART };

struct sample {
    unsigned of;      /* enum agents */
    const char *told; /* the rule, or NULL: nothing is told, at --check=strict either */
    const char *agent[3];
};

#define POLL(how, value)                                                                                               \
    "W: ld." how ".global.u32 %x, [%f]; setp.ne.u32 %p, %x, " value "; @%p bra W;\n" /* the flag is `value` */
#define RACE "[global-race]"
#define RELAXED "[relaxed-handover]"
#define PROXY "[missing-proxy-fence]"

#define ST "st.global.b32 [%d], 1; "
#define LD "ld.global.b32 %x, [%d]; "
#define ROW "!and.b32 %x, %y, 31; mad.wide.u32 %h, %x, 4, %d; "
#define LD8 "ld.global.v8.b32 {%x, %x, %x, %x, %x, %x, %x, %x}, [%h]; "
#define ST8 "st.global.v8.b32 [%h], {%y, %y, %y, %y, %y, %y, %y, %y}; "
#define SECTORS "!and.b64 %d, %d, -32; mad.wide.u32 %h, %y, 32, %d; "
#define DISCARD "!and.b64 %d, %d, -128; mad.wide.u32 %h, %y, 128, %d; discard.global.L2 [%h], 128; "
#define RELEASE "st.release.gpu.global.b32 [%f], 1; "
#define ACQUIRE POLL("acquire.gpu", "1")
#define FENCE "fence.acq_rel.gpu; "
#define SET "st.relaxed.gpu.global.b32 [%f], 1; "
#define WAIT POLL("relaxed.gpu", "1")

static const struct sample samples[] = {
    /* bytes */
    {ANY, RACE, {ST, LD}},
    {ANY, RACE, {ST, "ld.global.b8 %x, [%d+3]; "}},
    {ANY, NULL, {ST, "ld.global.b8 %x, [%d+4]; "}},
    {ANY, NULL, {ST, "ld.global.v4.b32 {%x, %y, %x, %y}, [%d+16]; "}},
    {ANY, RACE, {"st.global.b32 [%d+28], 1; ", "ld.global.v4.b32 {%x, %y, %x, %y}, [%d+16]; "}},
    {ANY, NULL, {"st.global.b32 [%d+32], 1; ", "ld.global.v4.b32 {%x, %y, %x, %y}, [%d+16]; "}},
    {ANY, RACE, {LD, "st.global.b8 [%d+2], 1; "}},
    {ANY, NULL, {LD, "st.global.b8 [%d+5], 1; "}},
    {ANY, NULL, {LD, LD}},
    /* of the first access only those bytes count that nobody has written since */
    {GRID, RACE, {"st.global.v2.b32 [%d], {1, 2}; st.global.b32 [%d], 3; ", "ld.global.b32 %x, [%d+4]; "}},
    /* lanes of a warp that all read the same */
    {WARPS, RACE, {"!ld.global.b32 %x, [%d]; bar.sync 0; ", "!bar.sync 0; ", "!st.global.b32 [%d], 1; bar.sync 0; "}},
    {WARPS, NULL, {"!ld.global.b32 %x, [%d]; bar.sync 0; ", "!bar.sync 0; ", "!bar.sync 0; st.global.b32 [%d], 1; "}},
    {WARPS, RACE, {"!setp.eq.u32 %p, %y, 3; @%p st.global.b32 [%d], 1; ld.global.b32 %x, [%d]; "}},
    {WARPS, RACE, {"!setp.eq.u32 %p, %y, 0; @%p st.global.b32 [%d], 1; ld.global.b32 %x, [%d]; "}},
    {WARPS, NULL, {"!setp.eq.u32 %p, %y, 3; @%p st.global.b32 [%d], 1; bar.warp.sync -1; ld.global.b32 %x, [%d]; "}},
    {WARPS, RACE, {"!ld.global.b32 %x, [%d]; setp.eq.u32 %p, %y, 3; @%p st.global.b32 [%d], 1; "}},
    {WARPS, RACE, {"!ld.global.b32 %x, [%d]; setp.eq.u32 %p, %y, 0; @%p st.global.b32 [%d], 1; "}},
    {WARPS, NULL, {"!ld.global.b32 %x, [%d]; bar.warp.sync -1; setp.eq.u32 %p, %y, 3; @%p st.global.b32 [%d], 1; "}},
    /* the same of lanes one after the other, which read strongly, and not */
    {WARPS, NULL, {ROW "ld.relaxed.gpu.global.b32 %x, [%h]; ", ROW "red.relaxed.gpu.global.add.u32 [%h], 1; "}},
    {WARPS, RACE, {ROW "ld.global.b32 %x, [%h]; ", ROW "red.relaxed.gpu.global.add.u32 [%h], 1; "}},
    /* lanes that read a sector each, one after the other: a lane knows its own read, and no other lane's */
    {WARPS, NULL, {SECTORS LD8 "st.global.b32 [%h], 1; "}},
    {WARPS, RACE, {SECTORS LD8 "st.global.b32 [%h+32], 1; "}},
    /* that write one each, or four of them */
    {WARPS, NULL, {SECTORS ST8 "ld.global.b32 %x, [%h+28]; "}},
    {WARPS, RACE, {SECTORS ST8 "ld.global.b32 %x, [%h+32]; "}},
    {WARPS, NULL, {SECTORS ST8 "bar.warp.sync -1; ld.global.b32 %x, [%h+32]; "}},
    {WARPS, NULL, {DISCARD "st.global.b32 [%h], 1; st.global.b32 [%h+96], 1; "}},
    {WARPS, RACE, {DISCARD "st.global.b32 [%h+128], 1; "}},
    /* values */
    {APART, NULL, {ST, ST}},
    {APART, RACE, {ST, "st.global.b32 [%d], 2; "}},
    {APART, RACE, {ST, "st.global.b8 [%d], 2; "}},
    /* strong accesses */
    {ANY, NULL, {"st.volatile.global.b32 [%d], 1; ", "ld.relaxed.gpu.global.b32 %x, [%d]; "}},
    {ANY, NULL, {"red.global.add.u32 [%d], 1; ", "atom.global.exch.b32 %x, [%d], 3; "}},
    {ANY, RACE, {ST, "ld.relaxed.gpu.global.b32 %x, [%d]; "}},
    {ANY, RACE, {"red.global.add.u32 [%d], 1; ", LD}},
    {CLUSTER, NULL, {"st.relaxed.cluster.global.b32 [%d], 1; ", "ld.relaxed.cluster.global.b32 %x, [%d]; "}},
    {GRID, RACE, {"st.relaxed.cta.global.b32 [%d], 1; ", "ld.relaxed.cta.global.b32 %x, [%d]; "}},
    /* barriers */
    {WARPS, NULL, {ST "bar.sync 0; ", "bar.sync 0; " LD}},
    {WARPS, RACE, {"bar.sync 0; " ST, "bar.sync 0; " LD}},
    {LANES, NULL, {ST "bar.warp.sync 3; ", "bar.warp.sync 3; " LD}},
    /* a release pattern and an acquire pattern */
    {APART, NULL, {ST RELEASE, ACQUIRE LD}},
    {APART, NULL, {ST FENCE SET, WAIT FENCE LD}},
    {APART, NULL, {ST "membar.gl; st.volatile.global.b32 [%f], 1; ", POLL("volatile", "1") "membar.gl; " LD}},
    {APART, NULL, {ST "red.release.gpu.global.add.u32 [%f], 1; ", ACQUIRE LD}},
    {APART,
     NULL,
     {ST RELEASE, "A: atom.acquire.gpu.global.add.u32 %x, [%f], 0; setp.ne.u32 %p, %x, 1; @%p bra A; " LD}},
    {APART, RACE, {ST SET, WAIT LD}},
    {GRID, RACE, {ST SET, ACQUIRE LD}},
    {APART, RELAXED, {ST RELEASE, WAIT LD}},
    {APART, RACE, {RELEASE ST, ACQUIRE LD}},
    {APART, RELAXED, {ST FENCE ST SET, ACQUIRE LD}},
    {GRID, RACE, {ST "st.release.cta.global.b32 [%f], 1; ", POLL("acquire.cta", "1") LD}},
    {APART, RACE, {ST RELEASE, "red.relaxed.gpu.global.add.u32 [%f], 1; " FENCE LD}},
    {APART, NULL, {LD RELEASE, ACQUIRE ST}},
    /* the weak store of a flag is known to who has seen its strong one; strong ones to who has observed them */
    {APART, NULL, {"st.global.b32 [%f], 0; " RELEASE, ACQUIRE "st.global.b32 [%f], 0; "}},
    {APART, NULL, {SET, WAIT "st.global.b32 [%f], 0; "}},
    /* sequences and chains: (8.9.2, 8.9.5) */
    {GRID, NULL, {ST RELEASE, WAIT "atom.relaxed.gpu.global.add.u32 %x, [%f], 1; ", POLL("acquire.gpu", "2") LD}},
    {GRID, RACE, {ST RELEASE, WAIT "st.relaxed.gpu.global.b32 [%f], 2; ", POLL("acquire.gpu", "2") LD}},
    {GRID, NULL, {ST RELEASE "st.relaxed.gpu.global.b32 [%f], 2; ", "", POLL("acquire.gpu", "2") LD}},
    {GRID | CLUSTER, NULL, {ST RELEASE, ACQUIRE "st.release.gpu.global.b32 [%f], 2; ", POLL("acquire.gpu", "2") LD}},
    {GRID | CLUSTER, RELAXED, {ST RELEASE, WAIT "st.release.gpu.global.b32 [%f], 2; ", POLL("acquire.gpu", "2") LD}},
    /* bulk copies: tile is shared, mb an mbarrier */
    {APART, PROXY, {ST RELEASE, ACQUIRE "LOADED"}},
    {APART, PROXY, {ST RELEASE, ACQUIRE "fence.proxy.async.shared::cta; LOADED"}},
    {APART, PROXY, {"fence.proxy.async.global; " ST RELEASE, ACQUIRE "LOADED"}},
    {APART, NULL, {ST RELEASE, ACQUIRE "fence.proxy.async.global; LOADED"}},
    {APART, NULL, {ST "fence.proxy.async; " RELEASE, ACQUIRE "LOADED"}},
    {APART, RACE, {ST, "LOADED"}},
    {GRID, PROXY, {ST "LOADED"}},
    {APART, NULL, {"LOADED" RELEASE, ACQUIRE ST}},
    {APART, RACE, {"LOAD" RELEASE "AWAIT", ACQUIRE ST}},
    {APART, NULL, {"STORE cp.async.bulk.wait_group 0; " RELEASE, ACQUIRE LD}},
    {APART, RACE, {"STORE cp.async.bulk.wait_group.read 0; " RELEASE, ACQUIRE LD}},
    {APART, NULL, {"STORE DRAIN cp.async.bulk.wait_group 0; " RELEASE, ACQUIRE LD}},
    {APART, RACE, {"STORE " RELEASE "DRAIN", ACQUIRE LD}},
    {APART, NULL, {"STORE cp.async.bulk.wait_group 0; " RELEASE, ACQUIRE "LOADED"}},
    {GRID, NULL, {"STORE cp.async.bulk.wait_group 0; STORE DRAIN"}},
    {GRID, RACE, {"STORE cp.async.bulk.wait_group.read 0; STORE DRAIN"}},
    {GRID, RACE, {"STORE DRAIN", "STORE DRAIN"}},
    {GRID, NULL, {"REDUCE DRAIN", "REDUCE DRAIN"}},
    {GRID, RACE, {"REDUCE DRAIN", "STORE DRAIN"}},
    {GRID, NULL, {"REDUCE DRAIN", "red.global.add.u32 [%d], 1; "}},
    {APART, "[proxy-fence-before-overwrite]", {LD RELEASE, ACQUIRE "STORE DRAIN"}},
    {APART, NULL, {LD RELEASE, ACQUIRE "fence.proxy.async.global; STORE DRAIN"}},
    {APART,
     NULL,
     {"STORE cp.async.bulk.commit_group; cp.async.bulk.wait_group 1; cp.async.bulk.wait_group 0; " RELEASE,
      ACQUIRE LD}},
    /* the device's heap gives a block again that another has freed */
    {WARPS | GRID, NULL, {"MALLOC st.global.b32 [%h], 1; FREE", "MALLOC st.global.b32 [%h], 2; FREE"}},
    /* cp.async */
    {APART, RACE, {ST, "cp.async.ca.shared.global [tile], [%d], 4; cp.async.wait_all; "}},
    {APART, NULL, {ST RELEASE, ACQUIRE "cp.async.ca.shared.global [tile], [%d], 4; cp.async.wait_all; "}},
};

static const char *const macros[][2] = {
    {"MALLOC", "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call.uni (r), malloc, (n); "
               "ld.param.b64 %h, [r]; } "},
    {"FREE", "{ .param .b64 a; st.param.b64 [a], %h; call.uni free, (a); } "},
    {"DRAIN", "cp.async.bulk.wait_group.read 0; "},
    {"LOADED", "LOAD AWAIT"},
    {"AWAIT", "L: mbarrier.try_wait.parity.shared::cta.b64 %p, [mb], 0; @!%p bra L; "},
    {"LOAD", "mbarrier.init.shared::cta.b64 [mb], 1; fence.proxy.async.shared::cta; "
             "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 16; cp.async.bulk.shared::cta.global.mbarrier::"
             "complete_tx::bytes [tile], [%d], 16, [mb]; "},
    {"STORE", "st.shared.v4.b32 [tile], {1, 2, 3, 4}; fence.proxy.async.shared::cta; cp.async.bulk.global.shared::cta."
              "bulk_group [%d], [tile], 16; cp.async.bulk.commit_group; "},
    {"REDUCE", "st.shared.v4.b32 [tile], {1, 2, 3, 4}; fence.proxy.async.shared::cta; cp.reduce.async.bulk.global."
               "shared::cta.bulk_group.add.u32 [%d], [tile], 16; cp.async.bulk.commit_group; "},
};

/* Appends a piece with its macros replaced. */
static void put(char *text, size_t size, size_t *len, const char *piece) {
    while (*piece) {
        size_t n = 1, m = 0;
        for (; m < sizeof macros / sizeof *macros; m++)
            if (strncmp(piece, macros[m][0], strlen(macros[m][0])) == 0)
                break;
        if (m < sizeof macros / sizeof *macros) {
            put(text, size, len, macros[m][1]);
            n = strlen(macros[m][0]);
        } else {
            check_append(text, size, len, piece, 1);
        }
        piece += n;
    }
}

/* Agent k is the lane, the first lane of the warp, or the CTA of that number; with ! the whole warp. A piece stands
 * between braces, for its labels. */
static void write_kernel(char *text, size_t size, const struct sample *s, unsigned of) {
    size_t len = 0;
    char line[200];
    put(text, size, &len,
        RUN_HEADER ".extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 a);\n"
                   ".visible .entry k(.param .u64 data, .param .u64 flag) {\n"
                   ".reg .b32 %x, %y, %who; .reg .b64 %d, %f, %h; .reg .pred %p, %q;\n"
                   ".shared .align 16 .b8 tile[16]; .shared .align 8 .b64 mb;\n"
                   "ld.param.u64 %d, [data]; ld.param.u64 %f, [flag];\n");
    put(text, size, &len, "mov.u32 %y, %tid.x;\n");
    put(text, size, &len, of == CLUSTER || of == GRID ? "mov.u32 %who, %ctaid.x;\n" : "mov.u32 %who, %tid.x;\n");
    for (unsigned k = 0; k < 3 && s->agent[k]; k++) {
        const unsigned first = of == WARPS ? 32 * k : k;
        const bool whole = s->agent[k][0] == '!';
        snprintf(line, sizeof line, "%ssetp.ne.u32 %%q, %%who, %u; @%%q bra NOT%u; {\n",
                 whole ? "shr.u32 %who, %y, 5;\n" : "", whole ? k : first, k);
        put(text, size, &len, line);
        put(text, size, &len, s->agent[k] + whole);
        snprintf(line, sizeof line, "} bra END;\nNOT%u:\n", k);
        put(text, size, &len, line);
    }
    /* the other lanes of a warp meet those that wait */
    put(text, size, &len, "END: ret; }\n");
}

static void run_sample(size_t i, unsigned of, uint32_t place) {
    static char text[16384];
    const struct sample *s = &samples[i];
    struct mach_config c = mach_config_b200();
    struct run r;
    c.watchdog = 1000000;
    c.check = MACH_CHECK_STRICT;
    c.threads = 2;
    write_kernel(text, sizeof text, s, of);
    if (run_open_config(&r, text, &c)) {
        run_check_races(&r);
        const uint64_t data = run_alloc(&r, (UINT64_C(4) << 20) + 4096), flag = run_alloc(&r, 256);
        const uint64_t border = (data + (UINT64_C(2) << 20)) & ~((UINT64_C(2) << 20) - 1);
        const struct run_shape shape = {.grid = of == CLUSTER || of == GRID ? 3 : 1,
                                        .cluster = of == CLUSTER ? 3 : 1,
                                        .block = of == LANES   ? 2
                                                 : of == WARPS ? 96
                                                               : 1};
        run_ok(&r, "k", shape, 2, (uint64_t[]){place ? border - 16 * (place - 1) : data, flag});
        const bool right = s->told ? strstr(r.log, s->told) != NULL : r.log_len == 0;
        if (!CHECK(right))
            fprintf(stderr, "sample %zu, agents %u, place %u: expected %s\n%s\n%s\n", i, of, place,
                    s->told ? s->told : "nothing", s->agent[0], r.log);
    }
    run_close(&r);
}

int main(void) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (unsigned of = LANES; of <= GRID; of *= 2)
            for (uint32_t place = 0; place < 3 && samples[i].of & of; place++) /* also at, and across, a region's end */
                run_sample(i, of, place);
    return check_report();
}
