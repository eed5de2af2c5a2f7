/* plain_fast.cu - plain.cu as --use_fast_math makes it: .ftz and the .approx functions. */
// NVCC: -gencode arch=compute_100f,code=[sm_100f,compute_100f] -cudart shared --no-compress --use_fast_math
#include "plain.cu"
