/* What people call the things in a log. */
#include "made_log.h"
#include "view/names.h"

#include <time.h>

static const char *object_name(const struct made *m, const struct names_cluster *n, uint32_t rank, uint32_t at) {
    for (uint32_t i = 0; i < m->cluster.num_objects; i++)
        if (m->objects[i].kind == OBJECT_MBARRIER && m->objects[i].rank == rank && m->objects[i].at == at)
            return n->objects[i];
    return "no such object";
}

static const char *range_name(const struct names_range *list, uint32_t count, uint32_t rank, uint32_t at) {
    const struct names_range *r = names_range_at(list, count, rank, at);
    return r ? r->name : "none";
}

static void check_sources(void) {
    struct made m;
    char buf[64];
    made_open(&m, true);
    struct names *names = names_make(&m.log, 0);
    const struct names_cluster *n = names_of(names, 0);
    CHECK(n == names_of(names, 0));
    CHECK_STR(object_name(&m, n, 0, MADE_FULL), "full[0]");
    CHECK_STR(object_name(&m, n, 0, MADE_FULL + 8), "full[1]");
    CHECK_STR(object_name(&m, n, 1, MADE_EMPTY + 8), "empty[1]");
    CHECK_STR(object_name(&m, n, 0, MADE_DONE), "done");
    CHECK_STR(n->objects[m.cluster.num_objects - 1], "tensor core");
    CHECK_EQ(n->ctas, 2);
    CHECK_EQ(n->num_warps, 3);
    CHECK_STR(names_warp(n, 0, 0, buf, sizeof buf), "mma");
    CHECK_STR(names_warp(n, 0, 1, buf, sizeof buf), "load");
    CHECK_STR(names_warp(n, 1, 1, buf, sizeof buf), "load");
    CHECK_STR(names_warp(n, 0, 2, buf, sizeof buf), "epilogue");
    CHECK_STR(names_warp(n, 1, 2, buf, sizeof buf), "warp 2");
    CHECK_STR(names_warp(n, 9, 77, buf, sizeof buf), "warp 77");
    /* both CTAs' halves make one range, and each stage its own */
    CHECK_EQ(n->num_smem, 4);
    for (uint32_t rank = 0; rank < 2; rank++) {
        CHECK_STR(range_name(n->smem, n->num_smem, rank, MADE_STAGES), "A stage 0");
        CHECK_STR(range_name(n->smem, n->num_smem, rank, MADE_STAGES + MADE_STAGE - 1), "A stage 0");
        CHECK_STR(range_name(n->smem, n->num_smem, rank, MADE_STAGES + MADE_STAGE), "A stage 1");
        CHECK_STR(range_name(n->smem, n->num_smem, rank, MADE_STAGES + 2 * MADE_STAGE), "none");
        CHECK_STR(range_name(n->tmem, n->num_tmem, rank, 63), "D 0");
        CHECK_STR(range_name(n->tmem, n->num_tmem, rank, 64), "D 1");
        CHECK_STR(range_name(n->tmem, n->num_tmem, rank, 128), "none");
    }
    names_free(names);
    made_close(&m);
}

/* Without the source, or with one that was changed later, names are numbers. */
static void check_without(bool sources, int64_t newest) {
    struct made m;
    char buf[64];
    made_open(&m, sources);
    struct names *names = names_make(&m.log, newest);
    const struct names_cluster *n = names_of(names, 0);
    CHECK_STR(object_name(&m, n, 0, MADE_FULL), "mbarrier 0x400");
    CHECK_STR(names_warp(n, 0, 0, buf, sizeof buf), "warp 0");
    CHECK_STR(range_name(n->smem, n->num_smem, 0, MADE_STAGES), "copies");
    CHECK_STR(range_name(n->tmem, n->num_tmem, 1, 64), "D 1");
    names_free(names);
    made_close(&m);
}

/* Two lines that call different barriers alike, a place that is initialised twice, and a variable in the PTX. */
static void check_alike(void) {
    struct made m;
    made_open(&m, true);
    const uint32_t other = made_site(&m, 2, 7, "mbarrier.init.shared::cta.b64 [%r9], 2;"),
                   named = made_site(&m, 1, 0, "mbarrier.init.shared::cta.b64 [_ZZ4ringvE3bar+16], 1;");
    const uint32_t again = m.objects[0].site;
    const struct trace_object more[] = {
        {.kind = OBJECT_MBARRIER, .rank = 0, .at = 0x600, .site = other},
        {.kind = OBJECT_MBARRIER, .rank = 0, .at = MADE_FULL, .site = again},
        {.kind = OBJECT_MBARRIER, .rank = 1, .at = 0x608, .site = named},
        {.kind = OBJECT_MBARRIER, .rank = 1, .at = 0x610, .site = 0},
    };
    const uint32_t first = m.cluster.num_objects;
    for (uint32_t i = 0; i < 4; i++)
        made_object(&m, more[i]);
    struct names *names = names_make(&m.log, 0);
    const struct names_cluster *n = names_of(names, 0);
    CHECK_STR(n->objects[0], "full[0] 0x400");
    CHECK_STR(n->objects[first], "full[0] 0x600");
    CHECK_STR(n->objects[first + 1], n->objects[0]);
    CHECK_STR(object_name(&m, n, 0, MADE_FULL + 8), "full[1]");
    CHECK_STR(n->objects[first + 2], "bar[2]");
    CHECK_STR(n->objects[first + 3], "mbarrier 0x610");
    names_free(names);
    made_close(&m);
}

static void copy_through(struct made *m, uint32_t line, uint64_t map, uint32_t to) {
    struct trace_op op = m->ops[0];
    op.map = map;
    op.site = made_site(m, 9, line, "cp.async.bulk.tensor.2d [%r1], [%rd1, {%r2, %r3}], [%r4];");
    op.to_off = to;
    op.leader = 0;
    made_issue(m, op);
}

/* Copies of two maps through one function are told apart by the line that calls it, and by what is its own in that. */
static void check_maps(void) {
    struct made m;
    made_open(&m, true);
    copy_through(&m, 14, 77, 0x2000);
    copy_through(&m, 15, 78, 0x3000);
    struct names *names = names_make(&m.log, 0);
    const struct names_cluster *n = names_of(names, 0);
    CHECK_STR(range_name(n->smem, n->num_smem, 0, 0x2000), "A stage 0");
    CHECK_STR(range_name(n->smem, n->num_smem, 0, 0x3000), "B stage 0");
    names_free(names);
    made_close(&m);
}

/* A wrapper that the kernel calls itself is no task. */
static void check_wrapper(void) {
    struct made m;
    char buf[64];
    made_open(&m, true);
    const uint32_t site = made_site(&m, 13, 0, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;");
    made_wait(&m, 1, 3, 1, 0, site, WAIT_BEGINS, 0);
    struct names *names = names_make(&m.log, 0);
    CHECK_STR(names_warp(names_of(names, 0), 1, 3, buf, sizeof buf), "warp 3");
    names_free(names);
    made_close(&m);
}

/* A warp does something so many times, in what the kernel calls at this line. */
static void does(struct made *m, uint32_t rank, uint32_t warp, uint32_t task, uint32_t times) {
    const uint32_t site = made_site(m, 8, task, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;");
    for (uint32_t i = 0; i < times; i++)
        made_wait(m, rank, warp, 1, 0, site, WAIT_BEGINS, 0);
}

/* Warps of one number have one name, though in one CTA the other task has more events; a CTA that has none of it at all
 * calls its own by what it does. */
static void check_numbers(void) {
    struct made m;
    char buf[64];
    made_open(&m, true);
    does(&m, 1, 0, 5, 1);
    does(&m, 1, 0, 7, 2);
    does(&m, 1, 2, 6, 1);
    does(&m, 0, 2, 7, 2);
    struct names *names = names_make(&m.log, 0);
    const struct names_cluster *n = names_of(names, 0);
    CHECK_STR(names_warp(n, 0, 0, buf, sizeof buf), "mma");
    CHECK_STR(names_warp(n, 1, 0, buf, sizeof buf), "mma");
    CHECK_STR(names_warp(n, 0, 2, buf, sizeof buf), "epilogue");
    CHECK_STR(names_warp(n, 1, 2, buf, sizeof buf), "load 2");
    names_free(names);
    made_close(&m);
}

/* A task that all warps have tells none apart. */
static void check_same(void) {
    struct made m;
    char buf[64];
    made_open(&m, true);
    m.cluster.num_events = 20;
    for (uint32_t warp = 0; warp < 3; warp++)
        does(&m, 0, warp, 7, 20);
    struct names *names = names_make(&m.log, 0);
    const struct names_cluster *n = names_of(names, 0);
    CHECK_STR(names_warp(n, 0, 0, buf, sizeof buf), "warp 0");
    CHECK_STR(names_warp(n, 1, 1, buf, sizeof buf), "warp 1");
    names_free(names);
    made_close(&m);
}

/* A run that ended before the epilogue, beside one that did not; and beside one of another kernel. */
static void check_beside(void) {
    struct made whole, m;
    char buf[64];
    made_open(&whole, true);
    made_open(&m, true);
    m.cluster.num_events = 20;
    does(&m, 0, 2, 0, 1);
    struct names *names = names_make(&m.log, 0), *other = names_make(&whole.log, 0);
    CHECK_STR(names_warp(names_of(names, 0), 0, 2, buf, sizeof buf), "warp 2");
    names_free(names);
    names = names_make(&m.log, 0);
    names_like(names, other);
    CHECK_STR(names_warp(names_of(names, 0), 0, 2, buf, sizeof buf), "epilogue");
    CHECK_STR(names_warp(names_of(names, 0), 0, 0, buf, sizeof buf), "mma");
    names_free(names);
    names = names_make(&m.log, 0);
    names_like(names, other);
    whole.log.kernel = made_text(&whole, "another");
    CHECK_STR(names_warp(names_of(names, 0), 0, 2, buf, sizeof buf), "warp 2");
    names_free(names);
    names_free(other);
    made_close(&m);
    made_close(&whole);
}

/* Called by the user: words in the order of the warps; those behind the last keep their names. */
static void check_called(void) {
    struct made m;
    char buf[64];
    made_open(&m, true);
    struct names *names = names_make(&m.log, 0);
    names_call_warps(names, "issue,feed");
    const struct names_cluster *n = names_of(names, 0);
    CHECK_STR(names_warp(n, 0, 0, buf, sizeof buf), "issue");
    CHECK_STR(names_warp(n, 0, 1, buf, sizeof buf), "feed");
    CHECK_STR(names_warp(n, 0, 2, buf, sizeof buf), "epilogue");
    CHECK(!names_alike(names));
    names_free(names);
    made_close(&m);
}

static void check_accumulators(void) {
    uint32_t end;
    CHECK_EQ(names_accumulator(&(struct trace_op){.cta_group = 2, .m = 256, .n = 256, .to_off = 0x40}, &end), 0x40);
    CHECK_EQ(end, 0x140);
    CHECK_EQ(names_accumulator(&(struct trace_op){.cta_group = 2, .m = 128, .n = 256, .to_off = 0x100080}, &end), 0x80);
    CHECK_EQ(end, 0x100); /* layout B: half of the columns */
    names_accumulator(&(struct trace_op){.cta_group = 1, .m = 128, .n = 64}, &end);
    CHECK_EQ(end, 64);
}

/* A kernel that only calls another function: the tasks are those of that one. */
static void check_trampoline(void) {
    struct made m;
    char buf[64];
    made_open(&m, true);
    const uint32_t outer = m.log.num_calls + 1, calls = m.log.num_calls;
    m.calls[m.log.num_calls++] = (struct trace_call){made_text(&m, "/nowhere/kernel.h"), 5, 0};
    for (uint32_t i = 0; i < calls; i++)
        m.calls[i].outer = m.calls[i].outer ? m.calls[i].outer : outer;
    for (uint32_t i = 0; i < 3; i++) /* there are many */
        made_site(&m, 9, 6, "cp.async.bulk.tensor.2d [%r1], [%rd1, {%r2, %r3}], [%r4];");
    for (uint32_t i = calls + 1; i < m.log.num_calls; i++)
        m.calls[i].outer = m.calls[i].outer ? m.calls[i].outer : outer;
    struct names *names = names_make(&m.log, 0);
    const struct names_cluster *n = names_of(names, 0);
    CHECK_STR(names_warp(n, 0, 0, buf, sizeof buf), "mma");
    CHECK_STR(names_warp(n, 0, 1, buf, sizeof buf), "load");
    CHECK_STR(n->objects[0], "full[0]");
    names_free(names);
    made_close(&m);
}

/* Chains that lead nowhere, or in a circle, end. */
static void check_circle(void) {
    struct made m;
    made_open(&m, true);
    for (uint32_t i = 0; i < m.log.num_calls; i++)
        m.calls[i].outer = i + 1;
    m.sites[0].inlined = 999;
    struct names *names = names_make(&m.log, 0);
    const struct names_cluster *n = names_of(names, 0);
    char buf[64];
    CHECK_STR(names_warp(n, 0, 0, buf, sizeof buf), "warp 0");
    CHECK_STR(n->objects[0], "mbarrier 0x400");
    names_free(names);
    made_close(&m);
}

int main(void) {
    check_sources();
    check_without(false, 0);
    check_without(true, time(NULL) - 1000);
    check_alike();
    check_maps();
    check_trampoline();
    check_wrapper();
    check_numbers();
    check_same();
    check_beside();
    check_called();
    check_accumulators();
    check_circle();
    return check_report();
}
