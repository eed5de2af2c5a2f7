/* Driver API: launches as they were before CUDA 4, whose shape and parameters are kept with the function. Some front
 * ends still set a block's shape so. */
#include "cudart/core/calls.h"

#include <string.h>

enum { LEGACY_PARAMS = 4096 }; /* bytes of parameters, as of the devices of that time */

/* The function's state, made at need. */
static struct rt_context *enter(const char *call, void *function, struct rt_function **f) {
    struct rt_context *c = rt_enter_function(call, function, f);
    if (c->entered == RT_SUCCESS && (*f)->legacy == NULL) {
        (*f)->legacy = rt_calloc(c, 1, sizeof *(*f)->legacy + LEGACY_PARAMS);
        if ((*f)->legacy == NULL)
            c->entered = RT_ERROR_MEMORY_ALLOCATION;
    }
    return c;
}

RT_API int cuFuncSetBlockShape(void *function, int x, int y, int z) {
    struct rt_function *f;
    struct rt_context *c = enter("cuFuncSetBlockShape", function, &f);
    int e = c->entered;
    if (e == RT_SUCCESS && (x <= 0 || y <= 0 || z <= 0))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "a CTA of %d x %d x %d threads", x, y, z);
    if (e == RT_SUCCESS)
        f->legacy->block = (struct rt_dim3){(unsigned)x, (unsigned)y, (unsigned)z};
    return rt_leave(c, e);
}

RT_API int cuFuncSetSharedSize(void *function, unsigned bytes) {
    struct rt_function *f;
    struct rt_context *c = enter("cuFuncSetSharedSize", function, &f);
    if (c->entered == RT_SUCCESS)
        f->legacy->shared = bytes;
    return rt_leave(c, c->entered);
}

RT_API int cuParamSetSize(void *function, unsigned bytes) {
    struct rt_function *f;
    struct rt_context *c = enter("cuParamSetSize", function, &f);
    int e = c->entered;
    if (e == RT_SUCCESS && bytes > LEGACY_PARAMS)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%u bytes of parameters: at most %d", bytes, LEGACY_PARAMS);
    if (e == RT_SUCCESS)
        f->legacy->param_bytes = bytes;
    return rt_leave(c, e);
}

static int set_param(const char *call, void *function, int offset, const void *value, unsigned bytes) {
    struct rt_function *f;
    struct rt_context *c = enter(call, function, &f);
    int e = c->entered;
    if (e == RT_SUCCESS &&
        (value == NULL || offset < 0 || bytes > LEGACY_PARAMS || offset > LEGACY_PARAMS - (int)bytes))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%u bytes of parameters at offset %d: they end at %d", bytes, offset,
                   LEGACY_PARAMS);
    if (e == RT_SUCCESS)
        memcpy(f->legacy->params + offset, value, bytes);
    return rt_leave(c, e);
}

RT_API int cuParamSetv(void *function, int offset, void *value, unsigned bytes) {
    return set_param("cuParamSetv", function, offset, value, bytes);
}

RT_API int cuParamSeti(void *function, int offset, unsigned value) {
    return set_param("cuParamSeti", function, offset, &value, sizeof value);
}

RT_API int cuParamSetf(void *function, int offset, float value) {
    return set_param("cuParamSetf", function, offset, &value, sizeof value);
}

static int launch(const char *call, void *function, int width, int height, void *stream) {
    struct rt_function *f;
    struct rt_context *c = enter(call, function, &f);
    int e = c->entered;
    if (e == RT_SUCCESS && (width <= 0 || height <= 0))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "a grid of %d x %d CTAs", width, height);
    if (e != RT_SUCCESS)
        return rt_leave(c, e);
    void *extra[] = {RT_EXTRA_BUFFER, f->legacy->params, RT_EXTRA_SIZE, &f->legacy->param_bytes, RT_EXTRA_END};
    const struct rt_launch l = {.config = {.grid = {(unsigned)width, (unsigned)height, 1},
                                           .block = f->legacy->block,
                                           .dynamic_shared = f->legacy->shared,
                                           .stream = stream},
                                .extra = extra,
                                .shape_error = RT_ERROR_INVALID_VALUE};
    return rt_leave(c, rt_launch(c, f, &l));
}

RT_API int cuLaunch(void *function) { return launch("cuLaunch", function, 1, 1, NULL); }

RT_API int cuLaunchGrid(void *function, int width, int height) {
    return launch("cuLaunchGrid", function, width, height, NULL);
}

RT_API int cuLaunchGridAsync(void *function, int width, int height, void *stream) {
    return launch("cuLaunchGridAsync", function, width, height, stream);
}
