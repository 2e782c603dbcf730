/* Adds a series of sines of halves. */
__kernel void waves(__global float *y, __global const half *x, float a, int terms)
{
    int i = get_global_id(0);
    float phase = vload_half(i, x), sum = 0;
    for (int k = 1; k <= terms; k++)
        sum += native_sin(k * phase) / k;
    y[i] += a * sum;
}
