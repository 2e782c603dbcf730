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

// Rounded correctly: floats have less than half of the digits of doubles, so that the quotient of doubles, though
// not the nearest, is on the right side of what lies between two floats. All quotients of floats are
// normal doubles.
float __gencl_fdiv32_exact(float a, float b) {
    double x = a, y = b;
    if (__gencl_special(x) || __gencl_special(y)) {
        // A finite number's size does not matter beside zero or infinity.
        float divisor = __gencl_special(y) ? b : copysign(1.0f, b);
        return a * __gencl_rcp(divisor);
    }
    double m = __gencl_mantissa(x), n = __gencl_mantissa(y);
    double inverse = __gencl_reciprocal(n);
    double quotient = m * inverse;
    quotient = fma(fma(-n, quotient, m), inverse, quotient);
    ulong bits = as_ulong(quotient) + ((long)(__gencl_exponent(x) - __gencl_exponent(y)) << 52);
    return (float)as_double(bits | (as_ulong(x) ^ as_ulong(y)) & 0x8000000000000000UL);
}

// Rounded correctly. The quotient of the mantissas is off by a unit of its last place at most, and the remainder is exact: when it is more than what half
// the way to a neighbour stands for, that neighbour is the quotient. There are no ties (P. Markstein, "IA-64 and Elementary Functions", 2000).
// What is left tells on which side of the quotient the exact one is, for results that are subnormal.
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
