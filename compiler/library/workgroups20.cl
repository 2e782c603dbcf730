// Work-group functions (OpenCL C 3.0, 6.15.16). Each sub-group reduces its values and stores the result to
// local memory, and every sub-group reduces the results that it needs. After the barrier at the end, the next
// function can use the memory.

#include "gencl.h"

#define EACH_LANE(INDEX, END) for (uint INDEX = __gencl_lane_id(); INDEX < (END); INDEX += get_sub_group_size())

uint CONVERGENT __gencl_group_votes(int x) {
    local uint *memory = (local uint *)__gencl_group_memory();
    uint any = __gencl_ballot(x) != 0;
    if (__gencl_lane_id() == 0)
        memory[__gencl_sub_group_id()] = any;
    __gencl_barrier(CLK_LOCAL_MEM_FENCE);
    uint vote = 0;
    EACH_LANE(i, get_num_sub_groups())
        vote |= memory[i];
    uint result = __gencl_ballot(vote) != 0;
    __gencl_barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}

int OVERLOAD CONVERGENT work_group_any(int x) { return __gencl_group_votes(x); }
int OVERLOAD CONVERGENT work_group_all(int x) { return !__gencl_group_votes(!x); }

#define BROADCAST(TYPE, NAME, UNUSED) \
    TYPE CONVERGENT __gencl_group_broadcast_##NAME(TYPE x, bool mine) { \
        local TYPE *memory = (local TYPE *)__gencl_group_memory(); \
        if (mine) \
            *memory = x; \
        __gencl_barrier(CLK_LOCAL_MEM_FENCE); \
        TYPE result = *memory; \
        __gencl_barrier(CLK_LOCAL_MEM_FENCE); \
        return result; \
    } \
    TYPE OVERLOAD CONVERGENT work_group_broadcast(TYPE x, size_t i) { \
        return __gencl_group_broadcast_##NAME(x, __gencl_local_id(0) == (uint)i); \
    } \
    TYPE OVERLOAD CONVERGENT work_group_broadcast(TYPE x, size_t i, size_t j) { \
        return __gencl_group_broadcast_##NAME(x, __gencl_local_id(0) == (uint)i && __gencl_local_id(1) == (uint)j); \
    } \
    TYPE OVERLOAD CONVERGENT work_group_broadcast(TYPE x, size_t i, size_t j, size_t k) { \
        bool row = __gencl_local_id(0) == (uint)i && __gencl_local_id(1) == (uint)j; \
        return __gencl_group_broadcast_##NAME(x, row && __gencl_local_id(2) == (uint)k); \
    }

// `parts`: the reduction of the results of the sub-groups before `end`.
#define TOGETHER(TYPE, NAME, OP, IDENTITY, PUT) \
    TYPE CONVERGENT __gencl_group_##OP##_##NAME(TYPE of_sub_group, bool all) { \
        local TYPE *memory = (local TYPE *)__gencl_group_memory(); \
        if (__gencl_lane_id() == 0) \
            memory[__gencl_sub_group_id()] = of_sub_group; \
        __gencl_barrier(CLK_LOCAL_MEM_FENCE); \
        TYPE parts = IDENTITY; \
        EACH_LANE(i, all ? get_num_sub_groups() : __gencl_sub_group_id()) \
            parts = PUT(parts, memory[i]); \
        parts = __gencl_reduce_##OP##_##NAME(parts); \
        __gencl_barrier(CLK_LOCAL_MEM_FENCE); \
        return parts; \
    } \
    TYPE OVERLOAD CONVERGENT work_group_reduce_##OP(TYPE x) { \
        return __gencl_group_##OP##_##NAME(__gencl_reduce_##OP##_##NAME(x), true); \
    } \
    TYPE OVERLOAD CONVERGENT work_group_scan_inclusive_##OP(TYPE x) { \
        TYPE before = __gencl_group_##OP##_##NAME(__gencl_reduce_##OP##_##NAME(x), false); \
        return PUT(before, __gencl_scan_##OP##_##NAME(x)); \
    } \
    TYPE OVERLOAD CONVERGENT work_group_scan_exclusive_##OP(TYPE x) { \
        TYPE before = __gencl_group_##OP##_##NAME(__gencl_reduce_##OP##_##NAME(x), false); \
        return PUT(before, __gencl_exclusive_scan_##OP##_##NAME(x)); \
    }
#define ADD(A, B) ((A) + (B))
#define MUL(A, B) ((A) * (B))
#define AND(A, B) ((A) & (B))
#define OR(A, B) ((A) | (B))
#define XOR(A, B) ((A) ^ (B))

#define FUNCTIONS(TYPE, NAME, SMALLEST, LARGEST, MIN, MAX) \
    BROADCAST(TYPE, NAME, ) \
    TOGETHER(TYPE, NAME, add, (TYPE)0, ADD) \
    TOGETHER(TYPE, NAME, mul, (TYPE)1, MUL) \
    TOGETHER(TYPE, NAME, min, LARGEST, MIN) \
    TOGETHER(TYPE, NAME, max, SMALLEST, MAX)
FUNCTIONS(int, s32, INT_MIN, INT_MAX, min, max)
FUNCTIONS(uint, u32, 0u, UINT_MAX, min, max)
FUNCTIONS(long, s64, LONG_MIN, LONG_MAX, min, max)
FUNCTIONS(ulong, u64, 0ul, ULONG_MAX, min, max)
FUNCTIONS(float, f32, -INFINITY, INFINITY, fmin, fmax)
FUNCTIONS(half, f16, (half)-INFINITY, (half)INFINITY, fmin, fmax)
FUNCTIONS(double, f64, -(double)INFINITY, (double)INFINITY, fmin, fmax)

// These are of SPIR-V (SPV_KHR_uniform_group_instructions).
#define INTEGER_FUNCTIONS(TYPE, NAME) \
    TOGETHER(TYPE, NAME, and, ~(TYPE)0, AND) \
    TOGETHER(TYPE, NAME, or, (TYPE)0, OR) \
    TOGETHER(TYPE, NAME, xor, (TYPE)0, XOR)
INTEGER_FUNCTIONS(int, s32)
INTEGER_FUNCTIONS(uint, u32)
INTEGER_FUNCTIONS(long, s64)
INTEGER_FUNCTIONS(ulong, u64)

#define LOGICAL_FUNCTION(HOW, OP) \
    int OVERLOAD CONVERGENT work_group_##HOW##_logical_##OP(int x) { return work_group_##HOW##_##OP((int)(x != 0)) != 0; }
#define LOGICAL_FUNCTIONS(OP) \
    LOGICAL_FUNCTION(reduce, OP) \
    LOGICAL_FUNCTION(scan_inclusive, OP) \
    LOGICAL_FUNCTION(scan_exclusive, OP)
LOGICAL_FUNCTIONS(and)
LOGICAL_FUNCTIONS(or)
LOGICAL_FUNCTIONS(xor)
