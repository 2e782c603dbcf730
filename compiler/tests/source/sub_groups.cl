// Functions across work-items, whose results do not depend on the width of a sub-group.
// options -cl-std=CL3.0
// run 24 12
// buffer int iota 24
// buffer int zero 168
kernel void across(global int *in, global int *out) {
    int i = get_global_id(0), x = in[i];
    global int *o = out + 7 * i;
    // All sub-groups of the group together.
    local int sum;
    if (get_local_id(0) == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int mine = sub_group_reduce_add(x);
    if (sub_group_elect())
        atomic_fetch_add_explicit((local atomic_int *)&sum, mine, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    o[0] = sum;
    o[1] = get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id();
    // A neighbour's value, of lanes in pairs.
    o[2] = intel_sub_group_shuffle_xor(x, 1);
    o[3] = sub_group_scan_inclusive_add(x) - sub_group_scan_exclusive_add(x);
    // Only one of four lanes is here: the sub-groups of 8 and 16 lanes agree on the rest of a division.
    if ((x & 3) == 1)
        o[4] = sub_group_non_uniform_reduce_max(x & 3) + sub_group_any(x & 2);
    o[5] = work_group_scan_exclusive_add(x);
    o[6] = work_group_broadcast(x, 5);
}
// expect
// 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
// 66 0 1 0 0 0 5 66 1 0 1 1 0 5 66 2 3 2 0 1 5 66 3 2 3 0 3 5 66 4 5 4 0 6 5 66 5 4 5 1 10 5 66 6 7 6 0 15 5 66 7 6 7 0 21 5 66 8 9 8 0 28 5 66 9 8 9 1 36 5 66 10 11 10 0 45 5 66 11 10 11 0 55 5 210 0 13 12 0 0 17 210 1 12 13 1 12 17 210 2 15 14 0 25 17 210 3 14 15 0 39 17 210 4 17 16 0 54 17 210 5 16 17 1 70 17 210 6 19 18 0 87 17 210 7 18 19 0 105 17 210 8 21 20 0 124 17 210 9 20 21 1 144 17 210 10 23 22 0 165 17 210 11 22 23 0 187 17
