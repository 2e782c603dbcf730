// Integers that are too large for half floats become infinity, also where few of their bits are used.
// run 8 8
// buffer uint 255 1 0 128 3 2 64 7
// buffer float zero 16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void large_halves(global const uint *in, global float *out) {
    int i = get_global_id(0);
    uint large = (in[i] & 255) << 24;
    out[2 * i] = convert_float(convert_half(large));
    out[2 * i + 1] = convert_float(convert_half(convert_float(large)));
}
// expect
// 0xff 0x1 0x0 0x80 0x3 0x2 0x40 0x7
// inf inf inf inf 0 0 inf inf inf inf inf inf inf inf inf inf
