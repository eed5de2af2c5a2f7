/* check/shadow/readers.c - lists of the threads that have read a place of shared memory; contract in kept.h. */
#include "check/shadow/kept.h"

#include "base/heap.h"

#include <string.h>

uint32_t readers_new(struct bytes_watch *b) {
    if (b->free_lists) {
        const uint32_t list = b->free_lists - 1;
        b->free_lists = b->lists[list].next;
        return list;
    }
    b->lists = xgrow(b->lists, b->num_lists, &b->cap_lists, sizeof *b->lists);
    b->lists[b->num_lists] = (struct readers){0};
    return b->num_lists++;
}

void readers_append(struct readers *list, const struct stamp *s, uint64_t most) {
    const uint32_t lanes = share_lanes(s->lane);
    for (uint32_t i = 0; i < list->num; i++) {
        struct reader *one = &list->list[i];
        if (one->warp != s->warp || one->flags != s->flags)
            continue;
        if (one->time == s->time) {
            one->lanes |= lanes;
            return;
        }
        one->lanes &= ~lanes; /* only the later one counts */
        if (!one->lanes)
            list->list[i--] = list->list[--list->num];
    }
    if (list->num && list->num >= most) {
        memmove(list->list, list->list + 1, --list->num * sizeof *list->list);
        list->lost = true;
    }
    list->list = xgrow(list->list, list->num, &list->cap, sizeof *list->list);
    list->list[list->num++] = (struct reader){s->time, lanes, s->warp, s->flags, s->lane < SHARE ? 0 : s->lane};
}

void readers_clear(struct bytes_watch *b, struct stamp *read) {
    if (read->flags & READERS_STAMP) {
        struct readers *list = &b->lists[read->time];
        list->num = 0;
        list->lost = false;
        list->next = b->free_lists;
        b->free_lists = read->time + 1;
    }
    *read = (struct stamp){0};
}

void readers_drop_known(struct readers *list, const struct vclock *now) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < list->num; i++) {
        struct reader one = list->list[i];
        for (uint32_t m = one.flags ? 0 : one.lanes; m; m &= m - 1)
            if (vclock_knows_lane(now, one.warp, (uint32_t)__builtin_ctz(m), one.time))
                one.lanes &= ~(m & (0u - m));
        if (one.lanes)
            list->list[left++] = one;
    }
    list->num = left;
}

struct stamp readers_copy(struct bytes_watch *b, const struct stamp *read, uint32_t byte) {
    if (!(read->flags & READERS_STAMP))
        return share_part(read, byte);
    const uint32_t list = readers_new(b);
    for (uint32_t k = 0; k < b->lists[read->time].num; k++) {
        const struct reader *one = &b->lists[read->time].list[k];
        for (uint32_t m = one->share ? 1u << share_lane(one->share, byte) : one->lanes; m; m &= m - 1)
            readers_append(&b->lists[list],
                           &(struct stamp){one->time, {{one->warp, (uint8_t)__builtin_ctz(m), one->flags}}},
                           UINT64_MAX);
    }
    b->lists[list].lost = b->lists[read->time].lost;
    return (struct stamp){.time = list, .flags = READERS_STAMP};
}
