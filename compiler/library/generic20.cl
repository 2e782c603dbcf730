// Accesses through generic pointers whose address space is not known at compile time, and functions that
// query it (OpenCL C 3.0, 6.7.5 and 6.15.6). The upper three bits of such a pointer are a tag: 1 is private,
// 2 is local, anything else global memory. The lower half is the pointer in that space. llvm/generic.rs emits
// calls of the functions in the first part.

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
    TYPE __gencl_generic_atomic_##NAME(ulong a, TYPE x) { \
        if (SPACE(a) == POINTS_TO_LOCAL) \
            return atomic_##OP((volatile local TYPE *)LOW(a), x); \
        return atomic_##OP((volatile global TYPE *)a, x); \
    }

GENERIC(xchg, xchg, uint)
GENERIC(add, add, uint)
GENERIC(sub, sub, uint)
GENERIC(and, and, uint)
GENERIC(or, or, uint)
GENERIC(xor, xor, uint)
GENERIC(min, umin, uint)
GENERIC(max, umax, uint)
GENERIC(min, min, int)
GENERIC(max, max, int)

uint __gencl_generic_atomic_cmpxchg(ulong a, uint expected, uint x) {
    if (SPACE(a) == POINTS_TO_LOCAL)
        return atomic_cmpxchg((volatile local uint *)LOW(a), expected, x);
    return atomic_cmpxchg((volatile global uint *)a, expected, x);
}

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
