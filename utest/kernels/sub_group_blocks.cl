__kernel void sub_group_blocks(__global uint *in, __global uint *out)
{
    uint width = get_max_sub_group_size();
    uint sub_group = get_group_id(0) * get_num_sub_groups() + get_sub_group_id();
    __global uint *from = in + 16 * width * sub_group;
    __global uint *to = out + 16 * width * sub_group;
    uint8 eight = intel_sub_group_block_read8(from);
    uint4 four = intel_sub_group_block_read4(from + 8 * width);
    uint2 two = intel_sub_group_block_read2(from + 12 * width);
    uint one = intel_sub_group_block_read(from + 14 * width + 4);
    intel_sub_group_block_write8(to, eight.s76543210);
    intel_sub_group_block_write4(to + 8 * width, four.s3210);
    intel_sub_group_block_write2(to + 12 * width, two.s10);
    intel_sub_group_block_write(to + 14 * width, one);
    ulong wide = intel_sub_group_block_read_ul((__global ulong *)from);
    intel_sub_group_block_write_us((__global ushort *)(to + 15 * width), (ushort)(wide >> 32));
    ushort2 short2 = intel_sub_group_block_read_us2((__global ushort *)from);
    intel_sub_group_block_write_us((__global ushort *)(to + 15 * width) + width, short2.s1);
}
