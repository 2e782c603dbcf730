// Half floats as bits.
// run 8 8
// buffer uint zero 96
// buffer uint 0x3c00 0xb555 0x7c00 0x0001 0x7bff 0xc100 0x7e00 0x03ff
// buffer float 1.00048828125 -65519.99 1e-8 65520 2.5 -0.3333333 NaN 0.00006
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halves(global uint *out, global const uint *a, global const float *b) {
    int i = get_global_id(0);
    half x = as_half((ushort)a[i]), y = as_half((ushort)a[7 - i]), w;
    private half stored[6];
    vstore_half(b[i], 0, stored);
    vstore_half_rtz(b[i], 1, stored);
    vstore_half_rtp(b[i], 2, stored);
    vstore_half_rtn(b[i], 3, stored);
    global uint *o = out + i * 12;
    o[0] = as_uint(vload2(0, stored));
    o[1] = as_uint(vload2(1, stored));
    o[2] = as_ushort(x + y) | as_ushort(x - y) << 16;
    o[3] = as_ushort(x * y) | as_ushort(fma(x, y, 0.1h)) << 16;
    o[4] = as_ushort(x / y) | as_ushort(sqrt(x)) << 16;
    o[5] = as_ushort(floor(x)) | as_ushort(rint(y)) << 16;
    o[6] = as_ushort(convert_half_rtz(i * 12345)) | as_ushort(convert_half_rtp(i * 12345L)) << 16;
    o[7] = convert_short_sat_rtp(x) & 0xffff | convert_uchar_sat(y) << 16;
    o[8] = as_ushort(fmin(x, y)) | as_ushort(nextafter(x, y)) << 16;
    o[9] = isnan(x) | isinf(x) << 1 | isnormal(x) << 2 | (x < y) << 3 | (x == y) << 4 | signbit(x) << 5;
    o[10] = as_uint(select((half2)(x, y), (half2)(y, 1.0h), (short2)(i << 15, -1)));
    o[11] = as_ushort(modf(x, &w)) | as_ushort(w) << 16;
}
// expect
// 0x3c003c00 0x3c003c01 0x3c003c00 0x2e6703ff 0x3c007401 0x3c00 0x0 0x1 0x3bff03ff 0x4 0x3c003c00 0x3c000000 0xfbfffbff 0xfc00fbff 0x7e007e00 0x7e007e00 0xfe007e00 0x7e00bc00 0x72087207 0x0 0x7e00b555 0x24 0x3c007e00 0x8000b555 0x0 0x1 0x7c007c00 0xfc00fc00 0x7c00fc00 0xc0007c00 0x76087607 0x7fff 0x7bffc100 0x2 0x3c007c00 0x7c000000 0x7bff7c00 0x7bff7c00 0xfbff7bff 0x2ea61bff 0xc000000 0x7bff0000 0x78867885 0xff0001 0x20001 0x8 0x3c007bff 0x1 0x41004100 0x41004100 0x7bff7bff 0x2ea61bff 0x5bff7c00 0x7bff 0x7a087a07 0x7fff 0x7bfe0001 0x4 0x3c007bff 0x7bff0000 0xb555b555 0xb556b555 0xfc007c00 0xfc00fc00 0xfe008000 0x7c00c200 0x7b897b88 0xfffffe 0xc0ffc100 0x2c 0x3c007c00 0xc000b800 0x7e007e00 0x7e007e00 0x7e007e00 0x7e007e00 0x7e007e00 0x80007e00 0x7c007bff 0x0 0x7e00b555 0x1 0x3c007e00 0x7e007e00 0x3ee03ef 0x3ee03ef 0xbc003c00 0x2e6703ff 0x1fff03ff 0x3c000000 0x7c007bff 0x10001 0x40003ff 0x8 0x3c003c00 0x3ff
// 0x3c00 0xb555 0x7c00 0x1 0x7bff 0xc100 0x7e00 0x3ff
// 1.0004883 -65519.99 0.00000001 65520 2.5 -0.3333333 NaN 0.00006
