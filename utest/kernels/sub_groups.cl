#ifndef TYPE
#define TYPE int
#endif

/* What a work-item knows of its sub-group. */
__kernel void sub_group_ids(__global uint *out)
{
    uint item = get_local_id(1) * get_local_size(0) + get_local_id(0);
    uint group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    __global uint *record = out + (group * get_enqueued_local_size(0) * get_enqueued_local_size(1) + item) * 6;
    record[0] = get_max_sub_group_size();
    record[1] = get_sub_group_size();
    record[2] = get_num_sub_groups();
    record[3] = get_sub_group_id();
    record[4] = get_sub_group_local_id();
    record[5] = get_enqueued_num_sub_groups();
}

__kernel void sub_group_votes(__global const int *in, __global int *out)
{
    int i = get_global_id(0);
    int x = in[i];
    out[4 * i] = sub_group_all(x < 90);
    out[4 * i + 1] = sub_group_any(x < 10);
    /* Only some lanes come here. */
    if (x & 1) {
        out[4 * i + 2] = sub_group_non_uniform_all(x < 50);
        out[4 * i + 3] = popcount(sub_group_ballot(x < 50).x);
    } else {
        out[4 * i + 2] = -1;
        out[4 * i + 3] = sub_group_non_uniform_reduce_add(x);
    }
}

__kernel void sub_group_together(__global const TYPE *in, __global TYPE *out)
{
    int i = get_global_id(0);
    TYPE x = in[i];
    __global TYPE *result = out + 10 * i;
    result[0] = sub_group_reduce_add(x);
    result[1] = sub_group_reduce_min(x);
    result[2] = sub_group_reduce_max(x);
    result[3] = sub_group_scan_inclusive_add(x);
    result[4] = sub_group_scan_inclusive_min(x);
    result[5] = sub_group_scan_inclusive_max(x);
    result[6] = sub_group_scan_exclusive_add(x);
    result[7] = sub_group_broadcast(x, 2);
    result[8] = sub_group_broadcast(x, get_sub_group_size() - 1);
    /* The first lane has the identity, which is another for each type. */
    TYPE before = sub_group_scan_exclusive_max(x);
    result[9] = get_sub_group_local_id() == 0 ? x : before;
}

__kernel void sub_group_shuffles(__global const TYPE *in, __global const uint *lanes, __global TYPE *out)
{
    int i = get_global_id(0);
    TYPE x = in[i];
    __global TYPE *result = out + 5 * i;
    result[0] = intel_sub_group_shuffle(x, lanes[i] % get_sub_group_size());
    result[1] = intel_sub_group_shuffle_xor(x, 5);
    TYPE next = (TYPE)(x + 1);
    result[2] = intel_sub_group_shuffle_down(x, next, lanes[i] % get_max_sub_group_size());
    result[3] = intel_sub_group_shuffle_up(x, next, lanes[i] % get_max_sub_group_size());
    result[4] = intel_sub_group_shuffle((x + (TYPE)2), 3);
}
