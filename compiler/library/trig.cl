// sin, cos and tan of floats, to 1.54 ULP, and 4.1 ULP for tan with a reciprocal of 1 ULP (OpenCL C 3.0, 7.4 allows
// 4, 4 and 5). Each call of libclc's has an argument reduction for large angles of its own, of four times the
// instructions.

#include "gencl.h"

// Reduces x >= 0: r = x - n * pi/2, whose magnitude is at most little above pi/4, as bits, and n modulo 4 in the
// lowest bits of the second element. It is linked late (src/llvm/library.rs), so that it is computed once for the
// sine and the cosine of an angle.
uint2 CONST __gencl_late_quadrant(float x);

#define REDUCE \
    uint2 reduced = __gencl_late_quadrant(fabs(x)); \
    float r = as_float(reduced.x), t = r * r; \
    uint quadrant = reduced.y, negative = as_uint(x) & 0x80000000; \
    float sine = fma(fma(fma(-0x1.990f92p-13f, t, 0x1.1106aep-7f), t, -0x1.555544p-3f), t * r, r); \
    float cosine = fma(fma(fma(fma(0x1.99d83cp-16f, t, -0x1.6c0c08p-10f), t, 0x1.55554ap-5f), t, -0.5f), t, 1.0f);

// `value` with the sign that bit 1 of the quadrant gives, the other way round where `negative` is the sign's bit.
float __gencl_signed(float value, uint quadrant, uint negative) {
    return as_float(as_uint(value) ^ (quadrant << 30 & 0x80000000) ^ negative);
}

float OVERLOAD sin(float x) {
    REDUCE
    return __gencl_signed(quadrant & 1 ? cosine : sine, quadrant, negative);
}

float OVERLOAD cos(float x) {
    REDUCE
    return __gencl_signed(quadrant & 1 ? sine : cosine, quadrant + 1, 0);
}

float OVERLOAD tan(float x) {
    REDUCE
    float above = quadrant & 1 ? cosine : sine, below = quadrant & 1 ? -sine : cosine;
    // The divisor is neither zero nor subnormal.
    return as_float(as_uint(above * __gencl_rcp(below)) ^ negative);
}

VECTORS_1(sin, float)
VECTORS_1(cos, float)
VECTORS_1(tan, float)

SINCOS(float)
