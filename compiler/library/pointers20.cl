// Mathematical functions with a result through a generic pointer (OpenCL C 3.0, 6.15.2): through private
// memory, which is optimised away after inlining. The functions of private pointers are those of OpenCL C
// 1.2.

#include "gencl.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define ONE(NAME, TYPE, RESULT) \
    TYPE OVERLOAD NAME(TYPE x, private RESULT *pointer); \
    TYPE OVERLOAD NAME(TYPE x, RESULT *pointer) { \
        RESULT second; \
        TYPE first = NAME(x, (private RESULT *)&second); \
        *pointer = second; \
        return first; \
    }

#define TWO(NAME, TYPE, RESULT) \
    TYPE OVERLOAD NAME(TYPE x, TYPE y, private RESULT *pointer); \
    TYPE OVERLOAD NAME(TYPE x, TYPE y, RESULT *pointer) { \
        RESULT second; \
        TYPE first = NAME(x, y, (private RESULT *)&second); \
        *pointer = second; \
        return first; \
    }

#define ALL(TYPE, INT) \
    ONE(fract, TYPE, TYPE) \
    ONE(modf, TYPE, TYPE) \
    ONE(sincos, TYPE, TYPE) \
    ONE(frexp, TYPE, INT) \
    ONE(lgamma_r, TYPE, INT) \
    TWO(remquo, TYPE, INT)

#define SIZES(TYPE) \
    ALL(TYPE, int) ALL(TYPE##2, int2) ALL(TYPE##3, int3) ALL(TYPE##4, int4) ALL(TYPE##8, int8) ALL(TYPE##16, int16)

SIZES(float)
SIZES(half)
SIZES(double)
