// 64-bit atomics (cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics). Shared local memory has none of
// this size: there a lock, which is 0 when the kernel begins, serialises the threads, as in IGC's library.

#include "gencl.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

// The accesses under the lock, marked so that checks for data races tell them from others.
#define LOAD __builtin_nontemporal_load(object)
#define STORE(VALUE) __builtin_nontemporal_store(VALUE, object)

// The first active lane takes the lock for its thread. Lanes with one address act in registers, in the order of lanes
// (TOGETHER); others one after the other (ONE), as two of them may have the same address. All lanes stay in each loop
// until the last one is done: one that holds the lock must not be parked behind it. Messages of a thread to local
// memory are in order, so the fence only restricts the compiler.
#define UNDER_LOCK(TOGETHER, ONE) \
    local uint *lock = __gencl_local_lock(); \
    const uint lane = __gencl_lane_id(), active = __gencl_ballot(1); \
    const uint first = __builtin_ctz(active), last = 31 - clz(active), place = (uint)(size_t)object; \
    int taken = 0; \
    do { \
        if (lane == first) \
            taken = __gencl_atomic_xchg_local_u32(lock, 1) == 0; \
    } while (!__gencl_ballot(taken)); \
    if (!__gencl_ballot(place != __gencl_shuffle_u32(place, first))) { \
        before = LOAD; \
        TOGETHER \
    } else { \
        uint left = active; \
        do { \
            if (lane == __builtin_ctz(left)) { \
                before = LOAD; \
                ONE; \
            } \
            left &= left - 1; \
        } while (left); \
    } \
    if (lane == first) { \
        __gencl_fence(0); \
        __gencl_atomic_xchg_local_u32(lock, 0); \
    } \
    return before;

// The lanes before one have the effect of a single operation by their SCAN, which is neutral for the first one.
#define LOCKED(TYPE, NAME, OP, SCAN, RESULT) \
    TYPE CONVERGENT __gencl_atomic_##OP##_local_##NAME(volatile local TYPE *object, TYPE x) { \
        TYPE before = 0; \
        const TYPE own = x; \
        UNDER_LOCK( \
            x = __gencl_exclusive_scan_##SCAN##_##NAME(own); \
            before = RESULT; \
            x = own; \
            if (lane == last) STORE(RESULT);, \
            STORE(RESULT)) \
    }
// Each lane finds what the one before has left. Of the lanes that are left, none but the first whose expectation is
// met changes anything.
#define LOCAL(TYPE, NAME) \
    LOCKED(TYPE, NAME, add, add, before + x) \
    LOCKED(TYPE, NAME, sub, add, before - x) \
    LOCKED(TYPE, NAME, min, min, min(before, x)) \
    LOCKED(TYPE, NAME, max, max, max(before, x)) \
    LOCKED(TYPE, NAME, and, and, before & x) \
    LOCKED(TYPE, NAME, or, or, before | x) \
    LOCKED(TYPE, NAME, xor, xor, before ^ x) \
    TYPE CONVERGENT __gencl_atomic_xchg_local_##NAME(volatile local TYPE *object, TYPE x) { \
        TYPE before = 0; \
        UNDER_LOCK( \
            const TYPE previous = __gencl_shuffle_u64(x, 31 - clz(active & (1u << lane) - 1)); \
            if (lane != first) before = previous; \
            if (lane == last) STORE(x);, \
            STORE(x)) \
    } \
    TYPE CONVERGENT __gencl_atomic_cmp_xchg_local_##NAME(volatile local TYPE *object, TYPE expected, TYPE desired) { \
        TYPE before = 0; \
        UNDER_LOCK( \
            TYPE now = before; \
            uint left = active; \
            do { \
                if (left >> lane & 1) before = now; \
                const uint met = __gencl_ballot(now == expected) & left; \
                const uint one = met & -met; \
                if (met) now = __gencl_shuffle_u64(desired, __builtin_ctz(met)); \
                left = met ? left & -one & ~one : 0; \
            } while (left); \
            if (lane == last) STORE(now);, \
            if (before == expected) STORE(desired)) \
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
