// Integer functions of OpenCL C 2.0.
// options -cl-std=CL3.0
// run 4 4
// buffer uint zero 16
// buffer uint 0 1 0x80000000 0x12345670
kernel void integers(global uint *out, global const uint *in) {
    int i = get_global_id(0);
    uint x = in[i];
    global uint *o = out + i * 4;
    o[0] = ctz(x);
    o[1] = ctz((uchar)x) + (ctz((short)x) << 8);
    o[2] = ctz((ulong)x << 20);
    o[3] = ctz((char3)x).z + (ctz((int2)(7, x)).y << 8);
}
// expect
// 0x20 0x1008 0x40 0x2008 0x0 0x0 0x14 0x0 0x1f 0x1008 0x33 0x1f08 0x4 0x404 0x18 0x404
// 0x0 0x1 0x80000000 0x12345670
