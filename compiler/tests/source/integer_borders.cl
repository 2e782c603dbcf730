// Reads of integer formats around an image, where code computes the coordinates: by a sampler of the source, and by an
// argument that normalizes coordinates.
// target ivb
// run 8 8
// image int array 2 2 3 iota 48
// sampler 21
// image int 8 1 1 zero 32
kernel void borders(read_only image2d_array_t in, sampler_t given, write_only image1d_t out) {
    const sampler_t fixed = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int i = get_global_id(0);
    int4 texel = read_imagei(in, fixed, (float4)(i * 0.5f - 1, 1.5f, i * 0.5f - 0.5f, 0));
    texel += read_imagei(in, given, (float4)(i * 0.25f - 0.25f, 0.25f, 1, 0)) * 1000;
    write_imagei(out, i, texel);
}
// expect
// 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
// 0 0 0 0 16000 17000 18000 19000 16008 17009 18010 19011 20024 21025 22026 23027 20044 21045 22046 23047 44 45 46 47 0 0 0 0 0 0 0 0
