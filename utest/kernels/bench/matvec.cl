/* y = a * x, a row for each work-item. */
__kernel void matvec(__global float *y, __global const float *a, __global const float *x, int columns)
{
    int row = get_global_id(0);
    float sum = 0;
    for (int i = 0; i < columns; i++)
        sum += a[row * columns + i] * x[i];
    y[row] = sum;
}
