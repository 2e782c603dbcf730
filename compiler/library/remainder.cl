// Remainders of floats and doubles, which are exact, also when subnormal. libclc multiplies the divisor by a rounded
// quotient, which can overflow.

#include "gencl.h"

// The format of floats and doubles (divide_float.cl).
float __gencl_mantissa32(float x);
int __gencl_exponent32(float x);
double __gencl_mantissa64(double x);
int __gencl_exponent64(double x);
double __gencl_reciprocal64(double b);

#define POWER32(N) as_float((uint)((N) + 127) << 23)
#define POWER64(N) as_double((ulong)(uint)((N) + 1023) << 52)

// The remainder of x modulo y as the result times 2^exponent, between -0.7 and 0.7 times `*divisor`, which is y as such
// a number, between 1 and 2; and the lowest bits of the quotient. x and y are positive and finite, and x at least y/2.
// DIGITS of the quotient at a time: then the error of the reciprocal is less than 0.2 of the quotient's unit, and the
// remainder, a multiple of the divisor's last digit, is exact. Adding WHOLE leaves an integer in the lowest bits.
#define LONG_DIVISION(TYPE, SIZE, BITS, BIAS, NORMAL, DIGITS, INVERSE, WHOLE) \
    TYPE __gencl_normalise##SIZE(TYPE x, int *exponent) { \
        bool small = x < NORMAL; \
        x = small ? x * (TYPE)0x1p64f : x; \
        *exponent = __gencl_exponent##SIZE(x) - (small ? BIAS + 64 : BIAS); \
        return __gencl_mantissa##SIZE(x); \
    } \
    TYPE OVERLOAD __gencl_divide_long(TYPE x, TYPE y, TYPE *divisor, int *exponent, uint *quotient) { \
        int digits; \
        TYPE rest = __gencl_normalise##SIZE(x, &digits); \
        y = *divisor = __gencl_normalise##SIZE(y, exponent); \
        digits -= *exponent; \
        TYPE inverse = INVERSE(y); \
        *quotient = 0; \
        do { \
            int now = min(digits, DIGITS); \
            rest *= POWER##SIZE(now); \
            TYPE part = rint(rest * inverse); \
            rest = fma(-part, y, rest); \
            *quotient = (now < 32 ? *quotient << (now & 31) : 0) + (uint)as_##BITS(part + WHOLE); \
            digits -= now; \
        } while (digits > 0); \
        return rest; \
    } \
    /* rest times 2^exponent, which is exact, or its negative if `of` is negative. Not every such power is a normal number. */ \
    TYPE OVERLOAD __gencl_scale_back(TYPE rest, int exponent, TYPE of) { \
        int first = exponent >> 1; \
        BITS result = as_##BITS(rest * POWER##SIZE(first) * POWER##SIZE(exponent - first)); \
        return as_##TYPE(result ^ (as_##BITS(of) & as_##BITS((TYPE)-0.0f))); \
    }
LONG_DIVISION(float, 32, uint, 127, 0x1p-126f, 19, __gencl_rcp, 0x1.8p23f)
LONG_DIVISION(double, 64, ulong, 1023, 0x1p-1022, 48, __gencl_reciprocal64, 0x1.8p52)

#define REMAINDERS(TYPE) \
    TYPE OVERLOAD fmod(TYPE x, TYPE y) { \
        TYPE a = fabs(x), b = fabs(y); \
        if (!(a < INFINITY) || !(b > 0)) \
            return NAN; \
        if (a < b) \
            return x; \
        TYPE divisor; \
        int exponent; \
        uint quotient; \
        TYPE rest = __gencl_divide_long(a, b, &divisor, &exponent, &quotient); \
        return __gencl_scale_back(rest < 0 ? rest + divisor : rest, exponent, x); \
    } \
    TYPE OVERLOAD remquo(TYPE x, TYPE y, private int *result) { \
        TYPE a = fabs(x), b = fabs(y); \
        *result = 0; \
        if (!(a < INFINITY) || !(b > 0)) \
            return NAN; \
        if (a + a < b || b == INFINITY) \
            return x; \
        TYPE divisor; \
        int exponent; \
        uint quotient; \
        TYPE rest = __gencl_divide_long(a, b, &divisor, &exponent, &quotient); \
        TYPE twice = 2 * fabs(rest); \
        if (twice > divisor || twice == divisor && quotient & 1) { \
            quotient += rest > 0 ? 1 : -1; \
            rest -= copysign(divisor, rest); \
        } \
        int low = quotient & 0x7f; \
        *result = signbit(x) == signbit(y) ? low : -low; \
        return __gencl_scale_back(rest, exponent, x); \
    } \
    TYPE OVERLOAD remainder(TYPE x, TYPE y) { \
        int quotient; \
        return remquo(x, y, &quotient); \
    } \
    VECTORS_2(fmod, TYPE) \
    VECTORS_2(remainder, TYPE)
REMAINDERS(float)
REMAINDERS(double)

// remquo for vectors and the other address spaces.
#define REMQUO(TYPE, N, PARTS) \
    TYPE##N OVERLOAD remquo(TYPE##N x, TYPE##N y, private int##N *quotient) { \
        int##N q; \
        TYPE##N rest; \
        PARTS \
        *quotient = q; \
        return rest; \
    }
#define PART(I) \
    { \
        int part; \
        rest.I = remquo(x.I, y.I, &part); \
        q.I = part; \
    }
#define HALVES(N) \
    { \
        int##N part; \
        rest.lo = remquo(x.lo, y.lo, &part); \
        q.lo = part; \
        rest.hi = remquo(x.hi, y.hi, &part); \
        q.hi = part; \
    }
#define IN(TYPE, SPACE, N) \
    TYPE##N OVERLOAD remquo(TYPE##N x, TYPE##N y, SPACE int##N *quotient) { \
        int##N q; \
        TYPE##N rest = remquo(x, y, &q); \
        *quotient = q; \
        return rest; \
    }
#define SPACES(TYPE, N) IN(TYPE, global, N) IN(TYPE, local, N)
#define SIZES(TYPE) \
    REMQUO(TYPE, 2, PART(x) PART(y)) \
    REMQUO(TYPE, 3, PART(x) PART(y) PART(z)) \
    REMQUO(TYPE, 4, HALVES(2)) \
    REMQUO(TYPE, 8, HALVES(4)) \
    REMQUO(TYPE, 16, HALVES(8)) \
    SPACES(TYPE, ) SPACES(TYPE, 2) SPACES(TYPE, 3) SPACES(TYPE, 4) SPACES(TYPE, 8) SPACES(TYPE, 16)
SIZES(float)
SIZES(double)
