// Division of floats: the MATH unit has a reciprocal of 1 ULP for floats, and none for doubles.

#include "gencl.h"

// At most 2.5 ULP (OpenCL C 1.2, 7.4). The divisor is scaled so that its reciprocal is a normal number.
float __gencl_fdiv32(float a, float b) {
    uint exponent = as_uint(b) >> 23 & 0xff;
    float scale = exponent == 0 ? 0x1p32f : exponent >= 200 ? 0x1p-32f : 1.0f;
    return a * __gencl_rcp(b * scale) * scale;
}

// Half floats have fewer than half the digits of floats, and a much smaller range of exponents.
half __gencl_fdiv16(half a, half b) { return (half)((float)a * __gencl_rcp((float)b)); }

// The format of floats and of doubles: the exponent fields of zero and subnormals, and of infinity and NaN;
// the mantissa; the exponent.
#define FORMAT(real, bits, digits, exponents, suffix) \
    bool __gencl_special##suffix(real x) { \
        uint exponent = as_##bits(x) >> digits & exponents; \
        return exponent == 0 || exponent == exponents; \
    } \
    real __gencl_mantissa##suffix(real x) { \
        return as_##real((as_##bits(x) & (((bits)1 << digits) - 1)) | (bits)(exponents >> 1) << digits); \
    } \
    int __gencl_exponent##suffix(real x) { return as_##bits(x) >> digits & exponents; }

FORMAT(float, uint, 23, 0xff, 32)
FORMAT(double, ulong, 52, 0x7ff, 64)

// 1/b for 1 <= b < 2. Each Newton step squares the error of the unit's result; a double needs two.
float __gencl_reciprocal32(float b) {
    float y = __gencl_rcp(b);
    return fma(fma(-b, y, 1.0f), y, y);
}

double __gencl_reciprocal64(double b) {
    double y = __gencl_rcp((float)b);
    y = fma(fma(-b, y, 1.0), y, y);
    return fma(fma(-b, y, 1.0), y, y);
}

// Correctly rounds a quotient with an error of at most 1 ULP. The remainder is exact: if it is more than that
// of the midpoint to a neighbour, that neighbour is the quotient. There are no ties (P. Markstein, "IA-64 and
// Elementary Functions", 2000).
#define NEAREST_QUOTIENT(real, bits, suffix) \
    real __gencl_nearest_quotient##suffix(real m, real n, real quotient) { \
        real half_ = 0.5f; \
        real above = as_##real(as_##bits(quotient) + 1), below = as_##real(as_##bits(quotient) - 1); \
        real remainder = fma(-n, quotient, m); \
        real up = n * (half_ * (above - quotient)), down = n * (half_ * (below - quotient)); \
        return remainder > up ? above : remainder < down ? below : quotient; \
    }

NEAREST_QUOTIENT(float, uint, 32)
NEAREST_QUOTIENT(double, ulong, 64)

// Correctly rounded division, by the quotient of the mantissas. Subnormal results are computed with two more
// digits, the last of which is a sticky bit (from the sign of the remainder), and shifted to their exponent.
// Half the smallest number and less becomes 0. Subnormal operands are multiplied by `scale`, which is
// 2^shifted.
#define DIVIDE(name, real, bits, integer, digits, exponents, scale, shifted, suffix) \
    real name(real a, real b) { \
        bits sign = (as_##bits(a) ^ as_##bits(b)) & (bits)(exponents + 1) << digits; \
        bits infinity = (bits)exponents << digits; \
        int shift = 0; \
        if (__gencl_special##suffix(a) || __gencl_special##suffix(b)) { \
            real x = fabs(a), y = fabs(b); \
            if (!(x < INFINITY) || !(y < INFINITY) || x == 0 || y == 0) { \
                if (isnan(a) || isnan(b) || x == y) \
                    return NAN; \
                return as_##real(sign | (x == 0 || y == INFINITY ? 0 : infinity)); \
            } \
            if (__gencl_exponent##suffix(a) == 0) { \
                a *= scale; \
                shift -= shifted; \
            } \
            if (__gencl_exponent##suffix(b) == 0) { \
                b *= scale; \
                shift += shifted; \
            } \
        } \
        real m = __gencl_mantissa##suffix(a), n = __gencl_mantissa##suffix(b); \
        real inverse = __gencl_reciprocal##suffix(n); \
        real quotient = m * inverse; \
        quotient = fma(fma(-n, quotient, m), inverse, quotient); \
        quotient = __gencl_nearest_quotient##suffix(m, n, quotient); \
        shift += __gencl_exponent##suffix(a) - __gencl_exponent##suffix(b); \
        int result = __gencl_exponent##suffix(quotient) + shift; \
        if (result > 0 && result < exponents) \
            return as_##real((as_##bits(quotient) + ((bits)(integer)shift << digits)) | sign); \
        if (result >= exponents) \
            return as_##real(infinity | sign); \
        real remainder = fma(-n, quotient, m); \
        bits one = (bits)1 << digits, number = ((as_##bits(quotient) & (one - 1)) | one) << 2; \
        number = remainder < 0 ? number - 1 : remainder > 0 ? number + 1 : number; \
        uint lost = min(3 - result, digits + 5); \
        bits kept = number >> lost; \
        bits rest = number & (((bits)1 << lost) - 1), half_way = (bits)1 << (lost - 1); \
        kept += rest > half_way || (rest == half_way && (kept & 1)) ? 1 : 0; \
        return as_##real(kept | sign); \
    }

DIVIDE(__gencl_fdiv32_exact, float, uint, int, 23, 0xff, 0x1p32f, 32, 32)
DIVIDE(__gencl_fdiv64_any, double, ulong, long, 52, 0x7ff, 0x1p64, 64, 64)

// Fast path: operands in the range where floats and their reciprocals are normal numbers need no scaling. The
// exponent of negative ones has the sign above it.
bool __gencl_like_float(double x) { return (uint)(as_ulong(x) >> 52) - 923 <= 200; }

double __gencl_fdiv64(double a, double b) {
    double m = fabs(a), n = fabs(b);
    if (!__gencl_like_float(m) || !__gencl_like_float(n))
        return __gencl_fdiv64_any(a, b);
    double inverse = __gencl_reciprocal64(n);
    double quotient = m * inverse;
    quotient = fma(fma(-n, quotient, m), inverse, quotient);
    return as_double(as_ulong(__gencl_nearest_quotient64(m, n, quotient)) | ((as_ulong(a) ^ as_ulong(b)) & 1UL << 63));
}
