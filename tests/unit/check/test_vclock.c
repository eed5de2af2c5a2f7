/* Vector clocks against a model of them that has a number for each lane and each token: after every operation of a long
 * random walk each clock knows what its model knows, and nothing more. */
#include "base/heap.h"
#include "check.h"
#include "check/vclock/vclock.h"
#include "simd/simd.h"

#include <string.h>

#define CTAS 2u
#define WARPS 8u
#define TOKENS 70u /* more than a new clock has room for at first */
#define CLOCKS 12u
#define STEPS 10000u

static struct vclock_pool pool;
static uint64_t seed = 1;
static uint32_t unrest;     /* 0 to 2 */
static uint32_t last_lanes; /* that the last warp of each CTA has */

/* What a clock is to know. */
struct model {
    uint32_t lane[WARPS][VCLOCK_LANES];
    uint32_t token[TOKENS];
};
static struct vclock *clocks[CLOCKS];
static struct model models[CLOCKS];

static uint32_t any_below(uint32_t n) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

static bool exists(uint32_t warp, uint32_t lane) { return warp % 4 < 3 || lane < last_lanes; }

static void model_join(struct model *to, const struct model *from) {
    for (uint32_t w = 0; w < WARPS; w++)
        for (uint32_t l = 0; l < VCLOCK_LANES; l++)
            if (to->lane[w][l] < from->lane[w][l])
                to->lane[w][l] = from->lane[w][l];
    for (uint32_t t = 0; t < TOKENS; t++)
        if (to->token[t] < from->token[t])
            to->token[t] = from->token[t];
}

static void model_learn(struct model *m, uint32_t warp, uint32_t lanes, uint32_t time, uint32_t token, uint32_t step) {
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        if (lanes >> l & 1 && m->lane[warp][l] < time)
            m->lane[warp][l] = time;
    if (m->token[token] < step)
        m->token[token] = step;
}

static bool model_exceeds(const struct model *a, const struct model *b) {
    bool more = false;
    for (uint32_t w = 0; w < WARPS; w++)
        for (uint32_t l = 0; l < VCLOCK_LANES; l++)
            more |= exists(w, l) && a->lane[w][l] > b->lane[w][l];
    for (uint32_t t = 0; t < TOKENS; t++)
        more |= a->token[t] > b->token[t];
    return more;
}

static bool is_like(const struct vclock *c, const struct model *m) {
    bool like = true;
    for (uint32_t w = 0; w < WARPS; w++)
        for (uint32_t l = 0; l < VCLOCK_LANES; l++)
            like &= !exists(w, l) ||
                    (vclock_knows_lane(c, w, l, m->lane[w][l]) && !vclock_knows_lane(c, w, l, m->lane[w][l] + 1));
    for (uint32_t t = 0; t < pool.tokens; t++)
        like &= vclock_token(c, t) == m->token[t];
    return like;
}

/* Mostly all of a warp, or one lane: in calm times always the same one, in others any, or several. */
static uint32_t some_lanes(uint32_t warp) {
    const uint32_t all = exists(warp, VCLOCK_LANES - 1) ? UINT32_MAX : (1u << last_lanes) - 1;
    const uint32_t which = any_below(8);
    if (which == 0 && unrest > 1)
        return all & (any_below(1u << 30) | 1);
    return which < 3 ? all : all & 1u << any_below(unrest + 1);
}

/* Several clocks take one step: those that are one must not learn of one another, or twice. */
static void learn(void) {
    const uint32_t warp = any_below(WARPS), lanes = some_lanes(warp), token = any_below(pool.tokens);
    const uint32_t from[2] = {any_below(CLOCKS), any_below(CLOCKS)};
    const uint32_t times[2] = {0, any_below(1000)}, steps[2] = {0, any_below(1000)};
    struct vclock *held[2] = {vclock_hold(clocks[from[0]]), vclock_hold(clocks[from[1]])};
    const struct model before[2] = {models[from[0]], models[from[1]]};
    struct vclock_step s;
    vclock_step_begin(&s, warp, lanes, token);
    for (uint32_t i = any_below(4); i < CLOCKS; i += 1 + any_below(2)) {
        const uint32_t which = any_below(2), time = times[any_below(2)], step = steps[any_below(2)];
        const bool alone = any_below(4) == 0;
        vclock_learn(&pool, &s, &clocks[i], alone ? NULL : held[which], time, step);
        if (!alone)
            model_join(&models[i], &before[which]);
        model_learn(&models[i], warp, lanes, time, token, step);
    }
    vclock_drop(&pool, held[0]);
    vclock_drop(&pool, held[1]);
}

static void act(void) {
    const uint32_t i = any_below(CLOCKS), k = any_below(CLOCKS), warp = any_below(WARPS), lanes = some_lanes(warp);
    const uint32_t value = any_below(1000);
    switch (any_below(8)) {
    case 0:
        vclock_set(&pool, &clocks[i], any_below(3) ? clocks[k] : NULL);
        models[i] = clocks[i] ? models[k] : (struct model){0};
        break;
    case 1:
    case 2:
        vclock_add_lanes(&pool, &clocks[i], warp, lanes, value);
        model_learn(&models[i], warp, lanes, value, 0, 0);
        break;
    case 3:
        vclock_add_token(&pool, &clocks[i], warp % pool.tokens, value);
        model_learn(&models[i], 0, 0, 0, warp % pool.tokens, value);
        break;
    case 4:
        learn();
        break;
    case 5: { /* nothing but the join of the two, or nothing */
        struct vclock *from = vclock_hold(clocks[k]);
        const bool more = !clocks[i] || last_lanes < VCLOCK_LANES || model_exceeds(&models[k], &models[i]);
        const bool follows = vclock_follows(&pool, &clocks[i], &from);
        CHECK(follows ? more && !from && clocks[i] == clocks[k] : from == clocks[k]);
        if (follows)
            model_join(&models[i], &models[k]);
        vclock_drop(&pool, from);
        break;
    }
    default:
        vclock_join(&pool, &clocks[i], clocks[k]);
        model_join(&models[i], &models[k]);
        break;
    }
    /* of lanes that do not exist it may say more */
    const bool exceeds = clocks[i] && (!clocks[k] || model_exceeds(&models[i], &models[k]));
    CHECK(exceeds ? vclock_exceeds(&pool, clocks[i], clocks[k])
                  : last_lanes < VCLOCK_LANES || !vclock_exceeds(&pool, clocks[i], clocks[k]));
}

static void begin_again(void) {
    unrest = any_below(3);
    memset(models, 0, sizeof models);
    for (uint32_t i = 0; i < CLOCKS; i++)
        vclock_set(&pool, &clocks[i], NULL);
}

/* What the heap gives next is not zeroed by chance. */
static void stain_heap(void) {
    void *stain[12];
    for (unsigned i = 0; i < 12; i++)
        stain[i] = memset(xrealloc_array(NULL, 1, 8000), 0xa5, 8000);
    for (unsigned i = 0; i < 12; i++)
        xfree(stain[i]);
}

static void walk(uint32_t lanes, bool wide) {
    last_lanes = lanes;
    stain_heap();
    vclock_pool_init(&pool, CTAS, 3 * VCLOCK_LANES + lanes);
    pool.wide = wide;
    CHECK(pool.warps == WARPS);
    vclock_new_token(&pool);
    for (uint32_t n = 0; n < STEPS; n++) {
        if (pool.tokens < TOKENS && (n < 100 ? n % 8 == 2 : n % 100 == 50)) /* the first while clocks are new */
            vclock_new_token(&pool);
        if (n % 100 == 0)
            begin_again();
        act();
        for (uint32_t i = 0; i < CLOCKS; i++)
            CHECK(is_like(clocks[i], &models[i]));
    }
    begin_again();
    vclock_pool_close(&pool);
}

int main(void) {
    for (unsigned wide = 0; wide <= simd_available(SIMD_AVX2); wide++) {
        walk(VCLOCK_LANES, wide);
        walk(4, wide);
    }
    return check_report();
}
