// Work-item functions that came with OpenCL C 2.0 (3.0, 6.15.1).

#include "gencl.h"

size_t OVERLOAD get_enqueued_local_size(uint dimension) {
    switch (dimension) {
    case 0: return __gencl_enqueued_local_size(0);
    case 1: return __gencl_enqueued_local_size(1);
    case 2: return __gencl_enqueued_local_size(2);
    default: return 1;
    }
}

size_t OVERLOAD get_local_linear_id(void) {
    return (__gencl_local_id(2) * __gencl_local_size(1) + __gencl_local_id(1)) * __gencl_local_size(0) +
           __gencl_local_id(0);
}

size_t OVERLOAD get_global_linear_id(void) {
    uint x = __gencl_group_id(0) * __gencl_enqueued_local_size(0) + __gencl_local_id(0);
    uint y = __gencl_group_id(1) * __gencl_enqueued_local_size(1) + __gencl_local_id(1);
    uint z = __gencl_group_id(2) * __gencl_enqueued_local_size(2) + __gencl_local_id(2);
    return ((ulong)z * __gencl_global_size(1) + y) * __gencl_global_size(0) + x;
}
