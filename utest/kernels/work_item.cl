/* Everything that a work-item can ask about itself, one record of 8 x 3 + 1 numbers each. */
__kernel void work_item(__global uint *out)
{
    size_t index = 0;
    for (int d = 2; d >= 0; d--)
        index = index * get_global_size(d) + (get_global_id(d) - get_global_offset(d));
    __global uint *record = out + index * 25;
    for (int d = 0; d < 3; d++) {
        record[d * 8 + 0] = get_global_id(d);
        record[d * 8 + 1] = get_local_id(d);
        record[d * 8 + 2] = get_group_id(d);
        record[d * 8 + 3] = get_global_size(d);
        record[d * 8 + 4] = get_local_size(d);
        record[d * 8 + 5] = get_num_groups(d);
        record[d * 8 + 6] = get_global_offset(d);
        record[d * 8 + 7] = get_global_id(d + 3);
    }
    record[24] = get_work_dim();
}
