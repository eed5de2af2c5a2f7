/* simd/target.h - private to simd/: for which unit a function is compiled. Where it is called, the host has that
 * unit. */
#ifndef SIMD_TARGET_H
#define SIMD_TARGET_H

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Vectors live in arrays; they become registers once the short loops over them are unrolled, also at -O2. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Two rounds of the loop at a time. */
#if defined(__clang__)
#define TWICE _Pragma("clang loop unroll_count(2)")
#else
#define TWICE _Pragma("GCC unroll 2")
#endif

/* No round of the loop needs what another one stores. clang finds out for itself, when the loop runs. */
#if defined(__clang__)
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#if defined(__x86_64__)
#include <stdbool.h>

#define AVX2 __attribute__((target("avx2,fma,f16c")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq")))
/* Has the host what AVX512 names? Not an inquiry of the CPU: what one found as the program started. */
static inline bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
/* gcc 10 and clang 11 do not know the matrix unit. */
#if defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11
#define AMX __attribute__((target("avx512f,avx512bw,amx-tile,amx-bf16")))
#endif
#endif

#endif
