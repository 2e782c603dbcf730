/* Integers that are not 32 bits wide, one result after the other. */
__kernel void integers_wide(__global const long *a, __global const long *b, __global ulong *dst)
{
    int i = get_global_id(0), n = get_global_size(0);
    long x = a[i], y = b[i];
    ulong ux = x, uy = y;
    __global ulong *d = dst + i;
    long safe = y == 0 || (x == LONG_MIN && y == -1) ? 3 : y;
    d[0 * n] = x + y;
    d[1 * n] = x - y;
    d[2 * n] = x * y;
    d[3 * n] = x / safe;
    d[4 * n] = x % safe;
    d[5 * n] = ux / (ulong)safe;
    d[6 * n] = ux % (ulong)safe;
    d[7 * n] = x << (y & 63);
    d[8 * n] = x >> (y & 63);
    d[9 * n] = ux >> (y & 63);
    d[10 * n] = (x & y) ^ (x | ~y);
    d[11 * n] = min(x, y);
    d[12 * n] = max(ux, uy);
    d[13 * n] = mul_hi(x, y);
    d[14 * n] = mul_hi(ux, uy);
    d[15 * n] = clz(x) + popcount(y);
    d[16 * n] = rotate(x, y);
    d[17 * n] = (x < y) + 2 * (ux < uy) + 4 * (x <= y) + 8 * (x == y) + 16 * (ux >= uy);
    d[18 * n] = (int)x + (ulong)(uint)y;
    d[19 * n] = add_sat(x, y);
    d[20 * n] = sub_sat(ux, uy);
    d[21 * n] = convert_int_sat(x) + (long)convert_uint_sat(y);
}

__kernel void integers_narrow(__global const short *a, __global const short *b, __global const char *c,
                              __global ushort *dst)
{
    int i = get_global_id(0), n = get_global_size(0);
    short x = a[i], y = b[i];
    ushort ux = x, uy = y;
    char s = c[i];
    uchar us = s;
    __global ushort *d = dst + i;
    d[0 * n] = x * y + s;
    d[1 * n] = x / (y == 0 ? 7 : y);
    d[2 * n] = ux % (uy == 0 ? 7 : uy);
    d[3 * n] = (short)(x << (y & 15));
    d[4 * n] = x >> (y & 15);
    d[5 * n] = ux >> (us & 15);
    d[6 * n] = add_sat(x, y);
    d[7 * n] = (uchar)sub_sat(us, (uchar)y);
    d[8 * n] = min(x, y) ^ max(ux, uy);
    d[9 * n] = convert_char_sat(x);
    d[10 * n] = convert_uchar_sat(y);
    d[11 * n] = (uchar)(s * 3) + (uchar)rotate(us, (uchar)5);
    d[12 * n] = mul_hi(x, y) + clz(ux);
    d[13 * n] = (s < (char)x) + 2 * (us > (uchar)y) + 4 * (x == y);
    d[14 * n] = hadd(x, y) - rhadd(ux, uy);
    d[15 * n] = (ushort)abs(s) + (ushort)abs_diff(x, y);
}
