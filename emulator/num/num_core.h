// Private to num/: format descriptors, exact intermediate values and the one rounding routine.
#ifndef NUM_CORE_H
#define NUM_CORE_H

#include "num/num.h"

__extension__ typedef unsigned __int128 num_u128;

// What the codes above the largest finite one mean.
typedef enum num_special { NUM_SPECIAL_IEEE, NUM_SPECIAL_NAN_ONLY, NUM_SPECIAL_NONE } num_special;

// A binary format with a sign bit. Codes are `bits` wide and sit `shift` bits up in their register (tf32:
// 13).
typedef struct num_format {
    unsigned bits, man, shift;
    int bias;
    num_special special;
    uint64_t max_finite; // code of the largest magnitude, unshifted
    uint64_t nan;        // canonical NaN, in register position
} num_format;

// Beside the public flags: flush a subnormal result of any format (NUM_FTZ flushes f32 results alone).
enum { NUM_FTZ_RESULT = 1 << 16 };

// Descriptor of a type; ue8m0, ue4m3 and s2f6 have only bits.
const num_format *num_format_of(num_type t);

typedef enum num_class { NUM_CLASS_ZERO, NUM_CLASS_FINITE, NUM_CLASS_INF, NUM_CLASS_NAN } num_class;

// An exact value, or one with its excess jammed into bit 0 of sig: (-1)^sign * sig * 2^(exp-63), sig's bit 63
// set.
typedef struct num_value {
    num_class cls;
    bool sign;
    int exp;
    uint64_t sig;
} num_value;

num_value num_unpack_f64(double x);

// Round a value to a format with one rounding. `rbits` with `rbits_width` > 0 selects stochastic rounding
// instead of r.
uint64_t num_pack(const num_format *f, num_value v, num_round r, unsigned flags, uint32_t rbits, unsigned rbits_width);

#endif
