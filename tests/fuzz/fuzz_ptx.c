/* fuzz_ptx.c - any bytes as PTX: ptx_parse returns a module whose every reference holds, or NULL, and nothing else. */
#include "ptx/ir.h"

#include <stdlib.h>
#include <string.h>

#define HOLDS(cond)                                                                                                    \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            abort();                                                                                                   \
    } while (0)

static void check_operand(const struct ptx_func *f, const struct ptx_operand *o) {
    if (o->kind == PTX_OPND_REG)
        HOLDS(o->reg && o->reg->index < f->num_regs && &f->regs[o->reg->index] == o->reg);
    HOLDS(o->kind != PTX_OPND_VAR || o->var);
    HOLDS(o->kind != PTX_OPND_FUNC || (o->func && !o->func->alias_of));
    HOLDS(o->kind != PTX_OPND_LABEL || o->label <= f->num_insns);
    HOLDS(o->kind != PTX_OPND_SREG || (o->sreg && o->sreg < PTX_SREG_COUNT));
    HOLDS(o->kind != PTX_OPND_PAIR || o->num_elems == 2);
    for (uint32_t i = 0; o->kind == PTX_OPND_TABLE && o->table->labels && i < o->table->count; i++)
        HOLDS(o->table->labels[i] <= f->num_insns);
    for (uint32_t i = 0; i < o->num_elems; i++)
        check_operand(f, &o->elems[i]);
}

static void check_func(const struct ptx_func *f) {
    for (uint32_t i = 0; i < f->num_params; i++)
        HOLDS(f->params[i].align && ptx_param_offset(f, i, NULL) % f->params[i].align == 0);
    for (uint32_t i = 0; i < f->num_vars; i++)
        HOLDS(f->vars[i]->index == i && f->vars[i]->owner == f);
    for (uint32_t i = 0; i < f->num_insns; i++) {
        const struct ptx_insn *in = &f->insns[i];
        HOLDS(in->op < PTX_OP_COUNT && in->num_mods <= PTX_MAX_MODS && in->num_operands <= PTX_MAX_OPERANDS);
        HOLDS(in->site.ptx_text && in->site.ptx_line);
        for (unsigned k = 0; k < in->num_operands; k++)
            check_operand(f, &in->operands[k]);
    }
}

static void check_var(const struct ptx_module *m, const struct ptx_var *v) {
    HOLDS(v->align && !(v->align & (v->align - 1)));
    for (uint32_t k = 0; k < v->num_relocs; k++) {
        HOLDS(v->relocs[k].offset + v->relocs[k].size <= v->size);
        HOLDS(ptx_find_var(m, v->relocs[k].symbol) || ptx_find_func(m, v->relocs[k].symbol));
    }
    unsigned sum = 0;
    for (uint64_t k = 0; v->init && k < v->size; k += 4096)
        sum += v->init[k];
    HOLDS(!v->init || v->init[v->size - 1] + sum < UINT32_MAX);
}

static void count_bytes(void *ctx, const char *text, size_t len) {
    HOLDS(len > 0 && text[len - 1] == '\n');
    *(size_t *)ctx += len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t reported = 0;
    struct diag_sink sink = {.write = count_bytes, .ctx = &reported};
    char *text = malloc(size ? size : 1); /* exactly as long as said, so that a read past the end is seen */
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    struct ptx_module *m = ptx_parse(text, size, "fuzz.ptx", &sink);
    free(text);
    HOLDS(!m == !!reported);
    if (m) {
        for (uint32_t i = 0; i < m->num_funcs; i++)
            check_func(m->funcs[i]);
        for (uint32_t i = 0; i < m->num_vars; i++)
            check_var(m, m->vars[i]);
    }
    ptx_module_free(m);
    return 0;
}
