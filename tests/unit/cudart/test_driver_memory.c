/* The driver API's memory: pools, what is known of a pointer, page-locked memory, copies. */
#include "check.h"
#include "cudart/core/abi.h"
#include <unistd.h>

int cuInit(unsigned);
int cuCtxSetCurrent(void *);
int cuDevicePrimaryCtxRetain(void **, int);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemAllocAsync(uint64_t *, size_t, void *);
int cuMemAllocFromPoolAsync(uint64_t *, size_t, void *, void *);
int cuMemFree_v2(uint64_t);
int cuMemFreeAsync(uint64_t, void *);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemcpyPeer(uint64_t, void *, uint64_t, void *, size_t);
int cuMemsetD2D16_v2(uint64_t, size_t, unsigned short, size_t, size_t);
int cuMemPoolCreate(void **, const struct rt_pool_props *);
int cuMemPoolDestroy(void *);
int cuMemPoolGetAttribute(void *, int, void *);
int cuMemPoolSetAttribute(void *, int, const void *);
int cuMemPoolSetAccess(void *, const struct rt_pool_access *, size_t);
int cuMemPoolGetAccess(int *, void *, const struct rt_mem_location *);
int cuDeviceGetDefaultMemPool(void **, int);
int cuDeviceGetMemPool(void **, int);
int cuDeviceSetMemPool(int, void *);
int cuPointerGetAttribute(void *, int, uint64_t);
int cuPointerGetAttributes(unsigned, const int *, void **, uint64_t);
int cudaMallocFromPoolAsync(void **, size_t, void *, void *);
int cudaFree(void *);
int cudaDeviceReset(void);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);
int cuMemHostGetFlags(unsigned *, void *);
int cudaHostAlloc(void **, size_t, unsigned);
int cudaHostGetFlags(unsigned *, void *);

static const int bad = RT_ERROR_INVALID_VALUE;

/* --- memory ------------------------------------------------------------------------------------------------------- */

enum { POOL_FOLLOW = 1, POOL_THRESHOLD = 4, POOL_RESERVED = 5, POOL_USED = 7, POOL_USED_MOST = 8 };

static uint64_t pool_bytes(void *pool, int attribute) {
    uint64_t value = UINT64_MAX;
    CHECK_EQ(cuMemPoolGetAttribute(pool, attribute, &value), 0);
    return value;
}

static void check_pool_attributes(void *pool) {
    int follow = 0;
    uint64_t number = 1 << 20;
    CHECK_EQ(cuMemPoolSetAttribute(pool, POOL_THRESHOLD, &number), 0);
    CHECK_EQ(pool_bytes(pool, POOL_THRESHOLD), 1 << 20);
    CHECK_EQ(cuMemPoolSetAttribute(pool, POOL_FOLLOW, &follow), 0);
    follow = 5;
    CHECK_EQ(cuMemPoolGetAttribute(pool, POOL_FOLLOW, &follow), 0);
    CHECK_EQ(follow, 0);
    CHECK_EQ(cuMemPoolSetAttribute(pool, POOL_USED, &number), bad);
    CHECK_EQ(cuMemPoolSetAttribute(pool, POOL_USED_MOST, &number), bad);
    CHECK_EQ(cuMemPoolGetAttribute(pool, 0, &number), bad);
    CHECK_EQ(cuMemPoolGetAttribute(pool, 9, &number), bad);
    CHECK_EQ(cuMemPoolGetAttribute(pool, POOL_USED, NULL), bad);
}

static void check_pool_access(void *pool) {
    struct rt_pool_access access = {{1, 0}, 3};
    int flags = 0;
    CHECK_EQ(cuMemPoolGetAccess(&flags, pool, &access.location), 0);
    CHECK_EQ(flags, 3);
    CHECK_EQ(cuMemPoolSetAccess(pool, &access, 1), 0);
    access.flags = 0;
    CHECK_EQ(cuMemPoolSetAccess(pool, &access, 1), bad);
    access = (struct rt_pool_access){{1, 1}, 3};
    CHECK_EQ(cuMemPoolSetAccess(pool, &access, 1), RT_ERROR_INVALID_DEVICE);
    CHECK_EQ(cuMemPoolSetAccess(pool, NULL, 1), bad);
    CHECK_EQ(cuMemPoolGetAccess(&flags, pool, NULL), bad);
}

static void test_pools(void) {
    struct rt_pool_props props = {.type = 1, .location = {1, 0}, .most = 4096};
    void *pool = NULL, *standard = NULL, *current = NULL;
    uint64_t a = 0, b = 0;
    CHECK_EQ(cuMemPoolCreate(&pool, &props), 0);
    CHECK_EQ(cuMemAllocFromPoolAsync(&a, 3000, pool, NULL), 0);
    CHECK_EQ(cuMemAllocFromPoolAsync(&b, 2000, pool, NULL), RT_ERROR_MEMORY_ALLOCATION);
    CHECK_EQ(pool_bytes(pool, POOL_USED), 3000);
    CHECK_EQ(cuPointerGetAttribute(&current, 17, a), 0);
    CHECK(current == pool);
    CHECK_EQ(cuMemFreeAsync(a, NULL), 0);
    CHECK_EQ(pool_bytes(pool, POOL_USED), 0);
    CHECK_EQ(pool_bytes(pool, POOL_RESERVED), 0);
    CHECK_EQ(pool_bytes(pool, POOL_USED_MOST), 3000);
    check_pool_attributes(pool);
    check_pool_access(pool);
    CHECK_EQ(cuDeviceGetDefaultMemPool(&standard, 0), 0);
    CHECK_EQ(cuDeviceGetMemPool(&current, 0), 0);
    CHECK(standard == current && standard != pool);
    CHECK_EQ(cuMemPoolDestroy(standard), bad);
    CHECK_EQ(cuDeviceSetMemPool(0, pool), 0);
    CHECK_EQ(cuMemAllocAsync(&a, 500, NULL), 0);
    CHECK_EQ(pool_bytes(pool, POOL_USED), 500);
    CHECK_EQ(cuDeviceSetMemPool(0, &a), bad);
    CHECK_EQ(cuMemPoolDestroy(pool), 0); /* what came from it stays */
    CHECK_EQ(cuMemPoolDestroy(pool), bad);
    CHECK_EQ(cuDeviceGetMemPool(&current, 0), 0);
    CHECK(current == standard);
    CHECK_EQ(cuMemFree_v2(a), 0);
    CHECK_EQ(cudaMallocFromPoolAsync(&current, 64, standard, NULL), 0);
    CHECK_EQ(cudaFree(current), 0);
    CHECK_EQ(cudaMallocFromPoolAsync(&current, 64, pool, NULL), bad);
    props.handle_types = 1;
    CHECK_EQ(cuMemPoolCreate(&pool, &props), RT_ERROR_NOT_SUPPORTED);
    props = (struct rt_pool_props){.type = 1, .location = {2, 0}};
    CHECK_EQ(cuMemPoolCreate(&pool, &props), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(cuMemPoolCreate(&pool, NULL), bad);
}

/* A block's number is no other's, also at an address that was another's. */
static void test_buffer_ids(void) {
    uint64_t p = 0, q = 0, first = 0, second = 0, block = 0;
    CHECK_EQ(cuMemAlloc_v2(&p, 1000), 0);
    CHECK_EQ(cuPointerGetAttribute(&first, 7, p), 0);
    CHECK_EQ(cuPointerGetAttribute(&block, 20, p + 999), 0);
    CHECK(first != 0 && first == block);
    CHECK_EQ(cuMemFree_v2(p), 0);
    CHECK_EQ(cuMemAlloc_v2(&q, 1000), 0);
    CHECK_EQ(q, p);
    CHECK_EQ(cuPointerGetAttribute(&second, 7, q), 0);
    CHECK(second != 0 && second != first);
    CHECK_EQ(cudaDeviceReset(), 0);
    CHECK_EQ(cuMemAlloc_v2(&q, 1000), 0);
    CHECK_EQ(cuPointerGetAttribute(&block, 7, q), 0);
    CHECK(block != first && block != second);
    CHECK_EQ(cuMemFree_v2(q), 0);
}

/* Page-locked memory is always mapped. */
static void test_host_flags(void) {
    for (unsigned flags = 0; flags < 8; flags++) {
        unsigned got = 99;
        void *p = NULL;
        CHECK_EQ(flags % 2 ? cuMemHostAlloc(&p, 100, flags) : cudaHostAlloc(&p, 100, flags), 0);
        CHECK_EQ(cuMemHostGetFlags(&got, (char *)p + 50), 0);
        CHECK_EQ(got, flags | 2);
        CHECK_EQ(cudaHostGetFlags(&got, p), 0);
        CHECK_EQ(got, flags | 2);
        CHECK_EQ(cuMemFreeHost(p), 0);
        CHECK_EQ(cuMemHostGetFlags(&got, p), bad);
    }
    void *p = NULL;
    CHECK_EQ(cuMemHostAlloc(&p, 100, 8), bad);
    CHECK_EQ(cudaHostAlloc(&p, 100, 8), bad);
}

static void test_pointers(void) {
    uint64_t p = 0, start = 0, size = 0;
    int ordinal = 9, on_stack = 0;
    unsigned type = 9;
    int attributes[] = {2, 9, 11, 12};
    void *out[] = {&type, &ordinal, &start, &size};
    CHECK_EQ(cuMemAlloc_v2(&p, 1000), 0);
    CHECK_EQ(cuPointerGetAttributes(4, attributes, out, p + 10), 0);
    CHECK(type == 2 && ordinal == 0 && start == p && size == 1000);
    CHECK_EQ(cuPointerGetAttributes(4, attributes, out, (uintptr_t)&on_stack), 0);
    CHECK(type == 0 && ordinal == -2 && start == 0 && size == 0);
    attributes[3] = 5; /* P2P tokens */
    CHECK_EQ(cuPointerGetAttributes(4, attributes, out, p), RT_ERROR_NOT_SUPPORTED);
    attributes[3] = 22;
    CHECK_EQ(cuPointerGetAttributes(4, attributes, out, p), bad);
    CHECK_EQ(cuPointerGetAttributes(0, attributes, out, p), bad);
    CHECK_EQ(cuPointerGetAttributes(1, NULL, out, p), bad);
    CHECK_EQ(cuMemFree_v2(p), 0);
}

static void test_copies(void *context) {
    uint64_t a = 0, b = 0;
    uint16_t h[8] = {0};
    CHECK_EQ(cuMemAlloc_v2(&a, sizeof h), 0);
    CHECK_EQ(cuMemAlloc_v2(&b, sizeof h), 0);
    CHECK_EQ(cuMemsetD2D16_v2(a, 8, 1, 4, 2), 0);
    CHECK_EQ(cuMemsetD2D16_v2(a, 8, 2, 2, 2), 0);
    CHECK_EQ(cuMemcpyPeer(b, context, a, context, sizeof h), 0);
    CHECK_EQ(cuMemcpyDtoH_v2(h, b, sizeof h), 0);
    CHECK(h[0] == 2 && h[1] == 2 && h[2] == 1 && h[3] == 1 && h[4] == 2 && h[7] == 1);
    CHECK_EQ(cuMemcpyPeer(b, h, a, context, sizeof h), RT_ERROR_INVALID_CONTEXT);
    CHECK_EQ(cuMemFree_v2(a), 0);
    CHECK_EQ(cuMemFree_v2(b), 0);
}

int main(void) {
    void *context = NULL;
    CHECK_EQ(cuInit(0), 0);
    CHECK_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cuCtxSetCurrent(context), 0);
    test_pools();
    test_pointers();
    test_buffer_ids();
    test_host_flags();
    test_copies(context);
    CHECK_EQ(cudaDeviceReset(), 0); /* with a pool that is left */
    return check_report();
}
