// Remainders of floats, which are exact, also when subnormal.

#include "gencl.h"

// The remainder of x modulo y, times `*scale`, which keeps all values in the range of normal numbers; between
// -0.7 and 0.7 times `*divisor`, which is y times `*scale`. x and y are positive and finite, and x at least
// y/2. 19 digits of the quotient at a time: then the error of the reciprocal is less than 0.2 of the
// quotient's unit, and the remainder, a multiple of y's last digit, is exact.
float __gencl_divide_long(float x, float y, float *divisor, float *scale, uint *quotient) {
    int shift = y < 0x1p-63f ? 64 : y >= 0x1p64f ? -64 : 0;
    *scale = y < 0x1p-63f ? 0x1p64f : y >= 0x1p64f ? 0x1p-64f : 1.0f;
    y *= *scale;
    *divisor = y;
    if (x < 0x1p-126f) {
        x *= 0x1p64f;
        shift -= 64;
    }
    int digits = (int)(as_uint(x) >> 23) - (int)(as_uint(y) >> 23) + shift;
    float rest = as_float(as_uint(y) & 0x7f800000 | as_uint(x) & 0x7fffff);
    float inverse = __gencl_rcp(y);
    *quotient = 0;
    do {
        int now = min(digits, 19);
        rest *= as_float((now + 127) << 23);
        float part = rint(rest * inverse);
        rest = fma(-part, y, rest);
        *quotient = (*quotient << now) + (int)part;
        digits -= now;
    } while (digits > 0);
    return rest;
}

// The inverse of the power of two that is `scale`.
float __gencl_inverse_power(float scale) { return as_float((254u << 23) - as_uint(scale)); }

float __gencl_flip(float x, float by) { return as_float(as_uint(x) ^ as_uint(by) & 0x80000000); }

float OVERLOAD fmod(float x, float y) {
    float a = fabs(x), b = fabs(y);
    if (!(a < INFINITY) || !(b > 0.0f))
        return NAN;
    if (a < b)
        return x;
    float divisor, scale;
    uint quotient;
    float rest = __gencl_divide_long(a, b, &divisor, &scale, &quotient);
    rest = rest < 0.0f ? rest + divisor : rest;
    return __gencl_flip(rest * __gencl_inverse_power(scale), x);
}

float OVERLOAD remquo(float x, float y, private int *result) {
    float a = fabs(x), b = fabs(y);
    *result = 0;
    if (!(a < INFINITY) || !(b > 0.0f))
        return NAN;
    if (a + a < b || b == INFINITY)
        return x;
    float divisor, scale;
    uint quotient;
    float rest = __gencl_divide_long(a, b, &divisor, &scale, &quotient);
    float twice = 2.0f * fabs(rest);
    if (twice > divisor || twice == divisor && quotient & 1) {
        quotient += rest > 0.0f ? 1 : -1;
        rest -= copysign(divisor, rest);
    }
    int low = quotient & 0x7f;
    *result = (as_int(x) ^ as_int(y)) < 0 ? -low : low;
    return __gencl_flip(rest * __gencl_inverse_power(scale), x);
}

float OVERLOAD remainder(float x, float y) {
    int quotient;
    return remquo(x, y, &quotient);
}

VECTORS_2(fmod, float)
VECTORS_2(remainder, float)

// remquo for vectors and the other address spaces.
#define REMQUO(N, PARTS) \
    float##N OVERLOAD remquo(float##N x, float##N y, private int##N *quotient) { \
        int##N q; \
        float##N rest; \
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
REMQUO(2, PART(x) PART(y))
REMQUO(3, PART(x) PART(y) PART(z))
REMQUO(4, HALVES(2))
REMQUO(8, HALVES(4))
REMQUO(16, HALVES(8))

#define IN(SPACE, N) \
    float##N OVERLOAD remquo(float##N x, float##N y, SPACE int##N *quotient) { \
        int##N q; \
        float##N rest = remquo(x, y, &q); \
        *quotient = q; \
        return rest; \
    }
#define SPACES(N) IN(global, N) IN(local, N)
SPACES()
SPACES(2)
SPACES(3)
SPACES(4)
SPACES(8)
SPACES(16)
