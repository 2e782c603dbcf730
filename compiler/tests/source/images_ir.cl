// Images of one to three dimensions and arrays, properties, dead channels, accesses that are never merged.
// ir
// options -cl-std=CL3.0
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void kinds(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_array_t c, read_only image3d_t d,
                  read_only image1d_buffer_t e, read_only image2d_depth_t f, write_only image3d_t g, int s) {
    uint4 sum = read_imageui(a, s) + read_imageui(b, edge, (int2)(s, 1)) + read_imageui(c, edge, (float4)(s, 2, 3, 4)) +
                read_imageui(d, edge, (int4)(s)) + read_imageui(e, s) + (uint)read_imagef(f, edge, (int2)(s)) +
                (uint4)(get_image_width(a), get_image_array_size(b), get_image_depth(g), get_image_channel_order(e));
    write_imageui(g, (int4)(s), sum);
}
kernel void either(read_only image2d_t a, read_only image2d_t b, global float *out, int s) {
    out[0] = s > 3 ? read_imagef(a, edge, (int2)(s)).y : read_imagef(b, edge, (int2)(s)).y;
}
