/* Private memory with indices that the compiler can't know. */
__kernel void private_array(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int heap[40];
    for (int k = 0; k < 40; k++)
        heap[k] = k * i;
    for (int k = 0; k < 20; k++)
        heap[(src[i] + k * 7) % 40] += heap[(k * 11 + i) % 40];
    int sum = 0;
    for (int k = 0; k < 40; k++)
        sum = sum * 3 + heap[k];
    dst[i] = sum;
}
