// Functions of doubles for which libclc's give 0 for -0; C99, F.9, wants -0. `build/library.rs` has the other names of libclc's.

#include "gencl.h"

#define KEEP(NAME) \
    double __gencl_libclc_##NAME(double x); \
    double OVERLOAD NAME(double x) { return x == 0.0 ? x : __gencl_libclc_##NAME(x); } \
    VECTORS_1(NAME, double)
KEEP(sin)
KEEP(tan)
KEEP(atan)
KEEP(expm1)
KEEP(erf)

#define SINCOS(SPACE, N) \
    double##N OVERLOAD sincos(double##N x, SPACE double##N *cosine) { \
        *cosine = cos(x); \
        return sin(x); \
    }
#define SIZES(SPACE) \
    SINCOS(SPACE, ) SINCOS(SPACE, 2) SINCOS(SPACE, 3) SINCOS(SPACE, 4) SINCOS(SPACE, 8) SINCOS(SPACE, 16)
SIZES(global)
SIZES(local)
SIZES(private)
