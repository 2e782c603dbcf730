// Accesses through generic pointers whose address space is not known at compile time, and functions that
// query it (OpenCL C 3.0, 6.7.5 and 6.15.6). The upper three bits of such a pointer are a tag: 1 is private,
// 2 is local, anything else global memory. The lower half is the pointer in that space. llvm/generic.rs and
// llvm/atomics.rs emit calls of the functions in the first part.

#include "gencl.h"

#define SPACE(ADDRESS) ((uint)((ADDRESS) >> 61))
#define LOW(ADDRESS) ((ADDRESS) & 0xffffffffUL)

#define ACCESS(NAME, TYPE) \
    TYPE __gencl_generic_load_##NAME(ulong a) { \
        switch (SPACE(a)) { \
        case POINTS_TO_PRIVATE: return *(const private TYPE *)LOW(a); \
        case POINTS_TO_LOCAL: return *(const local TYPE *)LOW(a); \
        default: return *(const global TYPE *)a; \
        } \
    } \
    void __gencl_generic_store_##NAME(ulong a, TYPE x) { \
        switch (SPACE(a)) { \
        case POINTS_TO_PRIVATE: *(private TYPE *)LOW(a) = x; return; \
        case POINTS_TO_LOCAL: *(local TYPE *)LOW(a) = x; return; \
        default: *(global TYPE *)a = x; return; \
        } \
    }

// Vectors have the alignment of their elements.
typedef uint2 __attribute__((aligned(4))) packed_uint2;
typedef uint4 __attribute__((aligned(4))) packed_uint4;

ACCESS(1, uchar)
ACCESS(2, ushort)
ACCESS(4, uint)
ACCESS(8, packed_uint2)
ACCESS(16, packed_uint4)

void __gencl_generic_copy(ulong to, ulong from, ulong count) {
    for (ulong i = 0; i < count; i++)
        __gencl_generic_store_1(to + i, __gencl_generic_load_1(from + i));
}

void __gencl_generic_move(ulong to, ulong from, ulong count) {
    if (to <= from)
        __gencl_generic_copy(to, from, count);
    else
        for (ulong i = count; i-- > 0;)
            __gencl_generic_store_1(to + i, __gencl_generic_load_1(from + i));
}

void __gencl_generic_fill(ulong to, uchar value, ulong count) {
    for (ulong i = 0; i < count; i++)
        __gencl_generic_store_1(to + i, value);
}

// Atomic operations, which private memory does not have.
#define GENERIC(OP, NAME, TYPE) \
    TYPE __gencl_generic_atomic_##OP##_##NAME(ulong a, TYPE x) { \
        if (SPACE(a) == POINTS_TO_LOCAL) \
            return __gencl_atomic_##OP##_local_##NAME((volatile local TYPE *)LOW(a), x); \
        return __gencl_atomic_##OP##_global_##NAME((volatile global TYPE *)a, x); \
    }
#define ATOMICS(SIGNED, UNSIGNED, BITS) \
    GENERIC(xchg, u##BITS, UNSIGNED) GENERIC(add, u##BITS, UNSIGNED) GENERIC(sub, u##BITS, UNSIGNED) \
    GENERIC(and, u##BITS, UNSIGNED) GENERIC(or, u##BITS, UNSIGNED) GENERIC(xor, u##BITS, UNSIGNED) \
    GENERIC(min, u##BITS, UNSIGNED) GENERIC(max, u##BITS, UNSIGNED) \
    GENERIC(min, s##BITS, SIGNED) GENERIC(max, s##BITS, SIGNED) \
    UNSIGNED __gencl_generic_atomic_cmp_xchg_u##BITS(ulong a, UNSIGNED expected, UNSIGNED x) { \
        if (SPACE(a) == POINTS_TO_LOCAL) \
            return __gencl_atomic_cmp_xchg_local_u##BITS((volatile local UNSIGNED *)LOW(a), expected, x); \
        return __gencl_atomic_cmp_xchg_global_u##BITS((volatile global UNSIGNED *)a, expected, x); \
    }

ATOMICS(int, uint, 32)
ATOMICS(long, ulong, 64)

// Clang calls these for to_global and so on.
global void *__to_global(void *pointer) {
    uint space = __gencl_pointer_space(pointer);
    return space == POINTS_TO_PRIVATE || space == POINTS_TO_LOCAL ? 0 : (global void *)pointer;
}

local void *__to_local(void *pointer) {
    return __gencl_pointer_space(pointer) == POINTS_TO_LOCAL ? (local void *)pointer : 0;
}

private void *__to_private(void *pointer) {
    return __gencl_pointer_space(pointer) == POINTS_TO_PRIVATE ? (private void *)pointer : 0;
}

cl_mem_fence_flags OVERLOAD get_fence(const void *pointer) {
    return __gencl_pointer_space(pointer) == POINTS_TO_LOCAL ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE;
}

cl_mem_fence_flags OVERLOAD get_fence(void *pointer) { return get_fence((const void *)pointer); }
