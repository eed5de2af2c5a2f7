// Mistake: threads store a tensor map, meet in __syncthreads, and one of them copies through it: no proxy fence.
// On the chip: mostly the new map, sometimes what its cache still has of the 128 bytes.
// Rule: a tensor map that threads have written is used behind fence.proxy.tensormap::generic, a release by the writers,
// an acquire on the map by the user, and an order between them (PTX ISA 9.7.13.4, 9.7.9.28).
//
// EXPECT: ^warning: .*\[tensormap-fence-missing\]
// EXPECT: race_tensormap.cu:@STORE@([^0-9]|$)
// EXPECT: race_tensormap.cu:@COPY@([^0-9]|$)
// EXPECT: ^first byte: 7$
// EXIT: 3
#include "../../common/cluster.cuh"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tensor_map.h"
#include "../../common/tma.cuh"

enum { ROWS = 8, BYTES = ROWS * 128 };

__global__ void race_tensormap(const __grid_constant__ CUtensorMap given, CUtensorMap *map, unsigned char *out) {
    __shared__ alignas(1024) unsigned char box[BYTES];
    __shared__ uint64_t landed;
    ((uint32_t *)map)[threadIdx.x] = ((const uint32_t *)&given)[threadIdx.x]; // STORE
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&landed), 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(smem_address(&landed), BYTES);
        tma_load_2d_multicast(smem_address(box), map, 0, 0, smem_address(&landed), 1); // COPY
    }
    mbarrier_wait(smem_address(&landed), 0);
    if (threadIdx.x == 0)
        *out = box[0];
}

int main(void) {
    unsigned char *tensor, *out, first;
    CUtensorMap *map;
    CUDA_CHECK(cudaMalloc((void **)&tensor, BYTES));
    CUDA_CHECK(cudaMalloc((void **)&map, sizeof *map));
    CUDA_CHECK(cudaMalloc((void **)&out, 1));
    CUDA_CHECK(cudaMemset(tensor, 7, BYTES));
    race_tensormap<<<1, 32>>>(tensor_map_2d(tensor, ELEM_E4M3, ROWS, 128, ROWS), map, out);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(&first, out, 1, cudaMemcpyDeviceToHost));
    printf("first byte: %d\n", first);
    return 0;
}
