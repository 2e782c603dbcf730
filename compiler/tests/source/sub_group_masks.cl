// Functions of ballots and masks count the lanes up to the largest sub-group, in the last one with fewer work-items too.
// run 13 13
// buffer uint zero 13
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
kernel void sub_group_masks(global uint *out) {
    uint lane = get_sub_group_local_id(), size = get_max_sub_group_size();
    uint4 all = (uint4)(~0u);
    uint result = sub_group_ballot_bit_count(all) == size;
    result |= (sub_group_ballot_find_msb(all) == size - 1) << 1;
    result |= (sub_group_ballot_find_lsb((uint4)(1u << (size - 1), 1, 1, 1)) == size - 1) << 2;
    result |= (sub_group_ballot_inclusive_scan(all) == lane + 1) << 3;
    result |= (sub_group_ballot_exclusive_scan(all) == lane) << 4;
    result |= (popcount(get_sub_group_ge_mask().x) == size - lane) << 5;
    result |= (popcount(get_sub_group_gt_mask().x) == size - lane - 1) << 6;
    result |= (popcount(get_sub_group_le_mask().x) == lane + 1) << 7;
    result |= (popcount(get_sub_group_lt_mask().x) == lane) << 8;
    result |= (get_sub_group_eq_mask().x == 1u << lane) << 9;
    result |= (popcount(sub_group_ballot(1).x) == get_sub_group_size()) << 10;
    out[get_global_id(0)] = result;
}
// expect
// 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff 0x7ff
