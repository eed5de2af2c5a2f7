/* Driver API: what is known of a pointer (CUpointer_attribute). */
#include "cudart/core/calls.h"

#include <string.h>

enum {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE = 2, /* CUmemorytype: 1 host, 2 device */
    POINTER_DEVICE = 3,
    POINTER_HOST = 4,
    POINTER_SYNC_MEMOPS = 6,
    POINTER_BUFFER_ID = 7,
    POINTER_IS_MANAGED = 8,
    POINTER_ORDINAL = 9,
    POINTER_IPC = 10,
    POINTER_START = 11,
    POINTER_SIZE = 12,
    POINTER_MAPPED = 13,
    POINTER_HANDLE_TYPES = 14,
    POINTER_RDMA = 15,
    POINTER_ACCESS = 16,
    POINTER_POOL = 17,
    POINTER_MAPPING_SIZE = 18,
    POINTER_MAPPING_START = 19,
    POINTER_BLOCK_ID = 20,
    POINTER_DECOMPRESS = 21,
    POINTER_LAST = POINTER_DECOMPRESS,
};

/* Bytes of each, by its number; 0: not supported. */
static const uint8_t bytes_of[POINTER_LAST + 1] = {
    [POINTER_CONTEXT] = 8,      [POINTER_MEMORY_TYPE] = 4,   [POINTER_DEVICE] = 8,     [POINTER_HOST] = 8,
    [POINTER_SYNC_MEMOPS] = 1,  [POINTER_BUFFER_ID] = 8,     [POINTER_IS_MANAGED] = 1, [POINTER_ORDINAL] = 4,
    [POINTER_IPC] = 1,          [POINTER_START] = 8,         [POINTER_SIZE] = 8,       [POINTER_MAPPED] = 1,
    [POINTER_HANDLE_TYPES] = 8, [POINTER_RDMA] = 1,          [POINTER_ACCESS] = 4,     [POINTER_POOL] = 8,
    [POINTER_MAPPING_SIZE] = 8, [POINTER_MAPPING_START] = 8, [POINTER_BLOCK_ID] = 8,   [POINTER_DECOMPRESS] = 1,
};

/* A block's address is another one's later, and its serial never is. */
static uint64_t value_of(const struct rt_context *c, int attribute, uint64_t address, int type,
                         const struct mem_block *b) {
    switch (attribute) {
    case POINTER_CONTEXT:
        return (uintptr_t)rt_context_current();
    case POINTER_MEMORY_TYPE:
        return type == RT_MEMORY_HOST ? 1 : 2;
    case POINTER_DEVICE:
    case POINTER_HOST:
        return address;
    case POINTER_IS_MANAGED:
        return type == RT_MEMORY_MANAGED;
    case POINTER_BUFFER_ID:
    case POINTER_BLOCK_ID:
        return c->blocks_before + b->serial;
    case POINTER_START:
    case POINTER_MAPPING_START:
        return b->addr;
    case POINTER_SIZE:
    case POINTER_MAPPING_SIZE:
        return b->size;
    case POINTER_MAPPED:
        return true;
    case POINTER_ACCESS:
        return 3; /* reads and writes */
    case POINTER_POOL:
        return (uintptr_t)rt_pool_of(c, b->addr);
    default:
        return 0; /* not for other processes, not for other devices' engines */
    }
}

static int check_attribute(struct rt_context *c, int attribute) {
    if (attribute < 1 || attribute > POINTER_LAST)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "pointer attribute %d is not known", attribute);
    if (bytes_of[attribute] == 0)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED, "pointer attribute %d is not supported by the emulator", attribute);
    return RT_SUCCESS;
}

/* It needs no context; after a fault no pointer is known. */
RT_API int cuPointerGetAttribute(void *out, int attribute, uint64_t address) {
    int type = RT_MEMORY_UNREGISTERED;
    struct mem_block b;
    struct rt_context *c = rt_enter("cuPointerGetAttribute");
    int e = rt_check_init(c);
    if (e == RT_SUCCESS &&
        (out == NULL || rt_ready(c) != RT_SUCCESS || !rt_pointer(c, (void *)(uintptr_t)address, &type, &b)))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "0x%llx is in no allocation", (unsigned long long)address);
    e = rt_then(e, check_attribute(c, attribute));
    if (e == RT_SUCCESS && attribute == POINTER_HOST && type == RT_MEMORY_DEVICE)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "the host has no pointer to device memory");
    if (e == RT_SUCCESS) {
        const uint64_t value = value_of(c, attribute, address, type, &b);
        memcpy(out, &value, bytes_of[attribute]); /* little-endian hosts only: x86-64, aarch64 */
    }
    return rt_leave(c, e);
}

/* What CUDA knows nothing of is no error here: its attributes are zeros, and its device is none, -2. */
RT_API int cuPointerGetAttributes(unsigned count, const int *attributes, void **out, uint64_t address) {
    int type = RT_MEMORY_UNREGISTERED;
    struct mem_block b = {0};
    struct rt_context *c = rt_enter_ready("cuPointerGetAttributes");
    int e = c->entered;
    if (e == RT_SUCCESS && (count == 0 || attributes == NULL || out == NULL))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%u attributes at null pointers", count);
    const bool known = e == RT_SUCCESS && rt_pointer(c, (void *)(uintptr_t)address, &type, &b);
    for (unsigned i = 0; i < count && e == RT_SUCCESS; i++) {
        uint64_t value = attributes[i] == POINTER_ORDINAL && !known ? (uint32_t)-2 : 0;
        e = rt_then(check_attribute(c, attributes[i]), rt_check_out(c, out[i]));
        if (known && !(attributes[i] == POINTER_HOST && type == RT_MEMORY_DEVICE))
            value = value_of(c, attributes[i], address, type, &b);
        if (e == RT_SUCCESS)
            memcpy(out[i], &value, bytes_of[attributes[i]]);
    }
    return rt_leave(c, e);
}
