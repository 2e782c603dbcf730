// fails
kernel void ok(global float *x) { x[0] = 1; }
kernel void k(read_only image2d_t image, global float *x) { x[0] = 0; }
// expect
// fails_image.cl: error: kernel k: argument 1: images, samplers and pipes are not supported
