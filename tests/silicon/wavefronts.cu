/* wavefronts - a kernel of one warp and one access to shared memory for each case of wavefronts.h, in its order; for
 * Nsight Compute, whose counts wavefronts.h holds. Prints nothing.
 *
 *     nvcc -arch=sm_90 -o wavefronts wavefronts.cu
 */
#include "wavefronts.h"

#include <cuda_runtime.h>

/* `never` keeps what was loaded from being dead. */
template <unsigned KIND> __global__ void access(struct wavefronts_case c, uint32_t *never) {
    __shared__ __align__(128) char bytes[WAVEFRONTS_BYTES];
    uint32_t at = (uint32_t)__cvta_generic_to_shared(bytes) + c.at[threadIdx.x], x = 1, y = 0, z = 0, w = 0;
    if (c.lanes >> threadIdx.x & 1) {
        if (KIND == 8)
            asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at));
        if (KIND == 9)
            asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(x));
        if (KIND == 10)
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at));
        if (KIND == 11)
            asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(x));
        if (KIND == 6)
            asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(x));
        if (KIND == 7)
            asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(x) : "r"(at));
    }
    if (KIND == 0)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(at));
    if (KIND == 1)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at));
    if (KIND == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(at));
    if (KIND == 3)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(at));
    if (KIND == 4)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(x));
    if (KIND == 5)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %1};" ::"r"(at), "r"(x));
    if (x + y + z + w == 12345)
        *never = 0;
}

static void launch(const struct wavefronts_case *c, unsigned kind, uint32_t *never) {
    static void (*const kernels[])(struct wavefronts_case, uint32_t *) = {access<0>, access<1>, access<2>,  access<3>,
                                                                          access<4>, access<5>, access<6>,  access<7>,
                                                                          access<8>, access<9>, access<10>, access<11>};
    kernels[kind]<<<1, 32>>>(*c, never);
}

int main(void) {
    uint32_t *never, state = 1;
    cudaMalloc(&never, sizeof *never);
    for (unsigned i = 0; i < WAVEFRONTS_ACCESSES; i++) {
        const struct wavefronts_case c = wavefronts_access(&state, i);
        launch(&c, 8 + (c.size == 16 ? 2 : 0) + c.store, never);
    }
    state = 1;
    for (unsigned i = 0; i < WAVEFRONTS_MATRICES; i++) {
        const struct wavefronts_case c = wavefronts_matrix(&state, i);
        launch(&c, c.kind, never);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
