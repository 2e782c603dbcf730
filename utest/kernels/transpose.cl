__kernel void transpose(__global const float *src, __global float *dst, int width, int height)
{
    __local float tile[16][17];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_group_id(0) * 16 + lx, y = get_group_id(1) * 16 + ly;
    tile[ly][lx] = src[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 16 + lx;
    y = get_group_id(0) * 16 + ly;
    dst[y * height + x] = tile[lx][ly];
}
