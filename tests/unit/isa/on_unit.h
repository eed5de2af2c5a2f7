/* unit/isa/on_unit.h - PTX run by the handlers of one unit of the host (isa/unit.h). */
#ifndef UNIT_ISA_ON_UNIT_H
#define UNIT_ISA_ON_UNIT_H

#include "simd/simd.h"
#include "unit/run_ptx.h"

/* By enum simd. */
static const char *const unit_names[] = {"", "portable", "AVX2", "AVX-512"};

/* As run_open. */
static inline bool open_unit(struct run *r, const char *ptx, enum simd unit) {
    struct mach_config config = mach_config_b200();
    config.host_vectors = unit;
    return run_open_config(r, ptx, &config);
}

#endif
