/* Managed variables: the host's address is the device's, in every call and after a reset. */
#include <stdio.h>

#include "../../common/gemm_host.h"

__managed__ int counter = 7;
__managed__ int table[1000] = {1, 2, 3, 4};

static int bad;
static void expect(bool right, const char *what) {
    if (!right)
        printf("  wrong: %s\n", what);
    bad += !right;
}

__global__ void bump(int *p, int **seen) {
    *p += 1;
    counter += 10;
    table[999] = table[3] + table[0];
    *seen = &counter;
}

int main(void) {
    int value = 0, **seen;
    void *address;
    cudaPointerAttributes a;
    expect(counter == 7 && table[3] == 4, "the initial values on the host");
    CUDA_CHECK(cudaMallocManaged((void **)&seen, sizeof *seen));
    counter = 20;
    table[0] = 40;
    bump<<<1, 1>>>(&counter, seen);
    CUDA_CHECK(cudaDeviceSynchronize());
    expect(counter == 31 && table[999] == 44, "what the kernel wrote");
    expect(*seen == &counter, "the address in the kernel");
    CUDA_CHECK(cudaGetSymbolAddress(&address, counter));
    expect(address == &counter, "cudaGetSymbolAddress");
    CUDA_CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    expect(value == 31, "cudaMemcpyFromSymbol");
    value = 5;
    CUDA_CHECK(cudaMemcpyToSymbol(counter, &value, sizeof value));
    expect(counter == 5, "cudaMemcpyToSymbol");
    CUDA_CHECK(cudaMemset(&counter, 1, sizeof counter));
    expect(counter == 0x01010101, "cudaMemset at the host's address");
    CUDA_CHECK(cudaPointerGetAttributes(&a, &counter));
    expect(a.type == cudaMemoryTypeManaged && a.devicePointer == &counter && a.hostPointer == &counter,
           "cudaPointerGetAttributes");
    expect(cudaFree(&counter) == cudaErrorInvalidValue, "cudaFree of a variable");
    cudaGetLastError();
    counter = 3;
    CUDA_CHECK(cudaDeviceReset());
    expect(counter == 3, "the value after a reset");
    CUDA_CHECK(cudaMallocManaged((void **)&seen, sizeof *seen));
    bump<<<1, 1>>>(&counter, seen);
    CUDA_CHECK(cudaDeviceSynchronize());
    expect(counter == 14 && *seen == &counter, "a kernel after a reset");
    printf("%s  managed variables\n", bad ? "FAIL" : "PASS");
    return bad != 0;
}
