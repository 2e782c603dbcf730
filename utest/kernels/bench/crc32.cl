/* Check sums of messages, a message for each work-item, by a table of 256 entries. */
__kernel void crc32(__global uint *sums, __global const uchar *messages, __constant uint *table, uint length)
{
    uint message = get_global_id(0);
    uint sum = ~0u;
    for (uint i = 0; i < length; i++)
        sum = sum >> 8 ^ table[(sum ^ messages[message * length + i]) & 255];
    sums[message] = ~sum;
}
