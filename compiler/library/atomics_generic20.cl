// C11 atomics through generic pointers (OpenCL C 3.0, 6.15.12): those of global and local memory, selected by
// the pointer's tag. If the compiler knows the address space, the test is folded. Private memory has no
// atomics.

#include "gencl.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define IS_LOCAL(POINTER) (__gencl_pointer_space((const void *)(POINTER)) == POINTS_TO_LOCAL)

// A function with one operand, its three forms; `RETURN` is empty for those without result.
#define OPERATION(RESULT, RETURN, NAME, ATOMIC, OPERAND) \
    RESULT OVERLOAD NAME##_explicit(volatile global ATOMIC *object, OPERAND operand, memory_order order, memory_scope scope); \
    RESULT OVERLOAD NAME##_explicit(volatile local ATOMIC *object, OPERAND operand, memory_order order, memory_scope scope); \
    RESULT OVERLOAD NAME##_explicit(volatile ATOMIC *object, OPERAND operand, memory_order order, memory_scope scope) { \
        if (IS_LOCAL(object)) \
            RETURN NAME##_explicit((volatile local ATOMIC *)object, operand, order, scope); \
        else \
            RETURN NAME##_explicit((volatile global ATOMIC *)object, operand, order, scope); \
    } \
    RESULT OVERLOAD NAME##_explicit(volatile ATOMIC *object, OPERAND operand, memory_order order) { \
        RETURN NAME##_explicit(object, operand, order, memory_scope_device); \
    } \
    RESULT OVERLOAD NAME(volatile ATOMIC *object, OPERAND operand) { \
        RETURN NAME##_explicit(object, operand, memory_order_seq_cst, memory_scope_device); \
    }

#define LOAD(TYPE, ATOMIC) \
    TYPE OVERLOAD atomic_load_explicit(volatile global ATOMIC *object, memory_order order, memory_scope scope); \
    TYPE OVERLOAD atomic_load_explicit(volatile local ATOMIC *object, memory_order order, memory_scope scope); \
    TYPE OVERLOAD atomic_load_explicit(volatile ATOMIC *object, memory_order order, memory_scope scope) { \
        if (IS_LOCAL(object)) \
            return atomic_load_explicit((volatile local ATOMIC *)object, order, scope); \
        return atomic_load_explicit((volatile global ATOMIC *)object, order, scope); \
    } \
    TYPE OVERLOAD atomic_load_explicit(volatile ATOMIC *object, memory_order order) { \
        return atomic_load_explicit(object, order, memory_scope_device); \
    } \
    TYPE OVERLOAD atomic_load(volatile ATOMIC *object) { \
        return atomic_load_explicit(object, memory_order_seq_cst, memory_scope_device); \
    }

// The expected value is in private memory during the operation.
#define COMPARE(FORM, TYPE, ATOMIC) \
    bool OVERLOAD atomic_compare_exchange_##FORM##_explicit(volatile global ATOMIC *object, private TYPE *expected, \
                                                            TYPE desired, memory_order order, \
                                                            memory_order otherwise, memory_scope scope); \
    bool OVERLOAD atomic_compare_exchange_##FORM##_explicit(volatile local ATOMIC *object, private TYPE *expected, \
                                                            TYPE desired, memory_order order, \
                                                            memory_order otherwise, memory_scope scope); \
    bool OVERLOAD atomic_compare_exchange_##FORM##_explicit(volatile ATOMIC *object, TYPE *expected, TYPE desired, \
                                                            memory_order order, memory_order otherwise, \
                                                            memory_scope scope) { \
        private TYPE own = *expected; \
        bool equal; \
        if (IS_LOCAL(object)) \
            equal = atomic_compare_exchange_##FORM##_explicit((volatile local ATOMIC *)object, (private TYPE *)&own, \
                                                              desired, order, otherwise, scope); \
        else \
            equal = atomic_compare_exchange_##FORM##_explicit((volatile global ATOMIC *)object, (private TYPE *)&own, \
                                                              desired, order, otherwise, scope); \
        if (!equal) \
            *expected = own; \
        return equal; \
    } \
    bool OVERLOAD atomic_compare_exchange_##FORM##_explicit(volatile ATOMIC *object, TYPE *expected, TYPE desired, \
                                                            memory_order order, memory_order otherwise) { \
        return atomic_compare_exchange_##FORM##_explicit(object, expected, desired, order, otherwise, \
                                                         memory_scope_device); \
    } \
    bool OVERLOAD atomic_compare_exchange_##FORM(volatile ATOMIC *object, TYPE *expected, TYPE desired) { \
        return atomic_compare_exchange_##FORM##_explicit(object, expected, desired, memory_order_seq_cst, \
                                                         memory_order_seq_cst, memory_scope_device); \
    }

#define MOVES(TYPE, ATOMIC) \
    void OVERLOAD atomic_init(volatile ATOMIC *object, TYPE value) { *(volatile TYPE *)object = value; } \
    OPERATION(void, , atomic_store, ATOMIC, TYPE) \
    OPERATION(TYPE, return, atomic_exchange, ATOMIC, TYPE) \
    LOAD(TYPE, ATOMIC) \
    COMPARE(strong, TYPE, ATOMIC) \
    COMPARE(weak, TYPE, ATOMIC)

#define FETCH(OP, TYPE, ATOMIC, OPERAND) OPERATION(TYPE, return, atomic_fetch_##OP, ATOMIC, OPERAND)
#define FETCHES(TYPE, ATOMIC) \
    FETCH(add, TYPE, ATOMIC, TYPE) FETCH(sub, TYPE, ATOMIC, TYPE) FETCH(or, TYPE, ATOMIC, TYPE) \
    FETCH(xor, TYPE, ATOMIC, TYPE) FETCH(and, TYPE, ATOMIC, TYPE) FETCH(min, TYPE, ATOMIC, TYPE) \
    FETCH(max, TYPE, ATOMIC, TYPE)

MOVES(int, atomic_int)
MOVES(uint, atomic_uint)
MOVES(long, atomic_long)
MOVES(ulong, atomic_ulong)
MOVES(float, atomic_float)
MOVES(double, atomic_double)
FETCHES(int, atomic_int)
FETCHES(uint, atomic_uint)
FETCHES(long, atomic_long)
FETCHES(ulong, atomic_ulong)
FETCH(add, uintptr_t, atomic_uintptr_t, ptrdiff_t)
FETCH(sub, uintptr_t, atomic_uintptr_t, ptrdiff_t)

// A flag is an int that is nonzero when it is set.
bool OVERLOAD atomic_flag_test_and_set_explicit(volatile atomic_flag *object, memory_order order, memory_scope scope) {
    return atomic_exchange_explicit((volatile atomic_int *)object, 1, order, scope) != 0;
}
bool OVERLOAD atomic_flag_test_and_set_explicit(volatile atomic_flag *object, memory_order order) {
    return atomic_flag_test_and_set_explicit(object, order, memory_scope_device);
}
bool OVERLOAD atomic_flag_test_and_set(volatile atomic_flag *object) {
    return atomic_flag_test_and_set_explicit(object, memory_order_seq_cst, memory_scope_device);
}
void OVERLOAD atomic_flag_clear_explicit(volatile atomic_flag *object, memory_order order, memory_scope scope) {
    atomic_store_explicit((volatile atomic_int *)object, 0, order, scope);
}
void OVERLOAD atomic_flag_clear_explicit(volatile atomic_flag *object, memory_order order) {
    atomic_flag_clear_explicit(object, order, memory_scope_device);
}
void OVERLOAD atomic_flag_clear(volatile atomic_flag *object) {
    atomic_flag_clear_explicit(object, memory_order_seq_cst, memory_scope_device);
}
