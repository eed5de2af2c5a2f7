/* bench_cublas.cu - NVIDIA's own GEMM under the measure of the steps' --time: D = A B^T, A and B K-major, D f32.
 *
 * For `make bench`. It runs on any NVIDIA GPU. cuBLAS is opened at run time, never linked: where it is missing, the
 * program says so in one line and ends with 3. Ends with a PASS or FAIL line otherwise; exit code 0 or 1.
 */
// NVCC: -cudart shared -ldl
#include <dlfcn.h>
#include <library_types.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../common/gemm_host.h"

/* ---------------------------------------------------------------- cuBLAS, as its C interface is documented */

enum { OP_N = 0, OP_T = 1, COMPUTE_32F = 68, COMPUTE_32F_FAST_TF32 = 77, GEMM_DEFAULT = -1, NO_CUBLAS = 3 };

typedef int create_fn(void **handle);
typedef int gemm_ex_fn(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
                       cudaDataType type_a, int lda, const void *b, cudaDataType type_b, int ldb, const void *beta,
                       void *c, cudaDataType type_c, int ldc, int compute, int algorithm);

struct cublas {
    gemm_ex_fn *gemm_ex;
    void *handle;
};

static void *find(void *library, const char *name) {
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "bench_cublas: the library has no %s\n", name);
        exit(NO_CUBLAS);
    }
    return function;
}

static struct cublas open_cublas(void) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "bench_cublas: no libcublas.so.13 or .12 where the loader looks (LD_LIBRARY_PATH)\n");
        exit(NO_CUBLAS);
    }
    struct cublas blas = {(gemm_ex_fn *)find(library, "cublasGemmEx"), NULL};
    const int status = ((create_fn *)find(library, "cublasCreate_v2"))(&blas.handle);
    if (status) {
        fprintf(stderr, "bench_cublas: cublasCreate: status %d\n", status);
        exit(NO_CUBLAS);
    }
    return blas;
}

/* cuBLAS knows columns where we know rows: what is ours row by row is its transpose, so it computes D^T = B A^T. */
static void multiply(const struct cublas *blas, const struct gemm_problem *p, const void *a, const void *b, void *d) {
    const float one = 1, zero = 0;
    const cudaDataType type = p->type == ELEM_F16 ? CUDA_R_16F : p->type == ELEM_BF16 ? CUDA_R_16BF : CUDA_R_32F;
    const int compute = p->type == ELEM_TF32 ? COMPUTE_32F_FAST_TF32 : COMPUTE_32F;
    const int status = blas->gemm_ex(blas->handle, OP_T, OP_N, p->n, p->m, p->k, &one, b, type, p->k, a, type, p->k,
                                     &zero, d, CUDA_R_32F, p->n, compute, GEMM_DEFAULT);
    if (status) {
        fprintf(stderr, "bench_cublas: cublasGemmEx: status %d\n", status);
        exit(1);
    }
}

/* ---------------------------------------------------------------- */

static struct gemm_problem read_options(int argc, char **argv) {
    struct gemm_problem p = {
        .step = "cublas", .m = 1024, .n = 1024, .k = 1024, .type = ELEM_F16, .alpha = 1.0f, .seed = 1, .time = 20};
    const struct cl_option table[] = {
        cl_int("m", &p.m, "rows of A and D", 1, 1 << 20, 1),
        cl_int("n", &p.n, "rows of B, columns of D", 1, 1 << 20, 1),
        cl_int("k", &p.k, "columns of A and B", 1, 1 << 20, 1),
        cl_choice("type", &p.type, "of A and B", elem_names),
        cl_seed("seed", &p.seed, "of the random A and B"),
        gemm_verify_option(&p.verify),
        gemm_time_option(&p.time),
    };
    cmdline_parse(argc, argv, "D = A B^T by cuBLAS, measured as the steps are", table, sizeof table / sizeof table[0]);
    if (p.type == ELEM_E4M3 || p.type == ELEM_E5M2) {
        fprintf(stderr, "bench_cublas: --type %s: cublasGemmEx has no fp8, cublasLt is not used here\n",
                elem_names[p.type]);
        exit(NO_CUBLAS);
    }
    return p;
}

int main(int argc, char **argv) {
    const struct gemm_problem p = read_options(argc, argv);
    const struct cublas blas = open_cublas();
    struct gemm_data x = gemm_data_make(&p);
    struct timing t = gemm_timing(&p, &x);
    while (timing_next(&t))
        multiply(&blas, &p, x.a_gpu, x.b_gpu, x.d_gpu);
    gemm_timing_report(&t, &p);
    return gemm_finish(&p, &x);
}
