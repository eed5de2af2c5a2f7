// Private to num/: exact arithmetic on unpacked values, results jammed to 64 significant bits, ready for
// num_pack.
#ifndef NUM_SOFT_H
#define NUM_SOFT_H

#include "num/num_core.h"

// Significands of a, b and c carry at most 53 bits. Invalid operations give class NaN.
num_value num_soft_fma(num_value a, num_value b, num_value c, num_round r);
num_value num_soft_div(num_value a, num_value b);
num_value num_soft_sqrt(num_value a);

#endif
