// Square roots (OpenCL C 1.2, 7.4): floats have 3 ULP without -cl-fp32-correctly-rounded-divide-sqrt; half
// floats and doubles are correctly rounded.

#include "gencl.h"

// The correctly rounded square root of x is `root` or one of its two neighbours. The square of the midpoint
// of two neighbours is their product plus a negligible amount, so the sign of x minus the product is the side
// on which the root is (Tuckerman's test; P. Markstein, "Computation of elementary functions on the IBM RISC
// System/6000 processor", 1990).
float __gencl_nearest32(float x, float root) {
    float above = as_float(as_uint(root) + 1), below = as_float(as_uint(root) - 1);
    float result = fma(-root, above, x) > 0.0f ? above : root;
    return fma(-root, below, x) <= 0.0f ? below : result;
}

double __gencl_nearest64(double x, double root) {
    double above = as_double(as_ulong(root) + 1), below = as_double(as_ulong(root) - 1);
    double result = fma(-root, above, x) > 0.0 ? above : root;
    return fma(-root, below, x) <= 0.0 ? below : result;
}

float __gencl_sqrt32_exact(float x) {
    if (!(x > 0.0f && x < INFINITY))
        return __gencl_sqrt(x);
    // The rounding errors of the products must be normal numbers.
    bool small = x < 0x1p-96f;
    x = small ? x * 0x1p64f : x;
    float root = __gencl_nearest32(x, __gencl_sqrt(x));
    return small ? root * 0x1p-32f : root;
}

half __gencl_sqrt16(half x) { return (half)__gencl_sqrt32_exact((float)x); }

// 1/sqrt(x) and sqrt(x) of a double in the range of floats. Each Newton step squares the error of the unit's
// result.
double2 __gencl_roots(double x) {
    double y = __gencl_rsqrt((float)x);
    double root = x * y, half_inverse = 0.5 * y;
    for (int step = 0; step < 2; ++step) {
        double error = fma(-root, half_inverse, 0.5);
        root = fma(root, error, root);
        half_inverse = fma(half_inverse, error, half_inverse);
    }
    return (double2)(2.0 * half_inverse, root);
}

// x as 1 <= result < 4 times 2^(2 * exponent).
double __gencl_scaled(double x, int *exponent) {
    int shift = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p64;
        shift = 32;
    }
    int field = as_ulong(x) >> 52;
    int twice = (field - 1023) & ~1;
    *exponent = (twice >> 1) - shift;
    return as_double(as_ulong(x) - ((long)twice << 52));
}

double __gencl_sqrt64(double x) {
    if (__gencl_like_float(x))
        return __gencl_nearest64(x, __gencl_roots(x).y);
    if (!(x > 0.0 && x < INFINITY))
        return x < 0.0 ? NAN : x;
    int exponent;
    double m = __gencl_scaled(x, &exponent);
    double root = __gencl_nearest64(m, __gencl_roots(m).y);
    return as_double(as_ulong(root) + ((long)exponent << 52));
}

double OVERLOAD rsqrt(double x) {
    if (__gencl_like_float(x))
        return __gencl_roots(x).x;
    if (!(x > 0.0 && x < INFINITY))
        return x == 0.0 ? copysign((double)INFINITY, x) : x > 0.0 ? 0.0 : NAN;
    int exponent;
    double m = __gencl_scaled(x, &exponent);
    return as_double(as_ulong(__gencl_roots(m).x) - ((long)exponent << 52));
}

float OVERLOAD rsqrt(float x) { return __gencl_rsqrt(x); }
float OVERLOAD sqrt(float x) { return __gencl_sqrt(x); }
float OVERLOAD __gencl_sqrt_exact(float x) { return __gencl_sqrt32_exact(x); }
double OVERLOAD sqrt(double x) { return __gencl_sqrt64(x); }
half OVERLOAD sqrt(half x) { return __gencl_sqrt16(x); }
half OVERLOAD rsqrt(half x) { return (half)__gencl_rsqrt((float)x); }

VECTORS_1(sqrt, float)
VECTORS_1(__gencl_sqrt_exact, float)
VECTORS_1(sqrt, double)
VECTORS_1(sqrt, half)
VECTORS_1(rsqrt, float)
VECTORS_1(rsqrt, double)
VECTORS_1(rsqrt, half)
