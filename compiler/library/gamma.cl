// tgamma (OpenCL C 3.0, 7.4 allows 16 ULP), -infinity for -0, and lgamma.

#include "gencl.h"

// Polynomials as Horner evaluates them: the first coefficient is that of the highest power.
#define POLYNOMIAL(TYPE, NAME, HIGHEST, REST) \
    TYPE NAME(TYPE x) { \
        TYPE p = HIGHEST; \
        REST return p; \
    }
#define C(COEFFICIENT) p = fma(p, x, COEFFICIENT);

// Gamma(x + 3/2) of -1/2 <= x <= 1/2: minimax polynomials, relative errors 2^-29.9 and 2^-57.9.
#define GAMMA_FLOAT \
    C(0x1.0b5236p-6f) C(-0x1.02f070p-6f) C(0x1.8fc486p-6f) C(-0x1.394b2cp-5f) C(0x1.e1b468p-5f) \
    C(-0x1.3d73e0p-4f) C(0x1.2835e0p-3f) C(-0x1.b77b80p-4f) C(0x1.a8c4ecp-2f) C(0x1.08ea8cp-5f) \
    C(0x1.c5bf8ap-1f)
POLYNOMIAL(float, __gencl_gamma_float, -0x1.7abbb2p-7f, GAMMA_FLOAT)

#define GAMMA_DOUBLE \
    C(-0x1.10e0ed56530adp-12) C(0x1.09a20951043e4p-13) C(-0x1.bc85386807fe9p-13) C(0x1.f96f3af665451p-12) \
    C(-0x1.743cdfa82133bp-11) C(0x1.07e93240043eep-10) C(-0x1.8cf69090298c9p-10) C(0x1.2b5ce9aa9458dp-9) \
    C(-0x1.c0c8b3d452ba9p-9) C(0x1.504c197060f26p-8) C(-0x1.f7fa792fd4e2dp-8) C(0x1.7991f60453600p-7) \
    C(-0x1.1a2c30dc7c713p-6) C(0x1.a752c61a9a6bap-6) C(-0x1.374fd5a900f51p-5) C(0x1.e022b7455f87fp-5) \
    C(-0x1.3d88cfe564feap-4) C(0x1.283bd374e9430p-3) C(-0x1.b77ac1ca2dd0ep-4) C(0x1.a8c4dba620d6dp-2) \
    C(0x1.08ea88ee5619cp-5) C(0x1.c5bf891b4ef6bp-1)
POLYNOMIAL(double, __gencl_gamma_double, 0x1.823ac0fdb229cp-13, GAMMA_DOUBLE)

// Gamma(1/x) over x^(1/2 - 1/x) e^(-1/x), by Stirling: a minimax polynomial of 0 < x <= 1/12, relative error
// 2^-60.6.
#define STIRLING \
    C(-0x1.a608fcd3b7059p-10) C(0x1.864139bc754a8p-13) C(0x1.0183b4678d76ap-9) C(-0x1.2d8f6de167f82p-11) \
    C(-0x1.b879319637e0dp-8) C(0x1.1d32d71e98680p-7) C(0x1.abcc42a9d8544p-3) C(0x1.40d931ff62706p+1)
POLYNOMIAL(double, __gencl_stirling, 0x1.546642b14c26dp-11, STIRLING)

// (product.x + product.y) times a factor, with the rounding error of the product in `y`.
float2 __gencl_times(float2 product, float factor) {
    float high = product.x * factor;
    return (float2)(high, fma(product.y, factor, fma(product.x, factor, -high)));
}

// All factors are exact, but for one near 0.
float OVERLOAD tgamma(float x) {
    float below = floor(x);
    if (isnan(x) || x < 0.0f && below == x)
        return NAN;
    // Results for larger arguments are infinite, or less than half the smallest number, where each factor has a sign.
    bool odd = rint(0.5f * below) != 0.5f * below;
    float steps = fmin(fabs(below), odd ? 44.0f : 45.0f);
    float gamma = __gencl_gamma_float(x - below - 0.5f);
    if (x >= 1.0f) {
        float2 product = (float2)(gamma, 0.0f);
        for (float i = 1.0f; i < steps; i += 1.0f)
            product = __gencl_times(product, x - i);
        return x > 36.0f || isinf(product.x) ? INFINITY : product.x + product.y;
    }
    // x itself is a factor, so that zeros have their sign. More factors than these are more than a float holds.
    float scale = x < -20.0f ? 0x1p-64f : 1.0f;
    float2 product = (float2)(x * scale, 0.0f);
    for (float i = 1.0f; i <= steps; i += 1.0f)
        product = __gencl_times(product, x + i);
    float quotient = gamma / product.x;
    // No correction at a pole, or if the product overflows.
    if (isinf(quotient) || quotient == 0.0f)
        return quotient;
    return (quotient - quotient * (product.y / product.x)) * scale;
}

// The recurrence adds an error of half a ULP for each factor.
double __gencl_gamma_near(double x) {
    double below = floor(x);
    if (x < 0.0 && below == x)
        return NAN;
    double gamma = __gencl_gamma_double(x - below - 0.5);
    if (x >= 1.0) {
        for (double i = 1.0; i < below; i += 1.0)
            gamma *= x - i;
        return gamma;
    }
    double product = x;
    for (double i = 1.0; i <= -below; i += 1.0)
        product *= x + i;
    return gamma / product;
}

double OVERLOAD tgamma(double x) {
    double a = fabs(x);
    if (a < 12.0)
        return __gencl_gamma_near(x);
    if (isnan(x) || x == INFINITY)
        return x;
    // Gamma(a) = power * rest, where neither overflows.
    a = fmin(a, 190.0);
    double power = pow(a, 0.5 * a - 0.25);
    double rest = power * exp(-a) * __gencl_stirling(1.0 / a);
    if (x > 0.0)
        return a > 172.0 ? INFINITY : power * rest;
    // Gamma(-a) Gamma(a) = -pi / (a sin(pi a)).
    double sine = sinpi(x);
    return sine == 0.0 || isnan(sine) ? NAN : M_PI / (sine * a * rest) / power;
}

VECTORS_1(tgamma, float)
VECTORS_1(tgamma, double)

// libclc's underflows for small negative floats, is wrong at -infinity, and returns a sign at 0 and negative
// integers, where there is none. For a small x the result is log(1/x), with an error below x.
#define LGAMMA(TYPE, SMALL) \
    TYPE __gencl_libclc_lgamma_r_##TYPE(TYPE x, private int *sign); \
    TYPE OVERLOAD lgamma_r(TYPE x, private int *sign) { \
        TYPE result = -log(fabs(x)); \
        *sign = x < 0 ? -1 : 1; \
        if (!(fabs(x) < SMALL)) \
            result = __gencl_libclc_lgamma_r_##TYPE(x, sign); \
        if (x <= 0 && floor(x) == x) \
            *sign = 0; \
        return x == -INFINITY ? INFINITY : result; \
    } \
    WITH_SECOND(lgamma_r, TYPE, int) \
    TYPE OVERLOAD lgamma(TYPE x) { \
        int sign; \
        return lgamma_r(x, &sign); \
    } \
    VECTORS_1(lgamma, TYPE)
LGAMMA(float, 0x1p-30f)
LGAMMA(double, 0x1p-60)
