// Functions that the MATH unit has. native_ functions may do as they like; half_ functions have 8192 ULP and
// arguments in [-2^16, 2^16] (OpenCL C 1.2, 6.12.2).

#include "gencl.h"

#define LOG2_E 1.44269504f
#define LOG2_10 3.32192809f
#define LN_2 0.69314718f
#define LOG10_2 0.30103000f

#define APPROXIMATE(PREFIX) \
    float OVERLOAD PREFIX##_cos(float x) { return __gencl_cos(x); } \
    float OVERLOAD PREFIX##_sin(float x) { return __gencl_sin(x); } \
    float OVERLOAD PREFIX##_tan(float x) { return __gencl_divide(__gencl_sin(x), __gencl_cos(x)); } \
    float OVERLOAD PREFIX##_exp(float x) { return __gencl_exp2(x * LOG2_E); } \
    float OVERLOAD PREFIX##_exp2(float x) { return __gencl_exp2(x); } \
    float OVERLOAD PREFIX##_exp10(float x) { return __gencl_exp2(x * LOG2_10); } \
    float OVERLOAD PREFIX##_log(float x) { return __gencl_log2(x) * LN_2; } \
    float OVERLOAD PREFIX##_log2(float x) { return __gencl_log2(x); } \
    float OVERLOAD PREFIX##_log10(float x) { return __gencl_log2(x) * LOG10_2; } \
    float OVERLOAD PREFIX##_recip(float x) { return __gencl_rcp(x); } \
    float OVERLOAD PREFIX##_rsqrt(float x) { return __gencl_rsqrt(x); } \
    float OVERLOAD PREFIX##_sqrt(float x) { return __gencl_sqrt(x); } \
    float OVERLOAD PREFIX##_divide(float x, float y) { return __gencl_divide(x, y); } \
    VECTORS_1(PREFIX##_cos, float) \
    VECTORS_1(PREFIX##_sin, float) \
    VECTORS_1(PREFIX##_tan, float) \
    VECTORS_1(PREFIX##_exp, float) \
    VECTORS_1(PREFIX##_exp2, float) \
    VECTORS_1(PREFIX##_exp10, float) \
    VECTORS_1(PREFIX##_log, float) \
    VECTORS_1(PREFIX##_log2, float) \
    VECTORS_1(PREFIX##_log10, float) \
    VECTORS_1(PREFIX##_recip, float) \
    VECTORS_1(PREFIX##_rsqrt, float) \
    VECTORS_1(PREFIX##_sqrt, float) \
    VECTORS_2(PREFIX##_divide, float)

APPROXIMATE(native)
APPROXIMATE(half)

// half_powr is in pow.cl: the unit's power takes no notice of the sign of x.
float OVERLOAD native_powr(float x, float y) { return __gencl_pow(x, y); }
VECTORS_2(native_powr, float)
