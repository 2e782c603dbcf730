/* Everything that a work-item can ask about itself, one record of 7 x 3 + 1 numbers each. */
__kernel void work_item(__global uint *out)
{
    size_t index = 0;
    for (int d = 2; d >= 0; d--)
        index = index * get_global_size(d) + (get_global_id(d) - get_global_offset(d));
    __global uint *record = out + index * 22;
    for (int d = 0; d < 3; d++) {
        record[d * 7 + 0] = get_global_id(d);
        record[d * 7 + 1] = get_local_id(d);
        record[d * 7 + 2] = get_group_id(d);
        record[d * 7 + 3] = get_global_size(d);
        record[d * 7 + 4] = get_local_size(d);
        record[d * 7 + 5] = get_num_groups(d);
        record[d * 7 + 6] = get_global_offset(d);
    }
    record[21] = get_work_dim();
}

/* The answers for dimensions that do not exist. */
__kernel void work_item_beyond(__global uint *out)
{
    for (int d = 3; d < 6; d++) {
        __global uint *record = out + (d - 3) * 7;
        record[0] = get_global_id(d);
        record[1] = get_local_id(d);
        record[2] = get_group_id(d);
        record[3] = get_global_size(d);
        record[4] = get_local_size(d);
        record[5] = get_num_groups(d);
        record[6] = get_global_offset(d);
    }
}
