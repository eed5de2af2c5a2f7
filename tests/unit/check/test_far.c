/* Sets of clocks of other clusters: what is joined is known, in copies as in the original; and a clock takes its set
 * with it when it is copied, joined and told to others. */
#include "check.h"
#include "check/vclock/far.h"

static struct vclock_pool far, own;

static struct vclock *clock_at(struct vclock_pool *p, uint32_t warp, uint32_t lanes, uint32_t time) {
    struct vclock *c = NULL;
    vclock_add_lanes(p, &c, warp, lanes, time);
    return c;
}

static bool knows(const struct far *f, uint32_t cluster, uint32_t time) {
    const struct vclock *c = far_of(f, cluster);
    return c && vclock_knows_lane(c, 1, 5, time);
}

static void add(struct far **f, uint32_t cluster, uint32_t time) {
    struct vclock *c = clock_at(&far, 1, 1u << 5, time);
    far_add(&far, f, cluster, c);
    vclock_drop(&far, c);
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
    struct vclock *from = clock_at(&own, 1, 1u << 5, 10), *to = clock_at(&own, 0, 1, 3), *third = NULL;
    struct far *set = NULL;
    const uint32_t token = vclock_new_token(&own);
    vclock_add_token(&own, &from, token, 6);
    struct vclock *out = vclock_export(&own, from);
    far_add(&far, &set, 1, out);
    vclock_drop(&far, out);
    vclock_import(&own, &to, NULL, set);
    CHECK(knows(vclock_far(to), 1, 10) && vclock_knows_token(far_of(vclock_far(to), 1), token, 6));
    CHECK(vclock_knows_lane(to, 0, 0, 3) && !vclock_knows_lane(to, 1, 5, 10));
    vclock_add_lanes(&own, &third, 2, UINT32_MAX, 9);
    vclock_join(&own, &third, to);
    CHECK(knows(vclock_far(third), 1, 10) && vclock_knows_lane(third, 2, 31, 9));
    vclock_hold(third);
    struct vclock *copy = third;
    vclock_add_lanes(&own, &copy, 0, 1, 100);
    CHECK(copy != third && knows(vclock_far(copy), 1, 10));
    /* its own entry of a set is what a cluster knows of itself */
    vclock_import(&own, &to, far_of(set, 1), set);
    CHECK(vclock_knows_lane(to, 1, 5, 10) && !vclock_knows_lane(to, 1, 4, 10) && vclock_knows_token(to, token, 6));
    far_drop(&far, set);
    vclock_drop(&own, from);
    vclock_drop(&own, to);
    vclock_drop(&own, third);
    vclock_drop(&own, copy);
}

/* A pool with more tokens than the sets' pool has had so far. */
static void test_tokens(void) {
    struct vclock *c = NULL, *few = clock_at(&own, 1, 1u << 5, 1);
    struct far *set = NULL;
    uint32_t token = 0;
    struct vclock *first = vclock_export(&own, few);
    far_add(&far, &set, 1, first);
    for (uint32_t i = 0; i < 200; i++)
        token = vclock_new_token(&own);
    vclock_add_token(&own, &c, token, 5);
    struct vclock *out = vclock_export(&own, c);
    far_add(&far, &set, 1, out);
    CHECK(vclock_knows_token(far_of(set, 1), token, 5) && knows(set, 1, 1));
    vclock_drop(&far, out);
    vclock_drop(&far, first);
    far_drop(&far, set);
    vclock_drop(&own, c);
    vclock_drop(&own, few);
}

int main(void) {
    vclock_pool_init(&far, 1, 96);
    vclock_pool_init(&own, 1, 96);
    far.room = 8;
    far.far = own.far = &far;
    test_sets();
    test_clocks();
    test_tokens();
    vclock_pool_close(&own);
    vclock_pool_close(&far);
    return check_report();
}
