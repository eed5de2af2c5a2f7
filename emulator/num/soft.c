// Exact sums, products, quotients and roots in 128-bit integers: what directed rounding (.rz, .rm, .rp) is
// built on, without touching the host's rounding mode.
#include "num/soft.h"

static const num_value not_a_number = {NUM_CLASS_NAN, false, 0, 0};

static num_value special(num_class cls, bool sign) { return (num_value){cls, sign, 0, 0}; }

// Shift right, oring what falls out into bit 0.
static num_u128 shift_jam(num_u128 v, unsigned by) {
    if (by == 0)
        return v;
    if (by > 127)
        return v != 0;
    return v >> by | ((v << (128 - by)) != 0);
}

// The value v * 2^(exp-126), v nonzero.
static num_value normalise(bool sign, int exp, num_u128 v) {
    uint64_t high = (uint64_t)(v >> 64);
    unsigned z = high ? (unsigned)__builtin_clzll(high) : 64 + (unsigned)__builtin_clzll((uint64_t)v);
    v <<= z;
    uint64_t sig = (uint64_t)(v >> 64) | ((uint64_t)v != 0);
    return (num_value){NUM_CLASS_FINITE, sign, exp + 1 - (int)z, sig};
}

// Sum of two nonzero values sig * 2^(exp-126) with sig's top bit at 126 or 127-clear; see num_soft_fma for
// the widths.
static num_value sum(bool sa, int ea, num_u128 a, bool sb, int eb, num_u128 b, num_round r) {
    if (ea < eb || (ea == eb && a < b)) {
        bool s = sa;
        int e = ea;
        num_u128 v = a;
        sa = sb, ea = eb, a = b;
        sb = s, eb = e, b = v;
    }
    b = shift_jam(b, (unsigned)(ea - eb));
    if (sa == sb)
        return normalise(sa, ea, a + b);
    if (a == b)
        return special(NUM_CLASS_ZERO, r == NUM_RM);
    return normalise(sa, ea, a - b);
}

static num_value fma_special(num_value a, num_value b, num_value c, bool sign, num_round r) {
    if (a.cls == NUM_CLASS_NAN || b.cls == NUM_CLASS_NAN || c.cls == NUM_CLASS_NAN)
        return not_a_number;
    if (a.cls == NUM_CLASS_INF || b.cls == NUM_CLASS_INF) {
        bool zero = a.cls == NUM_CLASS_ZERO || b.cls == NUM_CLASS_ZERO;
        bool against = c.cls == NUM_CLASS_INF && c.sign != sign;
        return zero || against ? not_a_number : special(NUM_CLASS_INF, sign);
    }
    if (c.cls == NUM_CLASS_ZERO) // both terms are zero
        return special(NUM_CLASS_ZERO, sign == c.sign ? sign : r == NUM_RM);
    return c;
}

// The product of two 53-bit significands ends 22 bits above the bottom of 128, so a shift that loses bits of
// the smaller term is far longer than the one bit that a subtraction can then cancel: the jammed bit stays
// below every rounding.
num_value num_soft_fma(num_value a, num_value b, num_value c, num_round r) {
    bool sign = a.sign != b.sign, product = a.cls == NUM_CLASS_FINITE && b.cls == NUM_CLASS_FINITE;
    if (!product || c.cls == NUM_CLASS_INF || c.cls == NUM_CLASS_NAN)
        return fma_special(a, b, c, sign, r);
    num_u128 p = (num_u128)a.sig * b.sig; // top bit 126 or 127
    int exp = a.exp + b.exp;
    if (p >> 127) {
        p >>= 1;
        exp++;
    }
    if (c.cls == NUM_CLASS_ZERO)
        return normalise(sign, exp, p);
    return sum(sign, exp, p, c.sign, c.exp, (num_u128)c.sig << 63, r);
}

num_value num_soft_div(num_value a, num_value b) {
    bool sign = a.sign != b.sign;
    if (a.cls == NUM_CLASS_NAN || b.cls == NUM_CLASS_NAN || (a.cls == b.cls && a.cls != NUM_CLASS_FINITE))
        return not_a_number;
    if (a.cls == NUM_CLASS_INF || b.cls == NUM_CLASS_ZERO)
        return special(NUM_CLASS_INF, sign);
    if (a.cls == NUM_CLASS_ZERO || b.cls == NUM_CLASS_INF)
        return special(NUM_CLASS_ZERO, sign);
    num_u128 n = (num_u128)a.sig << 63;
    uint64_t q = (uint64_t)(n / b.sig);
    bool rest = n % b.sig != 0;
    if (q >> 63)
        return (num_value){NUM_CLASS_FINITE, sign, a.exp - b.exp, q | rest};
    return (num_value){NUM_CLASS_FINITE, sign, a.exp - b.exp - 1, q << 1 | rest};
}

num_value num_soft_sqrt(num_value a) {
    if (a.cls == NUM_CLASS_NAN || (a.sign && a.cls != NUM_CLASS_ZERO))
        return not_a_number;
    if (a.cls != NUM_CLASS_FINITE)
        return a;
    num_u128 n = (num_u128)a.sig << (a.exp & 1 ? 64 : 63);
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = root | UINT64_C(1) << bit;
        if ((num_u128)next * next <= n)
            root = next;
    }
    bool rest = (num_u128)root * root != n;
    int half = (a.exp - (a.exp & 1)) / 2;
    return (num_value){NUM_CLASS_FINITE, false, half, root | rest};
}
