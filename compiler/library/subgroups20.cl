// Sub-groups: cl_khr_subgroups (OpenCL C 3.0, 6.15.19) and its extensions cl_khr_subgroup_*. A sub-group is a
// thread. Inactive lanes take part in no function, so each function is also its non-uniform form.

#include "gencl.h"

// Of async.cl: work-items of the group.
uint __gencl_items(void);

uint OVERLOAD get_max_sub_group_size(void) { return __gencl_simd_width(); }
uint OVERLOAD get_sub_group_id(void) { return __gencl_sub_group_id(); }
uint OVERLOAD get_sub_group_local_id(void) { return __gencl_lane_id(); }

uint OVERLOAD get_sub_group_size(void) {
    return min(__gencl_simd_width(), __gencl_items() - __gencl_sub_group_id() * __gencl_simd_width());
}

uint OVERLOAD get_num_sub_groups(void) { return (__gencl_items() + __gencl_simd_width() - 1) / __gencl_simd_width(); }

uint OVERLOAD get_enqueued_num_sub_groups(void) {
    uint enqueued =
        __gencl_enqueued_local_size(0) * __gencl_enqueued_local_size(1) * __gencl_enqueued_local_size(2);
    return (enqueued + __gencl_simd_width() - 1) / __gencl_simd_width();
}

void OVERLOAD CONVERGENT sub_group_barrier(cl_mem_fence_flags flags) { __gencl_sub_group_barrier(flags); }
void OVERLOAD CONVERGENT sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
    __gencl_sub_group_barrier(flags);
}

// Votes.
#define VOTES(PREFIX) \
    int OVERLOAD CONVERGENT PREFIX##_all(int x) { return __gencl_ballot(!x) == 0; } \
    int OVERLOAD CONVERGENT PREFIX##_any(int x) { return __gencl_ballot(x) != 0; }
VOTES(sub_group)
VOTES(sub_group_non_uniform)

int OVERLOAD CONVERGENT sub_group_elect(void) { return ctz(__gencl_ballot(1)) == __gencl_lane_id(); }

// A value of another lane, by the size of its type.
#define OF_LANE(TYPE, SIZE, UNSIGNED) \
    TYPE OVERLOAD CONVERGENT __gencl_of_lane(TYPE x, uint lane) { \
        return as_##TYPE(__gencl_shuffle_##SIZE(as_##UNSIGNED(x), lane)); \
    }
OF_LANE(char, u8, uchar)
OF_LANE(uchar, u8, uchar)
OF_LANE(short, u16, ushort)
OF_LANE(ushort, u16, ushort)
OF_LANE(int, u32, uint)
OF_LANE(uint, u32, uint)
OF_LANE(long, u64, ulong)
OF_LANE(ulong, u64, ulong)
OF_LANE(half, u16, ushort)
OF_LANE(float, u32, uint)
OF_LANE(double, u64, ulong)

#define SHUFFLES(TYPE, NAME, UNUSED) \
    TYPE OVERLOAD CONVERGENT sub_group_broadcast(TYPE x, uint lane) { return __gencl_of_lane(x, lane); } \
    TYPE OVERLOAD CONVERGENT sub_group_non_uniform_broadcast(TYPE x, uint lane) { return __gencl_of_lane(x, lane); } \
    TYPE OVERLOAD CONVERGENT sub_group_broadcast_first(TYPE x) { return __gencl_of_lane(x, ctz(__gencl_ballot(1))); } \
    TYPE OVERLOAD CONVERGENT sub_group_shuffle(TYPE x, uint lane) { return __gencl_of_lane(x, lane); } \
    TYPE OVERLOAD CONVERGENT sub_group_shuffle_xor(TYPE x, uint mask) { \
        return __gencl_of_lane(x, __gencl_lane_id() ^ mask); \
    } \
    TYPE OVERLOAD CONVERGENT sub_group_shuffle_up(TYPE x, uint delta) { \
        return __gencl_of_lane(x, __gencl_lane_id() - delta); \
    } \
    TYPE OVERLOAD CONVERGENT sub_group_shuffle_down(TYPE x, uint delta) { \
        return __gencl_of_lane(x, __gencl_lane_id() + delta); \
    } \
    TYPE OVERLOAD CONVERGENT sub_group_rotate(TYPE x, int delta) { \
        return __gencl_of_lane(x, (__gencl_lane_id() + delta) % get_sub_group_size()); \
    } \
    TYPE OVERLOAD CONVERGENT sub_group_clustered_rotate(TYPE x, int delta, uint cluster) { \
        uint lane = __gencl_lane_id(); \
        return __gencl_of_lane(x, (lane & -cluster) | ((lane + delta) & (cluster - 1))); \
    } \
    int OVERLOAD CONVERGENT sub_group_non_uniform_all_equal(TYPE x) { \
        return sub_group_all(x == __gencl_of_lane(x, ctz(__gencl_ballot(1)))); \
    }
NUMBERS(SHUFFLES, )

// Broadcasts of vectors: cl_khr_subgroup_extended_types, cl_khr_subgroup_ballot.
#define BROADCAST_VECTORS(TYPE, NAME, FUNCTION) \
    TYPE##2 OVERLOAD CONVERGENT FUNCTION(TYPE##2 x, uint lane) { \
        return (TYPE##2)(__gencl_of_lane(x.s0, lane), __gencl_of_lane(x.s1, lane)); \
    } \
    TYPE##3 OVERLOAD CONVERGENT FUNCTION(TYPE##3 x, uint lane) { \
        return (TYPE##3)(FUNCTION(x.s01, lane), __gencl_of_lane(x.s2, lane)); \
    } \
    TYPE##4 OVERLOAD CONVERGENT FUNCTION(TYPE##4 x, uint lane) { \
        return (TYPE##4)(FUNCTION(x.lo, lane), FUNCTION(x.hi, lane)); \
    } \
    TYPE##8 OVERLOAD CONVERGENT FUNCTION(TYPE##8 x, uint lane) { \
        return (TYPE##8)(FUNCTION(x.lo, lane), FUNCTION(x.hi, lane)); \
    } \
    TYPE##16 OVERLOAD CONVERGENT FUNCTION(TYPE##16 x, uint lane) { \
        return (TYPE##16)(FUNCTION(x.lo, lane), FUNCTION(x.hi, lane)); \
    }
NUMBERS(BROADCAST_VECTORS, sub_group_broadcast)
NUMBERS(BROADCAST_VECTORS, sub_group_non_uniform_broadcast)

// Reductions and scans.
#define TOGETHER(TYPE, NAME, PREFIX, OP) \
    TYPE OVERLOAD CONVERGENT PREFIX##_reduce_##OP(TYPE x) { return __gencl_reduce_##OP##_##NAME(x); } \
    TYPE OVERLOAD CONVERGENT PREFIX##_scan_inclusive_##OP(TYPE x) { return __gencl_scan_##OP##_##NAME(x); } \
    TYPE OVERLOAD CONVERGENT PREFIX##_scan_exclusive_##OP(TYPE x) { \
        return __gencl_exclusive_scan_##OP##_##NAME(x); \
    }
#define CLUSTERED(TYPE, NAME, OP, PUT) \
    TYPE OVERLOAD CONVERGENT sub_group_clustered_reduce_##OP(TYPE x, uint cluster) { \
        for (uint distance = 1; distance < cluster; distance *= 2) { \
            TYPE other = __gencl_of_lane(x, __gencl_lane_id() ^ distance); \
            x = __gencl_ballot(1) >> (__gencl_lane_id() ^ distance) & 1 ? PUT(x, other) : x; \
        } \
        return x; \
    }
#define PUT_ADD(A, B) ((A) + (B))
#define PUT_MUL(A, B) ((A) * (B))
#define PUT_AND(A, B) ((A) & (B))
#define PUT_OR(A, B) ((A) | (B))
#define PUT_XOR(A, B) ((A) ^ (B))
#define PUT_LOGICAL_XOR(A, B) (!(A) != !(B))
#define FMIN(A, B) fmin(A, B)
#define FMAX(A, B) fmax(A, B)

NUMBERS(TOGETHER, sub_group, add)
NUMBERS(TOGETHER, sub_group, min)
NUMBERS(TOGETHER, sub_group, max)

#define OPERATION(TYPES, OP, PUT) TYPES(TOGETHER, sub_group_non_uniform, OP) TYPES(CLUSTERED, OP, PUT)
OPERATION(NUMBERS, add, PUT_ADD)
OPERATION(NUMBERS, mul, PUT_MUL)
OPERATION(INTEGERS, min, min)
OPERATION(INTEGERS, max, max)
OPERATION(FLOATS, min, FMIN)
OPERATION(FLOATS, max, FMAX)
OPERATION(INTEGERS, and, PUT_AND)
OPERATION(INTEGERS, or, PUT_OR)
OPERATION(INTEGERS, xor, PUT_XOR)

#define LOGICAL(WORD, OP, SOURCE) \
    int OVERLOAD CONVERGENT sub_group_non_uniform_reduce_##WORD(int x) { return __gencl_reduce_##OP##_s32(x != 0); } \
    int OVERLOAD CONVERGENT sub_group_non_uniform_scan_inclusive_##WORD(int x) { \
        return __gencl_scan_##OP##_s32(x != 0); \
    } \
    int OVERLOAD CONVERGENT sub_group_non_uniform_scan_exclusive_##WORD(int x) { \
        return __gencl_exclusive_scan_##OP##_s32(x != 0) & 1; \
    } \
    int OVERLOAD CONVERGENT sub_group_clustered_reduce_##WORD(int x, uint cluster) { \
        return sub_group_clustered_reduce_##OP((int)(x != 0), cluster); \
    }
LOGICAL(logical_and, and, )
LOGICAL(logical_or, or, )
LOGICAL(logical_xor, xor, )

// Ballots. No sub-group has more than 32 lanes.
uint4 OVERLOAD CONVERGENT sub_group_ballot(int x) { return (uint4)(__gencl_ballot(x), 0, 0, 0); }
int OVERLOAD sub_group_inverse_ballot(uint4 ballot) { return ballot.x >> __gencl_lane_id() & 1; }
int OVERLOAD sub_group_ballot_bit_extract(uint4 ballot, uint lane) { return lane < 32 && ballot.x >> lane & 1; }

// Masks have bits up to the largest sub-group size of the launch, also in smaller sub-groups.
uint __gencl_lanes(void) { return ~0u >> (32 - get_max_sub_group_size()); }
uint __gencl_lanes_before(void) { return (1u << __gencl_lane_id()) - 1; }

uint OVERLOAD sub_group_ballot_bit_count(uint4 ballot) { return popcount(ballot.x & __gencl_lanes()); }
uint OVERLOAD sub_group_ballot_inclusive_scan(uint4 ballot) {
    return popcount(ballot.x & (__gencl_lanes_before() << 1 | 1));
}
uint OVERLOAD sub_group_ballot_exclusive_scan(uint4 ballot) { return popcount(ballot.x & __gencl_lanes_before()); }
uint OVERLOAD sub_group_ballot_find_lsb(uint4 ballot) { return ctz(ballot.x & __gencl_lanes()); }
uint OVERLOAD sub_group_ballot_find_msb(uint4 ballot) { return 31 - clz(ballot.x & __gencl_lanes()); }

uint4 OVERLOAD get_sub_group_eq_mask(void) { return (uint4)(1u << __gencl_lane_id(), 0, 0, 0); }
uint4 OVERLOAD get_sub_group_ge_mask(void) { return (uint4)(__gencl_lanes() & ~__gencl_lanes_before(), 0, 0, 0); }
uint4 OVERLOAD get_sub_group_gt_mask(void) { return (uint4)(__gencl_lanes() & ~__gencl_lanes_before() << 1, 0, 0, 0); }
uint4 OVERLOAD get_sub_group_le_mask(void) { return (uint4)(__gencl_lanes_before() << 1 | 1, 0, 0, 0); }
uint4 OVERLOAD get_sub_group_lt_mask(void) { return (uint4)(__gencl_lanes_before(), 0, 0, 0); }
