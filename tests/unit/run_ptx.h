/* run_ptx.h - runs PTX written in a test: parse, load, launch, look at memory.
 *
 *     struct run r;
 *     if (run_open(&r, RUN_HEADER ".visible .entry k(.param .u64 out) { ... }")) {
 *         uint64_t out = run_alloc(&r, 4 * 32);
 *         CHECK_EQ(run_kernel(&r, "k", (struct run_shape){.block = 32}, 1, (uint64_t[]){out}), 0);
 *         CHECK_EQ(run_u32(&r, out, 5), 5);
 *     }
 *     run_close(&r);
 *
 * Everything the emulator reports is collected in r.log; a parse or load that fails prints it and counts as a failed
 * check. Arguments are given as 64-bit values and cut to the size of the parameter.
 */
#ifndef TESTS_RUN_PTX_H
#define TESTS_RUN_PTX_H

#include "check.h"
#include "check/check.h"
#include "launch/launch.h"
#include "lower/lower.h"
#include "machine/machine.h"
#include "ptx/ir.h"

#define RUN_HEADER ".version 9.0\n.target sm_100a\n.address_size 64\n"

struct run {
    struct gpu *gpu;
    struct warp_module *module;
    char log[16384]; /* reports, one after the other */
    size_t log_len;
};

/* Zero means 1 for the sizes; sizes are x extents but for block_y and block_z. */
struct run_shape {
    uint32_t grid, block, cluster, smem, block_y, block_z;
};

static void run_collect_(void *ctx, const char *text, size_t len) {
    struct run *r = ctx;
    check_append(r->log, sizeof r->log, &r->log_len, text, len);
}

/* `config` may be NULL for a B200. Nobody listens (run_check_races). */
static inline bool run_open_config(struct run *r, const char *ptx, const struct mach_config *config) {
    struct mach_config c = config ? *config : mach_config_b200();
    memset(r, 0, sizeof *r);
    r->gpu = gpu_create(&c);
    r->gpu->sink = (struct diag_sink){run_collect_, r};
    struct ptx_module *m = ptx_parse(ptx, strlen(ptx), "test.ptx", &r->gpu->sink);
    if (m)
        r->module = lower_module_load(r->gpu, m);
    if (!r->module)
        fprintf(stderr, "%s", r->log);
    return CHECK(r->module != NULL);
}

static inline bool run_open(struct run *r, const char *ptx) {
    struct mach_config c = mach_config_b200();
    c.watchdog = 100000000;
    return run_open_config(r, ptx, &c);
}

static inline void run_check_races(struct run *r) { check_attach(r->gpu); }

static inline void run_close(struct run *r) {
    if (r->module)
        lower_module_unload(r->module);
    gpu_destroy(r->gpu);
    memset(r, 0, sizeof *r);
}

/* Zeroed device memory. */
static inline uint64_t run_alloc(struct run *r, uint64_t bytes) {
    uint64_t addr = mem_alloc(r->gpu->mem, bytes, 256, MEM_DEVICE, NULL);
    if (CHECK(addr != 0))
        memset(mem_at(r->gpu->mem, addr, bytes), 0, bytes);
    return addr;
}

/* Host pointer to device memory, for reading results and setting inputs; aborts the test on a bad range. */
static inline void *run_at(struct run *r, uint64_t addr, uint64_t bytes) {
    void *p = mem_at(r->gpu->mem, addr, bytes);
    if (!p) {
        fprintf(stderr, "run_at: 0x%" PRIx64 " is not device memory\n", addr);
        exit(1);
    }
    return p;
}

static inline uint32_t run_u32(struct run *r, uint64_t addr, uint64_t index) {
    uint32_t v;
    memcpy(&v, run_at(r, addr + 4 * index, 4), 4);
    return v;
}

static inline uint64_t run_u64(struct run *r, uint64_t addr, uint64_t index) {
    uint64_t v;
    memcpy(&v, run_at(r, addr + 8 * index, 8), 8);
    return v;
}

/* Runs a kernel; 0, or the cuda_error of its fault with the report in r->log (which is emptied first). */
static inline int run_kernel(struct run *r, const char *name, struct run_shape shape, unsigned num_args,
                             const uint64_t *args) {
    const struct warp_func *f = lower_find_kernel(r->module, name);
    r->log_len = 0;
    r->log[0] = 0;
    findings_clear(r->gpu->findings); /* each launch has its reports */
    if (!CHECK(f != NULL))
        return -1;
    struct lower_kernel_info info = lower_kernel_info(f);
    uint8_t params[4096] = {0};
    if (!CHECK(info.ptx->num_params == num_args) || !CHECK(info.param_bytes <= sizeof params))
        return -1;
    for (unsigned i = 0; i < num_args; i++)
        memcpy(params + ptx_param_offset(info.ptx, i, NULL), &args[i],
               info.ptx->params[i].size < 8 ? info.ptx->params[i].size : 8);
    struct launch_config launch = {
        .kernel = f,
        .grid = {shape.grid ? shape.grid : 1, 1, 1},
        .block = {shape.block ? shape.block : 1, shape.block_y ? shape.block_y : 1, shape.block_z ? shape.block_z : 1},
        .cluster = {shape.cluster ? shape.cluster : 1, 1, 1},
        .clustered = shape.cluster != 0,
        .dynamic_smem = shape.smem,
        .params = params,
        .param_bytes = info.param_bytes,
    };
    return launch_run(r->gpu, &launch);
}

/* The same, for kernels that must run: prints the report of those that do not. */
static inline bool run_ok(struct run *r, const char *name, struct run_shape shape, unsigned num_args,
                          const uint64_t *args) {
    bool ok = CHECK_EQ(run_kernel(r, name, shape, num_args, args), 0);
    if (!ok)
        fprintf(stderr, "%s: %s\n", name, r->log);
    return ok;
}

/* For kernels that must fail with the report `id`. */
static inline bool run_faults(struct run *r, const char *name, struct run_shape shape, unsigned num_args,
                              const uint64_t *args, const char *id) {
    bool ok = CHECK(run_kernel(r, name, shape, num_args, args) != 0);
    return CHECK_HAS(r->log, id) && ok;
}

#endif
