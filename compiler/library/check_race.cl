// Who a work-item is, for checks for data races (eu/src/message/race.rs describes these).

#include "gencl.h"

// The work-group, linear.
uint __gencl_check_group(void) {
    uint row = __gencl_group_id(2) * __gencl_num_groups(1) + __gencl_group_id(1);
    return row * __gencl_num_groups(0) + __gencl_group_id(0);
}

// The work-item in its group, linear.
uint __gencl_check_item(void) {
    uint line = __gencl_local_id(2) * __gencl_local_size(1) + __gencl_local_id(1);
    return line * __gencl_local_size(0) + __gencl_local_id(0);
}
