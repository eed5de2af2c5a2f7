/* base/compare.h - for functions that qsort calls. */
#ifndef BASE_COMPARE_H
#define BASE_COMPARE_H

/* -1, 0 or 1. Both are evaluated twice. */
#define COMPARE(a, b) ((a) < (b) ? -1 : (a) > (b))

#endif
