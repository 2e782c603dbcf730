// Which image and which sampler is known when the program is compiled.
// fails
kernel void k(read_only image2d_t a, read_only image2d_t b, sampler_t s, global float4 *x) {
    x[0] = read_imagef(x[1].x > 0 ? a : b, s, (int2)(0));
}
// expect
// fails_image.cl:4:12: error: kernel k: images that are chosen at run time are not supported
