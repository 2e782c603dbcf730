/* More private memory than most threads have scratch memory for: WORDS numbers. */
__kernel void large_private(__global const int *src, __global int *dst)
{
    int i = get_global_id(0), l = get_local_id(0);
    int heap[WORDS];
    for (int k = 0; k < WORDS; k++)
        heap[k] = k * 7 + i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int k = 0; k < 64; k++)
        heap[(src[i] + k * 977) % WORDS] += heap[(k * 4111 + l) % WORDS];
    barrier(CLK_GLOBAL_MEM_FENCE);
    int sum = 0;
    for (int k = l % 16; k < WORDS; k += 16)
        sum = sum * 3 + heap[k];
    dst[i] = sum;
}
