/* Kernels of the benchmarks that read and write images. */
__constant sampler_t texels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
__constant sampler_t bordered = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

/* The mean of (2r+1)^2 texels. */
__kernel void boxblur(__read_only image2d_t in, __write_only image2d_t out, int r)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0;
    for (int y = -r; y <= r; ++y)
        for (int x = -r; x <= r; ++x)
            sum += read_imagef(in, texels, at + (int2)(x, y));
    write_imagef(out, at, sum / (float)((2 * r + 1) * (2 * r + 1)));
}

/* Another size, interpolated. */
__kernel void resize(__read_only image2d_t in, __write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 size = (float2)(get_image_width(out), get_image_height(out));
    write_imagef(out, at, read_imagef(in, smooth, (convert_float2(at) + 0.5f) / size));
}

/* Rotated around its centre, with a transparent border. */
__kernel void rotate_image(__read_only image2d_t in, __write_only image2d_t out, float sine, float cosine)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 centre = (float2)(get_image_width(in), get_image_height(in)) * 0.5f;
    float2 p = convert_float2(at) + 0.5f - centre;
    float2 from = (float2)(cosine * p.x - sine * p.y, sine * p.x + cosine * p.y) + centre;
    write_imagef(out, at, read_imagef(in, bordered, from));
}

/* An oblique plane through a volume. */
__kernel void slice(__read_only image3d_t in, __write_only image2d_t out, float depth)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 size = (float2)(get_image_width(out), get_image_height(out));
    float2 p = (convert_float2(at) + 0.5f) / size;
    write_imagef(out, at, read_imagef(in, smooth, (float4)(p, depth + 0.25f * (p.x + p.y), 0)));
}

/* One direction of a Gaussian filter of nine texels. */
__kernel void gauss(__read_only image2d_t in, __write_only image2d_t out, int dx, int dy)
{
    const float weights[9] = { 0.028f, 0.066f, 0.124f, 0.179f, 0.206f, 0.179f, 0.124f, 0.066f, 0.028f };
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0;
    for (int k = 0; k < 9; ++k)
        sum += weights[k] * read_imagef(in, texels, at + (k - 4) * (int2)(dx, dy));
    write_imagef(out, at, sum);
}
