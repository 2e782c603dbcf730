// smoothstep of doubles with scalar edges, which libclc has for other types only.

#include "gencl.h"

#define SCALAR_EDGES(N) \
    double##N OVERLOAD smoothstep(double##N edge0, double##N edge1, double##N x); \
    double##N OVERLOAD smoothstep(double edge0, double edge1, double##N x) { \
        return smoothstep((double##N)edge0, (double##N)edge1, x); \
    }

SCALAR_EDGES(2)
SCALAR_EDGES(3)
SCALAR_EDGES(4)
SCALAR_EDGES(8)
SCALAR_EDGES(16)
