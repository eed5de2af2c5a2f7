/* Sets of clocks of other clusters: what is joined is known, in copies as in the original; and a clock takes its set
 * with it when it is copied, joined and told to others. */
#include "check.h"
#include "check/far.h"

static struct clock_pool far, own;

static struct clock *clock_at(struct clock_pool *p, uint32_t warp, uint32_t lanes, uint32_t time) {
    struct clock *c = NULL;
    clock_add_lanes(p, &c, warp, lanes, time);
    return c;
}

static bool knows(const struct far *f, uint32_t cluster, uint32_t time) {
    const struct clock *c = far_of(f, cluster);
    return c && clock_knows_lane(c, 1, 5, time);
}

static void add(struct far **f, uint32_t cluster, uint32_t time) {
    struct clock *c = clock_at(&far, 1, 1u << 5, time);
    far_add(&far, f, cluster, c);
    clock_drop(&far, c);
}

static void test_sets(void) {
    struct far *a = NULL, *b = NULL;
    add(&a, 7, 10);
    add(&a, 3, 20);
    add(&a, 7, 8); /* older: known already */
    CHECK(knows(a, 7, 10) && !knows(a, 7, 11) && knows(a, 3, 20) && !far_of(a, 4));
    far_join(&far, &b, a);
    CHECK(b == a); /* shared */
    add(&b, 4, 30);
    CHECK(knows(b, 4, 30) && knows(b, 7, 10) && !far_of(a, 4));
    CHECK(far_exceeds(&far, b, a) && !far_exceeds(&far, a, b) && far_exceeds(&far, a, NULL) &&
          !far_exceeds(&far, NULL, a));
    add(&a, 3, 25);
    CHECK(far_exceeds(&far, a, b) && far_exceeds(&far, b, a) && !knows(b, 3, 25));
    far_join(&far, &a, b);
    CHECK(knows(a, 3, 25) && knows(a, 4, 30) && knows(a, 7, 10) && !knows(b, 3, 25));
    for (uint32_t i = 100; i-- > 0;)
        add(&a, i, 40 + i);
    for (uint32_t i = 0; i < 100; i++)
        CHECK(knows(a, i, 40 + i) && !knows(a, i, 41 + i));
    far_drop(&far, a);
    far_drop(&far, b);
}

/* What a clock of cluster 1 knows becomes known to one of cluster 2, and from there to a third that joins it. */
static void test_clocks(void) {
    struct clock *from = clock_at(&own, 1, 1u << 5, 10), *to = clock_at(&own, 0, 1, 3), *third = NULL;
    struct far *set = NULL;
    const uint32_t token = clock_new_token(&own);
    clock_add_token(&own, &from, token, 6);
    struct clock *out = clock_export(&own, from);
    far_add(&far, &set, 1, out);
    clock_drop(&far, out);
    clock_import(&own, &to, NULL, set);
    CHECK(knows(clock_far(to), 1, 10) && clock_knows_token(far_of(clock_far(to), 1), token, 6));
    CHECK(clock_knows_lane(to, 0, 0, 3) && !clock_knows_lane(to, 1, 5, 10));
    clock_add_lanes(&own, &third, 2, UINT32_MAX, 9);
    clock_join(&own, &third, to);
    CHECK(knows(clock_far(third), 1, 10) && clock_knows_lane(third, 2, 31, 9));
    clock_hold(third);
    struct clock *copy = third;
    clock_add_lanes(&own, &copy, 0, 1, 100);
    CHECK(copy != third && knows(clock_far(copy), 1, 10));
    /* its own entry of a set is what a cluster knows of itself */
    clock_import(&own, &to, far_of(set, 1), set);
    CHECK(clock_knows_lane(to, 1, 5, 10) && !clock_knows_lane(to, 1, 4, 10) && clock_knows_token(to, token, 6));
    far_drop(&far, set);
    clock_drop(&own, from);
    clock_drop(&own, to);
    clock_drop(&own, third);
    clock_drop(&own, copy);
}

/* A pool with more tokens than the sets' pool has had so far. */
static void test_tokens(void) {
    struct clock *c = NULL, *few = clock_at(&own, 1, 1u << 5, 1);
    struct far *set = NULL;
    uint32_t token = 0;
    struct clock *first = clock_export(&own, few);
    far_add(&far, &set, 1, first);
    for (uint32_t i = 0; i < 200; i++)
        token = clock_new_token(&own);
    clock_add_token(&own, &c, token, 5);
    struct clock *out = clock_export(&own, c);
    far_add(&far, &set, 1, out);
    CHECK(clock_knows_token(far_of(set, 1), token, 5) && knows(set, 1, 1));
    clock_drop(&far, out);
    clock_drop(&far, first);
    far_drop(&far, set);
    clock_drop(&own, c);
    clock_drop(&own, few);
}

int main(void) {
    clock_pool_init(&far, 1, 96);
    clock_pool_init(&own, 1, 96);
    far.room = 8;
    far.far = own.far = &far;
    test_sets();
    test_clocks();
    test_tokens();
    clock_pool_close(&own);
    clock_pool_close(&far);
    return check_report();
}
