/* walk.h - what the questions on step 05 need besides the step's own code: a call of its make_plan(), the offsets of
 * its barriers, a walk round its ring. Read behind what 05.txt lifts; no header by itself. */

static struct shared_storage storage;

static uint32_t smem_address(const void *p) { return (uint32_t)((const char *)p - (const char *)&storage); }

/* A plan for f16 inputs with K = 512, in 232448 bytes of shared memory. */
static struct gemm plan(int tile_n, enum out_type out, float beta, int cluster_m, int cluster_n, int m, int n,
                        int group) {
    struct problem p = {};
    uint32_t used;
    p.m = m, p.n = n, p.k = 512, p.batch = 1, p.out = out, p.alpha = 1, p.beta = beta, p.group = group;
    p.tile_n = tile_n, p.cluster_m = cluster_m, p.cluster_n = cluster_n;
    return make_plan(&p, 232448, &used);
}

/* The ring after so many steps. */
static struct ring walked(uint32_t parity, int steps, uint32_t size) {
    struct ring r = {0, parity};
    for (int i = 0; i < steps; i++)
        ring_next(&r, size);
    return r;
}
