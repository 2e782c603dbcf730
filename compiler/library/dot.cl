// Dot products of integers: OpenCL C 3.1, 6.15.3, cl_khr_integer_dot_product.

#include "gencl.h"

// The letters of the packed form: u for uchar4, s for char4.
#define DOT(RESULT, LEFT, A, RIGHT, B) \
    RESULT OVERLOAD dot(LEFT a, RIGHT b) { \
        RESULT##4 products = convert_##RESULT##4(a) * convert_##RESULT##4(b); \
        return products.s0 + products.s1 + products.s2 + products.s3; \
    } \
    RESULT OVERLOAD dot_acc_sat(LEFT a, RIGHT b, RESULT sum) { return add_sat(dot(a, b), sum); } \
    RESULT OVERLOAD dot_4x8packed_##A##B##_##RESULT(uint a, uint b) { return dot(as_##LEFT(a), as_##RIGHT(b)); } \
    RESULT OVERLOAD dot_acc_sat_4x8packed_##A##B##_##RESULT(uint a, uint b, RESULT sum) { \
        return dot_acc_sat(as_##LEFT(a), as_##RIGHT(b), sum); \
    }

DOT(uint, uchar4, u, uchar4, u)
DOT(int, char4, s, char4, s)
DOT(int, uchar4, u, char4, s)
DOT(int, char4, s, uchar4, u)
