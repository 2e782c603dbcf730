// What the compiler itself understands: the translation to Gen IR turns calls of these into instructions.
// Dimensions and flags are constants after inlining, or the translation reports an error.

#define CONST __attribute__((const))

// Work-items. Sizes and ids are 32 bits wide: the runtime refuses launches beyond that.
uint CONST __gencl_local_id(uint dimension);
uint CONST __gencl_group_id(uint dimension);
uint CONST __gencl_local_size(uint dimension);
uint CONST __gencl_enqueued_local_size(uint dimension);
uint CONST __gencl_num_groups(uint dimension);
uint CONST __gencl_global_size(uint dimension);
uint CONST __gencl_global_offset(uint dimension);
uint CONST __gencl_work_dim(void);

// Synchronisation; `flags` as barrier() takes them.
void __attribute__((convergent)) __gencl_barrier(uint flags);
void __gencl_fence(uint flags);

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

#define OVERLOAD __attribute__((overloadable))

// A function of one float for every vector size, by way of the scalar one.
#define VECTORS_1(NAME) \
    float2 OVERLOAD NAME(float2 x) { return (float2)(NAME(x.s0), NAME(x.s1)); } \
    float3 OVERLOAD NAME(float3 x) { return (float3)(NAME(x.s0), NAME(x.s1), NAME(x.s2)); } \
    float4 OVERLOAD NAME(float4 x) { return (float4)(NAME(x.lo), NAME(x.hi)); } \
    float8 OVERLOAD NAME(float8 x) { return (float8)(NAME(x.lo), NAME(x.hi)); } \
    float16 OVERLOAD NAME(float16 x) { return (float16)(NAME(x.lo), NAME(x.hi)); }

// The same for two floats.
#define VECTORS_2(NAME) \
    float2 OVERLOAD NAME(float2 x, float2 y) { return (float2)(NAME(x.s0, y.s0), NAME(x.s1, y.s1)); } \
    float3 OVERLOAD NAME(float3 x, float3 y) { \
        return (float3)(NAME(x.s0, y.s0), NAME(x.s1, y.s1), NAME(x.s2, y.s2)); \
    } \
    float4 OVERLOAD NAME(float4 x, float4 y) { return (float4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
    float8 OVERLOAD NAME(float8 x, float8 y) { return (float8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
    float16 OVERLOAD NAME(float16 x, float16 y) { return (float16)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }
