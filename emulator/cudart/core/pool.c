/* Pools that stream-ordered allocations come from (cudaMallocAsync). Contract in context.h.
 *
 * Memory is taken and given back at once, and no pool keeps any: what is reserved is what is in use. The attributes
 * about reuse, and the threshold of what is kept, are remembered and change nothing.
 */
#include "cudart/core/context.h"

#include "base/heap.h"

/* cudaMemPoolAttr, CUmemPool_attribute */
enum {
    POOL_REUSE_EVENTS = 1,
    POOL_REUSE_INTERNAL = 3, /* these three are numbers, 0 or 1 */
    POOL_RELEASE_THRESHOLD = 4,
    POOL_RESERVED_NOW = 5,
    POOL_RESERVED_MOST = 6,
    POOL_USED_NOW = 7,
    POOL_USED_MOST = 8,
    POOL_LAST = POOL_USED_MOST,
};
enum { ALLOCATION_PINNED = 1, LOCATION_DEVICE = 1, ACCESS_READ_WRITE = 3 };

static struct rt_pool *create(struct rt_context *c, size_t most) {
    struct rt_pool *p = rt_calloc(c, 1, sizeof *p);
    if (p == NULL)
        return NULL;
    for (int i = POOL_REUSE_EVENTS; i <= POOL_REUSE_INTERNAL; i++)
        p->reuse[i - POOL_REUSE_EVENTS] = 1;
    p->most = most;
    p->next = c->pools;
    c->pools = p;
    return p;
}

int rt_pool_default(struct rt_context *c, struct rt_pool **out) {
    if (c->default_pool == NULL)
        c->default_pool = create(c, 0);
    *out = c->default_pool;
    return *out != NULL ? RT_SUCCESS : RT_ERROR_MEMORY_ALLOCATION;
}

int rt_pool_current(struct rt_context *c, struct rt_pool **out) {
    *out = c->current_pool;
    return *out != NULL ? RT_SUCCESS : rt_pool_default(c, out);
}

int rt_pool_check(struct rt_context *c, const void *pool) {
    const struct rt_pool *p = c->pools;
    while (p != NULL && p != pool)
        p = p->next;
    return p != NULL ? RT_SUCCESS : rt_say(c, RT_ERROR_INVALID_VALUE, "%p is not a memory pool of this process", pool);
}

int rt_pool_create(struct rt_context *c, const struct rt_pool_props *props, void **out) {
    if (props == NULL || out == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "no properties, or no place for the pool");
    if (props->handle_types != 0)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED, "pools that other processes use are not supported by the emulator");
    if (props->type != ALLOCATION_PINNED || props->location.type != LOCATION_DEVICE)
        return rt_say(
            c, RT_ERROR_NOT_SUPPORTED,
            "pools of other memory than a device's (allocation type %d, location type %d) are not supported by "
            "the emulator",
            props->type, props->location.type);
    int e = rt_check_device(c, props->location.id);
    struct rt_pool *p = e == RT_SUCCESS ? create(c, props->most) : NULL;
    if (p == NULL)
        return rt_then(e, RT_ERROR_MEMORY_ALLOCATION);
    *out = p;
    return RT_SUCCESS;
}

/* What was allocated from it stays until it is freed. */
int rt_pool_destroy(struct rt_context *c, void *pool) {
    int e = rt_pool_check(c, pool);
    if (e == RT_SUCCESS && pool == c->default_pool)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "the device's default pool cannot be destroyed");
    if (e != RT_SUCCESS)
        return e;
    struct rt_pool **p = &c->pools;
    while (*p != pool)
        p = &(*p)->next;
    *p = (*p)->next;
    for (struct rt_pool_block *b = c->pool_blocks; b != NULL; b = b->next)
        if (b->pool == pool)
            b->pool = NULL;
    if (c->current_pool == pool)
        c->current_pool = NULL;
    xfree(pool);
    return RT_SUCCESS;
}

void rt_pools_drop(struct rt_context *c) {
    while (c->pool_blocks != NULL)
        rt_pool_freed(c, c->pool_blocks->address);
    c->default_pool = NULL;
    while (c->pools != NULL)
        rt_pool_destroy(c, c->pools);
}

int rt_pool_malloc(struct rt_context *c, struct rt_pool *p, size_t size, void **out) {
    struct rt_pool_block *b = rt_calloc(c, 1, sizeof *b);
    int e = b != NULL ? RT_SUCCESS : RT_ERROR_MEMORY_ALLOCATION;
    if (e == RT_SUCCESS && p->most != 0 && size > p->most - p->used)
        e = rt_say(c, RT_ERROR_MEMORY_ALLOCATION, "%zu bytes asked for, and %zu of the pool's %zu in use", size,
                   p->used, p->most);
    e = rt_then(e, rt_malloc(c, size, RT_MEMORY_DEVICE, out));
    if (e != RT_SUCCESS || *out == NULL) {
        xfree(b);
        return e;
    }
    *b = (struct rt_pool_block){.next = c->pool_blocks, .pool = p, .address = (uintptr_t)*out, .size = size};
    c->pool_blocks = b;
    p->used += size;
    p->used_most = p->used > p->used_most ? p->used : p->used_most;
    p->reserved_most = p->used > p->reserved_most ? p->used : p->reserved_most;
    return RT_SUCCESS;
}

void rt_pool_freed(struct rt_context *c, uint64_t address) {
    for (struct rt_pool_block **i = &c->pool_blocks; *i != NULL; i = &(*i)->next)
        if ((*i)->address == address) {
            struct rt_pool_block *b = *i;
            *i = b->next;
            if (b->pool != NULL)
                b->pool->used -= b->size;
            xfree(b);
            return;
        }
}

struct rt_pool *rt_pool_of(const struct rt_context *c, uint64_t address) {
    const struct rt_pool_block *b = c->pool_blocks;
    while (b != NULL && b->address != address)
        b = b->next;
    return b != NULL ? b->pool : NULL;
}

static int check_attribute(struct rt_context *c, const void *pool, int attribute, const void *value) {
    int e = rt_pool_check(c, pool);
    if (e == RT_SUCCESS && (attribute < POOL_REUSE_EVENTS || attribute > POOL_LAST || value == NULL))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "pool attribute %d is not known, or there is no place for its value",
                   attribute);
    return e;
}

int rt_pool_get(struct rt_context *c, void *pool, int attribute, void *value) {
    const struct rt_pool *p = pool;
    int e = check_attribute(c, pool, attribute, value);
    if (e != RT_SUCCESS)
        return e;
    if (attribute <= POOL_REUSE_INTERNAL)
        *(int *)value = p->reuse[attribute - POOL_REUSE_EVENTS];
    else
        *(uint64_t *)value = attribute == POOL_RELEASE_THRESHOLD ? p->threshold
                             : attribute == POOL_RESERVED_MOST   ? p->reserved_most
                             : attribute == POOL_USED_MOST       ? p->used_most
                                                                 : p->used;
    return RT_SUCCESS;
}

/* The two marks of the most can only be set back. */
int rt_pool_set(struct rt_context *c, void *pool, int attribute, const void *value) {
    struct rt_pool *p = pool;
    int e = check_attribute(c, pool, attribute, value);
    if (e != RT_SUCCESS)
        return e;
    if (attribute <= POOL_REUSE_INTERNAL) {
        p->reuse[attribute - POOL_REUSE_EVENTS] = *(const int *)value != 0;
        return RT_SUCCESS;
    }
    const uint64_t number = *(const uint64_t *)value;
    if (attribute == POOL_RELEASE_THRESHOLD)
        p->threshold = number;
    else if (attribute == POOL_RESERVED_MOST && number == 0)
        p->reserved_most = p->used;
    else if (attribute == POOL_USED_MOST && number == 0)
        p->used_most = p->used;
    else
        return rt_say(c, RT_ERROR_INVALID_VALUE, "pool attribute %d cannot be set to %llu", attribute,
                      (unsigned long long)number);
    return RT_SUCCESS;
}

static int check_location(struct rt_context *c, struct rt_mem_location l) {
    if (l.type != LOCATION_DEVICE)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "a location of type %d is not a device", l.type);
    return rt_check_device(c, l.id);
}

/* The device that the memory is on always has access. */
int rt_pool_set_access(struct rt_context *c, void *pool, const struct rt_pool_access *list, size_t count) {
    int e = rt_pool_check(c, pool);
    if (e == RT_SUCCESS && list == NULL && count != 0)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%zu descriptions at a null pointer", count);
    for (size_t i = 0; i < count && e == RT_SUCCESS; i++) {
        e = check_location(c, list[i].location);
        if (e == RT_SUCCESS && list[i].flags != ACCESS_READ_WRITE)
            e = rt_say(c, RT_ERROR_INVALID_VALUE, "the pool's own device reads and writes: access %d", list[i].flags);
    }
    return e;
}

int rt_pool_get_access(struct rt_context *c, void *pool, const struct rt_mem_location *location, int *flags) {
    int e = rt_then(rt_pool_check(c, pool), rt_check_out(c, flags));
    if (e == RT_SUCCESS && location == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "the location is a null pointer");
    e = rt_then(e, check_location(c, *location));
    return rt_give(e, flags, ACCESS_READ_WRITE);
}
