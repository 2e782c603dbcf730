#ifndef TYPE
#define TYPE int
#endif

__kernel void work_group_functions(__global const TYPE *in, __global TYPE *out)
{
    int i = get_global_linear_id();
    TYPE x = in[i];
    __global TYPE *result = out + 10 * i;
    result[0] = work_group_reduce_add(x);
    result[1] = work_group_reduce_min(x);
    result[2] = work_group_reduce_max(x);
    result[3] = work_group_scan_inclusive_add(x);
    result[4] = work_group_scan_inclusive_min(x);
    result[5] = work_group_scan_inclusive_max(x);
    result[6] = work_group_scan_exclusive_add(x);
    result[7] = work_group_broadcast(x, get_local_size(0) - 1, get_local_size(1) - 1);
    result[8] = work_group_all(x < (TYPE)90) + 2 * work_group_any(x < (TYPE)10);
    TYPE before = work_group_scan_exclusive_max(x);
    result[9] = get_local_linear_id() == 0 ? x : before;
}
