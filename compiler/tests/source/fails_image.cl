// Kernels may have images and samplers as arguments, but nothing can be done with them.
// fails
kernel void ok(read_only image2d_t image, sampler_t s, global float *x) { x[0] = 1; }
kernel void k(read_only image2d_t image, sampler_t s, global float4 *x) { x[0] = read_imagef(image, s, (int2)(0)); }
// expect
// fails_image.cl:4:82: error: kernel k: read_imagef is not defined: kernels cannot use images and samplers
