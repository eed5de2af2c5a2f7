/* check/vclock/vclock.c - reads and changes the contents of a clock; contract in vclock.h. */
#include "check/vclock/inside.h"

struct vclock *vclock_others(struct vclock_pool *p, struct vclock *c, uint32_t warp, uint32_t lanes) {
    struct vclock *others = vclock_hold(c);
    struct lanes t;
    if (!c || c->lane[warp] == NO_LANE || (c->lane[warp] != MANY && !(lanes >> c->lane[warp] & 1)))
        return others;
    if (c->lane[warp] != MANY) {
        vclock_own(p, &others)->lane[warp] = NO_LANE;
        others->ahead[warp] = 0;
        return others;
    }
    vclock_unpack(c, warp, &t);
    for (uint32_t m = lanes; m; m &= m - 1)
        t.time[__builtin_ctz(m)] = c->all[warp];
    vclock_pack(vclock_own(p, &others), warp, &t);
    return others;
}

/* --- single entries ----------------------------------------------------------------------------------------------- */

void vclock_add_lanes(struct vclock_pool *p, struct vclock **c, uint32_t warp, uint32_t lanes, uint32_t time) {
    const uint32_t exists = warp % p->warps_each == p->warps_each - 1 ? p->exists_last : UINT32_MAX;
    struct vclock *to = vclock_own(p, c);
    struct lanes t;
    if (!(exists & ~lanes) && to->lane[warp] != MANY && time >= to->all[warp] && time >= to->ahead[warp]) {
        to->all[warp] = time;
        to->ahead[warp] = 0;
        to->lane[warp] = NO_LANE;
        return;
    }
    if (!(lanes & (lanes - 1)) && (exists & ~lanes) && time > to->all[warp] &&
        (to->lane[warp] == NO_LANE ||
         to->lane[warp] == (uint32_t)__builtin_ctz(lanes))) { /* one lane, usually the one already ahead */
        to->lane[warp] = (uint32_t)__builtin_ctz(lanes);
        to->ahead[warp] = time > to->ahead[warp] ? time : to->ahead[warp];
        return;
    }
    vclock_unpack(to, warp, &t);
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        if ((lanes | ~exists) >> l & 1 && t.time[l] < time)
            t.time[l] = time;
    vclock_pack(to, warp, &t);
}

void vclock_add_token(struct vclock_pool *p, struct vclock **c, uint32_t token, uint32_t step) {
    if (vclock_token(*c, token) < step)
        vclock_own(p, c)->token[token] = step;
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

bool vclock_knows_lane(const struct vclock *c, uint32_t warp, uint32_t lane, uint32_t time) {
    if (!c)
        return time == 0;
    if (time <= c->all[warp])
        return true;
    if (c->lane[warp] == MANY)
        return time <= c->many[c->ahead[warp]].time[lane];
    return c->lane[warp] == lane && time <= c->ahead[warp];
}

bool vclock_knows_any(const struct vclock *c, uint32_t warp, uint32_t lanes, uint32_t time) {
    for (; lanes; lanes &= lanes - 1)
        if (vclock_knows_lane(c, warp, (uint32_t)__builtin_ctz(lanes), time))
            return true;
    return false;
}

uint32_t vclock_all_lanes(const struct vclock *c, uint32_t warp) { return c ? c->all[warp] : 0; }

uint32_t vclock_token(const struct vclock *c, uint32_t token) { return c && token < c->tokens ? c->token[token] : 0; }

bool vclock_knows_token(const struct vclock *c, uint32_t token, uint32_t step) {
    return vclock_token(c, token) >= step;
}
