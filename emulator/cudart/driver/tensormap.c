/* Driver API: tensor maps. What a map may say is engines/tensormap.h's; a broken rule is told by its sentence. */
#include "engines/tensormap.h"
#include "cudart/core/context.h"

#include <stdio.h>
#include <string.h>

static int place(struct rt_context *c, const void *map) {
    if (map == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "no place for the tensor map");
    return RT_SUCCESS; /* any alignment will do, as for the driver (measured); cuda.h asks for 64 bytes */
}

/* A line about the values, beside the rule that they break. */
static void describe(char *text, size_t size, const struct tmap *m) {
    size_t n = (size_t)snprintf(text, size, "type %s, rank %u, address 0x%llx, dim {", tmap_type_name(m->type), m->rank,
                                (unsigned long long)m->address);
    uint32_t rank = m->rank < TMAP_MAX_RANK ? m->rank : TMAP_MAX_RANK;
    for (uint32_t i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, i ? ", %llu" : "%llu", (unsigned long long)m->dim[i]);
    for (uint32_t i = 0; i + 1 < rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, i ? ", %llu" : "}, stride {%llu", (unsigned long long)m->stride[i]);
    for (uint32_t i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, i ? ", %u" : "}, box {%u", m->box[i]);
    for (uint32_t i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, i ? ", %u" : "}, element strides {%u", m->step[i]);
    if (n < size)
        snprintf(text + n, size - n, "}");
}

static int encode(struct rt_context *c, void *out, const struct tmap *m) {
    uint8_t map[TMAP_BYTES];
    const char *why = tmap_encode(m, map);
    if (why != NULL) {
        char text[600];
        describe(text, sizeof text, m);
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s (%s)", why, text);
    }
    memcpy(out, map, sizeof map);
    return RT_SUCCESS;
}

RT_API int cuTensorMapEncodeTiled(void *out, unsigned type, uint32_t rank, void *address, const uint64_t *dims,
                                  const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                                  unsigned interleave, unsigned swizzle, unsigned l2_promotion, unsigned fill) {
    struct rt_context *c = rt_enter("cuTensorMapEncodeTiled");
    int e = rt_then(rt_check_init(c), rt_check_context(c));
    e = rt_then(e, place(c, out));
    if (e == RT_SUCCESS && (dims == NULL || box == NULL || steps == NULL || strides == NULL))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "globalDim, globalStrides, boxDim and elementStrides must be given");
    if (e == RT_SUCCESS && swizzle > TMAP_SWIZZLE_128B_ATOM_64B)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "swizzle is none of CUtensorMapSwizzle");
    if (e != RT_SUCCESS)
        return rt_leave(c, e);
    struct tmap m = {.type = type,
                     .interleave = interleave,
                     .swizzle = swizzle,
                     .l2_promotion = l2_promotion,
                     .fill_nan = fill,
                     .rank = rank,
                     .address = (uintptr_t)address};
    for (uint32_t i = 0; i < rank && i < TMAP_MAX_RANK; i++) {
        m.dim[i] = dims[i];
        m.box[i] = box[i];
        m.step[i] = steps[i];
        if (i + 1 < rank && i + 1 < TMAP_MAX_RANK)
            m.stride[i] = strides[i];
    }
    return rt_leave(c, encode(c, out, &m));
}

RT_API int cuTensorMapReplaceAddress(void *map, void *address) {
    struct rt_context *c = rt_enter("cuTensorMapReplaceAddress");
    int e = rt_check_init(c);
    e = rt_then(e, place(c, map));
    if (e == RT_SUCCESS && address == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "globalAddress must be given");
    const char *why = e == RT_SUCCESS ? tmap_replace_address(map, (uintptr_t)address) : NULL;
    if (why != NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%s (address %p)", why, address);
    return rt_leave(c, e);
}

static int refuse_im2col(const char *call) {
    struct rt_context *c = rt_enter(call);
    return rt_leave(c, rt_say(c, RT_ERROR_NOT_SUPPORTED, "im2col tensor maps are not supported by the emulator"));
}

RT_API int cuTensorMapEncodeIm2col(void *out, unsigned type, uint32_t rank, void *address, const uint64_t *dims,
                                   const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
                                   uint32_t pixels, const uint32_t *steps, unsigned interleave, unsigned swizzle,
                                   unsigned l2_promotion, unsigned fill) {
    (void)out, (void)type, (void)rank, (void)address, (void)dims, (void)strides, (void)lower, (void)upper;
    (void)channels, (void)pixels, (void)steps, (void)interleave, (void)swizzle, (void)l2_promotion, (void)fill;
    return refuse_im2col("cuTensorMapEncodeIm2col");
}

RT_API int cuTensorMapEncodeIm2colWide(void *out, unsigned type, uint32_t rank, void *address, const uint64_t *dims,
                                       const uint64_t *strides, int lower, int upper, uint32_t channels,
                                       uint32_t pixels, const uint32_t *steps, unsigned interleave, unsigned mode,
                                       unsigned swizzle, unsigned l2_promotion, unsigned fill) {
    (void)out, (void)type, (void)rank, (void)address, (void)dims, (void)strides, (void)lower, (void)upper;
    (void)channels, (void)pixels, (void)steps, (void)interleave, (void)mode, (void)swizzle, (void)l2_promotion;
    (void)fill;
    return refuse_im2col("cuTensorMapEncodeIm2colWide");
}
