/* 32-bit integer arithmetic, one result after the other. */
__kernel void integers(__global const int *a, __global const int *b, __global uint *dst)
{
    int i = get_global_id(0), n = get_global_size(0);
    int x = a[i], y = b[i];
    uint ux = x, uy = y;
    __global uint *d = dst + i;
    int nonzero = y == 0 || (x == (int)0x80000000 && y == -1) ? 3 : y;
    d[0 * n] = x + y;
    d[1 * n] = x - y;
    d[2 * n] = x * y;
    d[3 * n] = x / nonzero;
    d[4 * n] = x % nonzero;
    d[5 * n] = ux / (uint)nonzero;
    d[6 * n] = ux % (uint)nonzero;
    d[7 * n] = x << (y & 31);
    d[8 * n] = x >> (y & 31);
    d[9 * n] = ux >> (y & 31);
    d[10 * n] = (x & y) ^ (x | ~y);
    d[11 * n] = min(x, y);
    d[12 * n] = max(ux, uy);
    d[13 * n] = abs(x);
    d[14 * n] = mul_hi(x, y);
    d[15 * n] = mul_hi(ux, uy);
    d[16 * n] = clz(x);
    d[17 * n] = popcount(x);
    d[18 * n] = rotate(x, y);
    d[19 * n] = add_sat(x, y);
    d[20 * n] = sub_sat(ux, uy);
    d[21 * n] = hadd(x, y);
    d[22 * n] = rhadd(ux, uy);
    d[23 * n] = mad24(x & 0xffff, y & 0xff, 5);
    d[24 * n] = (x < y) + 2 * (ux < uy) + 4 * (x <= y) + 8 * (x == y) + 16 * (ux >= uy);
    d[25 * n] = (char)x + (short)y + (uchar)x * 3 + (ushort)y;
    d[26 * n] = (uint)((long)x * y >> 13) ^ (uint)((ulong)ux + ((ulong)uy << 7) >> 5);
    d[27 * n] = select(x, y, x < 0);
}
