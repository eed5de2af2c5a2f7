/* The emulated B200's description; contract and sources in device.h. */
#include "cudart/core/device.h"

#include <string.h>

bool rt_device_attribute(int attribute, int *value) {
    switch (attribute) {
#define ATTR(number, name, v)                                                                                          \
    case number:                                                                                                       \
        *value = v;                                                                                                    \
        return true;
#define DRIVER(number, name, v) ATTR(number, name, v)
#define LATER(number, name, v) ATTR(number, name, v)
#include "cudart/core/attributes.def"
    default:
        return false;
    }
}

static int attr(int attribute) {
    int value = 0;
    rt_device_attribute(attribute, &value);
    return value;
}

void rt_device_prop_12(struct rt_prop_12 *p, uint64_t memory) {
    memset(p, 0, sizeof *p);
#define PROP(type, field, attribute) p->field = (type)attr(attribute);
#define PROPN(type, field, count, first)                                                                               \
    for (int i = 0; i < (count) && (first) != 0; i++)                                                                  \
        p->field[i] = (type)attr((first) + i);
#define PROP12(type, field, attribute) PROP(type, field, attribute)
#define PROP13(type, field, attribute)
#include "cudart/core/prop.def"
    strcpy(p->name, RT_DEVICE_NAME);
    memcpy(p->uuid, "sm100emu-B200-00", 16);
    p->totalGlobalMem = memory;
}

void rt_device_prop_13(struct rt_prop_13 *p, uint64_t memory) {
    struct rt_prop_12 old;
    rt_device_prop_12(&old, memory);
    memset(p, 0, sizeof *p);
#define PROP(type, field, attribute) p->field = old.field;
#define PROPN(type, field, count, first) memcpy(p->field, old.field, sizeof p->field);
#define PROP12(type, field, attribute)
#define PROP13(type, field, attribute) p->field = (type)attr(attribute);
#include "cudart/core/prop.def"
}

void rt_device_default_limits(size_t *limits) {
    memset(limits, 0, RT_LIMIT_COUNT * sizeof *limits);
    limits[RT_LIMIT_STACK_SIZE] = 1024;
    limits[RT_LIMIT_PRINTF_FIFO] = 8650752;
    limits[RT_LIMIT_MALLOC_HEAP] = 8388608;

    limits[RT_LIMIT_PENDING_LAUNCHES] = 2048;
    limits[RT_LIMIT_L2_FETCH] = 64;
    limits[RT_LIMIT_SHMEM_SIZE] = RT_DEVICE_SMEM_OPTIN;
}
