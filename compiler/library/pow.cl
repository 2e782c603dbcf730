// Powers of floats with subnormal results (OpenCL C 3.0, 7.4 allows 16 ULP). x^y = 2^(y log2(x)), where the
// exponent can be 150 and needs some 30 bits: so the logarithm and the product are sums of two floats.

#include "gencl.h"

float __gencl_exp2_sum(float x, float low);

// x^(y + low) for x >= 0. Not for NaN.
float __gencl_power(float x, float y, float low) {
    // x = 2^k m with m between the square roots of 1/2 and 2.
    bool subnormal = x < 0x1p-126f;
    uint bits = as_uint(subnormal ? x * 0x1p24f : x);
    int exponent = (int)(bits - as_uint(0x1.6a09e6p-1f)) >> 23;
    float k = exponent - (subnormal ? 24 : 0);
    float f = as_float(bits - ((uint)exponent << 23)) - 1.0f;

    // log2(m) = 2/ln(2) artanh(s), s = f / (2 + f), and artanh(s) = s + s^3 P(s^2).
    float divisor = 2.0f + f, inverse = __gencl_rcp(divisor);
    float divisor_rest = f - (divisor - 2.0f);
    float s = f * inverse;
    float s_rest = fma(-s, divisor_rest, fma(-s, divisor, f)) * inverse;
    float t = s * s;
    float p = fma(fma(fma(0x1.5c62c8p-2f, t, 0x1.a59652p-2f), t, 0x1.277768p-1f), t, 0x1.ec709ep-1f);
    float main = 0x1.715476p+1f * s;
    float rest = fma(0x1.715476p+1f, s, -main);
    rest = fma(0x1.715476p+1f, s_rest, fma(0x1.4ae0c0p-25f, s, rest));
    rest = fma(s * t, p, rest);
    // Either k is 0, or larger than `main`.
    float log = k + main;
    rest += main - (log - k);
    log = bits - 1 >= 0x7f7fffff ? copysign(INFINITY, log) : log;

    // 2^40 times any logarithm but 0 is beyond the exponents of floats.
    y = fmin(fmax(y, -0x1p40f), 0x1p40f);
    float product = y * log;
    float product_rest = fma(low, log, fma(y, rest, fma(y, log, -product)));
    float bounded = fmin(fmax(product, -200.0f), 200.0f);
    return __gencl_exp2_sum(bounded, bounded == product ? product_rest : 0.0f);
}

float __gencl_with_sign(float x, float of, bool condition) {
    return as_float(as_uint(x) | (condition ? as_uint(of) & 0x80000000 : 0));
}

float OVERLOAD pow(float x, float y) {
    float half_of_y = 0.5f * y;
    bool whole = rint(y) == y, odd = whole && rint(half_of_y) != half_of_y;
    float result = __gencl_with_sign(__gencl_power(fabs(x), y, 0.0f), x, odd);
    result = x < 0.0f && x > -INFINITY && !whole || isunordered(x, y) ? NAN : result;
    return x == 1.0f || y == 0.0f ? 1.0f : result;
}

float OVERLOAD powr(float x, float y) {
    bool none = !(x >= 0.0f) || isnan(y) || y == 0.0f && (x == 0.0f || x == INFINITY) || x == 1.0f && isinf(y);
    return none ? NAN : __gencl_power(fabs(x), y, 0.0f);
}

// An integer has up to 32 digits, a float 24.
float OVERLOAD pown(float x, int n) {
    float y = n;
    float result = __gencl_power(fabs(x), y, n - convert_int_sat(y));
    result = isnan(x) ? x : __gencl_with_sign(result, x, n & 1);
    return n == 0 ? 1.0f : result;
}

float OVERLOAD rootn(float x, int n) {
    float y = __gencl_rcp(n);
    float result = __gencl_power(fabs(x), y, fma(-y, (float)n, 1.0f) * y);
    bool none = isnan(x) || n == 0 || x < 0.0f && !(n & 1);
    return none ? NAN : __gencl_with_sign(result, x, n & 1);
}

float OVERLOAD half_powr(float x, float y) { return powr(x, y); }

VECTORS_2(pow, float)
VECTORS_2(powr, float)
VECTORS_2(half_powr, float)
VECTORS_WITH_INT(pown, float)
VECTORS_WITH_INT(rootn, float)
