// Exponentials of floats, to 1 ULP and with subnormal results (OpenCL C 3.0, 7.4 allows 3 ULP). The MATH unit
// has an error of up to 4 ULP, so these are polynomials.

#include "gencl.h"

// Floats of this size are integral, so adding it rounds; the lowest bits of the sum are the integer plus 254.
#define ROUND (0x1.8p23f + 254.0f)

// x * 2^k of -252 <= k <= 254, where `rounded` is k + ROUND: two factors, as not every 2^k is a normal number. Only the last
// product is rounded, if x is about 1.
float __gencl_times_power(float x, float rounded) {
    uint k = as_uint(rounded), half_of_k = k >> 1;
    return x * as_float(half_of_k << 23) * as_float((k - half_of_k) << 23);
}

// 2^(x + low), for |low| less than about 4, as 2^k times a minimax polynomial on [-1/2, 1/2], relative error 2^-28.9.
float __gencl_exp2_sum(float x, float low) {
    float rounded = x + low + ROUND;
    float r = x - (rounded - ROUND) + low;
    float p = 0x1.41fbbap-13f;
    p = fma(p, r, 0x1.5f3e56p-10f);
    p = fma(p, r, 0x1.3b2d4cp-7f);
    p = fma(p, r, 0x1.c6aee8p-5f);
    p = fma(p, r, 0x1.ebfbdcp-3f);
    p = fma(p, r, 0x1.62e430p-1f);
    return __gencl_times_power(fma(p, r, 1.0f), rounded);
}

// Beyond the bounds the result is 0 or infinite.
float OVERLOAD exp2(float x) {
    float result = __gencl_exp2_sum(fmin(fmax(x, -152.0f), 129.0f), 0.0f);
    return isnan(x) ? x : result;
}

// BASE^x = 2^k BASE^r, where r is in [-log(2)/2, log(2)/2] of that base. The same polynomial in another variable.
#define EXPONENTIAL(NAME, LOWEST, HIGHEST, LOG2_BASE, LOG_2, LOG_2_REST, C1, C2, C3, C4, C5, C6) \
    float OVERLOAD NAME(float x) { \
        float y = fmin(fmax(x, LOWEST), HIGHEST); \
        float rounded = fma(y, LOG2_BASE, ROUND); \
        float k = rounded - ROUND; \
        float r = fma(k, -LOG_2_REST, fma(k, -LOG_2, y)); \
        float p = fma(fma(fma(fma(fma(C6, r, C5), r, C4), r, C3), r, C2), r, C1); \
        float result = __gencl_times_power(fma(p, r, 1.0f), rounded); \
        return isnan(x) ? x : result; \
    }

EXPONENTIAL(exp, -105.0f, 89.0f, 0x1.715476p+0f, 0x1.62e430p-1f, -0x1.05c610p-29f, //
            1.0f, 0x1.fffffcp-2f, 0x1.55541ap-3f, 0x1.555822p-5f, 0x1.126784p-7f, 0x1.6ae72ep-10f)
EXPONENTIAL(exp10, -46.0f, 39.0f, 0x1.a934f0p+1f, 0x1.344136p-2f, -0x1.ec10c0p-27f, //
            0x1.26bb1cp+1f, 0x1.53524ap+1f, 0x1.046f68p+1f, 0x1.2bd9d6p+0f, 0x1.158454p-1f, 0x1.a68bf8p-3f)

VECTORS_1(exp, float)
VECTORS_1(exp2, float)
VECTORS_1(exp10, float)
