// ldexp, as libclc's is wrong for NaN and for subnormal floats: multiplications by powers of two. A large
// decrease is split so that the first product is normal, and the result is rounded once.

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
    VECTORS_WITH_INT(ldexp, TYPE) \
    TYPE##2 OVERLOAD ldexp(TYPE##2 x, int n) { return ldexp(x, (int2)n); } \
    TYPE##3 OVERLOAD ldexp(TYPE##3 x, int n) { return ldexp(x, (int3)n); } \
    TYPE##4 OVERLOAD ldexp(TYPE##4 x, int n) { return ldexp(x, (int4)n); } \
    TYPE##8 OVERLOAD ldexp(TYPE##8 x, int n) { return ldexp(x, (int8)n); } \
    TYPE##16 OVERLOAD ldexp(TYPE##16 x, int n) { return ldexp(x, (int16)n); }
VECTORS(float)
VECTORS(double)
