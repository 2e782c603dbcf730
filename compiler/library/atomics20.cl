// C11 atomics on named address spaces (OpenCL C 3.0, 6.15.12). The operation itself is relaxed; the memory
// order is implemented by fences before it (release) and after it (acquire). Atomics and accesses of one
// thread to local memory are in order, so there the fence only restricts the compiler.
//
// The hardware has no atomic loads and stores: as in IGC's library a load is `or` with 0, a store an
// exchange.

#include "gencl.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define global_FENCE CLK_GLOBAL_MEM_FENCE
#define local_FENCE 0

bool __gencl_beyond_thread(memory_scope scope) {
    return scope != memory_scope_work_item && scope != memory_scope_sub_group;
}

void __gencl_release(uint fence, memory_order order, memory_scope scope) {
    if (__gencl_beyond_thread(scope) && order != memory_order_relaxed && order != memory_order_acquire)
        __gencl_fence(fence);
}

void __gencl_acquire(uint fence, memory_order order, memory_scope scope) {
    if (__gencl_beyond_thread(scope) && order != memory_order_relaxed && order != memory_order_release)
        __gencl_fence(fence);
}

void OVERLOAD atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
    if (order != memory_order_relaxed)
        __gencl_fence(__gencl_beyond_thread(scope) ? flags : 0);
}

// The three forms of a function with one operand, or none.
#define FORMS(RESULT, NAME, SPACE, ATOMIC, TYPE) \
    RESULT OVERLOAD NAME##_explicit(volatile SPACE ATOMIC *object, TYPE operand, memory_order order) { \
        return NAME##_explicit(object, operand, order, memory_scope_device); \
    } \
    RESULT OVERLOAD NAME(volatile SPACE ATOMIC *object, TYPE operand) { \
        return NAME##_explicit(object, operand, memory_order_seq_cst, memory_scope_device); \
    }
#define FETCH_AS(OP, SPACE, ATOMIC, TYPE, NAME, OPERAND) \
    TYPE OVERLOAD atomic_fetch_##OP##_explicit(volatile SPACE ATOMIC *object, OPERAND operand, memory_order order, \
                                               memory_scope scope) { \
        __gencl_release(SPACE##_FENCE, order, scope); \
        TYPE before = __gencl_atomic_##OP##_##SPACE##_##NAME((volatile SPACE TYPE *)object, (TYPE)operand); \
        __gencl_acquire(SPACE##_FENCE, order, scope); \
        return before; \
    } \
    FORMS(TYPE, atomic_fetch_##OP, SPACE, ATOMIC, OPERAND)
#define FETCH(OP, SPACE, TYPE, NAME) FETCH_AS(OP, SPACE, atomic_##TYPE, TYPE, NAME, TYPE)
#define FETCHES(SPACE, TYPE, NAME) \
    FETCH(add, SPACE, TYPE, NAME) FETCH(sub, SPACE, TYPE, NAME) FETCH(or, SPACE, TYPE, NAME) \
    FETCH(xor, SPACE, TYPE, NAME) FETCH(and, SPACE, TYPE, NAME) FETCH(min, SPACE, TYPE, NAME) \
    FETCH(max, SPACE, TYPE, NAME)

// Operations that only move bits, as the unsigned integer type `BITS` of the same size with the name `NAME`.
#define MOVES(SPACE, TYPE, BITS, NAME) \
    void OVERLOAD atomic_init(volatile SPACE atomic_##TYPE *object, TYPE value) { \
        *(volatile SPACE TYPE *)object = value; \
    } \
    TYPE OVERLOAD atomic_load_explicit(volatile SPACE atomic_##TYPE *object, memory_order order, memory_scope scope) { \
        __gencl_release(SPACE##_FENCE, order, scope); \
        BITS value = __gencl_atomic_or_##SPACE##_##NAME((volatile SPACE BITS *)object, 0); \
        __gencl_acquire(SPACE##_FENCE, order, scope); \
        return as_##TYPE(value); \
    } \
    TYPE OVERLOAD atomic_load_explicit(volatile SPACE atomic_##TYPE *object, memory_order order) { \
        return atomic_load_explicit(object, order, memory_scope_device); \
    } \
    TYPE OVERLOAD atomic_load(volatile SPACE atomic_##TYPE *object) { \
        return atomic_load_explicit(object, memory_order_seq_cst, memory_scope_device); \
    } \
    TYPE OVERLOAD atomic_exchange_explicit(volatile SPACE atomic_##TYPE *object, TYPE desired, memory_order order, \
                                           memory_scope scope) { \
        __gencl_release(SPACE##_FENCE, order, scope); \
        BITS before = __gencl_atomic_xchg_##SPACE##_##NAME((volatile SPACE BITS *)object, as_##BITS(desired)); \
        __gencl_acquire(SPACE##_FENCE, order, scope); \
        return as_##TYPE(before); \
    } \
    FORMS(TYPE, atomic_exchange, SPACE, atomic_##TYPE, TYPE) \
    void OVERLOAD atomic_store_explicit(volatile SPACE atomic_##TYPE *object, TYPE desired, memory_order order, \
                                        memory_scope scope) { \
        atomic_exchange_explicit(object, desired, order, scope); \
    } \
    FORMS(void, atomic_store, SPACE, atomic_##TYPE, TYPE) \
    COMPARE(SPACE, TYPE, BITS, NAME, global, strong) COMPARE(SPACE, TYPE, BITS, NAME, local, strong) \
    COMPARE(SPACE, TYPE, BITS, NAME, private, strong) COMPARE(SPACE, TYPE, BITS, NAME, global, weak) \
    COMPARE(SPACE, TYPE, BITS, NAME, local, weak) COMPARE(SPACE, TYPE, BITS, NAME, private, weak)
// The weak form is the same as the strong one.
#define COMPARE(SPACE, TYPE, BITS, NAME, WHERE, FORM) \
    bool OVERLOAD atomic_compare_exchange_##FORM##_explicit(volatile SPACE atomic_##TYPE *object, \
                                                            WHERE TYPE *expected, TYPE desired, memory_order order, \
                                                            memory_order otherwise, memory_scope scope) { \
        BITS wanted = as_##BITS(*expected); \
        __gencl_release(SPACE##_FENCE, order, scope); \
        BITS seen = __gencl_atomic_cmp_xchg_##SPACE##_##NAME((volatile SPACE BITS *)object, wanted, as_##BITS(desired)); \
        __gencl_acquire(SPACE##_FENCE, order, scope); \
        if (seen != wanted) \
            *expected = as_##TYPE(seen); \
        return seen == wanted; \
    } \
    bool OVERLOAD atomic_compare_exchange_##FORM##_explicit(volatile SPACE atomic_##TYPE *object, \
                                                            WHERE TYPE *expected, TYPE desired, memory_order order, \
                                                            memory_order otherwise) { \
        return atomic_compare_exchange_##FORM##_explicit(object, expected, desired, order, otherwise, \
                                                         memory_scope_device); \
    } \
    bool OVERLOAD atomic_compare_exchange_##FORM(volatile SPACE atomic_##TYPE *object, WHERE TYPE *expected, \
                                                 TYPE desired) { \
        return atomic_compare_exchange_##FORM##_explicit(object, expected, desired, memory_order_seq_cst, \
                                                         memory_order_seq_cst, memory_scope_device); \
    }

// A flag is an int that is nonzero when it is set.
#define FLAG(SPACE) \
    bool OVERLOAD atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag *object, memory_order order, \
                                                    memory_scope scope) { \
        return atomic_exchange_explicit((volatile SPACE atomic_int *)object, 1, order, scope) != 0; \
    } \
    bool OVERLOAD atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag *object, memory_order order) { \
        return atomic_flag_test_and_set_explicit(object, order, memory_scope_device); \
    } \
    bool OVERLOAD atomic_flag_test_and_set(volatile SPACE atomic_flag *object) { \
        return atomic_flag_test_and_set_explicit(object, memory_order_seq_cst, memory_scope_device); \
    } \
    void OVERLOAD atomic_flag_clear_explicit(volatile SPACE atomic_flag *object, memory_order order, \
                                             memory_scope scope) { \
        atomic_exchange_explicit((volatile SPACE atomic_int *)object, 0, order, scope); \
    } \
    void OVERLOAD atomic_flag_clear_explicit(volatile SPACE atomic_flag *object, memory_order order) { \
        atomic_flag_clear_explicit(object, order, memory_scope_device); \
    } \
    void OVERLOAD atomic_flag_clear(volatile SPACE atomic_flag *object) { \
        atomic_flag_clear_explicit(object, memory_order_seq_cst, memory_scope_device); \
    }

#define POINTERS(SPACE, NAME) \
    FETCH_AS(add, SPACE, atomic_uintptr_t, uintptr_t, NAME, ptrdiff_t) \
    FETCH_AS(sub, SPACE, atomic_uintptr_t, uintptr_t, NAME, ptrdiff_t)
#ifdef __SPIR32__
#define ADDRESSES(SPACE) POINTERS(SPACE, u32)
#else
#define ADDRESSES(SPACE) POINTERS(SPACE, u64)
#endif

#define ATOMICS(SPACE) \
    FETCHES(SPACE, int, s32) FETCHES(SPACE, uint, u32) FETCHES(SPACE, long, s64) FETCHES(SPACE, ulong, u64) \
    ADDRESSES(SPACE) \
    MOVES(SPACE, int, uint, u32) MOVES(SPACE, uint, uint, u32) MOVES(SPACE, float, uint, u32) \
    MOVES(SPACE, long, ulong, u64) MOVES(SPACE, ulong, ulong, u64) MOVES(SPACE, double, ulong, u64) \
    FLAG(SPACE)
ATOMICS(global)
ATOMICS(local)
