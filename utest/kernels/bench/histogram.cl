/* How often each byte occurs. */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram(__global uint *counts, __global const uchar *bytes, uint length)
{
    __local uint own[256];
    uint id = get_local_id(0);
    own[id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < length; i += get_global_size(0))
        atomic_inc(&own[bytes[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own[id])
        atomic_add(&counts[id], own[id]);
}
