/* Device memory: bounds, reuse, and the two sides of managed memory. */
#include "machine/memory.h"

#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#define MIB (1ull << 20)
#define HOST_PAGE 65536u /* the largest page of the hosts that the emulator runs on */

/* Does an emulator of the host run this (UNDER in tests/CMakeLists.txt)? */
static bool is_emulated(void) {
    const char *under = getenv("UNDER");
    return under && *under;
}

static void test_bounds(void) {
    struct devmem *m = mem_create(64 * MIB);
    CHECK(mem_at(m, 0, 1) == NULL);
    uint64_t a = mem_alloc(m, 1000, 0, MEM_DEVICE, NULL), b = mem_alloc(m, 3 * MIB, 0, MEM_DEVICE, NULL);
    CHECK(a && b > a);
    CHECK_EQ(a % 256, 0);
    CHECK_EQ(b % 256, 0);
    CHECK(mem_at(m, a, 1000) != NULL);
    CHECK(mem_at(m, a, 1001) == NULL);
    CHECK(mem_at(m, a + 1000, 0) != NULL);
    CHECK(mem_at(m, a + 1000, 1) == NULL);
    CHECK(mem_at(m, a - 1, 1) == NULL);
    CHECK(mem_at(m, a, b - a + 1) == NULL); /* two blocks are no object */
    CHECK(mem_at(m, b, UINT64_MAX) == NULL);
    CHECK_EQ(mem_at(m, b, 1) - mem_at(m, a, 1), (int64_t)(b - a));
    CHECK(mem_alloc(m, 65 * MIB, 0, MEM_DEVICE, NULL) == 0);
    mem_destroy(m);
}

static bool all(const uint8_t *p, uint8_t value, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (p[i] != value)
            return false;
    return true;
}

/* Freed whole pages go back to the host; what lies beside them stays. */
static void test_free(void) {
    struct devmem *m = mem_create(64 * MIB);
    uint64_t a = mem_alloc(m, 100, 0, MEM_DEVICE, NULL), b = mem_alloc(m, 5 * MIB, 0, MEM_DEVICE, NULL),
             c = mem_alloc(m, 100, 0, MEM_DEVICE, NULL), used, capacity;
    memset(mem_at(m, a, 100), 1, 100);
    memset(mem_at(m, b, 5 * MIB), 2, 5 * MIB);
    memset(mem_at(m, c, 100), 3, 100);
    CHECK(mem_free(m, b));
    CHECK(!mem_free(m, b));
    CHECK(!mem_free(m, a + 1));
    CHECK(mem_at(m, b, 1) == NULL);
    CHECK(all(mem_at(m, a, 100), 1, 100));
    CHECK(all(mem_at(m, c, 100), 3, 100));
    struct mem_block old;
    CHECK(mem_freed(m, b + 17, &old) && old.addr == b);
    CHECK_EQ(mem_alloc(m, 5 * MIB, 0, MEM_DEVICE, NULL), b);
    CHECK(all(mem_at(m, b + HOST_PAGE, 4 * MIB), 0, 4 * MIB));
    mem_usage(m, &used, &capacity);
    CHECK(used >= 5 * MIB && used < 6 * MIB);
    CHECK_EQ(capacity, 64 * MIB);
    mem_destroy(m);
}

/* The host reads and writes managed memory at its device address; its pages are zero when they are given again. */
static void test_managed(void) {
    const bool given_back = !is_emulated(); /* qemu-user keeps madvise to itself */
    struct devmem *m = mem_create(64 * MIB);
    uint64_t d = mem_alloc(m, 100, 0, MEM_DEVICE, NULL);
    memset(mem_at(m, d, 100), 7, 100);
    for (uint8_t round = 1; round <= 2; round++) {
        uint64_t a = mem_alloc(m, 3 * MIB, 0, MEM_MANAGED, NULL), b = mem_alloc(m, 100, 0, MEM_MANAGED, NULL);
        CHECK(a && b);
        CHECK_EQ(a % HOST_PAGE, 0);
        uint8_t *host = (uint8_t *)(uintptr_t)a, *dev = mem_at(m, a, 3 * MIB);
        CHECK(all(host, 0, 3 * MIB) || (round > 1 && !given_back));
        memset(host, round, 2 * MIB);
        CHECK(all(dev, round, 2 * MIB));
        memset(dev, 0x55, MIB);
        CHECK(all(host, 0x55, MIB));
        CHECK(all((uint8_t *)(uintptr_t)b, 0, 100) || (round > 1 && !given_back));
        CHECK(mem_free(m, a));
        CHECK(mem_free(m, b));
    }
    CHECK(all(mem_at(m, d, 100), 7, 100));
    mem_destroy(m);
}

/* A managed block is mapped over whole pages of any host: its neighbours begin in pages of their own. */
static void test_managed_neighbours(void) {
    struct devmem *m = mem_create(64 * MIB);
    uint64_t first = mem_alloc(m, 100, 1, MEM_MANAGED, NULL), second = mem_alloc(m, 1, 1, MEM_MANAGED, NULL);
    uint64_t device = mem_alloc(m, 100, 1, MEM_DEVICE, NULL);
    uint64_t third = mem_alloc(m, HOST_PAGE, 1, MEM_MANAGED, NULL);
    CHECK(first && second && device && third);
    CHECK_EQ(second - first, HOST_PAGE);
    CHECK_EQ(device - second, HOST_PAGE);
    CHECK_EQ(third - device, HOST_PAGE);
    memset(mem_at(m, second, 1), 8, 1);
    memset(mem_at(m, device, 100), 9, 100);
    CHECK(mem_free(m, first));
    CHECK_EQ(mem_alloc(m, HOST_PAGE - 1, 1, MEM_MANAGED, NULL), first);
    memset((void *)(uintptr_t)first, 7, HOST_PAGE - 1);
    CHECK_EQ(*(uint8_t *)(uintptr_t)second, 8);
    CHECK(all(mem_at(m, device, 100), 9, 100));
    mem_destroy(m);
}

enum { ROUNDS = 20000, SLOTS = 300 };

/* What lies where, kept the simple way: blocks placed at random and freed at random are where first fit puts them, and
 * every byte is found to be in its block or in none. */
static void test_against_model(bool heap) {
    const uint64_t unit = heap ? 16 : 256;
    struct devmem *m = mem_create(2 * MIB);
    CHECK(!heap || mem_set_heap(m, 65536));
    struct model {
        uint64_t addr, size, end;
    } live[SLOTS];
    uint32_t n = 0, seed = 1;
    uint64_t base = heap ? mem_heap_alloc(m, 0) : mem_alloc(m, 0, 0, MEM_DEVICE, NULL),
             end = base + (heap ? 65536 : 2 * MIB);
    CHECK(heap ? mem_heap_free(m, base) : mem_free(m, base));
    CHECK(!heap || !mem_set_heap(m, 65536));
    for (int round = 0; round < ROUNDS; round++) {
        seed = seed * 1664525 + 1013904223;
        if (n == SLOTS || (n && seed >> 30 == 0)) {
            const uint32_t i = (seed >> 8) % n;
            CHECK(heap ? mem_heap_free(m, live[i].addr) : mem_free(m, live[i].addr));
            CHECK(mem_at(m, live[i].addr, 1) == NULL);
            CHECK(!(heap ? mem_heap_free(m, live[i].addr) : mem_free(m, live[i].addr)));
            memmove(&live[i], &live[i + 1], (--n - i) * sizeof *live);
            continue;
        }
        const uint64_t size = (seed >> 12) % (seed >> 8 & 1 ? 40 : 3000), need = (size + unit) & ~(unit - 1);
        uint64_t want = base;
        uint32_t i = 0;
        for (; i < n && live[i].addr - want < need; i++)
            want = live[i].end;
        const uint64_t got = heap ? mem_heap_alloc(m, size) : mem_alloc(m, size, 0, MEM_DEVICE, NULL);
        CHECK_EQ(got, end - want >= need ? want : 0);
        if (!got)
            continue;
        memmove(&live[i + 1], &live[i], (n++ - i) * sizeof *live);
        live[i] = (struct model){got, size, got + need};
        struct mem_block b;
        CHECK(mem_at(m, got, size) && !mem_at(m, got, size + 1) && !mem_at(m, got + size, 1));
        CHECK(mem_nearest(m, got + size, &b) && b.addr == got && b.size == size);
    }
    CHECK(n > 20);
    mem_destroy(m);
}

/* 100,000 small allocations, freed in either order: many seconds where each looks at all others. */
static void test_many(void) {
    enum { MANY = 100000 };
    struct devmem *m = mem_create(1024 * MIB);
    uint64_t *at = malloc(MANY * sizeof *at);
    for (int down = 0; down < 2; down++) {
        for (int i = 0; i < MANY; i++)
            at[i] = mem_alloc(m, 256, 0, MEM_DEVICE, NULL);
        CHECK_EQ(at[MANY - 1] - at[0], (MANY - 1) * 512ull);
        for (int i = 0; i < MANY; i++)
            CHECK(mem_free(m, at[down ? MANY - 1 - i : i]));
    }
    free(at);
    mem_destroy(m);
}

/* 200,000 bytes, each at a multiple of 64 KiB: the gaps between them have room for another, and none is aligned.
 * Minutes where each looks into all of them. In a full range every gap is looked at, and the one that fits is found.
 * (Under qemu-user fewer: `make test-aarch64` reserves 8 GiB, and the range is mapped twice.) */
static void test_aligned(void) {
    const int many = is_emulated() ? 20000 : 200000;
    struct devmem *m = mem_create(((uint64_t)many + 1) * 65536);
    const uint64_t first = mem_alloc(m, 1, 65536, MEM_MODULE, NULL);
    uint64_t last = first, bad = 0;
    for (int i = 1; i <= many; i++) {
        const uint64_t at = mem_alloc(m, 1, 65536, MEM_MODULE, NULL);
        bad += at != last + 65536;
        last = at;
    }
    CHECK_EQ(bad, 0);
    CHECK_EQ(mem_alloc(m, 1, 65536, MEM_MODULE, NULL), 0);
    CHECK(mem_free(m, first + 100 * 65536ull));
    CHECK_EQ(mem_alloc(m, 1, 65536, MEM_MODULE, NULL), first + 100 * 65536ull);
    mem_destroy(m);
}

static uint32_t mixed(uint32_t i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return i ^ i >> 16;
}

static int by_mixed(const void *a, const void *b) {
    const uint32_t x = mixed(*(const uint32_t *)a), y = mixed(*(const uint32_t *)b);
    return (x > y) - (x < y);
}

/* A kernel frees and allocates so that the k-th lowest block gets the node with the k-th rank, were ranks the hash of
 * the node's number: a tree as deep as it has blocks then overruns the stack. */
static void test_chosen_order(void) {
    enum { MANY = 500000, FIRST = 2 /* the number of the first block's node */ };
    struct devmem *m = mem_create(64 * MIB);
    CHECK(mem_set_heap(m, 32 * MIB));
    uint64_t *at = malloc(MANY * sizeof *at);
    uint32_t *node = malloc(MANY * sizeof *node);
    for (uint32_t i = 0; i < MANY; i++) {
        at[i] = mem_heap_alloc(m, 1);
        node[i] = FIRST + i;
    }
    qsort(node, MANY, sizeof *node, by_mixed);
    for (uint32_t i = MANY; i-- > 0;) /* the node that was freed last is taken first */
        CHECK(mem_heap_free(m, at[node[i] - FIRST]));
    for (uint32_t i = 0; i < MANY; i++)
        CHECK(mem_heap_alloc(m, 1) == at[i]);
    CHECK(mem_heap_free(m, at[0]));
    free(node);
    free(at);
    mem_destroy(m);
}

/* What was found is near until something is freed, in the heap or beside it. */
static void test_near(bool heap) {
    struct devmem *m = mem_create(64 * MIB);
    CHECK(mem_set_heap(m, 65536));
    const uint64_t a = heap ? mem_heap_alloc(m, 100) : mem_alloc(m, 100, 0, MEM_DEVICE, NULL);
    const uint64_t b = heap ? mem_heap_alloc(m, 50) : mem_alloc(m, 50, 0, MEM_DEVICE, NULL);
    struct mem_near near = {0};
    CHECK(!mem_is_near(&near, a));
    CHECK(!mem_find_near(m, a + 100, &near) && !mem_find_near(m, a - 1, &near));
    if (CHECK(mem_find_near(m, a + 7, &near))) {
        CHECK(near.addr == a && near.bytes == 100 && near.host == mem_at(m, a, 100));
        CHECK(mem_is_near(&near, a) && mem_is_near(&near, a + 99));
        CHECK(!mem_is_near(&near, a + 100) && !mem_is_near(&near, a - 1) && !mem_is_near(&near, b));
        CHECK(heap ? mem_heap_free(m, b) : mem_free(m, b));
        CHECK(!mem_is_near(&near, a));
        CHECK(mem_find_near(m, a, &near) && mem_is_near(&near, a));
        CHECK(heap ? mem_heap_free(m, a) : mem_free(m, a));
        CHECK(!mem_is_near(&near, a) && !mem_find_near(m, a, &near));
    }
    mem_destroy(m);
}

int main(void) {
    test_near(false);
    test_near(true);
    test_against_model(false);
    test_against_model(true);
    test_many();
    test_aligned();
    test_chosen_order();
    test_bounds();
    test_free();
    test_managed();
    test_managed_neighbours();
    return check_report();
}
