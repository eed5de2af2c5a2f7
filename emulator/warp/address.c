/* warp/address.c - from a lane's address to bytes: state spaces, windows, bounds and alignment (PTX
 * ISA 5.1, 6.4.1).
 *
 * Shared, local and parameter addresses are 32 bits wide: wider registers are truncated. Generic addresses
 * fall into the windows of machine.h; everything else is global. Constant variables live in device memory.
 */
#include "warp/access.h"
#include "warp/core.h"

#include <stdio.h>

uint64_t warp_address(const struct warp *w, const struct warp_opnd *o, uint32_t lane) {
    uint64_t base = 0;
    if (o->has_base)
        base = o->bits == 64 ? warp_src64(w, o->slot)[lane] : warp_src32(w, o->slot)[lane];
    return base + (uint64_t)o->offset;
}

bool warp_address_unknown(struct warp *w, const struct insn *in, uint32_t bad) {
    warp_fault_poison(w, in, bad, "the address");
    return false;
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

/* The codes of shared memory's are an H200's (tests/silicon/cluster.c). */

DIAG(bad_align) = {
    DIAG_FAULT(MISALIGNED_ADDRESS, "misaligned-address", "6.4.1"),
    .rule = "an address must be a multiple of the access's size; for a vector, of the whole vector's size",
    .hint = "Check the offset, which must be a multiple of the element, and any vector load from a pointer to scalars",
    .reason = "the chip traps.",
};
DIAG(bad_global) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "global-out-of-bounds", "5.1.4"),
    .rule = "a global access must stay inside one live allocation",
    .hint = "Check for an index past the end of an array, a missing bounds check for the last tile, or a host pointer",
    .reason = "the bytes are another allocation's, or no allocation's.",
};
DIAG(freed_block) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "global-use-after-free", "5.1.4"),
    .rule = "a global access must stay inside one live allocation",
    .hint = "Call cudaFree after the last kernel that uses the buffer, free() after the last use, and keep no pointer "
            "from an earlier allocation",
    .reason = "the bytes are another allocation's, or no allocation's.",
};
DIAG(bad_shared) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "shared-out-of-bounds", "5.1.7"),
    .rule = "a shared access must stay inside the static and dynamic shared memory of a CTA of its cluster",
    .hint =
        "Ask for enough dynamic shared memory in the launch. If it is enough, find the offset that runs past a tile",
    .reason = "on the chip the access fails, or reaches another variable's bytes.",
};
DIAG(not_generic) = {
    DIAG_HEAD(STRICT, "shared-address-not-generic", "6.4.1.1, 9.7.16.12.1, 9.7.13.15"),
    .rule = "an instruction without a state space takes a generic address; for shared memory that is in the window of "
            "shared::cluster",
    .hint = "Name the state space, .shared::cta or .shared::cluster, or leave out cvta.to.shared "
            "(__cvta_generic_to_shared). The chip does what was meant",
    .cuda_error = DIAG_CUDA_ILLEGAL_ADDRESS,
    .reason = "ptxas uses the low 32 bits of either address, and so does the emulator. ThunderKittens commits like "
              "this in its kernels for B200s.",
};
DIAG(no_such_rank) = {
    DIAG_HEAD(ERROR, "shared-rank", "9.7.9.23, 5.1.7"),
    .rule = "a shared::cluster address names a CTA of the executing CTA's cluster",
    .hint = "Give mapa a rank below %cluster_nctarank (otherwise the address has rank 255), and check how bits 24 and "
            "up were computed",
    .reason = "on the chip the access fails, or reaches another CTA's bytes.",
};
DIAG(no_cluster) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "shared-rank", "9.7.9.23, 5.1.7"),
    .rule = "a shared::cluster address names a CTA of the executing CTA's cluster",
    .hint = "Launch with a cluster size, or give the kernel .reqnctapercluster: now each CTA is alone",
};
DIAG(not_own) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "shared-cta-not-own", "5.1.7"),
    .rule = ".shared::cta names the executing CTA's own shared memory; another CTA's memory needs .shared::cluster",
    .hint = "Use .shared::cluster for an address from mapa, or from another CTA",
    .reason = "the address is not in the named state space.",
};
DIAG(peer_gone) = {
    DIAG_HEAD(ERROR, "shared-cta-exited", "5.1.7"),
    .rule = "shared memory lives as long as its CTA",
    .hint = "End the kernel with barrier.cluster.arrive and .wait, so that no CTA exits while others use its memory",
    .reason = "in this order another CTA may own the memory by then.",
};
DIAG(bad_local) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "local-out-of-bounds", "5.1.5"),
    .rule = "a local access must stay inside the thread's own local memory",
    .hint = "Check for an index past the end of an array on the stack",
    .reason = "the bytes are another variable's.",
};
DIAG(bad_param) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "param-out-of-bounds", "5.1.6.1"),
    .rule = "kernel parameters are read-only, and end with the last one",
    .reason = "the bytes belong to no parameter of the kernel.",
};

/* How far past `end` an access reaches. */
static const char *say_past(char how[40], uint64_t addr, uint32_t size, uint64_t end) {
    if (addr == end)
        return "right after";
    snprintf(how, 40, "%s%llu bytes past", addr > end ? "" : "running ",
             (unsigned long long)(addr > end ? addr - end : addr + size - end));
    return how;
}

static bool fault_global(struct warp *w, const struct insn *in, uint32_t lane, uint64_t addr, uint32_t size,
                         bool write) {
    const char *verb = write ? "writes" : "reads";
    struct mem_block b, old;
    uint32_t lanes = 1u << lane;
    bool near = mem_nearest(w->gpu->mem, addr, &b), freed = mem_freed(w->gpu->mem, addr, &old);
    if (near && freed && old.addr < b.addr + b.size) /* its place was given away: a live block's end is overrun */
        freed = false;
    if (addr < 4096)
        warp_fault(w, in, lanes, &bad_global, "lane %u %s %u bytes through a null pointer (address 0x%llx)", lane, verb,
                   size, (unsigned long long)addr);
    else if (!mem_is_device(w->gpu->mem, addr))
        warp_fault(w, in, lanes, &bad_global, "lane %u %s %u bytes at 0x%llx, which is no device address", lane, verb,
                   size, (unsigned long long)addr);
    else if (freed)
        warp_fault(w, in, lanes, &freed_block, "lane %u %s %u bytes at byte %llu of the freed %llu-byte %s at 0x%llx",
                   lane, verb, size, (unsigned long long)(addr - old.addr), (unsigned long long)old.size,
                   mem_kind_text(old.kind), (unsigned long long)old.addr);
    else if (!near)
        warp_fault(w, in, lanes, &bad_global, "lane %u %s %u bytes at 0x%llx, below every allocation", lane, verb, size,
                   (unsigned long long)addr);
    else {
        char how[40];
        warp_fault(w, in, lanes, &bad_global, "lane %u %s %u bytes at 0x%llx, %s the %llu-byte %s%s%s at 0x%llx", lane,
                   verb, size, (unsigned long long)addr, say_past(how, addr, size, b.addr + b.size),
                   (unsigned long long)b.size, mem_kind_text(b.kind), b.name ? " " : "", b.name ? b.name : "",
                   (unsigned long long)b.addr);
    }
    return false;
}

static bool fault_shared(struct warp *w, const struct insn *in, uint32_t lane, uint32_t addr, uint32_t size,
                         bool write) {
    uint32_t rank = addr >> MACH_SMEM_RANK_SHIFT, off = addr & ((1u << MACH_SMEM_RANK_SHIFT) - 1);
    const char *verb = write ? "writes" : "reads";
    const struct cluster *cl = w->cta->cluster;
    if (rank >= cl->num_ctas)
        warp_fault(w, in, 1u << lane, w->grid->clustered ? &no_such_rank : &no_cluster,
                   "lane %u %s %u bytes at shared 0x%x: rank %u of %u CTAs", lane, verb, size, addr, rank,
                   cl->num_ctas);
    else if (!cl->cta[rank].smem || (&cl->cta[rank] != w->cta && !cl->cta[rank].live_warps))
        warp_fault(w, in, 1u << lane, &peer_gone,
                   "lane %u %s %u bytes at shared address 0x%x, but the CTA of rank %u has exited", lane, verb, size,
                   addr, rank);
    else if (off < MACH_SMEM_FIRST)
        warp_fault(w, in, 1u << lane, &bad_shared,
                   "lane %u %s %u bytes at shared offset 0x%x, below the first variable (the system owns [0, 0x%x))",
                   lane, verb, size, off, MACH_SMEM_FIRST);
    else {
        const uint32_t end = cl->cta[rank].smem_end;
        char how[40];
        warp_fault(w, in, 1u << lane, &bad_shared, "lane %u %s %u bytes at shared offset 0x%x, %s the CTA's %u bytes",
                   lane, verb, size, off, say_past(how, off, size, end), end - MACH_SMEM_FIRST);
    }
    return false;
}

/* --- one lane ----------------------------------------------------------------------------------------------------- */

static bool resolve_shared(struct warp *w, const struct insn *in, uint32_t lane, bool cluster, uint32_t addr,
                           uint32_t size, bool write, struct warp_loc *loc) {
    uint32_t off;
    struct cta *cta = smem_resolve(w->cta, addr, size, &off);
    if (!cta || (cta != w->cta && cta->live_warps == 0))
        return fault_shared(w, in, lane, addr, size, write);
    if (cta != w->cta && !cluster)
        return warp_fails(w, in, 1u << lane, &not_own,
                          "lane %u %s shared address 0x%x of the CTA of rank %u from the CTA of rank %u", lane,
                          write ? "writes" : "reads", addr, cta->rank, w->cta->rank);
    smem_settle(cta, off, size);
    *loc = (struct warp_loc){cta->smem + off, XS_SHARED_CTA, cta, off};
    return true;
}

static bool resolve_local(struct warp *w, const struct insn *in, uint32_t lane, uint32_t addr, uint32_t size,
                          bool write, struct warp_loc *loc) {
    if (!w->local || addr > w->local_stride || size > w->local_stride - addr)
        return warp_fails(w, in, 1u << lane, &bad_local,
                          "lane %u %s %u bytes at local offset 0x%x; the thread has %u bytes", lane,
                          write ? "writes" : "reads", size, addr, w->local ? w->local_stride : 0);
    *loc = (struct warp_loc){w->local + (size_t)lane * w->local_stride + addr, XS_LOCAL, NULL, addr};
    return true;
}

static bool resolve_param(struct warp *w, const struct insn *in, uint32_t lane, uint32_t addr, uint32_t size,
                          bool write, struct warp_loc *loc) {
    uint64_t n = w->grid->param_bytes;
    if (write || addr > n || size > n - addr)
        return warp_fails(w, in, 1u << lane, &bad_param,
                          "lane %u %s %u bytes at parameter offset %u; the kernel has %llu bytes of them", lane,
                          write ? "writes" : "reads", size, addr, (unsigned long long)n);
    *loc = (struct warp_loc){w->grid->params + addr, XS_PARAM, NULL, addr};
    return true;
}

/* A generic address as space and address in it (6.4.1.1). */
static enum warp_space leave_window(uint64_t *addr) {
    static const struct {
        uint64_t base;
        enum warp_space space;
    } window[] = {
        {MACH_WINDOW_SHARED, XS_SHARED_CLUSTER}, {MACH_WINDOW_LOCAL, XS_LOCAL}, {MACH_WINDOW_PARAM, XS_PARAM}};
    for (unsigned i = 0; i < 3; i++)
        if (*addr - window[i].base < MACH_WINDOW_SIZE) {
            *addr -= window[i].base;
            return window[i].space;
        }
    return XS_GLOBAL;
}

bool warp_resolve(struct warp *w, const struct insn *in, uint32_t lane, enum warp_space space, uint64_t addr,
                  uint32_t size, uint32_t align, bool write, struct warp_loc *loc) {
    if (addr & (align - 1))
        return warp_fails(w, in, 1u << lane, &bad_align, "lane %u %s %u bytes at 0x%llx, which is no multiple of %u",
                          lane, write ? "writes" : "reads", size, (unsigned long long)addr, align);
    if (space == XS_GENERIC)
        space = leave_window(&addr);
    switch (space) {
    case XS_SHARED_CTA:
    case XS_SHARED_CLUSTER:
        return resolve_shared(w, in, lane, space == XS_SHARED_CLUSTER, (uint32_t)addr, size, write, loc);
    case XS_LOCAL:
        return resolve_local(w, in, lane, (uint32_t)addr, size, write, loc);
    case XS_PARAM:
        return resolve_param(w, in, lane, (uint32_t)addr, size, write, loc);
    default:
        break;
    }
    uint8_t *host = mem_at(w->gpu->mem, addr, size);
    if (!host)
        return fault_global(w, in, lane, addr, size, write);
    *loc = (struct warp_loc){host, XS_GLOBAL, NULL, 0};
    return true;
}

uint32_t warp_loc_poison(const struct warp *w, uint32_t lane, const struct warp_loc *loc, uint32_t size) {
    if (loc->space == XS_SHARED_CTA)
        return warp_bits_get(loc->cta->smem_poison, loc->off, size);
    if (loc->space == XS_LOCAL)
        return warp_bits_get(w->local_poison, (uint64_t)lane * w->local_stride + loc->off, size);
    return 0;
}

/* A generic address of shared memory as an address in it. The windows lie beyond 32 bits, and those are what ptxas
 * hands to the chip: an address in shared memory that is given for a generic one means itself. False after a fault. */
static bool leave_shared_window(struct warp *w, const struct insn *in, uint32_t lane, uint64_t *addr) {
    const uint64_t given = *addr;
    if (given <= UINT32_MAX) {
        const struct mach_origin origin = warp_origin(w, in, 1u << lane);
        return mach_warn(w->island, &origin, &not_generic,
                         "lane %u gives 0x%llx, an address in shared memory, for a generic one", lane,
                         (unsigned long long)given);
    }
    if (leave_window(addr) == XS_SHARED_CLUSTER)
        return true;
    return warp_fails(w, in, 1u << lane, &bad_shared,
                      "lane %u gives the generic address 0x%llx, which is not in shared memory", lane,
                      (unsigned long long)given);
}

bool warp_smem_operand(struct warp *w, const struct insn *in, uint32_t lane, const struct warp_opnd *o, bool cluster,
                       bool generic, uint32_t size, struct cta **cta, uint32_t *off) {
    if (!warp_address_known(w, in, o, 1u << lane))
        return false;
    uint64_t addr = warp_address(w, o, lane);
    if (generic && !leave_shared_window(w, in, lane, &addr))
        return false;
    struct warp_loc loc = {0};
    if (!warp_resolve(w, in, lane, cluster ? XS_SHARED_CLUSTER : XS_SHARED_CTA, addr, size, size & (0u - size), true,
                      &loc))
        return false;
    *cta = loc.cta;
    *off = loc.off;
    return true;
}

/* --- the whole warp ----------------------------------------------------------------------------------------------- */

/* Are the addresses of all 32 lanes evenly spaced, without wrapping? Then first and stride describe them. */
static bool affine_address(const struct warp *w, const struct warp_opnd *o, uint64_t *first, int64_t *stride) {
    uint64_t rest = 0;
    int64_t d = 0;
    *first = (uint64_t)o->offset;
    if (o->has_base && o->bits == 64) {
        const uint64_t *b = warp_src64(w, o->slot);
        d = (int64_t)(b[1] - b[0]);
        uint64_t next = b[0];
        for (uint32_t l = 0; l < MACH_WARP; l++, next += (uint64_t)d)
            rest |= b[l] ^ next;
        *first += b[0];
    } else if (o->has_base) {
        const uint32_t *b = warp_src32(w, o->slot);
        uint32_t d32 = b[1] - b[0], rest32 = 0, next = b[0];
        for (uint32_t l = 0; l < MACH_WARP; l++, next += d32)
            rest32 |= b[l] ^ next;
        d = (int32_t)d32;
        rest = rest32 | ((uint64_t)(b[0] + 31 * d) > UINT32_MAX);
        *first += b[0];
    }
    *stride = d;
    uint64_t last = *first + (uint64_t)(31 * d);
    return !rest && d < INT32_MAX && d > INT32_MIN && (d < 0 ? last < *first : last >= *first);
}

/* warp_address of all lanes. */
static void all_addresses(const struct warp *w, const struct warp_opnd *o, uint64_t at[MACH_WARP]) {
    const uint64_t offset = (uint64_t)o->offset;
    if (o->has_base && o->bits == 64) {
        const uint64_t *b = warp_src64(w, o->slot);
        for (uint32_t l = 0; l < MACH_WARP; l++)
            at[l] = b[l] + offset;
        return;
    }
    static const uint32_t none[MACH_WARP];
    const uint32_t *b = o->has_base ? warp_src32(w, o->slot) : none;
    for (uint32_t l = 0; l < MACH_WARP; l++)
        at[l] = b[l] + offset;
}

/* Lowest and highest address and the OR of what alignment looks at; addresses go to s->at. */
static void address_range(const struct warp *w, const struct warp_opnd *o, uint32_t mask, struct warp_span *s,
                          uint64_t *lo, uint64_t *hi, uint64_t *any) {
    s->affine = mask == WARP_ALL_LANES && affine_address(w, o, &s->at[0], &s->stride);
    if (s->affine) {
        uint64_t last = warp_span_at(s, MACH_WARP - 1);
        *any = s->at[0] | (uint64_t)s->stride;
        *lo = s->stride < 0 ? last : s->at[0];
        *hi = s->stride < 0 ? s->at[0] : last;
        return;
    }
    uint64_t least = UINT64_MAX, most = 0, bits = 0;
    if (mask == WARP_ALL_LANES) {
        all_addresses(w, o, s->at);
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            const uint64_t a = s->at[l];
            bits |= a;
            least = a < least ? a : least;
            most = a > most ? a : most;
        }
    } else
        WARP_FOR_LANES(l, mask) {
            const uint64_t a = s->at[l] = warp_address(w, o, l);
            bits |= a;
            least = a < least ? a : least;
            most = a > most ? a : most;
        }
    *lo = least;
    *hi = most;
    *any = bits;
}

/* Addresses become indices: `add` is what lies between, `lane` what each lane adds on top. */
static void rebase(struct warp_span *s, uint32_t mask, uint64_t add, uint64_t lane) {
    if (s->affine) {
        s->at[0] += add;
        s->stride += (int64_t)lane;
        return;
    }
    if (mask == WARP_ALL_LANES)
        for (uint32_t l = 0; l < MACH_WARP; l++)
            s->at[l] += add + l * lane;
    else
        WARP_FOR_LANES(l, mask) { s->at[l] += add + l * lane; }
}

bool warp_span(const struct warp *w, const struct warp_opnd *o, uint32_t mask, enum warp_space space, uint32_t size,
               uint32_t align, bool write, struct warp_span *s) {
    uint64_t lo, hi, any;
    address_range(w, o, mask, s, &lo, &hi, &any);
    if (any & (align - 1) || hi - lo > UINT32_MAX - size)
        return false;
    uint32_t span = (uint32_t)(hi - lo) + size;
    uint64_t from = lo, last = hi; /* addresses in their space */
    if (space == XS_GENERIC) {
        space = leave_window(&from);
        if (leave_window(&last) != space)
            return false;
    }
    s->poison = NULL;
    s->clean = false;
    s->space = XS_GLOBAL;
    s->base = lo;
    if (space == XS_GLOBAL || space == XS_CONST) {
        s->host = mem_at(w->gpu->mem, lo, span);
        rebase(s, mask, 0 - lo, 0);
        return s->host != NULL;
    }
    s->base = 0;
    if (last > UINT32_MAX - size)
        return false;
    if (space == XS_SHARED_CTA || space == XS_SHARED_CLUSTER) {
        uint32_t off;
        struct cta *cta = smem_resolve(w->cta, (uint32_t)from, span, &off);
        if (!cta || (cta != w->cta && (space == XS_SHARED_CTA || cta->live_warps == 0)))
            return false;
        s->space = XS_SHARED_CTA;
        s->host = cta->smem;
        s->cta = cta;
        s->poison = cta->smem_poison;
        smem_settle(cta, off, span);
        s->clean = smem_known_clean(cta, off, span);
        rebase(s, mask, off - lo, 0);
        return true;
    }
    if (space == XS_LOCAL && w->local && last + size <= w->local_stride) {
        s->space = XS_LOCAL;
        s->host = w->local;
        s->poison = w->local_poison;
        rebase(s, mask, from - lo, w->local_stride);
        return true;
    }
    if (space == XS_PARAM && !write && last + size <= w->grid->param_bytes) {
        s->space = XS_PARAM;
        s->host = w->grid->params;
        rebase(s, mask, from - lo, 0);
        return true;
    }
    return false;
}

bool warp_span_lane(struct warp *w, const struct insn *in, uint32_t lane, uint64_t addr, enum warp_space space,
                    uint32_t size, uint32_t align, bool write, struct warp_span *s) {
    struct warp_loc loc;
    if (!warp_resolve(w, in, lane, space, addr, size, align, write, &loc))
        return false;
    s->space = loc.space;
    s->affine = s->clean = false;
    s->poison = NULL;
    s->host = loc.host;
    s->base = loc.space == XS_GLOBAL ? addr : 0;
    s->at[lane] = 0;
    if (loc.space == XS_SHARED_CTA) {
        s->host = loc.cta->smem;
        s->cta = loc.cta;
        s->poison = loc.cta->smem_poison;
        s->at[lane] = loc.off;
    } else if (loc.space == XS_LOCAL) {
        s->host = w->local;
        s->poison = w->local_poison;
        s->at[lane] = (uint64_t)lane * w->local_stride + loc.off;
    }
    return true;
}
