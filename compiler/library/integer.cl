// Integer functions that libclc has not (OpenCL C 1.2, 6.12.3).

#include "gencl.h"

#define MAD_HI(TYPE) \
    TYPE OVERLOAD mad_hi(TYPE a, TYPE b, TYPE c) { return mul_hi(a, b) + c; }
#define SIZES(TYPE) MAD_HI(TYPE) MAD_HI(TYPE##2) MAD_HI(TYPE##3) MAD_HI(TYPE##4) MAD_HI(TYPE##8) MAD_HI(TYPE##16)

SIZES(char)
SIZES(uchar)
SIZES(short)
SIZES(ushort)
SIZES(int)
SIZES(uint)
SIZES(long)
SIZES(ulong)
