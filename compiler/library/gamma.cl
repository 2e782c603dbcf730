// tgamma of floats (OpenCL C 3.0, 7.4 allows 16 ULP) by its recurrence, in doubles.

#include "gencl.h"

// Gamma(r + 1) of 0 <= r <= 1: a minimax polynomial around the middle, relative error 2^-29.9.
float __gencl_gamma(float r) {
    float u = r - 0.5f;
    float p = -0x1.7abbb2p-7f;
    p = fma(p, u, 0x1.0b5236p-6f);
    p = fma(p, u, -0x1.02f070p-6f);
    p = fma(p, u, 0x1.8fc486p-6f);
    p = fma(p, u, -0x1.394b2cp-5f);
    p = fma(p, u, 0x1.e1b468p-5f);
    p = fma(p, u, -0x1.3d73e0p-4f);
    p = fma(p, u, 0x1.2835e0p-3f);
    p = fma(p, u, -0x1.b77b80p-4f);
    p = fma(p, u, 0x1.a8c4ecp-2f);
    p = fma(p, u, 0x1.08ea8cp-5f);
    return fma(p, u, 0x1.c5bf8ap-1f);
}

float OVERLOAD tgamma(float x) {
    float below = floor(x);
    if (isnan(x) || x < 0.0f && below == x)
        return NAN;
    // Those beyond are infinite, or less than half of the least number.
    float steps = fmin(fabs(below), 44.0f);
    float gamma = __gencl_gamma(x - below);
    if (x >= 1.0f) {
        double product = 1.0;
        for (float i = 1.0f; i < steps; i += 1.0f)
            product *= (double)x - i;
        return x > 36.0f ? INFINITY : (float)(gamma * product);
    }
    double product = x;
    for (float i = 1.0f; i <= steps; i += 1.0f)
        product *= (double)x + i;
    return (float)(gamma / product);
}
VECTORS_1(tgamma, float)
