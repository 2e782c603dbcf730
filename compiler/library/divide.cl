// 64-bit division, which the hardware does not have: the compiler replaces LLVM's instructions by calls of
// these.

#include "gencl.h"

// The quotient is estimated with floats, never too large, and the remainder is divided again. An estimate has
// 19 bits, so that four of them, and a final correction by 1, are enough.
ulong __gencl_divide64(ulong dividend, ulong divisor, ulong *remainder) {
    if (((dividend | divisor) >> 32) == 0) {
        uint quotient = (uint)dividend / (uint)divisor;
        *remainder = (uint)dividend - quotient * (uint)divisor;
        return quotient;
    }
    if (divisor == 0) {
        *remainder = dividend;
        return ULONG_MAX;
    }
    // The total error of conversions, reciprocal and products is below 2^-21.
    float inverse = __gencl_rcp((float)divisor) * (1.0f - 0x1p-20f);
    ulong quotient = 0;
    while (dividend >= divisor) {
        ulong guess = max((ulong)((float)dividend * inverse), 1UL);
        quotient += guess;
        dividend -= guess * divisor;
    }
    *remainder = dividend;
    return quotient;
}

ulong __gencl_udiv64(ulong a, ulong b) {
    ulong remainder;
    return __gencl_divide64(a, b, &remainder);
}

ulong __gencl_urem64(ulong a, ulong b) {
    ulong remainder;
    __gencl_divide64(a, b, &remainder);
    return remainder;
}

long __gencl_sdiv64(long a, long b) {
    ulong remainder;
    ulong quotient = __gencl_divide64(abs(a), abs(b), &remainder);
    return (a ^ b) < 0 ? -quotient : quotient;
}

long __gencl_srem64(long a, long b) {
    ulong remainder;
    __gencl_divide64(abs(a), abs(b), &remainder);
    return a < 0 ? -remainder : remainder;
}
