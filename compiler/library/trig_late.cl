// Argument reduction for the functions of trig.cl.

#include "gencl.h"

// 2/pi, with eight zeros before: Payne and Hanek, "Radian reduction for trigonometric functions" (1983). Of the
// product with a mantissa only those bits count whose weights are below 4 and not far below the result's last place.
#define WORD_0 0x00a2f983
#define WORD_1 0x6e4e4415
#define WORD_2 0x29fc2757
#define WORD_3 0xd1f534dd
#define WORD_4 0xc0db6295
#define WORD_5 0x993c4390
#define WORD_6 0x41fe5163

// For 2^17 and above: 96 of those bits.
uint2 __gencl_large_quadrant(float x) {
    uint bits = as_uint(x);
    uint skipped = (bits >> 23) - 144, shift = skipped & 31;
    bool by_1 = skipped & 32, by_2 = skipped & 64;
    uint a = by_2 ? WORD_2 : WORD_0, b = by_2 ? WORD_3 : WORD_1, c = by_2 ? WORD_4 : WORD_2;
    uint d = by_2 ? WORD_5 : WORD_3, e = by_2 ? WORD_6 : WORD_4;
    a = by_1 ? b : a, b = by_1 ? c : b, c = by_1 ? d : c, d = by_1 ? e : d;
    uint high = a << shift | (b >> 1) >> (31 - shift);
    uint middle = b << shift | (c >> 1) >> (31 - shift);
    uint low = c << shift | (d >> 1) >> (31 - shift);
    uint mantissa = (bits & 0x7fffff) | 0x800000;
    // In units of 2^-62 quadrants, modulo 4 quadrants.
    ulong product = ((ulong)(mantissa * high) << 32) + (ulong)mantissa * middle + mul_hi(mantissa, low);
    uint number = ((uint)(product >> 61) + 1) >> 1;
    // The rest in units of 2^-64 quadrants, as two numbers, the first of which is an exact float.
    uint rest = (uint)(product >> 30);
    float first = (float)(int)(rest & 0xffffff00) * 0x1p-32f;
    float second = (float)(rest << 24 | ((uint)product << 2) >> 8) * 0x1p-56f;
    float r = fma(first, 0x1.921fb6p0f, fma(second, 0x1.921fb6p0f, first * -0x1.777a5cp-25f));
    return (uint2)(as_uint(bits < 0x7f800000 ? r : NAN), number);
}

// Below 2^17 three parts of pi/2 suffice: products with the first one are subtracted without an error.
uint2 CONST __gencl_late_quadrant(float x) {
    if (!(x < 0x1p17f))
        return __gencl_large_quadrant(x);
    float number = rint(x * 0x1.45f306p-1f);
    float r = fma(number, -0x1.921fb6p0f, x);
    r = fma(number, 0x1.777a5cp-25f, r);
    r = fma(number, 0x1.ee59dap-50f, r);
    return (uint2)(as_uint(r), (uint)number);
}
