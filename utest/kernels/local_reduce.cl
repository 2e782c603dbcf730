/* A tree reduction through local memory, with static and argument memory, in a loop with barriers. */
__kernel void local_reduce(__global const int *src, __global int *dst, __local int *extra)
{
    __local int sums[256];
    int l = get_local_id(0), n = get_local_size(0);
    sums[l] = src[get_global_id(0)];
    extra[n - 1 - l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int stride = n / 2; stride > 0; stride /= 2) {
        if (l < stride)
            sums[l] += sums[l + stride];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        dst[get_group_id(0)] = sums[0] + 1000 * extra[0];
}
