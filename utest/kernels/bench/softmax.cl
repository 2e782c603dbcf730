/* The softmax of the rows of a matrix, a row for each work-item. */
__kernel void softmax(__global float *out, __global const float *in, int columns)
{
    int first = get_global_id(0) * columns;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < columns; i++)
        most = fmax(most, in[first + i]);
    for (int i = 0; i < columns; i++)
        sum += native_exp(in[first + i] - most);
    for (int i = 0; i < columns; i++)
        out[first + i] = native_exp(in[first + i] - most) / sum;
}
