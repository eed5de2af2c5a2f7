/* simd/vectors.h - private to simd/: the host's vector instructions. A header of its own: the compiler takes longer to
 * read <immintrin.h> than to compile most files, and most do without.
 *
 * gcc 12 reads the parts that simd/ uses in a third of that time. They ask for the guard of <immintrin.h>, and
 * one for a type of a part that is left out. Other compilers, whose parts may depend on each other otherwise, read all
 * of it. */
#ifndef SIMD_VECTORS_H
#define SIMD_VECTORS_H

#include "simd/target.h"

#if defined(__x86_64__) && !defined(__clang__) && __GNUC__ == 12
#define _IMMINTRIN_H_INCLUDED
typedef unsigned int __mmask32;
/* clang-format off */
#include <smmintrin.h> /* each needs those before it */
#include <avxintrin.h>
#include <avx2intrin.h>
#include <avx512fintrin.h>
#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
#include <amxtileintrin.h>
#include <amxbf16intrin.h>
/* clang-format on */
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#endif
