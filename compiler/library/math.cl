// Functions of the MATH unit. The accuracy of native_ functions is not specified; half_ functions have 8192
// ULP and arguments in [-2^16, 2^16] (OpenCL C 1.2, 6.12.2).

#include "gencl.h"

#define LOG2_E 1.44269504f
#define LOG2_10 3.32192809f
#define LN_2 0.69314718f
#define LOG10_2 0.30103000f

#define FUNCTION(NAME, VALUE) \
    float OVERLOAD NAME(float x) { return VALUE; } \
    VECTORS_1(NAME, float)

#define APPROXIMATE(PREFIX) \
    FUNCTION(PREFIX##_cos, __gencl_cos(x)) \
    FUNCTION(PREFIX##_sin, __gencl_sin(x)) \
    FUNCTION(PREFIX##_tan, __gencl_divide(__gencl_sin(x), __gencl_cos(x))) \
    FUNCTION(PREFIX##_exp, __gencl_exp2(x * LOG2_E)) \
    FUNCTION(PREFIX##_exp2, __gencl_exp2(x)) \
    FUNCTION(PREFIX##_exp10, __gencl_exp2(x * LOG2_10)) \
    FUNCTION(PREFIX##_log, __gencl_log2(x) * LN_2) \
    FUNCTION(PREFIX##_log2, __gencl_log2(x)) \
    FUNCTION(PREFIX##_log10, __gencl_log2(x) * LOG10_2) \
    FUNCTION(PREFIX##_recip, __gencl_rcp(x)) \
    FUNCTION(PREFIX##_rsqrt, __gencl_rsqrt(x)) \
    FUNCTION(PREFIX##_sqrt, __gencl_sqrt(x)) \
    float OVERLOAD PREFIX##_divide(float x, float y) { return __gencl_divide(x, y); } \
    VECTORS_2(PREFIX##_divide, float)

APPROXIMATE(native)
APPROXIMATE(half)

// half_powr is in pow.cl: the unit's power ignores the sign of x.
float OVERLOAD native_powr(float x, float y) { return __gencl_pow(x, y); }
VECTORS_2(native_powr, float)
