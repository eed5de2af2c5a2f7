/* base/arena: alignment, zeroes, independence of blocks, release. */
#include "base/arena.h"

#include "check.h"

static bool all_zero(const unsigned char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static void sizes(void) {
    struct arena a = {0};
    unsigned char *kept[400];
    size_t sum = 0;
    for (size_t i = 0; i < 400; i++) {
        size_t n = i % 7 == 0 ? i * 331 : i;
        kept[i] = arena_alloc(&a, n);
        CHECK(kept[i] && (uintptr_t)kept[i] % 16 == 0);
        CHECK(all_zero(kept[i], n));
        memset(kept[i], (int)(i & 255), n);
        sum += n;
        CHECK(a.bytes >= sum);
    }
    for (size_t i = 0; i < 400; i++) { /* nobody wrote into anybody else's memory */
        size_t n = i % 7 == 0 ? i * 331 : i, same = 0;
        while (same < n && kept[i][same] == (i & 255))
            same++;
        CHECK_EQ(same, n);
    }
    arena_free(&a);
    CHECK(!a.head && a.bytes == 0);
    CHECK(arena_alloc(&a, 1)); /* usable again */
    arena_free(&a);
    arena_free(&a);
}

static void strings_and_arrays(void) {
    struct arena a = {0};
    CHECK_STR(arena_strndup(&a, "tensor memory", 6), "tensor");
    CHECK_STR(arena_strndup(&a, NULL, 0), "");
    uint32_t *v = arena_array(&a, 1000, sizeof *v);
    CHECK(all_zero((unsigned char *)v, 4000));
    CHECK(arena_array(&a, 0, 8));
    arena_free(&a);
}

int main(void) {
    sizes();
    strings_and_arrays();
    return check_report();
}
