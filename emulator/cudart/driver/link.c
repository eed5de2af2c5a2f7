/* Driver API: the linker that runs within the program (JIT). One PTX text, also out of a fat binary, goes in and comes
 * out as the image: the emulator executes it as it is. What would have to be linked or compiled is refused by name. */
#include "cudart/core/calls.h"

#include "base/heap.h"

/* CUjitInputType */
static const char *const inputs[] = {"a cubin",        "PTX",   "a fat binary", "an object file of the host's",
                                     "a host library", "LTO-IR"};
enum { INPUT_FAT_BINARY = 2, INPUTS = sizeof inputs / sizeof inputs[0] };

static struct rt_context *enter_link(const char *call, const void *state, struct rt_link **link) {
    struct rt_context *c = rt_enter_ready(call);
    *link = NULL;
    if (c->entered == RT_SUCCESS && (*link = rt_link_find(c, state)) == NULL)
        c->entered = rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is not a linker's state of this process", state);
    return c;
}

RT_API int cuLinkCreate_v2(unsigned num_options, int *options, void **values, void **state) {
    struct rt_context *c = rt_enter_ready("cuLinkCreate");
    const struct rt_options given = {.num_jit = num_options, .jit = options, .jit_values = values};
    int e = rt_then(c->entered, rt_check_out(c, state));
    return rt_leave(c, rt_then(e, rt_link_create(c, &given, state)));
}
RT_ALIAS(cuLinkCreate, cuLinkCreate_v2);

static int check_input(struct rt_context *c, int type) {
    if (type < 0 || type >= (int)INPUTS)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "an input of type %d", type);
    if (type > INPUT_FAT_BINARY)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED, "linking %s is not supported by the emulator: give it PTX",
                      inputs[type]);
    return RT_SUCCESS;
}

/* The options are for this input alone, and there is nothing that they could change. */
static int check_options(struct rt_context *c, unsigned num_options, const int *options, void **values) {
    struct rt_jit none;
    return rt_jit_open(c, &(struct rt_options){.num_jit = num_options, .jit = options, .jit_values = values}, &none);
}

RT_API int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned num_options,
                            int *options, void **values) {
    struct rt_link *link;
    struct rt_context *c = enter_link("cuLinkAddData", state, &link);
    int e = rt_then(c->entered, check_input(c, type));
    e = rt_then(e, check_options(c, num_options, options, values));
    if (e == RT_SUCCESS && data == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "the input is a null pointer");
    return rt_leave(c, rt_then(e, rt_link_add(c, link, data, size, name)));
}
RT_ALIAS(cuLinkAddData, cuLinkAddData_v2);

RT_API int cuLinkAddFile_v2(void *state, int type, const char *path, unsigned num_options, int *options,
                            void **values) {
    struct rt_link *link;
    struct rt_context *c = enter_link("cuLinkAddFile", state, &link);
    char *bytes = NULL;
    size_t size = 0;
    int e = rt_then(c->entered, check_input(c, type));
    e = rt_then(e, check_options(c, num_options, options, values));
    e = rt_then(e, rt_read_image(c, path, &bytes, &size));
    e = rt_then(e, rt_link_add(c, link, bytes, size, path));
    xfree(bytes);
    return rt_leave(c, e);
}
RT_ALIAS(cuLinkAddFile, cuLinkAddFile_v2);

RT_API int cuLinkComplete(void *state, void **image, size_t *size) {
    struct rt_link *link;
    struct rt_context *c = enter_link("cuLinkComplete", state, &link);
    int e = rt_then(c->entered, rt_check_out(c, image));
    if (e == RT_SUCCESS && link->text == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "nothing was added that could be linked");
    e = rt_give(e, image, link->text);
    return rt_leave(c, rt_give(e, size, link->len + 1)); /* its zero byte too */
}

RT_API int cuLinkDestroy(void *state) {
    struct rt_link *link;
    struct rt_context *c = enter_link("cuLinkDestroy", state, &link);
    if (c->entered == RT_SUCCESS)
        rt_link_destroy(c, link);
    return rt_leave(c, c->entered);
}
