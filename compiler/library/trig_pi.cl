// sinpi, cospi, tanpi and atanpi. The argument reduction is exact; the rest are minimax polynomials on [-1/4,
// 1/4] with relative errors of 2^-28 (floats) and 2^-68 (doubles). At multiples of 1/2 zeros and infinities
// have the signs of OpenCL C 3.0, 7.5.1.

#include "gencl.h"

// x = whole + k/2 + r with |r| <= 1/4, where `whole` is a multiple of PERIOD.
#define REDUCE(TYPE, PERIOD) \
    TYPE y = x - PERIOD * rint(x * (TYPE)(1.0 / PERIOD)); \
    TYPE quarter = rint(2 * y); \
    int k = convert_int_sat(quarter); \
    TYPE r = fma(quarter, (TYPE)-0.5, y); \
    TYPE t = r * r; \
    TYPE sine = r * SINE_##TYPE(t), cosine = fma(t, COSINE_##TYPE(t), (TYPE)1.0);

#define SINE_float(T) fma(fma(fma(-0x1.2d9302p-1f, T, 0x1.465e92p+1f), T, -0x1.4abbbap+2f), T, 0x1.921fb6p+1f)
#define COSINE_float(T) fma(fma(fma(0x1.d9d57ep-3f, T, -0x1.55c5e0p+0f), T, 0x1.03c1dep+2f), T, -0x1.3bd3ccp+2f)

#define P4(T, C0, C1, C2, C3) fma(fma(fma(C3, T, C2), T, C1), T, C0)
#define P8(T, C0, C1, C2, C3, ...) fma(fma(fma(fma(P4(T, __VA_ARGS__), T, C3), T, C2), T, C1), T, C0)
#define SINE_double(T) \
    P8(T, 0x1.921fb54442d18p+1, -0x1.4abbce625be53p+2, 0x1.466bc6775aad9p+1, -0x1.32d2cce62abbdp-1, \
       0x1.50783485c2d5ap-4, -0x1.e3074b42c3260p-8, 0x1.e8eec79bff488p-12, -0x1.6c58cc26e647ep-16)
#define COSINE_double(T) \
    P8(T, -0x1.3bd3cc9be45dep+2, 0x1.03c1f081b5ac4p+2, -0x1.55d3c7e3cbfeep+0, 0x1.e1f5068919ae4p-3, \
       -0x1.a6d1f29f1dac4p-6, 0x1.f9d3854584d0ep-10, -0x1.b6dd69a0e6216p-14, 0x1.1e293ce21a216p-18)

#define FUNCTIONS(TYPE) \
    TYPE OVERLOAD sinpi(TYPE x) { \
        REDUCE(TYPE, 2) \
        TYPE result = k & 1 ? cosine : sine; \
        result = k & 2 ? -result : result; \
        return result == 0 ? copysign(result, x) : result; \
    } \
    TYPE OVERLOAD cospi(TYPE x) { \
        REDUCE(TYPE, 2) \
        TYPE result = k & 1 ? sine : cosine; \
        result = (k + 1) & 2 ? -result : result; \
        return result == 0 ? fabs(result) : result; \
    } \
    TYPE OVERLOAD tanpi(TYPE x) { \
        REDUCE(TYPE, 1) \
        TYPE result = (k & 1 ? cosine : sine) / (k & 1 ? -sine : cosine); \
        TYPE half_of_whole = (TYPE)0.5 * rint(x); \
        bool odd = rint(half_of_whole) != half_of_whole; \
        TYPE sign = k & 1 ? y : odd ? -x : x; \
        return r == 0 ? copysign(result, sign) : result; \
    }
FUNCTIONS(float)
FUNCTIONS(double)

#define VECTORS(TYPE) VECTORS_1(sinpi, TYPE) VECTORS_1(cospi, TYPE) VECTORS_1(tanpi, TYPE)
VECTORS(float)
VECTORS(double)

double OVERLOAD atanpi(double x) { return atan(x) * M_1_PI; }
VECTORS_1(atanpi, double)
