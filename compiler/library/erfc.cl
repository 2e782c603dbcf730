// erfc of floats (OpenCL C 3.0, 7.4 allows 16 ULP), with subnormal results.

#include "gencl.h"

float __gencl_exp2_sum(float x, float low);

// With t = 1 / (1 + x/2), erfc(x) = t exp(-x^2) 2^P(t), where P is a minimax polynomial for x between 0 and
// 11, absolute error 2^-26.3.
float OVERLOAD erfc(float x) {
    float a = fmin(fabs(x), 11.0f);
    float t = __gencl_rcp(fma(a, 0.5f, 1.0f));
    float p = -0x1.75e7c2p-3f;
    p = fma(p, t, 0x1.45ead2p+0f);
    p = fma(p, t, -0x1.d8b692p+1f);
    p = fma(p, t, 0x1.689698p+2f);
    p = fma(p, t, -0x1.2ba6f2p+2f);
    p = fma(p, t, 0x1.11852ap+1f);
    p = fma(p, t, -0x1.d62e70p-1f);
    p = fma(p, t, 0x1.2fc810p-2f);
    p = fma(p, t, 0x1.085e72p-1f);
    p = fma(p, t, 0x1.71d4fcp+0f);
    p = fma(p, t, -0x1.d368a4p+0f);
    // -x^2 / ln(2) as a sum.
    float square = a * a, square_rest = fma(a, a, -square);
    float exponent = square * -0x1.715476p+0f;
    float rest = fma(square, -0x1.715476p+0f, -exponent);
    rest = fma(square_rest, -0x1.715476p+0f, fma(square, -0x1.4ae0c0p-26f, rest));
    float result = t * __gencl_exp2_sum(exponent, p + rest);
    result = x < 0.0f ? 2.0f - result : result;
    return isnan(x) ? x : result;
}
VECTORS_1(erfc, float)
