// 64-bit division, which the hardware has not: the compiler puts calls of these in place of LLVM's instructions.

#include "gencl.h"

// Schoolbook division, one quotient bit a step. What both have as leading zeros is skipped.
ulong __gencl_divide64(ulong dividend, ulong divisor, ulong *remainder) {
    if (((dividend | divisor) >> 32) == 0) {
        uint quotient = (uint)dividend / (uint)divisor;
        *remainder = (uint)dividend - quotient * (uint)divisor;
        return quotient;
    }
    ulong quotient = 0;
    if (dividend >= divisor) {
        uint shift = (uint)clz(divisor) - (uint)clz(dividend);
        ulong step = divisor << shift;
        for (uint i = 0; i <= shift; ++i) {
            quotient <<= 1;
            if (dividend >= step) {
                dividend -= step;
                quotient |= 1;
            }
            step >>= 1;
        }
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
