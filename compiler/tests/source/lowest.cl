// Functions of the lowest numbers, whose negation is not a number of the type, and divisions by them.
// run 4 4
// buffer ulong zero 36
// buffer ulong 0x8000000000000000 0x8000000080000000 0xffffffff80000000 5
kernel void lowest(global ulong *out, global const long *in) {
    int i = get_global_id(0);
    long x = in[i];
    // A shift to the highest bit tells LLVM more than a load.
    long divisor = (long)((ulong)x << 63 | (ulong)(i & 1) << 63);
    out[i * 9] = abs(x);
    out[i * 9 + 1] = abs((int)x) + ((ulong)abs((short)(x >> 16)) << 32);
    out[i * 9 + 2] = divisor == 0 ? 1 : 32 / divisor;
    out[i * 9 + 3] = divisor == 0 ? 1 : 32 % divisor;
    out[i * 9 + 4] = divisor == 0 ? 1 : x / divisor;
    int2 both = as_int2(x);
    out[i * 9 + 5] = as_ulong(abs(both));
    out[i * 9 + 6] = sub_sat(0l, x);
    out[i * 9 + 7] = as_ulong(sub_sat((int2)(0, -1), both));
    out[i * 9 + 8] = as_ulong((uint2)(sub_sat(0, (int)x), sub_sat((short)0, (short)(x >> 16))));
}
// expect
// 0x8000000000000000 0x0 0x1 0x1 0x1 0x8000000000000000 0x7fffffffffffffff 0x7fffffff00000000 0x0 0x7fffffff80000000 0x800080000000 0x0 0x20 0x0 0x8000000080000000 0x7fffffff80000000 0x7fffffff7fffffff 0x7fff7fffffff 0x80000000 0x800080000000 0x1 0x1 0x1 0x180000000 0x80000000 0x7fffffff 0x7fff7fffffff 0x5 0x5 0x0 0x20 0x0 0x5 0xfffffffffffffffb 0xfffffffffffffffb 0xfffffffb
// 0x8000000000000000 0x8000000080000000 0xffffffff80000000 0x5
