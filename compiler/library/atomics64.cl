// 64-bit atomics (cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics). Shared local memory has none of
// this size: there a lock, which is 0 when the kernel begins, serialises the lanes, as in IGC's library.

#include "gencl.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

// All lanes stay in the loop until the last one is done: a lane that holds the lock must not be parked behind
// the loop.
#define UNDER_LOCK(ACT) \
    local uint *lock = __gencl_local_lock(); \
    int waiting = 1; \
    do { \
        if (waiting && __gencl_atomic_xchg_local_u32(lock, 1) == 0) { \
            before = *object; \
            ACT; \
            __gencl_fence(0); \
            __gencl_atomic_xchg_local_u32(lock, 0); \
            waiting = 0; \
        } \
    } while (__gencl_ballot(waiting)); \
    return before;

#define LOCKED(TYPE, NAME, OP, RESULT) \
    TYPE CONVERGENT __gencl_atomic_##OP##_local_##NAME(volatile local TYPE *object, TYPE x) { \
        TYPE before = 0; \
        UNDER_LOCK(*object = RESULT) \
    }
#define LOCAL(TYPE, NAME) \
    LOCKED(TYPE, NAME, add, before + x) \
    LOCKED(TYPE, NAME, sub, before - x) \
    LOCKED(TYPE, NAME, xchg, x) \
    LOCKED(TYPE, NAME, min, min(before, x)) \
    LOCKED(TYPE, NAME, max, max(before, x)) \
    LOCKED(TYPE, NAME, and, before & x) \
    LOCKED(TYPE, NAME, or, before | x) \
    LOCKED(TYPE, NAME, xor, before ^ x) \
    TYPE CONVERGENT __gencl_atomic_cmp_xchg_local_##NAME(volatile local TYPE *object, TYPE expected, TYPE desired) { \
        TYPE before = 0; \
        UNDER_LOCK(if (before == expected) *object = desired) \
    }
LOCAL(long, s64)
LOCAL(ulong, u64)

#define FUNCTION(TYPE, NAME, SPACE, OP) \
    TYPE OVERLOAD atom_##OP(volatile SPACE TYPE *object, TYPE x) { \
        return __gencl_atomic_##OP##_##SPACE##_##NAME(object, x); \
    }
#define FUNCTIONS(TYPE, NAME, SPACE) \
    FUNCTION(TYPE, NAME, SPACE, add) FUNCTION(TYPE, NAME, SPACE, sub) FUNCTION(TYPE, NAME, SPACE, xchg) \
    FUNCTION(TYPE, NAME, SPACE, min) FUNCTION(TYPE, NAME, SPACE, max) FUNCTION(TYPE, NAME, SPACE, and) \
    FUNCTION(TYPE, NAME, SPACE, or) FUNCTION(TYPE, NAME, SPACE, xor) \
    TYPE OVERLOAD atom_inc(volatile SPACE TYPE *object) { return __gencl_atomic_add_##SPACE##_##NAME(object, 1); } \
    TYPE OVERLOAD atom_dec(volatile SPACE TYPE *object) { return __gencl_atomic_sub_##SPACE##_##NAME(object, 1); } \
    TYPE OVERLOAD atom_cmpxchg(volatile SPACE TYPE *object, TYPE expected, TYPE desired) { \
        return __gencl_atomic_cmp_xchg_##SPACE##_##NAME(object, expected, desired); \
    }
FUNCTIONS(long, s64, global)
FUNCTIONS(ulong, u64, global)
FUNCTIONS(long, s64, local)
FUNCTIONS(ulong, u64, local)
