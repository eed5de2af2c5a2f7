/* launch/place.c - room on SMs; contract in place.h. */
#include "launch/place.h"

static bool fits(const struct sm *sm, const struct place_needs *n) {
    return sm->free_threads >= n->threads && sm->free_regs >= n->regs && sm->free_smem >= n->smem && sm->free_ctas;
}

static void take(struct sm *sm, const struct place_needs *n) {
    sm->free_threads -= n->threads;
    sm->free_regs -= n->regs;
    sm->free_smem -= n->smem;
    sm->free_ctas--;
}

void place_leave(struct sm *sm, const struct place_needs *n) {
    sm->free_threads += n->threads;
    sm->free_regs += n->regs;
    sm->free_smem += n->smem;
    sm->free_ctas++;
}

/* Of the SMs [first, first + count) with room, the one with the fewest CTAs, lowest number first; NULL: none. */
static struct sm *roomiest(struct gpu *gpu, const struct place_needs *n, uint32_t first, uint32_t count) {
    struct sm *best = NULL;
    for (uint32_t i = first; i < first + count; i++) {
        struct sm *sm = &gpu->sms[i];
        if (fits(sm, n) && (!best || sm->free_ctas > best->free_ctas))
            best = sm;
    }
    return best;
}

/* The same among TPCs with room on both SMs: the even SM. */
static struct sm *roomiest_tpc(struct gpu *gpu, const struct place_needs *n, uint32_t first, uint32_t count) {
    struct sm *best = NULL;
    for (uint32_t i = (first + 1) & ~1u; i + 1 < first + count; i += 2) {
        struct sm *sm = &gpu->sms[i];
        if (fits(sm, n) && fits(sm + 1, n) &&
            (!best || sm[0].free_ctas + sm[1].free_ctas > best[0].free_ctas + best[1].free_ctas))
            best = sm;
    }
    return best;
}

/* Places all CTAs of a cluster in one GPC, whose SMs are [first, first + count); or none, and returns false. */
static bool place_in_gpc(struct gpu *gpu, const struct place_needs *n, uint32_t ctas, uint32_t first, uint32_t count,
                         struct sm **sms) {
    for (uint32_t r = 0; r < ctas; r++) {
        if (r + 1 < ctas && r % 2 == 0)
            sms[r] = roomiest_tpc(gpu, n, first, count);
        else
            sms[r] = r % 2 ? sms[r - 1] + 1 : roomiest(gpu, n, first, count);
        if (sms[r]) {
            take(sms[r], n);
            continue;
        }
        while (r-- > 0)
            place_leave(sms[r], n);
        return false;
    }
    return true;
}

/* CTAs that these SMs could still take by their number alone. */
static uint64_t free_slots(const struct gpu *gpu, uint32_t first, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + count; i++)
        sum += gpu->sms[i].free_ctas;
    return sum;
}

bool place_cluster(struct gpu *gpu, const struct place_needs *n, uint32_t ctas, struct sm *sms[MACH_MAX_CLUSTER]) {
    uint32_t tried = 0, first, count;
    if (ctas == 1) {
        sms[0] = roomiest(gpu, n, 0, gpu->config.num_sms);
        if (sms[0])
            take(sms[0], n);
        return sms[0] != NULL;
    }
    for (;;) { /* the GPC with the largest share of free slots first */
        uint32_t best = UINT32_MAX;
        uint64_t best_free = 0, best_count = 1;
        for (uint32_t g = 0; mach_gpc(&gpu->config, g, &first, &count); g++) {
            uint64_t slots = free_slots(gpu, first, count);
            if (tried >> g & 1 || (best != UINT32_MAX && slots * best_count <= best_free * count))
                continue;
            best = g;
            best_free = slots;
            best_count = count;
        }
        if (best == UINT32_MAX)
            return false;
        mach_gpc(&gpu->config, best, &first, &count);
        if (place_in_gpc(gpu, n, ctas, first, count, sms))
            return true;
        tried |= 1u << best;
    }
}

uint32_t place_capacity(const struct mach_config *config, const struct place_needs *n, uint32_t ctas) {
    struct sm one = {.free_threads = config->threads_per_sm,
                     .free_regs = config->regs_per_sm,
                     .free_smem = config->smem_per_sm,
                     .free_ctas = config->ctas_per_sm};
    uint32_t per_sm = 0, first, count, sum = 0;
    for (; fits(&one, n); per_sm++)
        take(&one, n);
    if (ctas == 1)
        return per_sm * config->num_sms;
    for (uint32_t g = 0; mach_gpc(config, g, &first, &count); g++) {
        uint32_t even = (first + 1) & ~1u, tpcs = first + count > even ? (first + count - even) / 2 : 0;
        uint32_t by_slots = count * per_sm / ctas, by_pairs = tpcs * per_sm / (ctas / 2);
        sum += by_slots < by_pairs ? by_slots : by_pairs;
    }
    return sum;
}
