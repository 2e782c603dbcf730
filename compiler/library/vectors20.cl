// vload and vstore through generic pointers (OpenCL C 3.0, 6.15.7).

#include "gencl.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// A vector with the alignment of its elements.
#define PACKED(TYPE, N) \
    typedef TYPE##N __attribute__((aligned(sizeof(TYPE)))) packed_##TYPE##N; \
    TYPE##N OVERLOAD vload##N(size_t index, const TYPE *pointer) { \
        return *(const packed_##TYPE##N *)(pointer + index * N); \
    } \
    void OVERLOAD vstore##N(TYPE##N value, size_t index, TYPE *pointer) { \
        *(packed_##TYPE##N *)(pointer + index * N) = value; \
    }

// In memory a vector of three has the size of four.
#define THREE(TYPE) \
    TYPE##3 OVERLOAD vload3(size_t index, const TYPE *pointer) { \
        const TYPE *place = pointer + index * 3; \
        return (TYPE##3)(place[0], place[1], place[2]); \
    } \
    void OVERLOAD vstore3(TYPE##3 value, size_t index, TYPE *pointer) { \
        TYPE *place = pointer + index * 3; \
        place[0] = value.s0; \
        place[1] = value.s1; \
        place[2] = value.s2; \
    }

#define SIZES(TYPE) PACKED(TYPE, 2) THREE(TYPE) PACKED(TYPE, 4) PACKED(TYPE, 8) PACKED(TYPE, 16)

SIZES(char)
SIZES(uchar)
SIZES(short)
SIZES(ushort)
SIZES(int)
SIZES(uint)
SIZES(long)
SIZES(ulong)
SIZES(half)
SIZES(float)
SIZES(double)

// Half floats are copied to private memory unchanged; the functions of private pointers convert them.
#define HALF_LOAD(NAME, FLOAT, BITS, READ) \
    FLOAT OVERLOAD NAME(size_t index, const private half *pointer); \
    FLOAT OVERLOAD NAME(size_t index, const half *pointer) { \
        private BITS bits = READ; \
        return NAME(0, (const private half *)&bits); \
    }

#define HALF_STORE(NAME, FLOAT, BITS, WRITE) \
    void OVERLOAD NAME(FLOAT value, size_t index, private half *pointer); \
    void OVERLOAD NAME(FLOAT value, size_t index, half *pointer) { \
        private BITS bits; \
        NAME(value, 0, (private half *)&bits); \
        WRITE; \
    }

#define ROUNDINGS(NAME, FLOAT, BITS, WRITE) \
    HALF_STORE(NAME, FLOAT, BITS, WRITE) \
    HALF_STORE(NAME##_rte, FLOAT, BITS, WRITE) \
    HALF_STORE(NAME##_rtz, FLOAT, BITS, WRITE) \
    HALF_STORE(NAME##_rtp, FLOAT, BITS, WRITE) \
    HALF_STORE(NAME##_rtn, FLOAT, BITS, WRITE)

#define HALF_VECTORS(N) \
    HALF_LOAD(vload_half##N, float##N, ushort##N, vload##N(index, (const ushort *)pointer)) \
    HALF_LOAD(vloada_half##N, float##N, ushort##N, ((const ushort##N *)pointer)[index]) \
    ROUNDINGS(vstore_half##N, float##N, ushort##N, vstore##N(bits, index, (ushort *)pointer)) \
    ROUNDINGS(vstorea_half##N, float##N, ushort##N, ((ushort##N *)pointer)[index] = bits) \
    ROUNDINGS(vstore_half##N, double##N, ushort##N, vstore##N(bits, index, (ushort *)pointer)) \
    ROUNDINGS(vstorea_half##N, double##N, ushort##N, ((ushort##N *)pointer)[index] = bits)

HALF_LOAD(vload_half, float, ushort, ((const ushort *)pointer)[index])
ROUNDINGS(vstore_half, float, ushort, ((ushort *)pointer)[index] = bits)
ROUNDINGS(vstore_half, double, ushort, ((ushort *)pointer)[index] = bits)
HALF_VECTORS(2)
HALF_VECTORS(3)
HALF_VECTORS(4)
HALF_VECTORS(8)
HALF_VECTORS(16)
