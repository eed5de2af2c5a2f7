/* base/later.h - the later of two times. */
#ifndef BASE_LATER_H
#define BASE_LATER_H

/* fmax, of numbers only: without a call. */
static inline double later(double a, double b) { return a > b ? a : b; }

#endif
