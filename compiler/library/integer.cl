// Integer functions that libclc has not (OpenCL C 1.2, 6.12.3; OpenCL C 3.0, 6.15.3).

#include "gencl.h"

#define MAD_HI(TYPE) \
    TYPE OVERLOAD mad_hi(TYPE a, TYPE b, TYPE c) { return mul_hi(a, b) + c; }
// The ones below the lowest set bit; of 0 all, since OpenCL gives it the type's size.
#define CTZ(TYPE) \
    TYPE OVERLOAD ctz(TYPE x) { return popcount((TYPE)(~x & (TYPE)(x - (TYPE)1))); }
#define FUNCTIONS(TYPE) MAD_HI(TYPE) CTZ(TYPE)
#define SIZES(TYPE) \
    FUNCTIONS(TYPE) FUNCTIONS(TYPE##2) FUNCTIONS(TYPE##3) FUNCTIONS(TYPE##4) FUNCTIONS(TYPE##8) FUNCTIONS(TYPE##16)

SIZES(char)
SIZES(uchar)
SIZES(short)
SIZES(ushort)
SIZES(int)
SIZES(uint)
SIZES(long)
SIZES(ulong)

// Defined for the lowest value too, for which libclc's functions negate a signed number. That of vectors and small types does not overflow.
#define ABS(TYPE, UNSIGNED) \
    UNSIGNED OVERLOAD abs(TYPE x) { return x < 0 ? -(UNSIGNED)x : (UNSIGNED)x; }
ABS(int, uint)
ABS(long, ulong)
