// Division of floats: the MATH unit has a reciprocal of 1 ULP for floats, and nothing for doubles.

#include "gencl.h"

// At most 2.5 ULP (OpenCL C 1.2, 7.4). The divisor is scaled to where its reciprocal is a normal number.
float __gencl_fdiv32(float a, float b) {
    uint exponent = as_uint(b) >> 23 & 0xff;
    float scale = exponent == 0 ? 0x1p32f : exponent >= 200 ? 0x1p-32f : 1.0f;
    return a * __gencl_rcp(b * scale) * scale;
}

// Half floats have a third of the digits and exponents far inside of those of floats.
half __gencl_fdiv16(half a, half b) { return (half)((float)a * __gencl_rcp((float)b)); }

// 1/b of 1 <= b < 2: the error of the unit's result is squared by each step.
double __gencl_reciprocal(double b) {
    double y = __gencl_rcp((float)b);
    y = fma(fma(-b, y, 1.0), y, y);
    return fma(fma(-b, y, 1.0), y, y);
}

// Exponent field of zero, infinity and NaN: no number of the form 1.x * 2^n.
bool __gencl_special(double x) {
    uint exponent = as_ulong(x) >> 52 & 0x7ff;
    return exponent == 0 || exponent == 0x7ff;
}

double __gencl_mantissa(double x) { return as_double((as_ulong(x) & 0xfffffffffffffUL) | 0x3ff0000000000000UL); }

int __gencl_exponent(double x) { return as_ulong(x) >> 52 & 0x7ff; }

bool __gencl_special32(float x) {
    uint exponent = as_uint(x) >> 23 & 0xff;
    return exponent == 0 || exponent == 0xff;
}

float __gencl_mantissa32(float x) { return as_float((as_uint(x) & 0x7fffff) | 0x3f800000); }

int __gencl_exponent32(float x) { return as_uint(x) >> 23 & 0xff; }

// Rounded correctly. The quotient of the mantissas is off by a unit of its last place at most, and the remainder is exact: when it is more than what half
// the way to a neighbour stands for, that neighbour is the quotient. There are no ties (P. Markstein, "IA-64 and Elementary Functions", 2000).
// What is left tells on which side of the quotient the exact one is, for results that are subnormal.
float __gencl_fdiv32_exact(float a, float b) {
    uint sign = (as_uint(a) ^ as_uint(b)) & 0x80000000;
    int shift = 0;
    if (__gencl_special32(a) || __gencl_special32(b)) {
        float x = fabs(a), y = fabs(b);
        if (!(x < INFINITY) || !(y < INFINITY) || x == 0.0f || y == 0.0f) {
            if (isnan(a) || isnan(b) || x == y)
                return NAN;
            return as_float(sign | (x == 0.0f || y == INFINITY ? 0 : 0x7f800000));
        }
        if (__gencl_exponent32(a) == 0) {
            a *= 0x1p32f;
            shift -= 32;
        }
        if (__gencl_exponent32(b) == 0) {
            b *= 0x1p32f;
            shift += 32;
        }
    }
    float m = __gencl_mantissa32(a), n = __gencl_mantissa32(b);
    // The error of the unit's result is squared.
    float inverse = __gencl_rcp(n);
    inverse = fma(fma(-n, inverse, 1.0f), inverse, inverse);
    float quotient = m * inverse;
    quotient = fma(fma(-n, quotient, m), inverse, quotient);
    float above = as_float(as_uint(quotient) + 1), below = as_float(as_uint(quotient) - 1);
    float remainder = fma(-n, quotient, m);
    float up = n * (0.5f * (above - quotient)), down = n * (0.5f * (below - quotient));
    quotient = remainder > up ? above : remainder < down ? below : quotient;
    shift += __gencl_exponent32(a) - __gencl_exponent32(b);
    int result = __gencl_exponent32(quotient) + shift;
    if (result > 0 && result < 0xff)
        return as_float((as_uint(quotient) + ((uint)shift << 23)) | sign);
    if (result >= 0xff)
        return as_float(0x7f800000 | sign);
    // Two more digits, the last of which says whether there is more behind.
    remainder = fma(-n, quotient, m);
    uint digits = ((as_uint(quotient) & 0x7fffff) | 0x800000) << 2;
    digits = remainder < 0.0f ? digits - 1 : remainder > 0.0f ? digits + 1 : digits;
    // So many digits go; of 2^-150 and less nothing is left.
    uint lost = min(3 - result, 28);
    uint kept = digits >> lost;
    uint rest = digits & ((1u << lost) - 1), half_way = 1u << (lost - 1);
    kept += rest > half_way || (rest == half_way && (kept & 1)) ? 1 : 0;
    return as_float(kept | sign);
}

// The same.
double __gencl_fdiv64(double a, double b) {
    ulong sign = (as_ulong(a) ^ as_ulong(b)) & 0x8000000000000000UL;
    int shift = 0;
    if (__gencl_special(a) || __gencl_special(b)) {
        double x = fabs(a), y = fabs(b);
        if (!(x < INFINITY) || !(y < INFINITY) || x == 0.0 || y == 0.0) {
            if (isnan(a) || isnan(b) || x == y)
                return NAN;
            return as_double(sign | (x == 0.0 || y == INFINITY ? 0UL : 0x7ff0000000000000UL));
        }
        if (__gencl_exponent(a) == 0) {
            a *= 0x1p64;
            shift -= 64;
        }
        if (__gencl_exponent(b) == 0) {
            b *= 0x1p64;
            shift += 64;
        }
    }
    double m = __gencl_mantissa(a), n = __gencl_mantissa(b);
    double inverse = __gencl_reciprocal(n);
    double quotient = m * inverse;
    quotient = fma(fma(-n, quotient, m), inverse, quotient);
    double above = as_double(as_ulong(quotient) + 1), below = as_double(as_ulong(quotient) - 1);
    double remainder = fma(-n, quotient, m);
    double up = n * (0.5 * (above - quotient)), down = n * (0.5 * (below - quotient));
    quotient = remainder > up ? above : remainder < down ? below : quotient;
    shift += __gencl_exponent(a) - __gencl_exponent(b);
    int result = __gencl_exponent(quotient) + shift;
    if (result > 0 && result < 0x7ff)
        return as_double((as_ulong(quotient) + ((long)shift << 52)) | sign);
    if (result >= 0x7ff)
        return as_double(0x7ff0000000000000UL | sign);
    // Two more digits, the last of which says whether there is more behind.
    remainder = fma(-n, quotient, m);
    ulong digits = ((as_ulong(quotient) & 0xfffffffffffffUL) | 0x10000000000000UL) << 2;
    digits = remainder < 0.0 ? digits - 1 : remainder > 0.0 ? digits + 1 : digits;
    // So many digits go; of 2^-1075 and less nothing is left.
    uint lost = min(3 - result, 60);
    ulong kept = digits >> lost;
    ulong rest = digits & ((1UL << lost) - 1), half_way = 1UL << (lost - 1);
    kept += rest > half_way || (rest == half_way && (kept & 1)) ? 1 : 0;
    return as_double(kept | sign);
}
