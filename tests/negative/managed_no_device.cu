// Mistake: a managed variable is read where there is no device for it.
// On the chip: the first access of such a program initialises CUDA, and where that fails it reads what is there.
// Rule: the host's access to a managed variable cannot answer an error; it must not crash for that, and the next call
// tells.
//
// EXPECT: SM100EMU_SCHEDULE=sometimes: expected default, eager, lazy, model, random:SEED, pct:SEED,DEPTH
// EXPECT: ^0, then cudaErrorInitializationError$
#include <stdio.h>
#include <stdlib.h>

__managed__ int counter = 7;

int main(void) {
    setenv("SM100EMU_SCHEDULE", "sometimes", 1); // options that make no sense: no device
    const int seen = counter;
    const cudaError_t e = cudaDeviceSynchronize();
    printf("%d, then %s\n", seen, cudaGetErrorName(e));
    return e != cudaSuccess;
}
