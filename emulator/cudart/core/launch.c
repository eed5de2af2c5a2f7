/* Launches: the driver's checks, launch attributes, parameters, occupancy. Contract in context.h.
 *
 * Which check gives which code was measured on an H200 with CUDA 12.9 and 13.0: impossible sizes give 9
 * (cudaErrorInvalidConfiguration) in 12.9 and 1 (cudaErrorInvalidValue) in 13 and in the driver API; launch bounds and
 * shared memory 1; everything about clusters 912 (cudaErrorInvalidClusterSize).
 */
#include "cudart/core/context.h"

#include "base/heap.h"
#include "base/now.h"
#include "cudart/core/cycles.h"
#include "cudart/core/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIM "%u x %u x %u"
#define DIM_ARGS(d) (d).x, (d).y, (d).z

static const char *const attribute_names[] = {
    [RT_LAUNCH_ACCESS_POLICY] = "AccessPolicyWindow",
    [RT_LAUNCH_COOPERATIVE] = "Cooperative",
    [RT_LAUNCH_SYNC_POLICY] = "SynchronizationPolicy",
    [RT_LAUNCH_CLUSTER_DIMENSION] = "ClusterDimension",
    [RT_LAUNCH_CLUSTER_POLICY] = "ClusterSchedulingPolicyPreference",
    [RT_LAUNCH_PROGRAMMATIC_SERIALIZATION] = "ProgrammaticStreamSerialization",
    [RT_LAUNCH_PROGRAMMATIC_EVENT] = "ProgrammaticEvent",
    [RT_LAUNCH_PRIORITY] = "Priority",
    [RT_LAUNCH_MEM_SYNC_DOMAIN_MAP] = "MemSyncDomainMap",
    [RT_LAUNCH_MEM_SYNC_DOMAIN] = "MemSyncDomain",
    [RT_LAUNCH_PREFERRED_CLUSTER] = "PreferredClusterDimension",
    [RT_LAUNCH_COMPLETION_EVENT] = "LaunchCompletionEvent",
    [RT_LAUNCH_DEVICE_UPDATABLE] = "DeviceUpdatableKernelNode",
    [RT_LAUNCH_SHARED_CARVEOUT] = "PreferredSharedMemoryCarveout",
    [RT_LAUNCH_NVLINK_CENTRIC] = "NvlinkUtilCentricScheduling",
    [RT_LAUNCH_PORTABLE_CLUSTER] = "PortableClusterSizeMode",
    [RT_LAUNCH_SHARED_MODE] = "SharedMemoryMode",
};

/* What the attributes of a launch come to. */
struct request {
    struct rt_dim3 size; /* 0 x 0 x 0: not asked for */
    struct rt_dim3 preferred;
    bool early;       /* it may begin before the kernel before it on its stream has ended */
    int cluster_mode; /* enum rt_cluster_mode */
    int shared_mode;  /* enum rt_shared_mode */
};

static int refuse_attribute(struct rt_context *c, int id) {
    return rt_say(c, RT_ERROR_NOT_SUPPORTED,
                  "launch attribute %d (cudaLaunchAttribute%s) is not supported by the emulator", id,
                  attribute_names[id]);
}

/* Hints too are checked. */
static int in_range(struct rt_context *c, const struct rt_launch_attribute *a, int value, int most) {
    if (value >= 0 && value <= most)
        return RT_SUCCESS;
    return rt_say(c, RT_ERROR_INVALID_VALUE, "launch attribute cudaLaunchAttribute%s is %d: 0 to %d",
                  attribute_names[a->id], value, most);
}

/* Oversized shared memory leaves 8 KB of L1 cache; how much of it a B200 gives a CTA is not known. */
static int check_shared_mode(struct rt_context *c, int mode) {
    if (mode < 0 || mode >= RT_SHARED_MODES)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "a shared memory mode of %d: 0 to %d", mode, RT_SHARED_MODES - 1);
    if (mode > RT_SHARED_NON_PORTABLE)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED,
                      "oversized shared memory (shared memory mode %d) is not supported by the emulator", mode);
    return RT_SUCCESS;
}

static int read_attribute(struct rt_context *c, const struct rt_launch_attribute *a, struct request *r) {
    switch (a->id) {
    case RT_LAUNCH_IGNORE:
    case RT_LAUNCH_ACCESS_POLICY: /* hints about caches, order and placement: legal to ignore */
    case RT_LAUNCH_PRIORITY:
    case RT_LAUNCH_NVLINK_CENTRIC:
        return RT_SUCCESS;
    case RT_LAUNCH_CLUSTER_POLICY:
        return in_range(c, a, a->value.number, 2);
    case RT_LAUNCH_MEM_SYNC_DOMAIN:
        return in_range(c, a, a->value.number, 1);
    case RT_LAUNCH_SHARED_CARVEOUT:
        return in_range(c, a, a->value.number, 100);
    case RT_LAUNCH_MEM_SYNC_DOMAIN_MAP: /* two bytes */
        return rt_then(in_range(c, a, a->value.bytes[0], RT_DEVICE_DOMAINS - 1),
                       in_range(c, a, a->value.bytes[1], RT_DEVICE_DOMAINS - 1));
    case RT_LAUNCH_PROGRAMMATIC_SERIALIZATION: /* permits overlap with the kernel before: launch/together.c */
        r->early = a->value.number != 0;
        return RT_SUCCESS;
    case RT_LAUNCH_CLUSTER_DIMENSION:
        r->size = a->value.cluster;
        return RT_SUCCESS;
    case RT_LAUNCH_PREFERRED_CLUSTER:
        r->preferred = a->value.cluster;
        return RT_SUCCESS;
    case RT_LAUNCH_PORTABLE_CLUSTER:
        r->cluster_mode = a->value.number;
        return in_range(c, a, a->value.number, RT_CLUSTER_MODES - 1);
    case RT_LAUNCH_SHARED_MODE:
        r->shared_mode = a->value.number;
        return check_shared_mode(c, a->value.number);
    case RT_LAUNCH_COOPERATIVE:
        return a->value.number == 0 ? RT_SUCCESS : refuse_attribute(c, a->id);
    case RT_LAUNCH_PROGRAMMATIC_EVENT:
    case RT_LAUNCH_COMPLETION_EVENT:
    case RT_LAUNCH_DEVICE_UPDATABLE:
        return refuse_attribute(c, a->id);
    default:
        return rt_say(c, RT_ERROR_INVALID_VALUE, "launch attribute %d is not known%s", a->id,
                      a->id == RT_LAUNCH_SYNC_POLICY ? " to launches (cudaLaunchAttributeSynchronizationPolicy)" : "");
    }
}

static int read_attributes(struct rt_context *c, const struct rt_launch_config *l, struct request *r) {
    memset(r, 0, sizeof *r);
    if (l->num_attrs != 0 && l->attrs == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%u launch attributes at a null pointer", l->num_attrs);
    int e = RT_SUCCESS;
    for (unsigned i = 0; i < l->num_attrs && e == RT_SUCCESS; i++)
        e = read_attribute(c, &l->attrs[i], r);
    return e;
}

static bool is_zero(struct rt_dim3 d) { return d.x == 0 && d.y == 0 && d.z == 0; }
static bool has_zero(struct rt_dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; }
static bool same(struct rt_dim3 a, struct rt_dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
static struct rt_dim3 from_diag(struct diag_dim3 d) { return (struct rt_dim3){d.x, d.y, d.z}; }
static struct diag_dim3 to_diag(struct rt_dim3 d) { return (struct diag_dim3){d.x, d.y, d.z}; }

/* Product, saturated far above every limit. */
static uint64_t volume(struct rt_dim3 d) {
    uint64_t xy = (uint64_t)d.x * d.y;
    return d.z != 0 && xy > UINT64_MAX / d.z ? UINT64_MAX : xy * d.z;
}

static int check_shape(struct rt_context *c, const struct rt_function *f, const struct rt_launch_config *l,
                       int shape_error) {
    struct rt_dim3 g = l->grid, b = l->block;
    if (has_zero(g) || has_zero(b))
        return rt_say(c, shape_error, "%s: a grid of " DIM " CTAs of " DIM " threads", f->name, DIM_ARGS(g),
                      DIM_ARGS(b));
    if (b.x > 1024 || b.y > 1024 || b.z > 64 || volume(b) > RT_DEVICE_MAX_THREADS)
        return rt_say(c, shape_error, "%s: a CTA of " DIM " threads; the limits are 1024 x 1024 x 64 and 1024 in all",
                      f->name, DIM_ARGS(b));
    if (g.x > 0x7FFFFFFFu || g.y > 65535 || g.z > 65535)
        return rt_say(c, shape_error, "%s: a grid of " DIM " CTAs; the limits are 2147483647 x 65535 x 65535", f->name,
                      DIM_ARGS(g));
    if (volume(b) > f->info.max_threads)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: %llu threads in a CTA; its launch bounds allow %u", f->name,
                      (unsigned long long)volume(b), f->info.max_threads);
    struct rt_dim3 required = {f->info.ptx->reqntid.x, f->info.ptx->reqntid.y, f->info.ptx->reqntid.z};
    if (!has_zero(required) && !same(required, b))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: a CTA of " DIM " threads; .reqntid requires " DIM, f->name,
                      DIM_ARGS(b), DIM_ARGS(required));
    return RT_SUCCESS;
}

/* What the static part leaves of `all`. */
static size_t beside_static(const struct rt_function *f, size_t all) {
    return f->info.static_smem < all ? all - f->info.static_smem : 0;
}

static size_t max_dynamic(const struct rt_function *f) {
    return f->max_dynamic_shared >= 0 ? (size_t)f->max_dynamic_shared : beside_static(f, RT_DEVICE_SMEM_DEFAULT);
}

static size_t dynamic_limit(const struct rt_function *f, int mode) {
    switch (mode) {
    case RT_SHARED_PORTABLE:
        return beside_static(f, RT_DEVICE_SMEM_DEFAULT);
    case RT_SHARED_NON_PORTABLE:
        return beside_static(f, RT_DEVICE_SMEM_OPTIN);
    default:
        return max_dynamic(f);
    }
}

size_t rt_dynamic_limit(const struct rt_function *f) { return dynamic_limit(f, f->shared_mode); }

/* A launch's own mode takes the place of the function's. */
static size_t launch_limit(const struct rt_function *f, const struct request *r) {
    return dynamic_limit(f, r->shared_mode != RT_SHARED_DEFAULT ? r->shared_mode : f->shared_mode);
}

static int check_resources(struct rt_context *c, const struct rt_function *f, const struct rt_launch_config *l,
                           const struct request *r) {
    const size_t limit = launch_limit(f, r);
    if (l->dynamic_shared > limit)
        return rt_say(c, RT_ERROR_INVALID_VALUE,
                      "%s: %zu bytes of dynamic shared memory beside %u static ones; allowed are %zu: more, up to %u "
                      "in all, needs cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize)",
                      f->name, l->dynamic_shared, f->info.static_smem, limit, c->gpu->config.smem_per_cta);
    if (f->info.static_smem + l->dynamic_shared > c->gpu->config.smem_per_cta)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: %zu bytes of shared memory in a CTA; the chip has %u", f->name,
                      f->info.static_smem + l->dynamic_shared, c->gpu->config.smem_per_cta);
    const unsigned most = rt_max_threads(&c->gpu->config, f);
    if (volume(l->block) > most)
        return rt_say(c, RT_ERROR_OUT_OF_RESOURCES, "%s: %llu threads of %u registers in a CTA; an SM has room for %u",
                      f->name, (unsigned long long)volume(l->block), f->info.regs, most);
    return RT_SUCCESS;
}

/* What the kernel (.reqnctapercluster) or the function's attributes require; zeros: nothing. */
static struct rt_dim3 required_cluster(const struct rt_function *f) {
    return is_zero(from_diag(f->info.cluster)) ? f->cluster : from_diag(f->info.cluster);
}

/* The size from the kernel (.reqnctapercluster), the function's attributes or the launch; they must agree. */
static int choose_cluster(struct rt_context *c, const struct rt_function *f, const struct request *r,
                          struct rt_dim3 *out) {
    struct rt_dim3 compiled = required_cluster(f), wanted = r->size;
    if (!is_zero(compiled) && has_zero(compiled))
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE, "%s: its attributes require clusters of " DIM " CTAs", f->name,
                      DIM_ARGS(compiled));
    if (!is_zero(wanted) && has_zero(wanted))
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE, "%s: clusters of " DIM " CTAs", f->name, DIM_ARGS(wanted));
    if (!is_zero(wanted) && !is_zero(compiled) && !same(wanted, compiled))
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE, "%s: launched with clusters of " DIM ", but it requires " DIM,
                      f->name, DIM_ARGS(wanted), DIM_ARGS(compiled));
    if (is_zero(wanted) && is_zero(compiled) && f->info.ptx->explicitcluster)
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE, "%s: .explicitcluster, and the launch gives no cluster size",
                      f->name);
    *out = !is_zero(wanted) ? wanted : !is_zero(compiled) ? compiled : (struct rt_dim3){1, 1, 1};
    return RT_SUCCESS;
}

static bool non_portable(const struct rt_function *f, const struct request *r) {
    return r->cluster_mode == RT_CLUSTER_DEFAULT ? f->non_portable_cluster : r->cluster_mode == RT_CLUSTER_NON_PORTABLE;
}

static int check_cluster_size(struct rt_context *c, const struct rt_function *f, const struct request *r,
                              struct rt_dim3 n) {
    uint64_t size = volume(n);
    if (f->info.ptx->blocksareclusters)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED, "%s: .blocksareclusters is not supported by the emulator", f->name);
    if (size > RT_DEVICE_PORTABLE_CLUSTER && r->cluster_mode == RT_CLUSTER_PORTABLE)
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE,
                      "%s: %llu CTAs in a cluster; the launch requires a portable size, of %u at most", f->name,
                      (unsigned long long)size, RT_DEVICE_PORTABLE_CLUSTER);
    if (size > RT_DEVICE_PORTABLE_CLUSTER && !non_portable(f, r))
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE,
                      "%s: %llu CTAs in a cluster; more than %u need "
                      "cudaFuncSetAttribute(cudaFuncAttributeNonPortableClusterSizeAllowed)",
                      f->name, (unsigned long long)size, RT_DEVICE_PORTABLE_CLUSTER);
    if (f->info.ptx->maxclusterrank != 0 && size > f->info.ptx->maxclusterrank)
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE, "%s: %llu CTAs in a cluster; .maxclusterrank is %u", f->name,
                      (unsigned long long)size, f->info.ptx->maxclusterrank);
    return RT_SUCCESS;
}

static int check_cluster(struct rt_context *c, const struct rt_function *f, const struct rt_launch_config *l,
                         const struct request *r, struct rt_dim3 n) {
    int e = check_cluster_size(c, f, r, n);
    if (e != RT_SUCCESS)
        return e;
    if (volume(n) > MACH_MAX_CLUSTER)
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE, "%s: %llu CTAs in a cluster; the chip has at most %u", f->name,
                      (unsigned long long)volume(n), MACH_MAX_CLUSTER);
    if (l->grid.x % n.x != 0 || l->grid.y % n.y != 0 || l->grid.z % n.z != 0)
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE,
                      "%s: a grid of " DIM " CTAs does not divide into clusters of " DIM, f->name, DIM_ARGS(l->grid),
                      DIM_ARGS(n));
    return RT_SUCCESS;
}

static bool divides(struct rt_dim3 d, struct rt_dim3 n) { return n.x % d.x == 0 && n.y % d.y == 0 && n.z % d.z == 0; }

/* A preferred cluster size is a wish, beside a regular one (cudaLaunchAttributePreferredClusterDimension in the CUDA
 * runtime API): a multiple of it that divides the grid, and no larger than the kernel's bound. */
static int check_preferred(struct rt_context *c, const struct rt_function *f, const struct rt_launch_config *l,
                           const struct request *r, struct rt_dim3 n) {
    struct rt_dim3 p = r->preferred;
    if (is_zero(p))
        return RT_SUCCESS;
    if (has_zero(p) || !divides(n, p))
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE, "%s: preferred clusters of " DIM " are no multiple of " DIM,
                      f->name, DIM_ARGS(p), DIM_ARGS(n));
    if (!divides(p, l->grid))
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE,
                      "%s: a grid of " DIM " CTAs does not divide into preferred clusters of " DIM, f->name,
                      DIM_ARGS(l->grid), DIM_ARGS(p));
    if (f->info.ptx->maxclusterrank != 0 && volume(p) > f->info.ptx->maxclusterrank)
        return rt_say(c, RT_ERROR_INVALID_CLUSTER_SIZE, "%s: preferred clusters of %llu CTAs; .maxclusterrank is %u",
                      f->name, (unsigned long long)volume(p), f->info.ptx->maxclusterrank);
    return RT_SUCCESS;
}

/* The device groups CTAs into preferred clusters where it has room for them, else into regular ones, and may mix them.
 * Here a launch has one size: the preferred one where it fits, and under the lazy schedule never. */
static void grant_preferred(const struct rt_context *c, const struct rt_function *f, const struct request *r,
                            struct launch_config *x) {
    const uint64_t most = non_portable(f, r) ? MACH_MAX_CLUSTER : RT_DEVICE_PORTABLE_CLUSTER;
    const struct diag_dim3 regular = x->cluster;
    if (is_zero(r->preferred) || is_zero(r->size) || !is_zero(from_diag(f->info.cluster)) ||
        volume(r->preferred) > most || c->gpu->config.schedule == MACH_SCHED_LAZY)
        return;
    x->cluster = to_diag(r->preferred);
    if (launch_max_resident_clusters(c->gpu, x) == 0)
        x->cluster = regular;
}

/* All parameters as laid out in the kernel, out of cuLaunchKernel's `extra`; bytes is NULL where it has none. */
struct packed {
    const void *bytes;
    size_t size;
};

static int read_extra(struct rt_context *c, const struct rt_function *f, const struct rt_launch *l,
                      struct packed *out) {
    *out = (struct packed){0};
    for (void **x = l->extra; x != NULL && *x != RT_EXTRA_END; x += 2) {
        if (x[0] == RT_EXTRA_BUFFER)
            out->bytes = x[1];
        else if (x[0] == RT_EXTRA_SIZE && x[1] != NULL)
            memcpy(&out->size, x[1], sizeof out->size);
        else
            return rt_say(c, RT_ERROR_INVALID_VALUE, "key %p of the extra list is not known", x[0]);
    }
    if (out->bytes != NULL && l->args != NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "parameters given twice: by pointers and by extra");
    if (out->bytes != NULL && out->size > f->info.param_bytes)
        return rt_say(c, RT_ERROR_OUT_OF_RESOURCES, "%s: takes %llu bytes of parameters and got %zu", f->name,
                      (unsigned long long)f->info.param_bytes, out->size);
    return RT_SUCCESS;
}

/* Lays the parameters out as the kernel reads them (natural alignment, in order). *out is freed by the caller. */
static int pack_params(struct rt_context *c, const struct rt_function *f, void **args, struct packed given,
                       uint8_t **out) {
    const struct ptx_func *k = f->info.ptx;
    *out = NULL;
    if (k->num_params == 0)
        return RT_SUCCESS;
    if (args == NULL && given.bytes == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: takes %u parameters and got none", f->name, k->num_params);
    if (given.bytes != NULL && given.size < f->info.param_bytes)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: takes %llu bytes of parameters and got %zu", f->name,
                      (unsigned long long)f->info.param_bytes, given.size);
    *out = rt_calloc(c, 1, f->info.param_bytes);
    if (*out == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    if (given.bytes != NULL) {
        memcpy(*out, given.bytes, f->info.param_bytes);
        return RT_SUCCESS;
    }
    for (uint32_t i = 0; i < k->num_params; i++) {
        if (args[i] == NULL)
            return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: the pointer to parameter %u is null", f->name, i);
        memcpy(*out + ptx_param_offset(k, i, NULL), args[i], k->params[i].size);
    }
    return RT_SUCCESS;
}

static struct launch_config machine_launch(const struct rt_function *f, const struct rt_launch_config *l,
                                           struct rt_dim3 grid, struct rt_dim3 cluster) {
    return (struct launch_config){
        .kernel = f->kernel,
        .grid = to_diag(grid),
        .block = to_diag(l->block),
        .cluster = to_diag(cluster),
        .dynamic_smem = (uint32_t)l->dynamic_shared,
        .param_bytes = f->info.param_bytes,
        .stream = (uintptr_t)l->stream,
    };
}

static int check_launch(struct rt_context *c, const struct rt_function *f, const struct rt_launch *launch,
                        struct launch_config *out) {
    const struct rt_launch_config *l = &launch->config;
    struct request request = {0};
    struct rt_dim3 cluster = {1, 1, 1};
    int e = check_shape(c, f, l, launch->shape_error);
    e = rt_then(e, read_attributes(c, l, &request));
    e = rt_then(e, check_resources(c, f, l, &request));
    e = rt_then(e, choose_cluster(c, f, &request, &cluster));
    e = rt_then(e, check_cluster(c, f, l, &request, cluster));
    e = rt_then(e, check_preferred(c, f, l, &request, cluster));
    *out = machine_launch(f, l, l->grid, cluster);
    out->clustered = !is_zero(request.size) || !is_zero(required_cluster(f));
    out->early = request.early;
    if (e == RT_SUCCESS && launch_max_resident_clusters(c->gpu, out) == 0)
        e = rt_say(c, RT_ERROR_OUT_OF_RESOURCES, "%s: no cluster of " DIM " such CTAs fits the device", f->name,
                   DIM_ARGS(cluster));
    if (e == RT_SUCCESS)
        grant_preferred(c, f, &request, out);
    return e;
}

struct launched {
    struct rt_context *c;
    const struct rt_function *f;
};

/* The time is what the emulator took. */
static void has_ended(void *ctx, uint64_t took) {
    const struct launched *l = ctx;
    struct rt_context *c = l->c;
    const struct rt_function *f = l->f;
    const int fault = c->gpu->fault;
    const double s = 1e-9 * (double)took;
    xfree(ctx);
    if (fault)
        report_strict(&c->report);
    if (c->time)
        fprintf(stderr, "sm100emu: %s: %.6f s, %llu warp instructions, %llu steps\n", f->name, s,
                (unsigned long long)c->gpu->clock, (unsigned long long)c->gpu->steps);
    if (c->time && c->clock) {
        const double cycles = clock_online_cycles(c->clock);
        struct stats_time time = rt_time(&c->state, cycles, clock_online_load(c->clock));
        time.ptx = clock_online_ptx(c->clock);
        rt_time_tell(f->name, cycles, time);
    }
    rt_statistics_tell(c, f->name, fault);
}

static int start(struct rt_context *c, const struct rt_function *f, struct launch_config *x) {
    struct launched *l = rt_calloc(c, 1, sizeof *l);
    if (l == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    *l = (struct launched){c, f};
    x->ended = has_ended;
    x->ended_ctx = l;
    x->may_stay = !mem_host_sees(c->gpu->mem); /* else the host may wait for a word without a call */
    c->sticky = launch_start(c->gpu, x);
    const int e = c->unwritten;
    c->unwritten = RT_SUCCESS;
    return e;
}

/* Does the launch ask to begin early? What else is wrong with it is told once those under way are done. */
static bool is_early(const struct rt_launch_config *l) {
    for (unsigned i = 0; l->attrs != NULL && i < l->num_attrs; i++)
        if (l->attrs[i].id == RT_LAUNCH_PROGRAMMATIC_SERIALIZATION && l->attrs[i].value.number != 0)
            return true;
    return false;
}

int rt_launch(struct rt_context *c, struct rt_function *f, const struct rt_launch *l) {
    struct launch_config x;
    struct packed given;
    uint8_t *params = NULL;
    int e = is_early(&l->config) ? RT_SUCCESS : rt_finish(c);
    e = rt_then(e, read_extra(c, f, l, &given));
    e = rt_then(e, rt_stream_check(c, l->config.stream, NULL));
    e = rt_then(e, check_launch(c, f, l, &x));
    e = rt_then(e, launch_joins(c->gpu, &x) ? RT_SUCCESS : rt_finish(c));
    e = rt_then(e, pack_params(c, f, l->args, given, &params));
    if (e == RT_SUCCESS) {
        rt_flush_printed(c);
        x.params = params;
        e = start(c, f, &x);
    }
    xfree(params);
    return e;
}

/* The cluster that a query is about. */
static int read_cluster_query(struct rt_context *c, const struct rt_function *f, const struct rt_launch_config *l,
                              struct request *request, struct rt_dim3 *cluster) {
    *request = (struct request){0};
    if (has_zero(l->block))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "a CTA of " DIM " threads", DIM_ARGS(l->block));
    int e = read_attributes(c, l, request);
    return rt_then(e, choose_cluster(c, f, request, cluster));
}

/* As many as the device has room for, whatever grid was given. A kernel's .reqntid does not count, as for the occupancy
 * of CTAs (measured on an H200); CuTe DSL asks for CTAs of 128 threads of a kernel that requires 1. */
static uint32_t clusters_that_fit(const struct rt_context *c, const struct rt_function *f,
                                  const struct rt_launch_config *l, const struct request *r, struct rt_dim3 cluster) {
    const uint32_t most = f->info.ptx->reqntid.x ? RT_DEVICE_MAX_THREADS : f->info.max_threads;
    if (volume(l->block) > most || volume(cluster) > MACH_MAX_CLUSTER || l->dynamic_shared > launch_limit(f, r))
        return 0;
    const struct launch_config x = machine_launch(f, l, cluster, cluster);
    return launch_max_resident_clusters(c->gpu, &x);
}

int rt_max_clusters(struct rt_context *c, struct rt_function *f, const struct rt_launch_config *l, int *out) {
    struct request request;
    struct rt_dim3 cluster;
    int e = rt_give(rt_check_out(c, out), out, 0);
    e = rt_then(e, read_cluster_query(c, f, l, &request, &cluster));
    e = rt_then(e, check_cluster_size(c, f, &request, cluster));
    return rt_give(e, out, (int)clusters_that_fit(c, f, l, &request, cluster));
}

int rt_max_cluster_size(struct rt_context *c, struct rt_function *f, const struct rt_launch_config *l, int *out) {
    struct request request;
    struct rt_dim3 n = {1, 1, 1}, asked;
    int e = rt_check_out(c, out);
    if (e == RT_SUCCESS && has_zero(l->grid))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "a grid of " DIM " CTAs", DIM_ARGS(l->grid));
    e = rt_then(e, read_cluster_query(c, f, l, &request, &asked));
    n.x = e == RT_SUCCESS && non_portable(f, &request) ? MACH_MAX_CLUSTER : RT_DEVICE_PORTABLE_CLUSTER;
    while (e == RT_SUCCESS && n.x > 0 && clusters_that_fit(c, f, l, &request, n) == 0)
        n.x--;
    return rt_give(e, out, (int)n.x);
}

int rt_func_get_attribute(struct rt_context *c, struct rt_function *f, int attribute, int *value) {
    const struct lower_kernel_info *k = &f->info;
    struct rt_dim3 cluster = required_cluster(f);
    const unsigned most = rt_max_threads(&c->gpu->config, f); /* .reqntid does not count (measured on an H200) */
    const int values[] = {
        [RT_FUNC_MAX_THREADS] = (int)(k->ptx->reqntid.x || most < k->max_threads ? most : k->max_threads),
        [RT_FUNC_SHARED_BYTES] = (int)k->static_smem,
        [RT_FUNC_CONST_BYTES] = (int)k->const_bytes,
        [RT_FUNC_LOCAL_BYTES] = (int)k->local_bytes,
        [RT_FUNC_NUM_REGS] = (int)k->regs,
        [RT_FUNC_PTX_VERSION] = atoi(f->module->choice.target + strlen("sm_")), /* sm_90 is 90 */
        [RT_FUNC_BINARY_VERSION] = 100,
        [RT_FUNC_CACHE_MODE_CA] = 0,
        [RT_FUNC_MAX_DYNAMIC_SHARED] = (int)max_dynamic(f),
        [RT_FUNC_SHARED_CARVEOUT] = f->carveout,
        [RT_FUNC_CLUSTER_MUST_BE_SET] = k->ptx->explicitcluster,
        [RT_FUNC_CLUSTER_WIDTH] = (int)cluster.x,
        [RT_FUNC_CLUSTER_HEIGHT] = (int)cluster.y,
        [RT_FUNC_CLUSTER_DEPTH] = (int)cluster.z,
        [RT_FUNC_NON_PORTABLE_CLUSTER] = f->non_portable_cluster,
        [RT_FUNC_CLUSTER_POLICY] = f->cluster_policy,
        [RT_FUNC_NODE_UPDATE] = 0, /* no graphs */
        [RT_FUNC_SHARED_MODE] = f->shared_mode,
    };
    if (attribute < 0 || attribute >= RT_FUNC_COUNT || value == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "function attribute %d is not known", attribute);
    *value = values[attribute];
    return RT_SUCCESS;
}

/* `compiled`: what .reqnctapercluster says of this dimension, 0 without. */
static int set_cluster(struct rt_context *c, struct rt_function *f, unsigned *dim, unsigned compiled, int value) {
    const uint32_t most = f->info.ptx->maxclusterrank;
    if (value < 0 || (compiled != 0 && (unsigned)value != compiled) || (most != 0 && (unsigned)value > most))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: a cluster size of %d, which is %s", f->name, value,
                      value < 0 ? "negative" : "not what it was compiled for");
    *dim = (unsigned)value;
    return RT_SUCCESS;
}

int rt_func_set_attribute(struct rt_context *c, struct rt_function *f, int attribute, int value) {
    unsigned most = c->gpu->config.smem_per_cta;
    switch (attribute) {
    case RT_FUNC_MAX_DYNAMIC_SHARED:
        if (value < 0 || f->info.static_smem > most || (unsigned)value > most - f->info.static_smem)
            return rt_say(c, RT_ERROR_INVALID_VALUE,
                          "%s: %d bytes of dynamic shared memory beside %u static ones; a CTA has at most %u", f->name,
                          value, f->info.static_smem, most);
        f->max_dynamic_shared = value;
        return RT_SUCCESS;
    case RT_FUNC_SHARED_CARVEOUT:
        if (value < -1 || value > 100)
            return rt_say(c, RT_ERROR_INVALID_VALUE, "a shared memory carveout of %d %%: -1 to 100", value);
        f->carveout = value;
        return RT_SUCCESS;
    case RT_FUNC_CLUSTER_WIDTH:
        return set_cluster(c, f, &f->cluster.x, f->info.cluster.x, value);
    case RT_FUNC_CLUSTER_HEIGHT:
        return set_cluster(c, f, &f->cluster.y, f->info.cluster.y, value);
    case RT_FUNC_CLUSTER_DEPTH:
        return set_cluster(c, f, &f->cluster.z, f->info.cluster.z, value);
    case RT_FUNC_NON_PORTABLE_CLUSTER:
        f->non_portable_cluster = value != 0;
        return RT_SUCCESS;
    case RT_FUNC_CLUSTER_POLICY:
        if (value < 0 || value > 2)
            return rt_say(c, RT_ERROR_INVALID_VALUE, "a cluster scheduling policy of %d: 0 to 2", value);
        f->cluster_policy = value;
        return RT_SUCCESS;
    case RT_FUNC_SHARED_MODE: {
        int e = check_shared_mode(c, value);
        return rt_give(e, &f->shared_mode, value);
    }
    default:
        return rt_say(c, RT_ERROR_INVALID_VALUE, "function attribute %d cannot be set", attribute);
    }
}
