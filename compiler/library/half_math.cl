// Mathematics of half floats (cl_khr_fp16). Floats have more than twice the digits and a much larger range of
// exponents, so the rounded result of the float function is accurate.

#include "gencl.h"

// Clang declares built-in functions only if there is no other with that name, so those of floats are declared
// here.

// A definition for scalars and every vector size.
#define VECTORS(DEFINE, ...) \
    DEFINE(__VA_ARGS__, 2) DEFINE(__VA_ARGS__, 3) DEFINE(__VA_ARGS__, 4) DEFINE(__VA_ARGS__, 8) DEFINE(__VA_ARGS__, 16)
#define SIZES(DEFINE, ...) DEFINE(__VA_ARGS__, ) VECTORS(DEFINE, __VA_ARGS__)

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

#define ONE(NAME) SIZES(BY_FLOAT_1, NAME)
#define TWO(NAME) SIZES(BY_FLOAT_2, NAME)
#define INT(NAME) SIZES(WITH_INT, NAME)
ONE(acos) ONE(acosh) ONE(acospi) ONE(asin) ONE(asinh) ONE(asinpi) ONE(atan) ONE(atanh) ONE(atanpi) ONE(cbrt)
ONE(cos) ONE(cosh) ONE(cospi) ONE(degrees) ONE(erf) ONE(erfc) ONE(exp) ONE(exp10) ONE(exp2) ONE(expm1)
ONE(lgamma) ONE(log) ONE(log10) ONE(log1p) ONE(log2) ONE(logb) ONE(radians) ONE(sign) ONE(sin) ONE(sinh)
ONE(sinpi) ONE(tan) ONE(tanh) ONE(tanpi) ONE(tgamma)
TWO(atan2) TWO(atan2pi) TWO(fmod) TWO(hypot) TWO(maxmag) TWO(minmag) TWO(pow) TWO(powr)
TWO(remainder) TWO(step)
INT(ldexp) INT(pown) INT(rootn)

// Operations that have instructions.
#define OWN_1(NAME, BUILTIN, N) \
    half##N OVERLOAD NAME(half##N x) { return BUILTIN(x); }
#define OWN_2(NAME, BUILTIN, N) \
    half##N OVERLOAD NAME(half##N x, half##N y) { return BUILTIN(x, y); }
#define OWN_3(NAME, BUILTIN, N) \
    half##N OVERLOAD NAME(half##N x, half##N y, half##N z) { return BUILTIN(x, y, z); }

SIZES(OWN_1, fabs, __builtin_elementwise_abs)
SIZES(OWN_1, ceil, __builtin_elementwise_ceil)
SIZES(OWN_1, floor, __builtin_elementwise_floor)
SIZES(OWN_1, rint, __builtin_elementwise_rint)
SIZES(OWN_1, round, __builtin_elementwise_round)
SIZES(OWN_1, trunc, __builtin_elementwise_trunc)
SIZES(OWN_2, copysign, __builtin_elementwise_copysign)
SIZES(OWN_2, fmax, __builtin_elementwise_max)
SIZES(OWN_2, fmin, __builtin_elementwise_min)
SIZES(OWN_2, max, __builtin_elementwise_max)
SIZES(OWN_2, min, __builtin_elementwise_min)
SIZES(OWN_3, fma, __builtin_elementwise_fma)
SIZES(OWN_3, mad, __builtin_elementwise_fma)

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
VECTORS(WITH_SCALAR, )

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
    }
SIZES(SECOND, global)
SIZES(SECOND, local)
SIZES(SECOND, private)
SINCOS(half)

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
