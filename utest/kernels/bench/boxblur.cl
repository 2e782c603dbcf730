/* The mean of (2r+1)^2 texels. */
__constant sampler_t texels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void boxblur(__write_only image2d_t out, __read_only image2d_t in, int r)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0;
    for (int y = -r; y <= r; ++y)
        for (int x = -r; x <= r; ++x)
            sum += read_imagef(in, texels, at + (int2)(x, y));
    write_imagef(out, at, sum / (float)((2 * r + 1) * (2 * r + 1)));
}
