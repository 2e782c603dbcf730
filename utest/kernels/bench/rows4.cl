/* Scales rows of float4 to length 1, a row for each work-item. */
__kernel void rows4(__global float4 *out, __global const float4 *in, int length)
{
    int row = get_global_id(0);
    in += row * length;
    out += row * length;
    float sum = 0;
    for (int i = 0; i < length; i++)
        sum += dot(in[i], in[i]);
    float scale = 1.0f / sqrt(sum);
    for (int i = 0; i < length; i++)
        out[i] = in[i] * scale;
}
