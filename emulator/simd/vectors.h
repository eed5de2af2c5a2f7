/* simd/vectors.h - private to simd/: the host's vector instructions. A header of its own: the compiler takes longer to
 * read <immintrin.h> than to compile most files, and most do without. */
#ifndef SIMD_VECTORS_H
#define SIMD_VECTORS_H

#include "simd/target.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#endif
