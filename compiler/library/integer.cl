// Integer functions that libclc does not have, or that are wrong there (OpenCL C 1.2, 6.12.3; OpenCL C 3.0,
// 6.15.3).

#include "gencl.h"

#define MAD_HI(TYPE) \
    TYPE OVERLOAD mad_hi(TYPE a, TYPE b, TYPE c) { return mul_hi(a, b) + c; }
// Counts the bits below the lowest set bit; for 0 all, since the result of OpenCL is the type's size.
#define CTZ(TYPE) \
    TYPE OVERLOAD ctz(TYPE x) { return popcount((TYPE)(~x & (TYPE)(x - (TYPE)1))); }
// LLVM has intrinsics for these. libclc's sub_sat returns the minimum for 0 minus the minimum; that of char
// and short is right, and clang would promote those to int here.
#define SATURATED(TYPE) \
    TYPE OVERLOAD add_sat(TYPE a, TYPE b) { return __builtin_elementwise_add_sat(a, b); } \
    TYPE OVERLOAD sub_sat(TYPE a, TYPE b) { return __builtin_elementwise_sub_sat(a, b); }
#define FUNCTIONS(TYPE) MAD_HI(TYPE) CTZ(TYPE)
#define VECTOR(TYPE) FUNCTIONS(TYPE) SATURATED(TYPE)
#define SIZES(TYPE) FUNCTIONS(TYPE) VECTOR(TYPE##2) VECTOR(TYPE##3) VECTOR(TYPE##4) VECTOR(TYPE##8) VECTOR(TYPE##16)

SIZES(char)
SIZES(uchar)
SIZES(short)
SIZES(ushort)
SIZES(int)
SIZES(uint)
SIZES(long)
SIZES(ulong)
SATURATED(int)
SATURATED(uint)
SATURATED(long)
SATURATED(ulong)

// Also defined for the minimum, for which libclc's functions overflow in a signed negation. Those of vectors
// and small types do not.
#define ABS(TYPE, UNSIGNED) \
    UNSIGNED OVERLOAD abs(TYPE x) { return x < 0 ? -(UNSIGNED)x : (UNSIGNED)x; }
ABS(int, uint)
ABS(long, ulong)

// libclc's treats products of 0 and a negative factor as negative, and drops a bit of the product's upper
// half. The sum has 128 bits; it fits into a long if the upper half is the sign extension of the lower one.
long OVERLOAD mad_sat(long x, long y, long z) {
    ulong product = (ulong)x * (ulong)y, low = product + (ulong)z;
    long high = mul_hi(x, y) + (z >> 63) + (low < product);
    return high == (long)low >> 63 ? (long)low : high < 0 ? LONG_MIN : LONG_MAX;
}
VECTORS_3(mad_sat, long)
