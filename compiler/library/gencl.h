// The compiler's intrinsics: the translation to Gen IR turns calls of these into instructions. Dimensions and
// flags are constants after inlining, or the translation reports an error.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// Clang declares the functions of these.
#define cl_khr_subgroup_extended_types 1
#define cl_khr_subgroup_non_uniform_vote 1
#define cl_khr_subgroup_ballot 1
#define cl_khr_subgroup_non_uniform_arithmetic 1
#define cl_khr_subgroup_shuffle 1
#define cl_khr_subgroup_shuffle_relative 1
#define cl_khr_subgroup_clustered_reduce 1
#define cl_khr_subgroup_rotate 1

#define CONST __attribute__((const))
// Calls with different arguments must not become one with a choice of arguments: the compiler looks at these.
#define NOMERGE __attribute__((nomerge))

// Work-items. Sizes and ids are 32 bits wide: the runtime rejects larger launches.
uint CONST NOMERGE __gencl_local_id(uint dimension);
uint CONST NOMERGE __gencl_group_id(uint dimension);
uint CONST NOMERGE __gencl_local_size(uint dimension);
uint CONST NOMERGE __gencl_enqueued_local_size(uint dimension);
uint CONST NOMERGE __gencl_num_groups(uint dimension);
uint CONST NOMERGE __gencl_global_size(uint dimension);
uint CONST NOMERGE __gencl_global_offset(uint dimension);
uint CONST __gencl_work_dim(void);

// Synchronisation; `flags` as barrier() takes them.
void __attribute__((convergent)) __gencl_barrier(uint flags);
void __attribute__((convergent)) __gencl_barrier_arrive(uint flags);
void __attribute__((convergent)) __gencl_barrier_wait(void);
void __gencl_fence(uint flags);

// The launch's buffer for records of printf.
global uint *CONST __gencl_printf_buffer(void);

// The launch's buffer for records of checks that failed.
global uint *CONST __gencl_check_buffer(void);

#if __OPENCL_C_VERSION__ >= 200
// Tags of generic pointers, their upper three bits. Any other tag is global memory.
uint CONST __gencl_pointer_space(const void *pointer);
#define POINTS_TO_PRIVATE 1
#define POINTS_TO_LOCAL 2
#endif

#define OVERLOAD __attribute__((overloadable))
#define CONVERGENT __attribute__((convergent))

// Sub-groups: the lanes of a thread. A lane's number is taken modulo the lanes of a thread.
uint CONST __gencl_simd_width(void);
uint CONST __gencl_lane_id(void);
uint CONST __gencl_sub_group_id(void);
void CONVERGENT __gencl_sub_group_barrier(uint flags);
// The thread's clock: lower and upper half.
uint2 CONVERGENT __gencl_clock(void);
// Bit i: lane i is active, and x is not 0 there.
uint CONVERGENT __gencl_ballot(int x);
uchar CONVERGENT __gencl_shuffle_u8(uchar x, uint lane);
ushort CONVERGENT __gencl_shuffle_u16(ushort x, uint lane);
uint CONVERGENT __gencl_shuffle_u32(uint x, uint lane);
ulong CONVERGENT __gencl_shuffle_u64(ulong x, uint lane);

// Types of cross-lane operations, with the compiler's names for them.
#define INTEGERS(DO, ...) \
    DO(char, s8, __VA_ARGS__) DO(uchar, u8, __VA_ARGS__) DO(short, s16, __VA_ARGS__) DO(ushort, u16, __VA_ARGS__) \
    DO(int, s32, __VA_ARGS__) DO(uint, u32, __VA_ARGS__) DO(long, s64, __VA_ARGS__) DO(ulong, u64, __VA_ARGS__)
#define FLOATS(DO, ...) DO(half, f16, __VA_ARGS__) DO(float, f32, __VA_ARGS__) DO(double, f64, __VA_ARGS__)
#define NUMBERS(DO, ...) INTEGERS(DO, __VA_ARGS__) FLOATS(DO, __VA_ARGS__)

#define ACROSS_LANES(TYPE, NAME, OP) \
    TYPE CONVERGENT __gencl_reduce_##OP##_##NAME(TYPE x); \
    TYPE CONVERGENT __gencl_scan_##OP##_##NAME(TYPE x); \
    TYPE CONVERGENT __gencl_exclusive_scan_##OP##_##NAME(TYPE x);
NUMBERS(ACROSS_LANES, add)
NUMBERS(ACROSS_LANES, mul)
NUMBERS(ACROSS_LANES, min)
NUMBERS(ACROSS_LANES, max)
INTEGERS(ACROSS_LANES, and)
INTEGERS(ACROSS_LANES, or)
INTEGERS(ACROSS_LANES, xor)

// Relaxed atomics; each returns the value before. Those of 64 bits in local memory are functions of
// atomics64.cl.
#define ATOMIC(TYPE, SPACE, NAME, OP) TYPE __gencl_atomic_##OP##_##SPACE##_##NAME(volatile SPACE TYPE *object, TYPE x);
#define ATOMICS_OF(TYPE, SPACE, NAME) \
    ATOMIC(TYPE, SPACE, NAME, add) ATOMIC(TYPE, SPACE, NAME, sub) ATOMIC(TYPE, SPACE, NAME, or) \
    ATOMIC(TYPE, SPACE, NAME, xor) ATOMIC(TYPE, SPACE, NAME, and) ATOMIC(TYPE, SPACE, NAME, min) \
    ATOMIC(TYPE, SPACE, NAME, max) ATOMIC(TYPE, SPACE, NAME, xchg) \
    TYPE __gencl_atomic_cmp_xchg_##SPACE##_##NAME(volatile SPACE TYPE *object, TYPE expected, TYPE desired);
ATOMICS_OF(int, global, s32)
ATOMICS_OF(uint, global, u32)
ATOMICS_OF(long, global, s64)
ATOMICS_OF(ulong, global, u64)
ATOMICS_OF(int, local, s32)
ATOMICS_OF(uint, local, u32)
ATOMICS_OF(long, local, s64)
ATOMICS_OF(ulong, local, u64)

// A dword of local memory that is 0 when the kernel begins: the lock for atomics that the hardware does not
// have.
local uint *CONST __gencl_local_lock(void);

// Local memory for the functions of a whole work-group: a quadword for each of its sub-groups.
local ulong *CONST __gencl_group_memory(void);

// The MATH unit.
float CONST __gencl_rcp(float x);
float CONST __gencl_rsqrt(float x);
float CONST __gencl_sqrt(float x);
float CONST __gencl_exp2(float x);
float CONST __gencl_log2(float x);
float CONST __gencl_sin(float x);
float CONST __gencl_cos(float x);
float CONST __gencl_pow(float x, float y);
float CONST __gencl_divide(float x, float y);

// Operations that the hardware does not have.
float __gencl_sqrt32_exact(float x);
half __gencl_sqrt16(half x);
double __gencl_sqrt64(double x);
bool __gencl_like_float(double x);

// Defines a function with one operand for every vector size, from the scalar one.
#define VECTORS_1(NAME, TYPE) \
    TYPE##2 OVERLOAD NAME(TYPE##2 x) { return (TYPE##2)(NAME(x.s0), NAME(x.s1)); } \
    TYPE##3 OVERLOAD NAME(TYPE##3 x) { return (TYPE##3)(NAME(x.s0), NAME(x.s1), NAME(x.s2)); } \
    TYPE##4 OVERLOAD NAME(TYPE##4 x) { return (TYPE##4)(NAME(x.lo), NAME(x.hi)); } \
    TYPE##8 OVERLOAD NAME(TYPE##8 x) { return (TYPE##8)(NAME(x.lo), NAME(x.hi)); } \
    TYPE##16 OVERLOAD NAME(TYPE##16 x) { return (TYPE##16)(NAME(x.lo), NAME(x.hi)); }

// The same for two operands.
#define VECTORS_2(NAME, TYPE) \
    TYPE##2 OVERLOAD NAME(TYPE##2 x, TYPE##2 y) { return (TYPE##2)(NAME(x.s0, y.s0), NAME(x.s1, y.s1)); } \
    TYPE##3 OVERLOAD NAME(TYPE##3 x, TYPE##3 y) { \
        return (TYPE##3)(NAME(x.s0, y.s0), NAME(x.s1, y.s1), NAME(x.s2, y.s2)); \
    } \
    TYPE##4 OVERLOAD NAME(TYPE##4 x, TYPE##4 y) { return (TYPE##4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
    TYPE##8 OVERLOAD NAME(TYPE##8 x, TYPE##8 y) { return (TYPE##8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
    TYPE##16 OVERLOAD NAME(TYPE##16 x, TYPE##16 y) { return (TYPE##16)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }

// The same for an operand and an integer.
#define VECTORS_WITH_INT(NAME, TYPE) \
    TYPE##2 OVERLOAD NAME(TYPE##2 x, int2 n) { return (TYPE##2)(NAME(x.s0, n.s0), NAME(x.s1, n.s1)); } \
    TYPE##3 OVERLOAD NAME(TYPE##3 x, int3 n) { \
        return (TYPE##3)(NAME(x.s0, n.s0), NAME(x.s1, n.s1), NAME(x.s2, n.s2)); \
    } \
    TYPE##4 OVERLOAD NAME(TYPE##4 x, int4 n) { return (TYPE##4)(NAME(x.lo, n.lo), NAME(x.hi, n.hi)); } \
    TYPE##8 OVERLOAD NAME(TYPE##8 x, int8 n) { return (TYPE##8)(NAME(x.lo, n.lo), NAME(x.hi, n.hi)); } \
    TYPE##16 OVERLOAD NAME(TYPE##16 x, int16 n) { return (TYPE##16)(NAME(x.lo, n.lo), NAME(x.hi, n.hi)); }

// The same for three operands.
#define VECTORS_3(NAME, TYPE) \
    TYPE##2 OVERLOAD NAME(TYPE##2 x, TYPE##2 y, TYPE##2 z) { \
        return (TYPE##2)(NAME(x.s0, y.s0, z.s0), NAME(x.s1, y.s1, z.s1)); \
    } \
    TYPE##3 OVERLOAD NAME(TYPE##3 x, TYPE##3 y, TYPE##3 z) { \
        return (TYPE##3)(NAME(x.s0, y.s0, z.s0), NAME(x.s1, y.s1, z.s1), NAME(x.s2, y.s2, z.s2)); \
    } \
    VECTORS_3_OF(NAME, TYPE##4) VECTORS_3_OF(NAME, TYPE##8) VECTORS_3_OF(NAME, TYPE##16)
#define VECTORS_3_OF(NAME, VECTOR) \
    VECTOR OVERLOAD NAME(VECTOR x, VECTOR y, VECTOR z) { \
        return (VECTOR)(NAME(x.lo, y.lo, z.lo), NAME(x.hi, y.hi, z.hi)); \
    }

// The same for an operand and a pointer to a second result, in any address space.
#define WITH_SECOND(NAME, TYPE, SECOND) \
    TYPE##2 OVERLOAD NAME(TYPE##2 x, private SECOND##2 *second) { \
        SECOND a, b; \
        TYPE##2 first = (TYPE##2)(NAME(x.s0, &a), NAME(x.s1, &b)); \
        *second = (SECOND##2)(a, b); \
        return first; \
    } \
    TYPE##3 OVERLOAD NAME(TYPE##3 x, private SECOND##3 *second) { \
        SECOND a, b, c; \
        TYPE##3 first = (TYPE##3)(NAME(x.s0, &a), NAME(x.s1, &b), NAME(x.s2, &c)); \
        *second = (SECOND##3)(a, b, c); \
        return first; \
    } \
    SECOND_OF_HALVES(NAME, TYPE##4, SECOND##4, SECOND##2) \
    SECOND_OF_HALVES(NAME, TYPE##8, SECOND##8, SECOND##4) \
    SECOND_OF_HALVES(NAME, TYPE##16, SECOND##16, SECOND##8) \
    SECOND_IN(global, NAME, TYPE, SECOND) \
    SECOND_IN(local, NAME, TYPE, SECOND)
#define SECOND_OF_HALVES(NAME, FIRST, SECOND, HALF) \
    FIRST OVERLOAD NAME(FIRST x, private SECOND *second) { \
        HALF a, b; \
        FIRST first = (FIRST)(NAME(x.lo, &a), NAME(x.hi, &b)); \
        *second = (SECOND)(a, b); \
        return first; \
    }
#define SECOND_IN(SPACE, NAME, TYPE, SECOND) \
    SECOND_IN_SPACE(SPACE, NAME, TYPE, SECOND) \
    SECOND_IN_SPACE(SPACE, NAME, TYPE##2, SECOND##2) \
    SECOND_IN_SPACE(SPACE, NAME, TYPE##3, SECOND##3) \
    SECOND_IN_SPACE(SPACE, NAME, TYPE##4, SECOND##4) \
    SECOND_IN_SPACE(SPACE, NAME, TYPE##8, SECOND##8) \
    SECOND_IN_SPACE(SPACE, NAME, TYPE##16, SECOND##16)
#define SECOND_IN_SPACE(SPACE, NAME, FIRST, SECOND) \
    FIRST OVERLOAD NAME(FIRST x, SPACE SECOND *second) { \
        SECOND result; \
        FIRST first = NAME(x, &result); \
        *second = result; \
        return first; \
    }

// sincos, given sin and cos, in any address space.
#define SINCOS_OF(TYPE, SPACE) \
    TYPE OVERLOAD sincos(TYPE x, SPACE TYPE *cosine) { \
        *cosine = cos(x); \
        return sin(x); \
    }
#define SINCOS_IN(TYPE, SPACE) \
    SINCOS_OF(TYPE, SPACE) SINCOS_OF(TYPE##2, SPACE) SINCOS_OF(TYPE##3, SPACE) \
    SINCOS_OF(TYPE##4, SPACE) SINCOS_OF(TYPE##8, SPACE) SINCOS_OF(TYPE##16, SPACE)
#define SINCOS(TYPE) SINCOS_IN(TYPE, global) SINCOS_IN(TYPE, local) SINCOS_IN(TYPE, private)
