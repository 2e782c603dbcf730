/* Through a tile in local memory, which has a column more than it needs, against bank conflicts. */
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void transpose(__global float *out, __global const float *in, int n)
{
    __local float tile[16][17];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_group_id(0) * 16, row = get_group_id(1) * 16;
    tile[y][x] = in[(row + y) * n + column + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(column + y) * n + row + x] = tile[x][y];
}
