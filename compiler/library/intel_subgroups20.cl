// cl_intel_subgroups, _char, _short, _long. Declared in intel_subgroups.h.

#include "gencl.h"

// Defined for every vector size, from its halves.
#define BY_HALVES(DO, TYPE) DO(TYPE##2, lo, hi) DO(TYPE##4, lo, hi) DO(TYPE##8, lo, hi) DO(TYPE##16, lo, hi) DO(TYPE##3, s01, s2)

// The lane is taken modulo the lanes of the thread.
#define SHUFFLE(TYPE) \
    TYPE OVERLOAD CONVERGENT intel_sub_group_shuffle(TYPE x, uint lane) { return sub_group_shuffle(x, lane); }
#define SHUFFLE_VECTOR(TYPE, LOW, HIGH) \
    TYPE OVERLOAD CONVERGENT intel_sub_group_shuffle(TYPE x, uint lane) { \
        return (TYPE)(intel_sub_group_shuffle(x.LOW, lane), intel_sub_group_shuffle(x.HIGH, lane)); \
    }
#define RELATIVE(TYPE) \
    TYPE OVERLOAD CONVERGENT intel_sub_group_shuffle_xor(TYPE x, uint mask) { \
        return intel_sub_group_shuffle(x, __gencl_lane_id() ^ mask); \
    } \
    TYPE OVERLOAD CONVERGENT intel_sub_group_shuffle_down(TYPE current, TYPE next, uint delta) { \
        uint lane = __gencl_lane_id() + delta; \
        TYPE a = intel_sub_group_shuffle(current, lane), b = intel_sub_group_shuffle(next, lane); \
        return lane < __gencl_simd_width() ? a : b; \
    } \
    TYPE OVERLOAD CONVERGENT intel_sub_group_shuffle_up(TYPE previous, TYPE current, uint delta) { \
        uint lane = __gencl_lane_id() - delta; \
        TYPE a = intel_sub_group_shuffle(current, lane), b = intel_sub_group_shuffle(previous, lane); \
        return delta <= __gencl_lane_id() ? a : b; \
    }
#define VECTOR_RELATIVE(TYPE, LOW, HIGH) \
    TYPE OVERLOAD CONVERGENT intel_sub_group_shuffle_xor(TYPE x, uint mask) { \
        return intel_sub_group_shuffle(x, __gencl_lane_id() ^ mask); \
    } \
    TYPE OVERLOAD CONVERGENT intel_sub_group_shuffle_down(TYPE current, TYPE next, uint delta) { \
        return (TYPE)(intel_sub_group_shuffle_down(current.LOW, next.LOW, delta), \
                      intel_sub_group_shuffle_down(current.HIGH, next.HIGH, delta)); \
    } \
    TYPE OVERLOAD CONVERGENT intel_sub_group_shuffle_up(TYPE previous, TYPE current, uint delta) { \
        return (TYPE)(intel_sub_group_shuffle_up(previous.LOW, current.LOW, delta), \
                      intel_sub_group_shuffle_up(previous.HIGH, current.HIGH, delta)); \
    }
#define SCALARS(TYPE) SHUFFLE(TYPE) RELATIVE(TYPE)
#define SHUFFLES(TYPE) SCALARS(TYPE) BY_HALVES(SHUFFLE_VECTOR, TYPE) BY_HALVES(VECTOR_RELATIVE, TYPE)

SHUFFLES(char)
SHUFFLES(uchar)
SHUFFLES(short)
SHUFFLES(ushort)
SHUFFLES(int)
SHUFFLES(uint)
SHUFFLES(float)
SCALARS(long)
SCALARS(ulong)
SCALARS(half)
SCALARS(double)

// Blocks: the first element of all lanes, then the second of all. The address is uniform.
#define BLOCK(TYPE, SUFFIX) \
    TYPE OVERLOAD CONVERGENT intel_sub_group_block_read##SUFFIX(const global TYPE *from) { \
        return from[__gencl_lane_id()]; \
    } \
    void OVERLOAD CONVERGENT intel_sub_group_block_write##SUFFIX(global TYPE *to, TYPE x) { \
        to[__gencl_lane_id()] = x; \
    }
#define BLOCKS(TYPE, SUFFIX, COUNT, HALF) \
    TYPE##COUNT OVERLOAD CONVERGENT intel_sub_group_block_read##SUFFIX##COUNT(const global TYPE *from) { \
        return (TYPE##COUNT)(intel_sub_group_block_read##SUFFIX##HALF(from), \
                             intel_sub_group_block_read##SUFFIX##HALF(from + COUNT / 2 * __gencl_simd_width())); \
    } \
    void OVERLOAD CONVERGENT intel_sub_group_block_write##SUFFIX##COUNT(global TYPE *to, TYPE##COUNT x) { \
        intel_sub_group_block_write##SUFFIX##HALF(to, x.lo); \
        intel_sub_group_block_write##SUFFIX##HALF(to + COUNT / 2 * __gencl_simd_width(), x.hi); \
    }
#define BLOCKS_OF(TYPE, SUFFIX) \
    BLOCK(TYPE, SUFFIX) BLOCKS(TYPE, SUFFIX, 2, ) BLOCKS(TYPE, SUFFIX, 4, 2) BLOCKS(TYPE, SUFFIX, 8, 4)

BLOCKS_OF(uint, )
BLOCKS_OF(uint, _ui)
BLOCKS_OF(ushort, _us)
BLOCKS(ushort, _us, 16, 8)
BLOCKS_OF(uchar, _uc)
BLOCKS(uchar, _uc, 16, 8)
BLOCKS_OF(ulong, _ul)

// Types that cl_khr_subgroups does not have.
#define TOGETHER(TYPE, OP) \
    TYPE OVERLOAD CONVERGENT intel_sub_group_reduce_##OP(TYPE x) { return sub_group_reduce_##OP(x); } \
    TYPE OVERLOAD CONVERGENT intel_sub_group_scan_inclusive_##OP(TYPE x) { \
        return sub_group_scan_inclusive_##OP(x); \
    } \
    TYPE OVERLOAD CONVERGENT intel_sub_group_scan_exclusive_##OP(TYPE x) { \
        return sub_group_scan_exclusive_##OP(x); \
    }
#define SMALL(TYPE) \
    TYPE OVERLOAD CONVERGENT intel_sub_group_broadcast(TYPE x, uint lane) { return sub_group_broadcast(x, lane); } \
    TOGETHER(TYPE, add) TOGETHER(TYPE, min) TOGETHER(TYPE, max)
SMALL(char)
SMALL(uchar)
SMALL(short)
SMALL(ushort)
