// ldexp, which libclc gets wrong for NaN and for subnormal floats: products with powers of two that are numbers. Of large steps down a part that
// keeps the result normal comes first, so that it is rounded once.

#include "gencl.h"

#define SCALE(TYPE, LARGEST, SMALLEST, DIGITS, POWER) \
    TYPE OVERLOAD ldexp(TYPE x, int n) { \
        int step; \
        for (int i = 0; i < 2; ++i) { \
            bool up = n > LARGEST, down = n < SMALLEST; \
            step = up ? LARGEST : down ? SMALLEST + DIGITS : 0; \
            x *= POWER(step); \
            n -= step; \
        } \
        return x * POWER(clamp(n, SMALLEST, LARGEST)); \
    }
#define POWER32(N) as_float(((N) + 127) << 23)
#define POWER64(N) as_double((long)((N) + 1023) << 52)

SCALE(float, 127, -126, 24, POWER32)
SCALE(double, 1023, -1022, 53, POWER64)

#define VECTORS(TYPE) \
    TYPE##2 OVERLOAD ldexp(TYPE##2 x, int2 n) { return (TYPE##2)(ldexp(x.s0, n.s0), ldexp(x.s1, n.s1)); } \
    TYPE##3 OVERLOAD ldexp(TYPE##3 x, int3 n) { \
        return (TYPE##3)(ldexp(x.s0, n.s0), ldexp(x.s1, n.s1), ldexp(x.s2, n.s2)); \
    } \
    TYPE##4 OVERLOAD ldexp(TYPE##4 x, int4 n) { return (TYPE##4)(ldexp(x.lo, n.lo), ldexp(x.hi, n.hi)); } \
    TYPE##8 OVERLOAD ldexp(TYPE##8 x, int8 n) { return (TYPE##8)(ldexp(x.lo, n.lo), ldexp(x.hi, n.hi)); } \
    TYPE##16 OVERLOAD ldexp(TYPE##16 x, int16 n) { return (TYPE##16)(ldexp(x.lo, n.lo), ldexp(x.hi, n.hi)); } \
    TYPE##2 OVERLOAD ldexp(TYPE##2 x, int n) { return ldexp(x, (int2)n); } \
    TYPE##3 OVERLOAD ldexp(TYPE##3 x, int n) { return ldexp(x, (int3)n); } \
    TYPE##4 OVERLOAD ldexp(TYPE##4 x, int n) { return ldexp(x, (int4)n); } \
    TYPE##8 OVERLOAD ldexp(TYPE##8 x, int n) { return ldexp(x, (int8)n); } \
    TYPE##16 OVERLOAD ldexp(TYPE##16 x, int n) { return ldexp(x, (int16)n); }
VECTORS(float)
VECTORS(double)
