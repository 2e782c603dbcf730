// smoothstep of doubles with scalar edges, which libclc has for other types only; clamp as specified (OpenCL
// C 1.2, 6.12.4), which is two instructions where libclc's is four; normalize of scalars, for which libclc
// returns 0 for NaN (OpenCL C 3.0, 7.5.1).

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

#define CLAMP(TYPE) \
    TYPE OVERLOAD clamp(TYPE x, TYPE low, TYPE high) { return fmin(fmax(x, low), high); }
#define CLAMP_VECTOR(TYPE, N) \
    CLAMP(TYPE##N) \
    TYPE##N OVERLOAD clamp(TYPE##N x, TYPE low, TYPE high) { return clamp(x, (TYPE##N)low, (TYPE##N)high); }
#define CLAMPS(TYPE) \
    CLAMP(TYPE) CLAMP_VECTOR(TYPE, 2) CLAMP_VECTOR(TYPE, 3) CLAMP_VECTOR(TYPE, 4) CLAMP_VECTOR(TYPE, 8) CLAMP_VECTOR(TYPE, 16)

CLAMPS(float)
CLAMPS(double)
CLAMPS(half)

float OVERLOAD normalize(float x) { return isnan(x) ? x : sign(x); }
double OVERLOAD normalize(double x) { return isnan(x) ? x : sign(x); }
