// Edge cases that libclc gets wrong (C99, F.9; OpenCL C 3.0, 7.5.1). `build/library.rs` has the other names
// of libclc's functions.

#include "gencl.h"

// Functions of doubles for which libclc returns 0 for -0.
#define KEEP(NAME) \
    double __gencl_libclc_##NAME(double x); \
    double OVERLOAD NAME(double x) { return x == 0.0 ? x : __gencl_libclc_##NAME(x); } \
    VECTORS_1(NAME, double)
KEEP(sin)
KEEP(tan)
KEEP(atan)
KEEP(expm1)
KEEP(erf)
SINCOS(double)

// Quiet NaNs have the highest bit of the fraction set; libclc's function of doubles replaces the whole
// fraction by the code.
#define QUIET_NAN(N) \
    double##N OVERLOAD nan(ulong##N code) { return as_double##N(code | 0x7ff8000000000000UL); }
QUIET_NAN()
QUIET_NAN(2)
QUIET_NAN(3)
QUIET_NAN(4)
QUIET_NAN(8)
QUIET_NAN(16)

// libclc's fract is 0 for -0 and -infinity. Differences are rounded to 1 next to 0.
#define FRACT(TYPE, BELOW_1) \
    TYPE OVERLOAD fract(TYPE x, private TYPE *whole) { \
        TYPE below = floor(x); \
        *whole = below; \
        TYPE rest = isnan(x) ? x : fmin(x - below, BELOW_1); \
        return x == 0 || isinf(x) ? copysign((TYPE)0, x) : rest; \
    } \
    WITH_SECOND(fract, TYPE, TYPE)
FRACT(float, 0x1.fffffep-1f)
FRACT(double, 0x1.fffffffffffffp-1)

// libclc's fdim of floats is -0 for -0 and +0.
#define FDIM(TYPE) \
    TYPE OVERLOAD fdim(TYPE x, TYPE y) { return x <= y ? (TYPE)0 : x - y; } \
    VECTORS_2(fdim, TYPE)
FDIM(half)
FDIM(float)
FDIM(double)

// The next number in ascending order, for which negative bit patterns descend. libclc's goes from the largest
// negative number to 0 instead of -0, and has none of half floats.
#define NEXTAFTER(TYPE, INT, SIGN) \
    TYPE OVERLOAD nextafter(TYPE x, TYPE y) { \
        if (isnan(x) || isnan(y)) \
            return x + y; \
        if (x == y) \
            return y; \
        INT bits = as_##INT(x); \
        if ((bits & ~SIGN) == 0) \
            return as_##TYPE((INT)((as_##INT(y) & SIGN) | 1)); \
        return as_##TYPE((INT)((x < y) == (bits > 0) ? bits + 1 : bits - 1)); \
    } \
    VECTORS_2(nextafter, TYPE)
NEXTAFTER(half, short, SHRT_MIN)
NEXTAFTER(float, int, INT_MIN)
NEXTAFTER(double, long, LONG_MIN)
