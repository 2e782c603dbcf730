// Work-item functions (OpenCL C 1.2, 6.12.1). A dimension out of range returns the values of the
// specification: 0 for ids and offsets, 1 for sizes.

#include "gencl.h"

#define ID(NAME, SOURCE) \
    size_t OVERLOAD NAME(uint dimension) { \
        switch (dimension) { \
        case 0: return SOURCE(0); \
        case 1: return SOURCE(1); \
        case 2: return SOURCE(2); \
        default: return 0; \
        } \
    }
#define SIZE(NAME, SOURCE) \
    size_t OVERLOAD NAME(uint dimension) { \
        switch (dimension) { \
        case 0: return SOURCE(0); \
        case 1: return SOURCE(1); \
        case 2: return SOURCE(2); \
        default: return 1; \
        } \
    }

// Groups of one walker have one size, but a launch whose last groups are smaller takes several walkers: the
// distance between groups is the enqueued size.
#define GLOBAL_ID(DIMENSION) \
    (__gencl_group_id(DIMENSION) * __gencl_enqueued_local_size(DIMENSION) + __gencl_local_id(DIMENSION) + \
     __gencl_global_offset(DIMENSION))

uint OVERLOAD get_work_dim(void) { return __gencl_work_dim(); }
ID(get_global_id, GLOBAL_ID)
ID(get_local_id, __gencl_local_id)
ID(get_group_id, __gencl_group_id)
ID(get_global_offset, __gencl_global_offset)
SIZE(get_global_size, __gencl_global_size)
SIZE(get_local_size, __gencl_local_size)
SIZE(get_num_groups, __gencl_num_groups)
