// 64-bit division, which the hardware has not: the compiler puts calls of these in place of LLVM's instructions.

#include "gencl.h"

// The quotient is guessed with floats, never too large, and what is left is divided again. A guess has 19 bits: four of them, and one for a last unit, are enough.
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
    // Conversions, the reciprocal and products are off by less than 2^-21 together.
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
