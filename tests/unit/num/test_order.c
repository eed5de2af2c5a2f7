// min, max, abs, neg and the classes, against their definitions on decoded values
// (PTX 9.7.3.11).
#include "../../check.h"
#include "num/num.h"

static const num_type types[] = {NUM_F16, NUM_BF16, NUM_F32, NUM_F64};
static const uint64_t nans[] = {0x7fff, 0x7fff, 0x7fffffff, 0x7fffffffffffffff};
enum { TYPES = 4 };

static uint64_t top(num_type t) { return UINT64_C(1) << (num_type_bits(t) - 1); }

// min or max as 9.7.3.11's pseudocode has it, on numbers that carry their code.
static uint64_t by_definition(int k, uint64_t a, uint64_t b, unsigned flags, bool larger) {
    num_type t = types[k];
    uint64_t sign = (a ^ b) & top(t), d;
    if (flags & NUM_ABS) {
        a &= ~top(t);
        b &= ~top(t);
    }
    double x = num_decode(t, a), y = num_decode(t, b);
    if (isnan(x) && isnan(y))
        return t == NUM_F64 ? b | UINT64_C(1) << 51 : nans[k];
    if ((isnan(x) || isnan(y)) && flags & NUM_NAN)
        return t == NUM_F64 ? (isnan(y) ? b : a) | UINT64_C(1) << 51 : nans[k];
    if (isnan(x))
        d = b;
    else if (isnan(y))
        d = a;
    else if (x == 0 && y == 0)
        d = larger ? a & b : a | b; // the sign bit alone differs
    else
        d = (larger ? x > y : x < y) ? a : b;
    return flags & NUM_XORSIGN ? (d & ~top(t)) | sign : d;
}

static void check_pair(int k, uint64_t a, uint64_t b) {
    static const unsigned flags[] = {0, NUM_NAN, NUM_ABS, NUM_ABS | NUM_XORSIGN, NUM_NAN | NUM_ABS | NUM_XORSIGN};
    num_type t = types[k];
    for (int f = 0; f < 5; f++) {
        CHECK_EQ(num_min(t, a, b, flags[f]), by_definition(k, a, b, flags[f], false));
        CHECK_EQ(num_max(t, a, b, flags[f]), by_definition(k, a, b, flags[f], true));
    }
}

static uint64_t random64(uint64_t *s) {
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *s ^ *s >> 31;
}

static void pairs(void) {
    uint64_t s = 9;
    for (int k = 0; k < TYPES; k++) {
        uint64_t mask = top(types[k]) * 2 - 1;
        uint64_t inf = num_encode(types[k], INFINITY, NUM_RN, 0), one = num_encode(types[k], 1.0, NUM_RN, 0);
        const uint64_t v[] = {0, 1, one, one + 1, inf - 1, inf, inf + 1, nans[k], inf >> 1};
        for (int i = 0; i < 18; i++)
            for (int j = 0; j < 18; j++)
                check_pair(k, v[i / 2] | (i & 1 ? top(types[k]) : 0), v[j / 2] | (j & 1 ? top(types[k]) : 0));
        for (int n = 0; n < 20000; n++)
            check_pair(k, random64(&s) & mask, random64(&s) & mask);
    }
}

static void classes(void) {
    for (uint64_t c = 0; c < 65536; c++) {
        for (int k = 0; k < 2; k++) {
            num_type t = types[k];
            double x = num_decode(t, c), least = k ? 0x1p-126 : 0x1p-14;
            CHECK_EQ(num_is_nan(t, c), !!isnan(x));
            CHECK_EQ(num_is_inf(t, c), !!isinf(x));
            CHECK_EQ(num_is_subnormal(t, c), x != 0 && fabs(x) < least);
            CHECK_EQ(num_ftz(t, c), x != 0 && fabs(x) < least ? c & 0x8000 : c);
            CHECK_EQ(num_abs(t, c, 0), isnan(x) ? 0x7fff : c & 0x7fff);
            CHECK_EQ(num_neg(t, c, 0), isnan(x) ? 0x7fff : c ^ 0x8000);
        }
    }
    CHECK_EQ(num_abs(NUM_F32, 0x80000001, NUM_FTZ), 0);
    CHECK_EQ(num_neg(NUM_F32, 0x00000001, NUM_FTZ), 0x80000000);
    CHECK_EQ(num_neg(NUM_F32, 0x7f800001, 0), NUM_NAN_F32);
    CHECK_EQ(num_neg(NUM_F64, UINT64_C(0xfff0000000012345), 0), UINT64_C(0xfff8000000012345));
    CHECK_EQ(num_min(NUM_F32, 0x80000005, 0x3f800000, NUM_FTZ), 0x80000000);
    CHECK_EQ(num_min(NUM_F32, num_min(NUM_F32, 0xc0000000, 0x40400000, NUM_ABS), 0xbf800000, NUM_ABS), 0x3f800000);
}

int main(void) {
    pairs();
    classes();
    return check_report();
}
