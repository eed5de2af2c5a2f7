/* Accesses to shared memory that nothing orders are told, and no others: random kernels against a model that keeps all
 * accesses of each byte. Sizes, strides, lanes and agents are mixed, so that what is kept by 16 bytes, 4 and 1 parts
 * and is joined on the way. A kernel's last access races, or is the only one, or writes what stands there already. */
#include "unit/run_ptx.h"

#define WARPS 3u
#define TILE 2048u   /* bytes, with a border of the checker's blocks in the middle */
#define BEFORE 3072u /*  which lies so far into this much */
#define STEPS 40u
#define KERNELS 6000u
#define COPY 128u /* bytes of a bulk copy */
#define EVERYONE 7u

enum agent { THREADS, CP_ASYNC, BULK };

/* One instruction, or copy. */
struct access {
    enum agent agent;
    bool writes;
    uint32_t value; /* that is stored, in each byte */
    bool open;      /* a copy that its threads have not waited for */
    uint32_t warp;
    uint32_t warps, own; /* synchronisations of its warp with others, and of its lanes, before it, or before its wait */
    uint32_t lanes[TILE]; /* that touch the byte */
    uint32_t from, to;
};
static struct access accesses[STEPS];
static uint32_t num_accesses;

static struct {
    uint32_t known[WARPS]; /* of the synchronisations of each warp; its own: all */
    uint32_t own;          /* synchronisations of its lanes */
    struct access *open;
    uint32_t parity;
    char text[16384];
    size_t len;
} warps[WARPS];

/* What accesses of this kernel are like. */
static struct {
    uint32_t small, copies; /* of 8: of fewer than 16 bytes, by copies */
    uint32_t base, range;   /* where they begin */
} style;

static uint64_t seed = 1;

static uint32_t any_below(uint32_t n) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

#define WRITE(w, ...)                                                                                                  \
    do {                                                                                                               \
        char line_[400];                                                                                               \
        const int n_ = snprintf(line_, sizeof line_, __VA_ARGS__);                                                     \
        check_append(warps[w].text, sizeof warps[w].text, &warps[w].len, line_, (size_t)n_);                           \
    } while (0)

/* --- the model ---------------------------------------------------------------------------------------------------- */

enum order { ORDERED, SAME, UNORDERED, UNCLEAR };

static bool is_same(const struct access *a, const struct access *b) {
    return a->agent == THREADS && b->agent == THREADS && a->writes && b->writes && a->value == b->value;
}

/* Of what touches a byte, `old` being first in the text of the kernel. */
static enum order order_of(const struct access *old, const struct access *new, uint32_t at) {
    const uint32_t a = old->lanes[at], b = new->lanes[at];
    if (!a || !b || (!old->writes && !new->writes))
        return ORDERED;
    if (old->open)
        return UNORDERED;
    if (old->warp != new->warp)
        return warps[new->warp].known[old->warp] > old->warps ? ORDERED : is_same(old, new) ? SAME : UNORDERED;
    if (old->own < warps[new->warp].own)
        return ORDERED;
    if (a != b || a & (a - 1))
        return is_same(old, new) ? SAME : UNORDERED;
    return new->agent == BULK && old->agent != BULK ? UNCLEAR : ORDERED; /* without a proxy fence */
}

static enum order order_of_all(const struct access *new) {
    enum order worst = ORDERED;
    for (uint32_t i = 0; i < num_accesses; i++) {
        const struct access *old = &accesses[i];
        for (uint32_t at = old->from > new->from ? old->from : new->from; at < old->to &&at < new->to; at++) {
            const enum order o = order_of(old, new, at);
            worst = o > worst ? o : worst;
        }
    }
    return worst;
}

static void mark(struct access *a, uint32_t lane, uint32_t at, uint32_t size) {
    for (uint32_t i = at; i < at + size; i++)
        a->lanes[i] |= 1u << lane;
    a->from = at < a->from ? at : a->from;
    a->to = at + size > a->to ? at + size : a->to;
}

/* --- synchronisation ---------------------------------------------------------------------------------------------- */

/* Those who issued the copy under way wait for it. True: they have taken a way of their own. */
static bool wait_copy(uint32_t w) {
    static uint32_t label;
    struct access *a = warps[w].open;
    const bool loop = a && a->agent == BULK && a->writes;
    if (!a)
        return false;
    if (loop) {
        WRITE(w, "@!%%z bra M%u; L%u: mbarrier.try_wait.parity.shared::cta.b64 %%p, [mb+%u], %u; @!%%p bra L%u; M%u:\n",
              label, label, 8 * w, warps[w].parity, label, label);
        warps[w].parity ^= 1;
        label++;
    } else if (a->agent == BULK) {
        WRITE(w, "@%%z cp.async.bulk.wait_group.read 0;\n");
    } else {
        WRITE(w, "cp.async.wait_all;\n");
    }
    a->open = false;
    a->own = warps[w].own;
    a->warps = warps[w].known[w];
    warps[w].open = NULL;
    return loop;
}

/* The lanes of a warp meet. */
static void sync_lanes(uint32_t w) {
    WRITE(w, "fence.proxy.async.shared::cta; bar.warp.sync -1;\n");
    warps[w].own++;
}

/* Those warps meet; a copy may be under way. */
static void sync_warps(uint32_t set) {
    uint32_t known[WARPS] = {0};
    for (uint32_t w = 0; w < WARPS; w++) {
        if (!(set >> w & 1))
            continue;
        WRITE(w, "fence.proxy.async.shared::cta; bar.sync %u, %d;\n", set, 32 * __builtin_popcount(set));
        warps[w].known[w]++;
        warps[w].own++;
        for (uint32_t k = 0; k < WARPS; k++)
            known[k] = warps[w].known[k] > known[k] ? warps[w].known[k] : known[k];
    }
    for (uint32_t w = 0; w < WARPS; w++)
        if (set >> w & 1)
            memcpy(warps[w].known, known, sizeof known);
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* What one access is to be. */
struct plan {
    uint32_t size, stride, base, lanes;
    unsigned turn; /* which register numbers the lanes */
    unsigned matrix;
};

static uint32_t turned(unsigned turn, uint32_t lane) { return turn == 0 ? lane : turn == 1 ? 31 - lane : lane ^ 5; }

/* Where `extent` bytes may begin. */
static uint32_t any_base(uint32_t extent, uint32_t unit) {
    const uint32_t room = TILE - extent - style.base;
    return (style.base + any_below(style.range < room ? style.range : room)) / unit * unit;
}

static struct plan any_plan(const struct access *a) {
    static const uint32_t lanes[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0xffff, 1, 0x80000000, 0x00100100};
    struct plan p = {.turn = any_below(3), .lanes = lanes[any_below(7)]};
    p.size = 1u << (any_below(8) >= style.small ? 4 : a->agent == CP_ASYNC ? 2 + any_below(3) : any_below(5));
    const uint32_t strides[] = {p.size, p.size, 16, a->writes ? 2 * p.size : 0};
    p.stride = strides[any_below(4)];
    p.base = any_base(31 * p.stride + p.size, p.size);
    return p;
}

static void plan_access(struct access *a, struct plan *p) {
    *p = any_plan(a);
    if (a->agent == BULK) {
        p->base = any_base(COPY, any_below(2) ? 16 : COPY);
        mark(a, 0, p->base, COPY);
    } else if (a->agent == THREADS && any_below(5) == 0) {
        p->matrix = 1 + any_below(2);
        p->base = any_base(512, 16);
        for (uint32_t m = 0; m < 4; m++)
            for (uint32_t i = 0; i < 64; i++) /* element i % 8 of row i / 8 */
                mark(a, p->matrix == 2 ? 4 * (i % 8) + i / 16 : 4 * (i / 8) + i % 8 / 2, p->base + 128 * m + 2 * i, 2);
    } else {
        for (uint32_t l = 0; l < 32; l++)
            if (p->lanes >> l & 1)
                mark(a, l, p->base + turned(p->turn, l) * p->stride, p->size);
    }
}

static void write_matrix(const struct access *a, const struct plan *p) {
    const char *trans = p->matrix == 2 ? ".trans" : "";
    WRITE(a->warp, "mad.lo.u32 %%a, %%l0, 16, %%tile;\n");
    if (a->writes)
        WRITE(a->warp, "stmatrix.sync.aligned.m8n8.x4%s.shared.b16 [%%a+%u], {%%v, %%v, %%v, %%v};\n", trans, p->base);
    else
        WRITE(a->warp, "ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%x, %%x1, %%x2, %%x3}, [%%a+%u];\n", trans,
              p->base);
}

static void write_bulk(const struct access *a, const struct plan *p, uint32_t number) {
    if (a->writes)
        WRITE(a->warp,
              "@%%z mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb+%u], %u; @%%z cp.async.bulk.shared::cta.global."
              "mbarrier::complete_tx::bytes [tile+%u], [%%in], %u, [mb+%u];\n",
              8 * a->warp, COPY, BEFORE + p->base, COPY, 8 * a->warp);
    else
        WRITE(a->warp,
              "@%%z cp.async.bulk.global.shared::cta.bulk_group [%%out+%u], [tile+%u], %u; "
              "@%%z cp.async.bulk.commit_group;\n",
              number * COPY, BEFORE + p->base, COPY);
}

static void write_lanes(const struct access *a, const struct plan *p) {
    static const char *const kind[] = {"b8", "b16", "b32", "v2.b32", "v4.b32"};
    static const char *const load[] = {"%x", "%h", "%x", "{%x, %x1}", "{%x, %x1, %x2, %x3}"};
    static const char *const store[] = {"%v", "%w", "%v", "{%v, %v}", "{%v, %v, %v, %v}"};
    const int i = __builtin_ctz(p->size);
    WRITE(a->warp, "and.b32 %%x, %%bit, %u; setp.ne.u32 %%p, %%x, 0; mad.lo.u32 %%a, %%l%u, %u, %%tile;\n", p->lanes,
          p->turn, p->stride);
    if (a->agent == CP_ASYNC)
        WRITE(a->warp, "@%%p cp.async.ca.shared.global [%%a+%u], [%%in], %u;\n", p->base, p->size);
    else if (a->writes)
        WRITE(a->warp, "@%%p st.shared.%s [%%a+%u], %s;\n", kind[i], p->base, store[i]);
    else
        WRITE(a->warp, "@%%p ld.shared.%s %s, [%%a+%u];\n", kind[i], load[i], p->base);
}

/* An access more, if it is ordered as asked. */
static bool add_access(enum order wanted) {
    struct access *a = &accesses[num_accesses];
    struct plan p;
    memset(a, 0, sizeof *a);
    a->warp = any_below(WARPS);
    a->agent = any_below(8) >= style.copies || warps[a->warp].open ? THREADS : any_below(4) ? BULK : CP_ASYNC;
    a->writes = a->agent == CP_ASYNC || any_below(a->agent == BULK ? 2 : 3) == 0;
    a->warps = warps[a->warp].known[a->warp];
    a->own = warps[a->warp].own;
    a->from = TILE;
    a->value = wanted == SAME ? 1 + any_below(num_accesses) : num_accesses + 1;
    plan_access(a, &p);
    if (order_of_all(a) != wanted)
        return false;
    WRITE(a->warp, "mov.u32 %%v, %u; mov.b16 %%w, %u;\n", a->value * 0x01010101, a->value * 0x0101);
    if (a->agent == BULK)
        write_bulk(a, &p, num_accesses);
    else if (p.matrix)
        write_matrix(a, &p);
    else
        write_lanes(a, &p);
    a->open = a->agent != THREADS;
    if (a->open)
        warps[a->warp].open = a;
    num_accesses++;
    return true;
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

static void any_style(void) {
    static const uint32_t small[] = {0, 1, 4}, copies[] = {0, 2, 7}, range[] = {64, 256, TILE};
    style.small = small[any_below(3)];
    style.copies = copies[any_below(3)];
    style.range = range[any_below(3)];
    style.base = style.range == TILE ? 0 : any_below(TILE / 2);
}

/* Its last access is ordered as asked; false: none was found. */
static bool make_kernel(enum order last) {
    const uint32_t steps = 1 + any_below(1 + any_below(STEPS - 2));
    any_style();
    memset(warps, 0, sizeof warps);
    num_accesses = 0;
    while (num_accesses < steps) {
        const uint32_t what = any_below(16), w = any_below(WARPS);
        if (what == 0)
            sync_warps(EVERYONE);
        else if (what < 3)
            sync_warps(EVERYONE & ~(1u << w));
        else if (what < 5)
            sync_lanes(w);
        else if (what > 5)
            add_access(ORDERED);
        else if (wait_copy(w) || any_below(2))
            sync_lanes(w);
    }
    bool added = false;
    for (uint32_t i = 0; i < 100 && !added; i++)
        added = add_access(last);
    for (uint32_t w = 0; w < WARPS; w++)
        wait_copy(w);
    return added;
}

static void write_kernel(char *text, size_t size) {
    static const char head[] = RUN_HEADER
        ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
        ".reg .b32 %x, %x1, %x2, %x3, %v, %a, %tile, %t, %warp, %bit, %l0, %l1, %l2; .reg .b16 %h, %w;\n"
        ".reg .b64 %in, %out; .reg .pred %p, %z;\n"
        ".shared .align 4096 .b8 tile[8192]; .shared .align 8 .b64 mb[3];\n"
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
        "mov.u32 %t, %tid.x; mov.u32 %l0, %laneid; sub.u32 %l1, 31, %l0; xor.b32 %l2, %l0, 5;\n"
        "mov.u32 %x, 1; shl.b32 %bit, %x, %l0; shr.u32 %warp, %t, 5; setp.eq.u32 %z, %l0, 0;\n"
        "mov.u32 %a, tile; mad.lo.u32 %a, %t, 64, %a; mov.u32 %x, 0;\n"
        "I: st.shared.v4.b32 [%a], {0, 0, 0, 0}; add.u32 %a, %a, 16; add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 4;"
        "@%p bra I; setp.eq.u32 %p, %t, 0;\n"
        "@%p mbarrier.init.shared::cta.b64 [mb], 1; @%p mbarrier.init.shared::cta.b64 [mb+8], 1;\n"
        "@%p mbarrier.init.shared::cta.b64 [mb+16], 1; fence.proxy.async.shared::cta; bar.sync 0;\n"
        "mov.u32 %tile, tile; add.u32 %tile, %tile, 3072;\n"
        "setp.eq.u32 %p, %warp, 1; @%p bra WARP1; setp.eq.u32 %p, %warp, 2; @%p bra WARP2;\n";
    size_t len = 0;
    check_append(text, size, &len, head, strlen(head));
    for (uint32_t w = 0; w < WARPS; w++) {
        char label[32];
        snprintf(label, sizeof label, "WARP%u:\n", w);
        check_append(text, size, &len, label, strlen(label));
        check_append(text, size, &len, warps[w].text, warps[w].len);
        check_append(text, size, &len, "ret;\n", 5);
    }
    check_append(text, size, &len, "}\n", 2);
}

static void run_kernel_at(const char *text, bool races, enum mach_check level, uint32_t number) {
    struct mach_config c = mach_config_b200();
    struct run r;
    c.watchdog = 1000000;
    c.check = level;
    c.schedule = MACH_SCHED_RANDOM;
    c.seed = number;
    if (run_open_config(&r, text, &c)) {
        run_check_races(&r);
        const uint64_t in = run_alloc(&r, COPY), out = run_alloc(&r, STEPS * COPY);
        memset(run_at(&r, in, COPY), 0xff, COPY);
        const int rc = run_kernel(&r, "k", (struct run_shape){.block = 32 * WARPS}, 2, (uint64_t[]){in, out});
        if (!CHECK(races ? r.log_len > 0 : !rc && !r.log_len))
            fprintf(stderr, "kernel %u, level %d: expected %s\n%s\n%s\n", number, (int)level,
                    races ? "a report" : "nothing", text, r.log);
    }
    run_close(&r);
}

int main(void) {
    static char text[65536];
    uint32_t raced = 0, same = 0;
    for (uint32_t i = 0; i < KERNELS; i++) {
        const enum order last = (enum order)(i % 3);
        const bool made = make_kernel(last), races = made && last == UNORDERED;
        raced += races;
        same += made && last == SAME;
        write_kernel(text, sizeof text);
        run_kernel_at(text, races, MACH_CHECK_WARN, i);
        run_kernel_at(text, races, MACH_CHECK_STRICT, i);
    }
    CHECK(raced > KERNELS / 4);
    CHECK(same > KERNELS / 50);
    return check_report();
}
