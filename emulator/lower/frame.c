/* lower/frame.c - the frame of a function: the slots of its registers and parameters, and the bytes of its .local
 * variables.
 *
 * Hidden slots follow behind: lower/lower.c.
 */
#include "lower/parts.h"

#define MAX_LOCAL (1u << 24)   /* bytes of .local variables in one function; a thread has 512 KB */
#define MAX_PARAM 32764u       /* bytes of parameters (CUDA C++ Programming Guide, "Function Parameters") */
#define MAX_SLOTS (1ull << 22) /* of a frame: 512 MB a warp */

/* Sizes are the module's word for it: what does not fit is refused before anything is laid out. */
static bool sizes_fit(const struct ptx_func *p) {
    uint64_t params = 0, slots = 4ull * p->num_regs;
    for (uint32_t i = 0; i < p->num_params && params <= MAX_PARAM && slots <= MAX_SLOTS; i++) {
        if (p->is_entry)
            params += p->params[i].size;
        else
            slots += p->params[i].size / 4 + 1;
    }
    for (uint32_t i = 0; i < p->num_rets && slots <= MAX_SLOTS; i++)
        slots += p->rets[i].size / 4 + 1;
    for (uint32_t i = 0; i < p->num_vars && slots <= MAX_SLOTS; i++)
        slots += p->vars[i]->space == PTX_SPACE_PARAM ? p->vars[i]->size / 4 + 1 : 0;
    return params <= MAX_PARAM && slots <= MAX_SLOTS;
}

static warp_slot param_slots(struct warp_func *f, const struct ptx_var *v) {
    warp_slot s = (warp_slot)f->frame_slots;
    f->frame_slots += (uint32_t)((v->size + 3) / 4);
    return s;
}

static void lay_out_registers(struct warp_func *f, const struct flow *flow) {
    if (lower_share_registers(flow, f->reg_slot, &f->frame_slots))
        return;
    for (uint32_t i = 0; i < f->src->num_regs; i++) {
        f->reg_slot[i] = (warp_slot)f->frame_slots;
        f->frame_slots += lower_reg_slots(&f->src->regs[i]);
    }
}

static bool lay_out_local(struct warp_func *f, uint32_t *local_offset) {
    uint64_t local = 0;
    for (uint32_t i = 0; i < f->src->num_vars; i++) {
        const struct ptx_var *v = f->src->vars[i];
        if (v->space != PTX_SPACE_LOCAL)
            continue;
        uint64_t align = v->align ? v->align : 1;
        local = (local + align - 1) & ~(align - 1);
        local_offset[i] = (uint32_t)local;
        local += v->size;
        if (local > MAX_LOCAL)
            return false;
    }
    f->local_bytes = (uint32_t)((local + 15) & ~15ull);
    return true;
}

bool lower_frame(struct warp_func *f, const struct flow *flow, struct arena *a, uint32_t *local_offset) {
    const struct ptx_func *p = f->src;
    if (!sizes_fit(p))
        return false;
    f->reg_slot = arena_array(a, p->num_regs + 1, sizeof *f->reg_slot);
    f->var_slot = arena_array(a, p->num_vars + 1, sizeof *f->var_slot);
    f->param_slot = arena_array(a, p->num_params + 1, sizeof *f->param_slot);
    f->ret_slot = arena_array(a, p->num_rets + 1, sizeof *f->ret_slot);
    lay_out_registers(f, flow);
    for (uint32_t i = 0; i < p->num_params && !p->is_entry; i++)
        f->param_slot[i] = param_slots(f, &p->params[i]);
    for (uint32_t i = 0; i < p->num_rets; i++)
        f->ret_slot[i] = param_slots(f, &p->rets[i]);
    for (uint32_t i = 0; i < p->num_vars; i++)
        if (p->vars[i]->space == PTX_SPACE_PARAM)
            f->var_slot[i] = param_slots(f, p->vars[i]);
    return lay_out_local(f, local_offset) && f->frame_slots <= MAX_SLOTS;
}
