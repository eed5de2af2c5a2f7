/* warp/frame.c - what a warp keeps for its lanes: slots of registers and their poison, local memory, and a frame for
 * each activation of a function.
 *
 * Lanes that have parted call and return on their own (PTX ISA 9.7.12.5, .6): frames come and go out of order, and one
 * is free when its last lane has left it. The storage is that of the worker who runs the warp's island; it only grows.
 */
#include "warp/core.h"
#include "warp/loads.h"
#include "warp/parts.h"
#include "warp/unwritten.h"

#define NONE UINT32_MAX
#define MAX_DEPTH 1024u /* activations of one thread */
/* Bytes of .local variables of a thread: the chip's local memory, which holds the stack too (CUDA C++ Programming
 * Guide, compute capability 10.0). */
#define MAX_LOCAL (512u * 1024u)
/* Bytes of the registers in a warp's frames. The chip saves those alone that are live across a call, and a frame here
 * has 32 lanes of all that the text names: so this is four times what local memory the chip gives a warp. */
#define MAX_SLOTS_BYTES (4u * MACH_WARP * MAX_LOCAL)
#define MAX_SLOTS (MAX_SLOTS_BYTES / (MACH_WARP * (uint32_t)sizeof(uint32_t)))

/* --- storage ------------------------------------------------------------------------------------------------------ */

/* Memory for `need` instead of `have` bytes, the rest zeroed, or not. */
static void *grow(struct warp *w, void *old, size_t have, size_t need, bool zeroed) {
    void *p = worker_alloc_zeroed(w->island->worker, need, zeroed ? need : 0);
    if (old)
        memcpy(p, old, have);
    worker_free(w->island->worker, old);
    return p;
}

static void reserve_slots(struct warp *w, uint32_t need) {
    const size_t slot = MACH_WARP * sizeof *w->slots;
    if (!w->slots || need > w->num_slots) { /* a function without registers has a place to point at, too */
        uint32_t n = need > 2 * w->num_slots ? (need + 63) & ~63u : 2 * w->num_slots;
        n = n < MAX_SLOTS ? n : MAX_SLOTS;
        w->slots = grow(w, w->slots, w->zeroed * slot, n * slot, false);
        w->poison = grow(w, w->poison, w->num_slots * sizeof *w->poison, n * sizeof *w->poison, true);
        w->num_slots = n;
    }
    if (need > w->zeroed) {
        memset(w->slots + (size_t)w->zeroed * MACH_WARP, 0, (need - w->zeroed) * slot);
        w->zeroed = need;
    }
}

static void reserve_local(struct warp *w, uint32_t need) {
    struct worker *worker = w->island->worker;
    if (need <= w->local_stride)
        return;
    uint32_t stride = w->local_stride ? w->local_stride : 64;
    while (stride < need)
        stride *= 2;
    uint8_t *bytes = worker_alloc(worker, (size_t)stride * MACH_WARP),
            *poison = worker_alloc(worker, (size_t)(stride / 8) * MACH_WARP);
    memset(poison, 0xff, (size_t)(stride / 8) * MACH_WARP);
    for (unsigned l = 0; l < MACH_WARP && w->local_stride; l++) {
        memcpy(bytes + (size_t)l * stride, w->local + (size_t)l * w->local_stride, w->local_stride);
        memcpy(poison + (size_t)l * stride / 8, w->local_poison + (size_t)l * w->local_stride / 8, w->local_stride / 8);
    }
    worker_free(worker, w->local);
    worker_free(worker, w->local_poison);
    w->local = bytes;
    w->local_poison = poison;
    w->local_stride = stride;
}

/* --- frames ------------------------------------------------------------------------------------------------------- */

/* A special register of lane 0, and of the others where they differ from it: %tid, which counts on, %laneid and the
 * masks. The value of lane 0; *differ tells. */
static uint64_t sreg_lanes(const struct warp *w, enum ptx_sreg r, uint64_t v[MACH_WARP], bool *differ) {
    const struct diag_dim3 block = w->grid->block;
    const bool of_thread = r >= PTX_SREG_tid_x && r <= PTX_SREG_tid_z;
    *differ = of_thread || r == PTX_SREG_laneid || r == PTX_SREG_lanemask_eq || r == PTX_SREG_lanemask_lt ||
              r == PTX_SREG_lanemask_le || r == PTX_SREG_lanemask_ge || r == PTX_SREG_lanemask_gt;
    v[0] = 0;
    warp_sreg(w, r, 0, &v[0]);
    if (*differ && !of_thread)
        for (uint32_t l = 1; l < MACH_WARP; l++)
            warp_sreg(w, r, l, &v[l]);
    struct diag_dim3 tid = of_thread ? warp_tid(w, 0) : (struct diag_dim3){0};
    for (uint32_t l = 0; of_thread && l < MACH_WARP; l++) {
        v[l] = r == PTX_SREG_tid_x ? tid.x : r == PTX_SREG_tid_y ? tid.y : tid.z;
        if (++tid.x == block.x) {
            tid.x = 0;
            tid.z += ++tid.y == block.y;
            tid.y = tid.y == block.y ? 0 : tid.y;
        }
    }
    return v[0];
}

static void fill_init(struct warp *w, const struct warp_frame *fr, const struct warp_init *k) {
    uint32_t *d32 = warp_dst32(w, k->slot);
    uint64_t *d64 = warp_dst64(w, k->slot), sreg[MACH_WARP], v;
    bool differ = false;
    if (k->kind == INIT_SREG)
        v = sreg_lanes(w, k->sreg, sreg, &differ);
    else if (k->kind == INIT_SHARED)
        v = (w->cta->rank << MACH_SMEM_RANK_SHIFT) + w->grid->smem_offset[k->var] + (uint64_t)k->offset;
    else
        v = fr->local_base + (uint64_t)k->offset;
    for (uint32_t l = 0; l < MACH_WARP && k->bits == 64; l++)
        d64[l] = differ ? sreg[l] : v;
    for (uint32_t l = 0; l < MACH_WARP && k->bits != 64; l++)
        d32[l] = (uint32_t)(differ ? sreg[l] : v);
    w->pz[k->slot] = 0;
}

static void unlist_frame(struct warp *w, uint32_t i) {
    const struct warp_frame *fr = &w->frames[i];
    if (fr->prev_free == NONE)
        w->free_frame = fr->next_free;
    else
        w->frames[fr->prev_free].next_free = fr->next_free;
    if (fr->next_free != NONE)
        w->frames[fr->next_free].prev_free = fr->prev_free;
}

/* The last lane has left the frame. The kernel's own, 0, stays. */
static void free_frame(struct warp *w, uint32_t i) {
    struct warp_frame *fr = &w->frames[i];
    fr->used = false;
    fr->prev_free = NONE;
    fr->next_free = w->free_frame;
    if (w->free_frame != NONE)
        w->frames[w->free_frame].prev_free = i;
    w->free_frame = i;
    while (!w->frames[w->end_frame - 1].used)
        unlist_frame(w, --w->end_frame);
}

/* A free frame record with so many slots, as a rule the latest; else a new one. NONE: the warp has too many slots. */
static uint32_t take_frame(struct warp *w, uint32_t slots) {
    uint32_t i = w->free_frame;
    while (i != NONE && w->frames[i].slots < slots)
        i = w->frames[i].next_free;
    if (i != NONE) {
        unlist_frame(w, i);
        return i;
    }
    i = w->end_frame;
    const struct warp_frame *last = i ? &w->frames[i - 1] : NULL;
    const uint32_t base = last ? last->base + last->slots : 0;
    if (slots > MAX_SLOTS - base)
        return NONE;
    if (i == w->num_frames) {
        const uint32_t n = i ? 2 * i : 4;
        w->frames = grow(w, w->frames, i * sizeof *w->frames, n * sizeof *w->frames, true);
        w->num_frames = n;
    }
    reserve_slots(w, base + slots);
    w->frames[i] = (struct warp_frame){.base = base, .slots = slots};
    w->end_frame++;
    return i;
}

DIAG(stack_overflow) = {
    DIAG_HEAD(ERROR, "call-depth", "5.1.5"),
    .rule = "a thread's call stack and local memory are limited: 1024 calls and 524288 bytes of local memory. The "
            "registers of a warp's calls may take 67108864 bytes",
    .hint = "Look for endless recursion",
    .reason = "a thread's stack is finite on the chip, too.",
};

bool warp_push_frame(struct warp *w, const struct insn *call, const struct warp_func *f, uint32_t ret_pc) {
    struct group *g = w->g;
    const bool root = w->end_frame == 0;
    const uint32_t parent = g->frame, depth = root ? 0 : w->frames[parent].depth + 1;
    const uint32_t local = root ? 0 : w->frames[parent].local_base + w->frames[parent].func->local_bytes;
    const uint32_t bytes = local + f->local_bytes, consts = f->chained ? f->num_consts : 0;
    const uint32_t index = depth < MAX_DEPTH && bytes <= MAX_LOCAL ? take_frame(w, f->frame_slots + consts) : NONE;
    if (index == NONE)
        return warp_fails(w, call, g->mask, &stack_overflow,
                          "stack overflow in a call of %s: %u calls deep, %u bytes of local memory", f->src->name,
                          depth, bytes);
    reserve_local(w, bytes);
    struct warp_frame *fr = &w->frames[index];
    *fr = (struct warp_frame){.func = f,
                              .base = fr->base,
                              .slots = fr->slots,
                              .parent = root ? 0 : parent,
                              .number = ++w->calls,
                              .depth = depth,
                              .ret_pc = ret_pc,
                              .local_base = local,
                              .mask = g->mask,
                              .call = call,
                              .used = true};
    g->frame = index;
    warp_load_frame(w);
    memset(w->pz, 0xff, f->frame_slots * sizeof *w->pz);
    if (consts)
        memcpy(warp_dst32(w, (warp_slot)f->frame_slots), f->consts, consts * MACH_WARP * sizeof *f->consts);
    if (w->parts)
        warp_forget_parts(w, fr->base, f->frame_slots, WARP_ALL_LANES);
    for (uint32_t i = 0; i < f->num_inits; i++)
        fill_init(w, &w->frames[index], &f->inits[i]);
    return true;
}

void warp_pop_frame(struct warp *w) {
    struct group *g = w->g;
    struct warp_frame *fr = &w->frames[g->frame];
    fr->mask &= ~g->mask;
    const uint32_t frame = g->frame;
    g->pc = fr->ret_pc;
    g->frame = fr->parent;
    if (!fr->mask)
        free_frame(w, frame);
    warp_load_frame(w);
}

void warp_leave_frames(struct warp *w, uint32_t frame, uint32_t lanes) {
    for (uint32_t f = frame;; f = w->frames[f].parent) {
        w->frames[f].mask &= ~lanes;
        if (f == 0)
            return;
        if (w->frames[f].mask == 0)
            free_frame(w, f);
    }
}

/* --- warps -------------------------------------------------------------------------------------------------------- */

void warp_create(struct warp *w, struct warp_grid *grid, struct cta *cta, uint32_t index) {
    *w = (struct warp){
        .cta = cta, .gpu = grid->gpu, .island = cta->island, .grid = grid, .index = index, .free_frame = NONE};
    uint32_t first = index * MACH_WARP, n = grid->threads - first;
    w->lanes = w->live = n >= MACH_WARP ? WARP_ALL_LANES : (1u << n) - 1;
    w->groups[0] = (struct group){.mask = w->live, .join = -1, .state = GROUP_READY};
    w->num_groups = 1;
    w->g = &w->groups[0];
    if (!warp_push_frame(w, &grid->kernel->code[0], grid->kernel, 0))
        w->live = 0;
}

void warp_destroy(struct warp *w) {
    struct worker *worker = w->island->worker;
    worker_free(worker, w->slots);
    worker_free(worker, w->poison);
    worker_free(worker, w->frames);
    worker_free(worker, w->local);
    worker_free(worker, w->local_poison);
    warp_free_parts(w);
    warp_forget_unwritten(w);
    warp_loads_free(w);
}
