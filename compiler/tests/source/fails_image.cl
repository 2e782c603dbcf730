// fails
kernel void ok(global float *x) { x[0] = 1; }
kernel void k(read_only image2d_t image, global float *x) { x[0] = 0; }
