/* An oblique plane through a volume. */
__constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

__kernel void slice(__write_only image2d_t out, __read_only image3d_t in, float depth)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 size = (float2)(get_image_width(out), get_image_height(out));
    float2 p = (convert_float2(at) + 0.5f) / size;
    write_imagef(out, at, read_imagef(in, smooth, (float4)(p, depth + 0.25f * (p.x + p.y), 0)));
}
