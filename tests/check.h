/* check.h - the whole test framework: counted checks, no setup, no registry.
 *
 * A test program is a main() that calls CHECK... and ends with `return check_report();`.
 * A failed check prints file, line and both values on stderr and the program goes on, so that one
 * run shows every fault; after CHECK_LIMIT reports the rest are only counted. check_report() fails
 * a program that checked nothing: an emptied test is a broken test.
 * Not for threads: the counters are plain.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_LIMIT = 25 };

static _Atomic unsigned long check_done_, check_bad_; /* a listener may check on several host threads */

/* Counts one check; prints the start of a report and returns true where the caller should add values. */
static inline bool check_failed_(bool ok, const char *file, int line, const char *what) {
    check_done_++;
    if (ok)
        return false;
    check_bad_++;
    if (check_bad_ == CHECK_LIMIT + 1)
        fprintf(stderr, "(further failures are only counted)\n");
    if (check_bad_ > CHECK_LIMIT)
        return false;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    return true;
}

/* Integers of any type; compared as 64-bit patterns, which equals C's == for same-signed operands. */
static inline bool check_eq_(uint64_t a, uint64_t b, const char *file, int line, const char *what) {
    if (check_failed_(a == b, file, line, what))
        fprintf(stderr, "    left  0x%" PRIx64 " (%" PRId64 ")\n    right 0x%" PRIx64 " (%" PRId64 ")\n", a, (int64_t)a,
                b, (int64_t)b);
    return a == b;
}

/* |a - b| <= tolerance; false where either is NaN, so that a NaN never passes. Equal infinities pass. */
static inline bool check_near_(double a, double b, double tolerance, const char *file, int line, const char *what) {
    bool ok = a == b || fabs(a - b) <= tolerance;
    if (check_failed_(ok, file, line, what))
        fprintf(stderr, "    left  %.17g\n    right %.17g, tolerance %g\n", a, b, tolerance);
    return ok;
}

static inline bool check_str_(const char *a, const char *b, const char *file, int line, const char *what) {
    bool ok = a && b ? strcmp(a, b) == 0 : a == b;
    if (check_failed_(ok, file, line, what))
        fprintf(stderr, "    left  \"%s\"\n    right \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
    return ok;
}

static inline bool check_has_(const char *text, const char *part, const char *file, int line, const char *what) {
    bool ok = text && part && strstr(text, part) != NULL;
    if (check_failed_(ok, file, line, what))
        fprintf(stderr, "    text  \"%s\"\n    lacks \"%s\"\n", text ? text : "(null)", part ? part : "(null)");
    return ok;
}

static inline bool check_mem_(const void *a, const void *b, size_t n, const char *file, int line, const char *what) {
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    size_t i = 0;
    while (i < n && x[i] == y[i])
        i++;
    if (check_failed_(i == n, file, line, what))
        fprintf(stderr, "    first difference at byte %zu of %zu: 0x%02x against 0x%02x\n", i, n, x[i], y[i]);
    return i == n;
}

static inline bool check_true_(bool ok, const char *file, int line, const char *what) {
    check_failed_(ok, file, line, what);
    return ok;
}

/* Each yields true where it held, so that a test can stop before it uses a bad value. */
#define CHECK(cond) check_true_(!!(cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(a, b) check_eq_((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_NEAR(a, b, tol) check_near_((a), (b), (tol), __FILE__, __LINE__, #a " ~ " #b)
#define CHECK_STR(a, b) check_str_((a), (b), __FILE__, __LINE__, #a " is " #b)
#define CHECK_HAS(text, part) check_has_((text), (part), __FILE__, __LINE__, #text " has " #part)
#define CHECK_MEM(a, b, n) check_mem_((a), (b), (n), __FILE__, __LINE__, #a " same bytes as " #b)

/* What fits of s[0..n), to the end of the string `to`, which takes `size` bytes: for reports that come in pieces. */
static inline void check_append(char *to, size_t size, size_t *len, const char *s, size_t n) {
    n = n < size - 1 - *len ? n : size - 1 - *len;
    memcpy(to + *len, s, n);
    *len += n;
    to[*len] = 0;
}

/* The exit code of main: 0 where every check held and there was at least one. */
static inline int check_report(void) {
    if (!check_done_)
        fprintf(stderr, "no check ran\n");
    printf("%lu checks, %lu failed\n", check_done_, check_bad_);
    return check_bad_ || !check_done_;
}

#endif
