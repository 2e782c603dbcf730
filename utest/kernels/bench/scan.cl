/* Inclusive sums of all numbers: of each block, of the blocks' sums, and both together. */
uint scan_group(__local uint *part, uint value)
{
    uint id = get_local_id(0);
    part[id] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < 256; step *= 2) {
        uint other = id >= step ? part[id - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[id] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return part[id];
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan_blocks(__global uint *out, __global const uint *in, __global uint *sums, uint blocks)
{
    __local uint part[256];
    uint i = get_global_id(0);
    uint sum = scan_group(part, in[i]);
    out[i] = sum;
    if (get_local_id(0) == 255)
        sums[get_group_id(0)] = sum;
}

/* Launched with one work-group. */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan_sums(__global uint *out, __global const uint *in, __global uint *sums, uint blocks)
{
    __local uint part[256];
    uint before = 0;
    for (uint first = 0; first < blocks; first += 256) {
        uint i = first + get_local_id(0);
        uint sum = scan_group(part, i < blocks ? sums[i] : 0);
        if (i < blocks)
            sums[i] = before + sum;
        before += part[255];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void add_sums(__global uint *out, __global const uint *in, __global uint *sums, uint blocks)
{
    uint block = get_group_id(0);
    if (block > 0)
        out[get_global_id(0)] += sums[block - 1];
}
