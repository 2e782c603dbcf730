/* A filter of 5 x 5 weights; the image's border is repeated. */
__kernel void convolution(__global float *out, __global const float *in, __constant float *weights, int width)
{
    int x = get_global_id(0), y = get_global_id(1), height = get_global_size(1);
    float sum = 0;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++)
            sum += weights[j * 5 + i] * in[clamp(y + j - 2, 0, height - 1) * width + clamp(x + i - 2, 0, width - 1)];
    out[y * width + x] = sum;
}
