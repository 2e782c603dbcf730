/* An image rotated around its centre, with a transparent border. */
__constant sampler_t bordered = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

__kernel void rotate_image(__write_only image2d_t out, __read_only image2d_t in, float sine, float cosine)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 centre = (float2)(get_image_width(in), get_image_height(in)) * 0.5f;
    float2 p = convert_float2(at) + 0.5f - centre;
    float2 from = (float2)(cosine * p.x - sine * p.y, sine * p.x + cosine * p.y) + centre;
    write_imagef(out, at, read_imagef(in, bordered, from));
}
