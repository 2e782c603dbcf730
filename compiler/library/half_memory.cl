// Half floats in memory: vload_half and vstore_half in all forms (OpenCL C 1.2, 6.12.7), which need no
// cl_khr_fp16, and vload and vstore of half vectors, which do.

#include "gencl.h"

typedef half2 __attribute__((aligned(2))) packed2;
typedef half4 __attribute__((aligned(2))) packed4;
typedef half8 __attribute__((aligned(2))) packed8;
typedef half16 __attribute__((aligned(2))) packed16;

// Consecutive elements, with the alignment of elements.
#define LOAD(SPACE, N) \
    half##N OVERLOAD vload##N(size_t offset, const SPACE half *p) { \
        return *(const SPACE packed##N *)(p + offset * N); \
    }
#define LOADS(SPACE) \
    LOAD(SPACE, 2) \
    half3 OVERLOAD vload3(size_t offset, const SPACE half *p) { \
        p += offset * 3; \
        return (half3)(p[0], p[1], p[2]); \
    } \
    LOAD(SPACE, 4) \
    LOAD(SPACE, 8) \
    LOAD(SPACE, 16)

#define STORE(SPACE, N) \
    void OVERLOAD vstore##N(half##N x, size_t offset, SPACE half *p) { *(SPACE packed##N *)(p + offset * N) = x; }
#define STORES(SPACE) \
    STORE(SPACE, 2) \
    void OVERLOAD vstore3(half3 x, size_t offset, SPACE half *p) { \
        p += offset * 3; \
        p[0] = x.s0; \
        p[1] = x.s1; \
        p[2] = x.s2; \
    } \
    STORE(SPACE, 4) \
    STORE(SPACE, 8) \
    STORE(SPACE, 16)

// The `a` forms have the alignment of vectors; vectors of three have the size of four.
#define LOAD_HALF(SPACE, N) \
    float##N OVERLOAD vload_half##N(size_t offset, const SPACE half *p) { \
        return convert_float##N(vload##N(offset, p)); \
    }
#define LOADA_HALF(SPACE, N) \
    float##N OVERLOAD vloada_half##N(size_t offset, const SPACE half *p) { \
        return convert_float##N(((const SPACE half##N *)p)[offset]); \
    }
#define LOAD_HALVES(SPACE) \
    float OVERLOAD vload_half(size_t offset, const SPACE half *p) { return (float)p[offset]; } \
    float OVERLOAD vloada_half(size_t offset, const SPACE half *p) { return (float)p[offset]; } \
    LOAD_HALF(SPACE, 2) \
    LOAD_HALF(SPACE, 3) \
    LOAD_HALF(SPACE, 4) \
    LOAD_HALF(SPACE, 8) \
    LOAD_HALF(SPACE, 16) \
    LOADA_HALF(SPACE, 2) \
    float3 OVERLOAD vloada_half3(size_t offset, const SPACE half *p) { \
        return convert_float4(((const SPACE half4 *)p)[offset]).xyz; \
    } \
    LOADA_HALF(SPACE, 4) \
    LOADA_HALF(SPACE, 8) \
    LOADA_HALF(SPACE, 16)

#define STORE_HALF(SPACE, TYPE, N, MODE) \
    void OVERLOAD vstore_half##N##MODE(TYPE##N x, size_t offset, SPACE half *p) { \
        vstore##N(convert_half##N##MODE(x), offset, p); \
    }
#define STOREA_HALF(SPACE, TYPE, N, MODE) \
    void OVERLOAD vstorea_half##N##MODE(TYPE##N x, size_t offset, SPACE half *p) { \
        ((SPACE half##N *)p)[offset] = convert_half##N##MODE(x); \
    }
#define STORE_HALVES(SPACE, TYPE, MODE) \
    void OVERLOAD vstore_half##MODE(TYPE x, size_t offset, SPACE half *p) { p[offset] = convert_half##MODE(x); } \
    void OVERLOAD vstorea_half##MODE(TYPE x, size_t offset, SPACE half *p) { p[offset] = convert_half##MODE(x); } \
    STORE_HALF(SPACE, TYPE, 2, MODE) \
    STORE_HALF(SPACE, TYPE, 3, MODE) \
    STORE_HALF(SPACE, TYPE, 4, MODE) \
    STORE_HALF(SPACE, TYPE, 8, MODE) \
    STORE_HALF(SPACE, TYPE, 16, MODE) \
    STOREA_HALF(SPACE, TYPE, 2, MODE) \
    void OVERLOAD vstorea_half3##MODE(TYPE##3 x, size_t offset, SPACE half *p) { \
        half3 y = convert_half3##MODE(x); \
        p += offset * 4; \
        p[0] = y.s0; \
        p[1] = y.s1; \
        p[2] = y.s2; \
    } \
    STOREA_HALF(SPACE, TYPE, 4, MODE) \
    STOREA_HALF(SPACE, TYPE, 8, MODE) \
    STOREA_HALF(SPACE, TYPE, 16, MODE)
#define STORE_MODES(SPACE, TYPE) \
    STORE_HALVES(SPACE, TYPE, ) \
    STORE_HALVES(SPACE, TYPE, _rte) \
    STORE_HALVES(SPACE, TYPE, _rtz) \
    STORE_HALVES(SPACE, TYPE, _rtp) \
    STORE_HALVES(SPACE, TYPE, _rtn)
#define WRITABLE(SPACE) \
    LOADS(SPACE) LOAD_HALVES(SPACE) STORES(SPACE) STORE_MODES(SPACE, float) STORE_MODES(SPACE, double)

WRITABLE(global)
WRITABLE(local)
WRITABLE(private)
LOADS(constant)
LOAD_HALVES(constant)
