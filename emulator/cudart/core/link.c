/* The states of the driver's linker (cuLinkCreate). Contract in context.h. */
#include "cudart/core/context.h"

#include "base/heap.h"

#include <string.h>

int rt_link_create(struct rt_context *c, const struct rt_options *options, void **out) {
    struct rt_link *l = rt_calloc(c, 1, sizeof *l);
    if (l == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    int e = rt_jit_open(c, options, &l->jit);
    if (e != RT_SUCCESS) {
        xfree(l);
        return e;
    }
    l->next = c->links;
    c->links = l;
    *out = l;
    return RT_SUCCESS;
}

struct rt_link *rt_link_find(const struct rt_context *c, const void *state) {
    struct rt_link *l = c->links;
    while (l != NULL && l != state)
        l = l->next;
    return l;
}

/* The PTX of an input, which must be one that could be loaded. */
static int take(struct rt_context *c, struct rt_link *l, const void *data, size_t size, const char *name) {
    struct rt_module m = {0};
    if (l->text != NULL)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED, "linking several inputs is not supported by the emulator");
    int e = rt_image_choose(c, data, size, &m);
    xfree(m.code);
    if (e != RT_SUCCESS)
        return e;
    struct ptx_module *ptx = ptx_parse(m.choice.text, m.choice.len, name, &c->gpu->sink);
    if (ptx == NULL) {
        xfree(m.choice.text);
        return rt_say(c, RT_ERROR_INVALID_PTX, "the PTX of %s is not valid", name);
    }
    ptx_module_free(ptx);
    l->text = m.choice.text;
    l->len = m.choice.len;
    return RT_SUCCESS;
}

int rt_link_add(struct rt_context *c, struct rt_link *l, const void *data, size_t size, const char *name) {
    rt_jit_resume(c, &l->jit);
    int e = take(c, l, data, size, name != NULL ? name : "the input");
    rt_jit_pause(c);
    return e;
}

void rt_link_destroy(struct rt_context *c, struct rt_link *l) {
    struct rt_link **p = &c->links;
    while (*p != l)
        p = &(*p)->next;
    *p = l->next;
    xfree(l->text);
    xfree(l);
}
