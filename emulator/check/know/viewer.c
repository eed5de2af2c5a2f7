/* check/know/viewer.c - what the maker of an access knows of another one; contract in viewer.h. */
#include "check/know/viewer.h"

bool viewer_knows_lanes(const struct viewer *v, enum layer layer, const struct done *d, bool all) {
    if (!all)
        return d->lanes & viewer_own_lanes(v, layer, d->warp, d->time) ||
               vclock_knows_any(v->now[layer], d->warp, d->lanes, d->time) ||
               (layer == LAYER_ORDER && vclock_knows_any(v->now[LAYER_SHARED], d->warp, d->lanes, d->time));
    for (uint32_t left = d->lanes; left; left &= left - 1)
        if (!viewer_knows_lane(v, layer, d->warp, (uint32_t)__builtin_ctz(left), d->time))
            return false;
    return d->lanes;
}

bool viewer_knows_step(const struct viewer *v, enum layer layer, const struct done *d) {
    switch (d->how) {
    case DONE_TOKEN:
        return vclock_knows_token(v->now[layer], d->token, d->step) ||
               (layer == LAYER_ORDER && vclock_knows_token(v->now[LAYER_SHARED], d->token, d->step));
    case DONE_THREAD:
        return viewer_knows_lanes(v, layer, d, layer == LAYER_TENSOR || layer == LAYER_TENSOR_SCOPED);
    case DONE_FORGOTTEN:
        event_tell_unseen(v->by->cta->gpu, BOUND_BULK);
        return true;
    default:
        return false;
    }
}

bool viewer_knows_done(const struct viewer *v, enum layer layer, const struct note *n, bool wrote) {
    return viewer_knows_step(v, layer, wrote ? &n->written : &n->read) || viewer_knows_step(v, layer, &n->then);
}

bool viewer_knows_copy(const struct race *r, const struct viewer *v, enum layer layer, uint32_t warp, uint32_t lane,
                       uint32_t time) {
    const struct lane_copies *c = r->warps[warp].ops.copies;
    for (uint32_t i = 0; c && i < COPY_WAITS && i < c[lane].num_waited; i++) {
        const struct copies_waited *w = &c[lane].waited[i];
        if (w->until >= time && viewer_knows_step(v, layer, &w->done))
            return true;
    }
    if (!c || c[lane].forgotten < time || !viewer_knows_lane(v, layer, warp, lane, time + 1))
        return false;
    race_lost(r, BOUND_COPY_WAITS);
    return true;
}
