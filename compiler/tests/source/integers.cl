// Integer functions, most of them LLVM intrinsics in the end.
// run 4 4
// buffer uint zero 52
// buffer uint 0 1 0x80000000 0x12345678
kernel void integers(global uint *out, global const uint *in) {
    int i = get_global_id(0);
    uint x = in[i];
    global uint *o = out + i * 13;
    o[0] = clz(x) + (clz((uchar)x) << 8) + (clz((ulong)x << 20) << 16);
    o[1] = popcount(x) + (popcount((ushort)x) << 8) + (popcount((ulong)x * 0x100000001) << 16);
    o[2] = rotate(x, 7u) ^ rotate((ushort)x, (ushort)3);
    o[3] = add_sat(x, 0xf0000000u) + add_sat((int)x, -5);
    o[4] = sub_sat((uchar)x, (uchar)0x80) + sub_sat((long)x, LONG_MAX) + add_sat((ulong)x, ULONG_MAX);
    o[5] = abs((int)x) + abs((char)x) + (uint)abs((long)(int)x);
    o[6] = mul_hi(x, 0x87654321u) + mul_hi((int)x, -77777);
    o[7] = min((int)x, 5) + max(x, 7u) + (uint)min((long)x, -3L);
    o[8] = hadd(x, 3u) + rhadd((int)x, 4);
    o[9] = upsample((ushort)x, (ushort)(x >> 16)) + as_uint(as_uchar4(x).wzyx);
    o[10] = mad24((int)(x & 0xffff), 3, 4) + mul24(x & 0xffff, 5u) + abs_diff((int)x, -1);
    o[11] = (uint)(((long)x * -3) >> 5) + (uint)((ulong)x << (x & 63));
    o[12] = clamp((int)x, -100, 100) + bitselect(x, 0xffffu, 0xf0f0f0f0u) + mad_hi(x, x, 1u);
}
// expect
// 0x400820 0x0 0x0 0xeffffffb 0x0 0x0 0x0 0x4 0x3 0x0 0x5 0x0 0xf0f1 0x2b071f 0x20101 0x88 0xeffffffd 0x1 0x3 0xffffffff 0x5 0x5 0x1010000 0xe 0x1 0xf0f3 0xc0800 0x20001 0x40 0x7fffffff 0x80000000 0x0 0x43b33978 0xfffffffd 0x3 0x8080 0x80000003 0x74000000 0x4000f08d 0xf0103 0x1a080d 0x1a2b8fcb 0x12345672 0x12345678 0x2468ad68 0x9a0b76a 0x1234567a 0x1234567b 0xcece4646 0x12370a3d 0xfe4b17e4 0x3505e39
// 0x0 0x1 0x80000000 0x12345678
