/* More values alive than there are registers. */
__kernel void pressure(__global const int *src, __global int *dst)
{
    int i = get_global_id(0), n = get_global_size(0);
    int v[160];
#pragma unroll
    for (int k = 0; k < 160; k++)
        v[k] = src[(i + k) % n] * (k + 1);
    int sum = 0;
    for (int turn = 0; turn < 3; turn++) {
#pragma unroll
        for (int k = 0; k < 160; k++)
            v[k] ^= v[(k * 37 + 11) % 160] + turn;
        if ((v[i & 1] & 3) == 1)
            sum += v[5];
    }
#pragma unroll
    for (int k = 0; k < 160; k++)
        sum = sum * 5 + v[k];
    dst[i] = sum;
}
