/* Variables: spaces, sizes, alignment, linkage, initialisers, relocations. */
#include "unit/ptx/parse.h"

static const struct ptx_var *var(const struct ptx_module *m, const char *name) {
    const struct ptx_var *v = ptx_find_var(m, name);
    if (!v) {
        fprintf(stderr, "no variable %s\n", name);
        exit(1);
    }
    return v;
}

static void declarations(void) {
    struct ptx_module *m =
        parse(HEAD ".extern .shared .align 1024 .b8 dyn[];\n"
                   ".visible .global .u16 grid[19][19];\n.weak .const .v4 .f32 v;\n.common .global .b32 a, b[3];\n"
                   ".global .align 4 .attribute(.managed) .f64 d;\n.global .attribute(.unified(19,95)) .b8 e;\n"
                   ".extern .global .b32 later;\n.visible .global .align 16 .b32 later = 7;\n"
                   ".entry k() { .local .align 16 .b8 depot[48]; .shared .align 8 .u64 bar; .global .b32 inner; }\n");
    CHECK(var(m, "dyn")->is_extern && var(m, "dyn")->incomplete);
    CHECK_EQ(var(m, "dyn")->size, 0);
    CHECK_EQ(var(m, "dyn")->align, 1024);
    CHECK_EQ(var(m, "dyn")->space, PTX_SPACE_SHARED);
    CHECK(!var(m, "dyn")->owner);
    CHECK_EQ(var(m, "grid")->size, 722);
    CHECK_EQ(var(m, "grid")->align, 2);
    CHECK(var(m, "grid")->is_visible && !var(m, "grid")->is_weak);
    CHECK_EQ(var(m, "v")->size, 16);
    CHECK_EQ(var(m, "v")->align, 16);
    CHECK_EQ(var(m, "v")->vector, 4);
    CHECK(var(m, "v")->is_weak && var(m, "v")->space == PTX_SPACE_CONST);
    CHECK(var(m, "a")->is_common && var(m, "b")->is_common && var(m, "b")->size == 12);
    CHECK_EQ(var(m, "d")->align, 8);
    CHECK_EQ(var(m, "e")->size, 1);
    CHECK(!var(m, "later")->is_extern && var(m, "later")->is_visible && var(m, "later")->init);
    CHECK_EQ(var(m, "later")->align, 16);
    const struct ptx_func *k = ptx_find_func(m, "k");
    CHECK_EQ(k->num_vars, 2);
    CHECK(k->vars[0]->space == PTX_SPACE_LOCAL && k->vars[0]->size == 48 && k->vars[0]->owner == k);
    CHECK(k->vars[1]->space == PTX_SPACE_SHARED && k->vars[1]->size == 8);
    CHECK(!ptx_find_var(m, "depot"));
    CHECK_EQ(m->num_vars, 9); /* `inner` is storage of the module */
    CHECK_STR(m->vars[8]->name, "inner");
    for (uint32_t i = 0; i < m->num_vars; i++)
        CHECK_EQ(m->vars[i]->index, i);
    ptx_module_free(m);
}

static void numbers(void) {
    struct ptx_module *m =
        parse(HEAD ".global .b8 s[7] = {37, 100, 10, 300, -1};\n"
                   ".global .s32 x[3][2] = { {1, 2}, {3} };\n.global .u16 open[] = {1, 2, 3};\n"
                   ".global .s32 pairs[][2] = { {-1, 0}, {0, -1}, {7} };\n"
                   ".const .f32 f[4] = {0f3F800000, 0.5, -1e3};\n.const .f64 d = 0f3F800000;\n"
                   ".global .b64 q = -2;\n.global .v2 .b32 v = {5, 6};\n.global .b32 bits = 0f40000000;\n"
                   ".global .b32 zero[4];\n.global .b128 w = 1;\n.global .b16 none[3] = {};\n");
    static const uint8_t s[7] = {37, 100, 10, 44, 255, 0, 0};
    static const int32_t x[6] = {1, 2, 3, 0, 0, 0}, pairs[6] = {-1, 0, 0, -1, 7, 0};
    static const uint16_t open[3] = {1, 2, 3};
    static const float f[4] = {1, 0.5f, -1e3f, 0};
    static const double d = 1;
    static const int64_t q = -2;
    static const uint32_t v[2] = {5, 6}, two = 0x40000000;
    static const uint64_t w[2] = {1, 0};
    CHECK_MEM(var(m, "s")->init, s, 7);
    CHECK_MEM(var(m, "x")->init, x, 24);
    CHECK_EQ(var(m, "open")->size, 6);
    CHECK(!var(m, "open")->incomplete);
    CHECK_MEM(var(m, "open")->init, open, 6);
    CHECK_EQ(var(m, "pairs")->size, 24);
    CHECK_MEM(var(m, "pairs")->init, pairs, 24);
    CHECK_MEM(var(m, "f")->init, f, 16);
    CHECK_MEM(var(m, "d")->init, &d, 8);
    CHECK_MEM(var(m, "q")->init, &q, 8);
    CHECK_MEM(var(m, "v")->init, v, 8);
    CHECK_MEM(var(m, "bits")->init, &two, 4);
    CHECK(!var(m, "zero")->init);
    CHECK_MEM(var(m, "w")->init, w, 16);
    CHECK_MEM(var(m, "none")->init, "\0\0\0\0\0", 6);
    ptx_module_free(m);
}

static void reloc_is(const struct ptx_reloc *r, uint64_t offset, uint32_t size, bool generic, const char *symbol,
                     int64_t addend, unsigned shift) {
    CHECK_EQ(r->offset, offset);
    CHECK_EQ(r->size, size);
    CHECK_EQ(r->generic, generic);
    CHECK_STR(r->symbol, symbol);
    CHECK_EQ(r->addend, addend);
    CHECK_EQ(r->shift, shift);
}

static void addresses(void) {
    struct ptx_module *m = parse(HEAD ".func f();\n.global .b32 t[4];\n"
                                      ".global .u64 p[6] = {f, t, generic(t), generic(t)+8, t-4, 9};\n"
                                      ".global .u8 bytes[4] = {0xFF(t), 0xFF00(generic(t)+4), 0xFF00(131187), 3};\n"
                                      ".global .u64 ahead = defined_below;\n.global .b32 defined_below;\n");
    const struct ptx_var *p = var(m, "p"), *b = var(m, "bytes");
    CHECK_EQ(p->num_relocs, 5);
    reloc_is(&p->relocs[0], 0, 8, false, "f", 0, 0);
    reloc_is(&p->relocs[1], 8, 8, false, "t", 0, 0);
    reloc_is(&p->relocs[2], 16, 8, true, "t", 0, 0);
    reloc_is(&p->relocs[3], 24, 8, true, "t", 8, 0);
    reloc_is(&p->relocs[4], 32, 8, false, "t", -4, 0);
    CHECK_EQ(p->init[40], 9);
    CHECK_EQ(b->num_relocs, 2);
    reloc_is(&b->relocs[0], 0, 1, false, "t", 0, 0);
    reloc_is(&b->relocs[1], 1, 1, true, "t", 4, 8);
    CHECK_EQ(b->init[2], (131187 >> 8) & 255);
    CHECK_EQ(b->init[3], 3);
    CHECK_EQ(var(m, "ahead")->num_relocs, 1);
    ptx_module_free(m);
}

int main(void) {
    declarations();
    numbers();
    addresses();
    return check_report();
}
