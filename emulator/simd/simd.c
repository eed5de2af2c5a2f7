/* simd/simd.c - what the host can run; contract in simd.h. */
#include "simd/simd.h"

#include "simd/target.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* F16C is CPUID leaf 1, ECX bit 29; __builtin_cpu_supports of clang 14 does not know its name. Every host with AVX2,
 * which is asked for before, has leaf 1. */
static bool has_f16c(void) {
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    return c & bit_F16C;
}

/* Does the host have a matrix unit for bf16, and may this process use it? */
static bool has_amx(void) {
#if defined(AMX)
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    const unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & amx_bf16) && (d & amx_tile) &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
    return false;
#endif
}

bool simd_available(enum simd simd) {
    if (simd == SIMD_PORTABLE)
        return true;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c())
        return false;
    return simd == SIMD_AVX2 || (has_avx512() && (simd == SIMD_AVX512 || has_amx()));
}

#else

bool simd_available(enum simd simd) { return simd == SIMD_PORTABLE; }

#endif

enum simd simd_best(enum simd most) {
    enum simd best = most == SIMD_BEST ? SIMD_AMX : most;
    while (!simd_available(best))
        best--;
    return best;
}
