/* The sorter of words: what a form has and has not, what is written twice, and why it refuses. */
#include "check.h"
#include "isa/form.h"

static struct ptx_insn insn(unsigned n, const enum ptx_mod *mods) {
    struct ptx_insn in = {.num_mods = (uint8_t)n};
    for (unsigned i = 0; i < n; i++)
        in.mods[i] = (uint16_t)mods[i];
    return in;
}
#define INSN(...) insn(sizeof(enum ptx_mod[]){__VA_ARGS__} / sizeof(enum ptx_mod), (const enum ptx_mod[]){__VA_ARGS__})

/* Sorts by a form of a space, an order, two types and .sync; the reason, or "" when it sorts. */
static struct isa_words k;
static const char *sort(struct arena *a, struct ptx_insn in) {
    struct isa_binder b = {.arena = a};
    bool ok = isa_sort(&b, &in,
                       ISA_WORDS(ISA_ANY(space), PTX_MOD_relaxed, PTX_MOD_acquire, ISA_MORE(ISA_ANY(type)),
                                 PTX_MOD_sync, PTX_MOD_aligned),
                       &k);
    CHECK_EQ(ok, b.why == NULL);
    return b.why ? b.why : "";
}

static void sorted(struct arena *a) {
    CHECK_STR(sort(a, (struct ptx_insn){0}), "");
    CHECK_EQ(k.of[PTX_KIND_space], PTX_MOD_unknown);
    CHECK_STR(sort(a, INSN(PTX_MOD_sync, PTX_MOD_u32, PTX_MOD_relaxed, PTX_MOD_aligned, PTX_MOD_global)), "");
    CHECK_EQ(k.of[PTX_KIND_space], PTX_MOD_global);
    CHECK_EQ(k.of[PTX_KIND_order], PTX_MOD_relaxed);
    CHECK_EQ(k.of[PTX_KIND_type], PTX_MOD_u32);
    CHECK_EQ(k.second, PTX_MOD_unknown);
    CHECK_EQ(isa_elements(&k), 1);
    CHECK_STR(sort(a, INSN(PTX_MOD_u32, PTX_MOD_f32)), "");
    CHECK_EQ(k.of[PTX_KIND_type], PTX_MOD_u32);
    CHECK_EQ(k.second, PTX_MOD_f32);
    CHECK_STR(sort(a, INSN(PTX_MOD_u32, PTX_MOD_u32)), "");
}

static void refused(struct arena *a) {
    CHECK_STR(sort(a, INSN(PTX_MOD_global, PTX_MOD_release)), ".release does not belong to this instruction");
    CHECK_STR(sort(a, INSN(PTX_MOD_unknown)), ".(unknown) does not belong to this instruction");
    CHECK_STR(sort(a, INSN(PTX_MOD_global, PTX_MOD_global)), ".global is written twice");
    CHECK_STR(sort(a, INSN(PTX_MOD_sync, PTX_MOD_u32, PTX_MOD_sync)), ".sync is written twice");
    CHECK_STR(sort(a, INSN(PTX_MOD_relaxed, PTX_MOD_acquire)), ".relaxed and .acquire exclude each other");
    CHECK_STR(sort(a, INSN(PTX_MOD_u32, PTX_MOD_f32, PTX_MOD_u64)), ".u32 and .u64 exclude each other");
}

static void spelled(void) {
    const uint16_t *form = ISA_WORDS(PTX_MOD_range, ISA_MORE(PTX_MOD_global), ISA_ANY(scope), ISA_MORE(ISA_ANY(scope)));
    struct ptx_insn all = INSN(PTX_MOD_range, PTX_MOD_global, PTX_MOD_cta, PTX_MOD_sys);
    struct ptx_insn least = INSN(PTX_MOD_range, PTX_MOD_gpu), other = INSN(PTX_MOD_gpu, PTX_MOD_range);
    struct ptx_insn long_one = INSN(PTX_MOD_range, PTX_MOD_gpu, PTX_MOD_cta, PTX_MOD_cta), none = {0};
    CHECK(isa_spelled(&all, form) && isa_spelled(&least, form));
    CHECK(!isa_spelled(&other, form) && !isa_spelled(&long_one, form) && !isa_spelled(&none, form));
    CHECK(isa_spelled(&none, ISA_WORDS(ISA_MORE(PTX_MOD_global))));
}

int main(void) {
    struct arena a = {0};
    sorted(&a);
    refused(&a);
    spelled();
    arena_free(&a);
    return check_report();
}
