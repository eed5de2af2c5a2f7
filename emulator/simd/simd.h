/* simd/simd.h - the units of the host that the loops of this room run on.
 *
 * The room holds the loops that take an emulation's time: products (multiply.h, fused.h, amx.h), the way of matrices to
 * them (gather.h) and boxes of whole lines (line_copy.h). They see numbers and addresses, no GPU. Each has a portable
 * twin, and what they give has the same bits on every unit; only --umma=fast is another sum, and amx.h says by how
 * much.
 */
#ifndef SIMD_SIMD_H
#define SIMD_SIMD_H

#include <stdbool.h>

/* Each with what those before it have. SIMD_BEST asks the host. */
enum simd { SIMD_BEST, SIMD_PORTABLE, SIMD_AVX2, SIMD_AVX512, SIMD_AMX };

/* Can this host run `simd`, and which is the best, of those up to `most` unless that is SIMD_BEST? They ask CPU and
 * kernel, which is slow in a virtual machine. */
bool simd_available(enum simd simd);
enum simd simd_best(enum simd most);

#endif
