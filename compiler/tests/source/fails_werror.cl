// options -Werror
// fails
kernel void k(global int *x) { int unused_shift = 1 << 40; x[0] = unused_shift; }
