// Reads of an image: filtered by samplers of the source and of an argument, unfiltered; writes.
// run 8 8
// image float 4 2 1 iota 32
// sampler 16
// image float 8 1 1 zero 32
// buffer float zero 32
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
float4 helper(read_only image2d_t image, sampler_t sampler, float2 at) { return read_imagef(image, sampler, at); }
kernel void images(read_only image2d_t in, sampler_t given, write_only image1d_t out, global float4 *buffer) {
    const sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
    int i = get_global_id(0);
    float4 texel = read_imagef(in, edge, (int2)(i - 2, 1));
    if (i & 1)
        texel += helper(in, linear, (float2)(i / 4.0f, 0.25f)) * 100;
    else
        texel += helper(in, given, (float2)(i / 2, 0)) * 100;
    write_imagef(out, 7 - i, texel);
    buffer[i] = read_imagef(in, (int2)(i & 3, i >> 2));
}
// expect
// 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
// 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
// 1028 1129 1230 1331 1228 1329 1430 1531 228 329 430 531 824 925 1026 1127 1020 1121 1222 1323 416 517 618 719 216 317 418 519 16 117 218 319
