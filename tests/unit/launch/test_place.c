/* Where clusters become resident: one GPC each, pairs on TPCs, and as many as the capacity says. */
#include "check.h"
#include "launch/place.h"

static uint32_t gpc_of(const struct mach_config *c, uint32_t sm) {
    uint32_t first, count;
    for (uint32_t g = 0; mach_gpc(c, g, &first, &count); g++)
        if (sm >= first && sm < first + count)
            return g;
    return UINT32_MAX;
}

/* Fills an empty GPU with clusters; how many fit. */
static uint32_t fill(const struct mach_config *config, const struct place_needs *n, uint32_t ctas) {
    struct gpu *gpu = gpu_create(config);
    struct sm *sms[MACH_MAX_CLUSTER];
    uint32_t clusters = 0;
    while (place_cluster(gpu, n, ctas, sms)) {
        clusters++;
        for (uint32_t r = 0; r < ctas && ctas > 1; r++) {
            CHECK_EQ(gpc_of(config, sms[r]->id), gpc_of(config, sms[0]->id));
            if (r % 2) {
                CHECK_EQ(sms[r]->id, sms[r - 1]->id + 1);
                CHECK_EQ(sms[r - 1]->id % 2, 0);
            }
        }
    }
    uint32_t taken = 0;
    for (uint32_t i = 0; i < config->num_sms; i++)
        taken += config->ctas_per_sm - gpu->sms[i].free_ctas;
    CHECK_EQ(taken, clusters * ctas); /* a failed attempt takes nothing */
    gpu_destroy(gpu);
    return clusters;
}

int main(void) {
    const struct place_needs whole = {128, 16384, 200 * 1024}, half = {128, 16384, 100 * 1024};
    struct mach_config c = mach_config_b200();
    for (uint32_t ctas = 1; ctas <= MACH_MAX_CLUSTER; ctas++) {
        CHECK_EQ(fill(&c, &whole, ctas), place_capacity(&c, &whole, ctas));
        CHECK_EQ(fill(&c, &half, ctas), place_capacity(&c, &half, ctas));
    }
    /* 20, 18, 18, 18 twice: 16 CTAs fit each once, 4 CTAs 5 or 4 times */
    CHECK_EQ(place_capacity(&c, &whole, 16), 8);
    CHECK_EQ(place_capacity(&c, &whole, 4), 2 * 5 + 6 * 4);
    CHECK_EQ(place_capacity(&c, &whole, 2), 74);
    CHECK_EQ(place_capacity(&c, &half, 1), 296);
    c.num_gpcs = 2; /* 7 SMs (a TPC is split), 6, and what is left */
    c.gpc_sms[0] = 7;
    c.gpc_sms[1] = 6;
    c.num_sms = 23;
    CHECK_EQ(place_capacity(&c, &whole, 2), 3 + 2 + 4); /* SMs 7 and 6 are no TPC; 8-11 of 7-12; 14-21 of 13-22 */
    CHECK_EQ(fill(&c, &whole, 2), 9);
    CHECK_EQ(place_capacity(&c, &whole, 8), 1);
    CHECK_EQ(fill(&c, &whole, 8), 1);
    c.num_gpcs = 0;
    c.num_sms = 1;
    CHECK_EQ(place_capacity(&c, &whole, 2), 0);
    CHECK_EQ(fill(&c, &whole, 2), 0);
    CHECK_EQ(fill(&c, &whole, 1), 1);
    return check_report();
}
