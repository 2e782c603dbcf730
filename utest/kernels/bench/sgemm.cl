/* c = a * b, square matrices, without tiles. */
__kernel void sgemm(__global float *c, __global const float *a, __global const float *b, int n)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
