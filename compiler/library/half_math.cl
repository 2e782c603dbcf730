// Mathematics of half floats (cl_khr_fp16). Floats have more than twice the digits and far larger exponents, so what a function
// of floats gives is right for half floats to within one rounding.

#include "gencl.h"

// Clang declares built-in functions only where it finds no other of the name, so those of floats are declared here.

// A definition for every vector size.
#define SIZES(DEFINE, NAME) \
    DEFINE(NAME, ) DEFINE(NAME, 2) DEFINE(NAME, 3) DEFINE(NAME, 4) DEFINE(NAME, 8) DEFINE(NAME, 16)

#define BY_FLOAT_1(NAME, N) \
    float##N OVERLOAD NAME(float##N x); \
    half##N OVERLOAD NAME(half##N x) { return convert_half##N(NAME(convert_float##N(x))); }
#define BY_FLOAT_2(NAME, N) \
    float##N OVERLOAD NAME(float##N x, float##N y); \
    half##N OVERLOAD NAME(half##N x, half##N y) { \
        return convert_half##N(NAME(convert_float##N(x), convert_float##N(y))); \
    }
#define WITH_INT(NAME, N) \
    float##N OVERLOAD NAME(float##N x, int##N y); \
    half##N OVERLOAD NAME(half##N x, int##N y) { return convert_half##N(NAME(convert_float##N(x), y)); }

SIZES(BY_FLOAT_1, acos)
SIZES(BY_FLOAT_1, acosh)
SIZES(BY_FLOAT_1, acospi)
SIZES(BY_FLOAT_1, asin)
SIZES(BY_FLOAT_1, asinh)
SIZES(BY_FLOAT_1, asinpi)
SIZES(BY_FLOAT_1, atan)
SIZES(BY_FLOAT_1, atanh)
SIZES(BY_FLOAT_1, atanpi)
SIZES(BY_FLOAT_1, cbrt)
SIZES(BY_FLOAT_1, cos)
SIZES(BY_FLOAT_1, cosh)
SIZES(BY_FLOAT_1, cospi)
SIZES(BY_FLOAT_1, degrees)
SIZES(BY_FLOAT_1, erf)
SIZES(BY_FLOAT_1, erfc)
SIZES(BY_FLOAT_1, exp)
SIZES(BY_FLOAT_1, exp10)
SIZES(BY_FLOAT_1, exp2)
SIZES(BY_FLOAT_1, expm1)
SIZES(BY_FLOAT_1, lgamma)
SIZES(BY_FLOAT_1, log)
SIZES(BY_FLOAT_1, log10)
SIZES(BY_FLOAT_1, log1p)
SIZES(BY_FLOAT_1, log2)
SIZES(BY_FLOAT_1, logb)
SIZES(BY_FLOAT_1, radians)
SIZES(BY_FLOAT_1, sign)
SIZES(BY_FLOAT_1, sin)
SIZES(BY_FLOAT_1, sinh)
SIZES(BY_FLOAT_1, sinpi)
SIZES(BY_FLOAT_1, tan)
SIZES(BY_FLOAT_1, tanh)
SIZES(BY_FLOAT_1, tanpi)
SIZES(BY_FLOAT_1, tgamma)
SIZES(BY_FLOAT_2, atan2)
SIZES(BY_FLOAT_2, atan2pi)
SIZES(BY_FLOAT_2, fdim)
SIZES(BY_FLOAT_2, fmod)
SIZES(BY_FLOAT_2, hypot)
SIZES(BY_FLOAT_2, maxmag)
SIZES(BY_FLOAT_2, minmag)
SIZES(BY_FLOAT_2, pow)
SIZES(BY_FLOAT_2, powr)
SIZES(BY_FLOAT_2, remainder)
SIZES(BY_FLOAT_2, step)
SIZES(WITH_INT, ldexp)
SIZES(WITH_INT, pown)
SIZES(WITH_INT, rootn)

// What is an operation of its own.
#define OWN_1(NAME, BUILTIN, N) \
    half##N OVERLOAD NAME(half##N x) { return BUILTIN(x); }
#define OWN_2(NAME, BUILTIN, N) \
    half##N OVERLOAD NAME(half##N x, half##N y) { return BUILTIN(x, y); }
#define OWN_3(NAME, BUILTIN, N) \
    half##N OVERLOAD NAME(half##N x, half##N y, half##N z) { return BUILTIN(x, y, z); }
#define OWN(DEFINE, NAME, BUILTIN) \
    DEFINE(NAME, BUILTIN, ) \
    DEFINE(NAME, BUILTIN, 2) \
    DEFINE(NAME, BUILTIN, 3) \
    DEFINE(NAME, BUILTIN, 4) \
    DEFINE(NAME, BUILTIN, 8) \
    DEFINE(NAME, BUILTIN, 16)

OWN(OWN_1, fabs, __builtin_elementwise_abs)
OWN(OWN_1, ceil, __builtin_elementwise_ceil)
OWN(OWN_1, floor, __builtin_elementwise_floor)
OWN(OWN_1, rint, __builtin_elementwise_rint)
OWN(OWN_1, round, __builtin_elementwise_round)
OWN(OWN_1, trunc, __builtin_elementwise_trunc)
OWN(OWN_2, copysign, __builtin_elementwise_copysign)
OWN(OWN_2, fmax, __builtin_elementwise_max)
OWN(OWN_2, fmin, __builtin_elementwise_min)
OWN(OWN_2, max, __builtin_elementwise_max)
OWN(OWN_2, min, __builtin_elementwise_min)
OWN(OWN_3, fma, __builtin_elementwise_fma)
OWN(OWN_3, mad, __builtin_elementwise_fma)

#define TERNARY(NAME, N) \
    half##N OVERLOAD clamp(half##N x, half##N low, half##N high) { return min(max(x, low), high); } \
    half##N OVERLOAD mix(half##N x, half##N y, half##N a) { return fma(y - x, a, x); } \
    float##N OVERLOAD smoothstep(float##N edge0, float##N edge1, float##N x); \
    half##N OVERLOAD smoothstep(half##N edge0, half##N edge1, half##N x) { \
        return convert_half##N(smoothstep(convert_float##N(edge0), convert_float##N(edge1), convert_float##N(x))); \
    } \
    int##N OVERLOAD ilogb(float##N x); \
    int##N OVERLOAD ilogb(half##N x) { return ilogb(convert_float##N(x)); } \
    half##N OVERLOAD nan(ushort##N x) { return as_half##N((ushort##N)(x | (ushort##N)0x7e00)); }
SIZES(TERNARY, )

// One operand for all elements.
#define WITH_SCALAR(NAME, N) \
    half##N OVERLOAD fmax(half##N x, half y) { return fmax(x, (half##N)y); } \
    half##N OVERLOAD fmin(half##N x, half y) { return fmin(x, (half##N)y); } \
    half##N OVERLOAD max(half##N x, half y) { return max(x, (half##N)y); } \
    half##N OVERLOAD min(half##N x, half y) { return min(x, (half##N)y); } \
    half##N OVERLOAD clamp(half##N x, half low, half high) { return clamp(x, (half##N)low, (half##N)high); } \
    half##N OVERLOAD mix(half##N x, half##N y, half a) { return mix(x, y, (half##N)a); } \
    half##N OVERLOAD step(half edge, half##N x) { return step((half##N)edge, x); } \
    half##N OVERLOAD smoothstep(half edge0, half edge1, half##N x) { \
        return smoothstep((half##N)edge0, (half##N)edge1, x); \
    } \
    half##N OVERLOAD ldexp(half##N x, int y) { return ldexp(x, (int##N)y); }
WITH_SCALAR(, 2)
WITH_SCALAR(, 3)
WITH_SCALAR(, 4)
WITH_SCALAR(, 8)
WITH_SCALAR(, 16)

// The next one in the order of the numbers, in which negative ones count down.
half OVERLOAD nextafter(half x, half y) {
    if (isnan(x) || isnan(y))
        return x + y;
    if (x == y)
        return y;
    short bits = as_short(x);
    if ((bits & 0x7fff) == 0)
        return as_half((short)((as_short(y) & 0x8000) | 1));
    return as_half((short)((x < y) == (bits > 0) ? bits + 1 : bits - 1));
}
VECTORS_2(nextafter, half)

// With a second result.
#define SECOND(SPACE, N) \
    float##N OVERLOAD fract(float##N x, float##N *floor_of_x); \
    half##N OVERLOAD fract(half##N x, SPACE half##N *floor_of_x) { \
        float##N whole; \
        half##N rest = convert_half##N(fract(convert_float##N(x), &whole)); \
        *floor_of_x = convert_half##N(whole); \
        return rest == (half##N)1.0h ? (half##N)0x1.ffcp-1h : rest; \
    } \
    float##N OVERLOAD modf(float##N x, float##N *whole); \
    half##N OVERLOAD modf(half##N x, SPACE half##N *whole_of_x) { \
        float##N whole; \
        half##N rest = convert_half##N(modf(convert_float##N(x), &whole)); \
        *whole_of_x = convert_half##N(whole); \
        return rest; \
    } \
    float##N OVERLOAD frexp(float##N x, int##N *exponent); \
    half##N OVERLOAD frexp(half##N x, SPACE int##N *exponent) { \
        int##N e; \
        half##N result = convert_half##N(frexp(convert_float##N(x), &e)); \
        *exponent = e; \
        return result; \
    } \
    float##N OVERLOAD lgamma_r(float##N x, int##N *sign); \
    half##N OVERLOAD lgamma_r(half##N x, SPACE int##N *sign) { \
        int##N s; \
        half##N result = convert_half##N(lgamma_r(convert_float##N(x), &s)); \
        *sign = s; \
        return result; \
    } \
    float##N OVERLOAD remquo(float##N x, float##N y, int##N *quotient); \
    half##N OVERLOAD remquo(half##N x, half##N y, SPACE int##N *quotient) { \
        int##N q; \
        half##N result = convert_half##N(remquo(convert_float##N(x), convert_float##N(y), &q)); \
        *quotient = q; \
        return result; \
    } \
    half##N OVERLOAD sincos(half##N x, SPACE half##N *cosine) { \
        *cosine = cos(x); \
        return sin(x); \
    }
SIZES(SECOND, global)
SIZES(SECOND, local)
SIZES(SECOND, private)

// Geometry, computed in floats.
#define GEOMETRY(N) \
    float OVERLOAD dot(float##N x, float##N y); \
    float OVERLOAD distance(float##N x, float##N y); \
    float OVERLOAD length(float##N x); \
    float##N OVERLOAD normalize(float##N x); \
    half OVERLOAD dot(half##N x, half##N y) { return (half)dot(convert_float##N(x), convert_float##N(y)); } \
    half OVERLOAD distance(half##N x, half##N y) { \
        return (half)distance(convert_float##N(x), convert_float##N(y)); \
    } \
    half OVERLOAD length(half##N x) { return (half)length(convert_float##N(x)); } \
    half##N OVERLOAD normalize(half##N x) { return convert_half##N(normalize(convert_float##N(x))); }
GEOMETRY()
GEOMETRY(2)
GEOMETRY(3)
GEOMETRY(4)
float3 OVERLOAD cross(float3 x, float3 y);
float4 OVERLOAD cross(float4 x, float4 y);
half3 OVERLOAD cross(half3 x, half3 y) { return convert_half3(cross(convert_float3(x), convert_float3(y))); }
half4 OVERLOAD cross(half4 x, half4 y) { return convert_half4(cross(convert_float4(x), convert_float4(y))); }
