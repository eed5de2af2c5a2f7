// Mistake: the program finds libcudart by RPATH, which the loader obeys before LD_LIBRARY_PATH.
// On the chip: it works.
// Rule: the emulator's library comes first in LD_LIBRARY_PATH; RUNPATH is searched after it, RPATH before.
//
// NVCC: -gencode arch=compute_100f,code=[sm_100f,compute_100f] -cudart shared --no-compress -Xlinker --disable-new-dtags
// EXPECT: rpath: has a DT_RPATH.*--enable-new-dtags
// NEVER: ^error
__global__ void kernel(void) {}

int main(void) {
    kernel<<<1, 1>>>();
    return 0;
}
