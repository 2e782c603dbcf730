/* A Gaussian filter of nine texels: of rows, then of columns. */
__constant sampler_t texels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__constant float weights[9] = { 0.028f, 0.066f, 0.124f, 0.179f, 0.206f, 0.179f, 0.124f, 0.066f, 0.028f };

float4 filtered(__read_only image2d_t in, int2 at, int2 step)
{
    float4 sum = 0;
    for (int k = 0; k < 9; ++k)
        sum += weights[k] * read_imagef(in, texels, at + (k - 4) * step);
    return sum;
}

__kernel void rows(__write_only image2d_t out, __write_only image2d_t between, __read_only image2d_t in)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(between, at, filtered(in, at, (int2)(1, 0)));
}

__kernel void columns(__write_only image2d_t out, __read_only image2d_t between, __read_only image2d_t in)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, at, filtered(between, at, (int2)(0, 1)));
}
