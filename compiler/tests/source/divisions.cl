// All widths, signed and unsigned; 64 bits are the library's.
// run 6 6
// buffer ulong zero 24
// buffer ulong 100 0xffffffffffffff9c 0x123456789abcdef0 7 0x8000000000000000 0xffffffffffffffff
// buffer ulong 7 7 0x12345 0xfffffffffffffffd 3 0xfffffffffffffffe
kernel void divisions(global long *out, global const long *a, global const long *b) {
    int i = get_global_id(0);
    ulong x = a[i], y = b[i];
    out[i * 4] = a[i] / b[i];
    out[i * 4 + 1] = a[i] % b[i];
    out[i * 4 + 2] = x / y;
    int small = (int)a[i] / (short)b[i];
    uchar tiny = (uchar)x / ((uchar)y | 1);
    out[i * 4 + 3] = x % y + small * 65536 + tiny;
}
// expect
// 0xe 0x2 0xe 0xe0010 0xfffffffffffffff2 0xfffffffffffffffe 0x2492492492492484 0xfffffffffff20016 0x100005b00205 0xa497 0x100005b00205 0x2100a49a 0xfffffffffffffffe 0x1 0x0 0xfffffffffffe0007 0xd555555555555556 0xfffffffffffffffe 0x2aaaaaaaaaaaaaaa 0x2 0x0 0xffffffffffffffff 0x1 0x2
// 0x64 0xffffffffffffff9c 0x123456789abcdef0 0x7 0x8000000000000000 0xffffffffffffffff
// 0x7 0x7 0x12345 0xfffffffffffffffd 0x3 0xfffffffffffffffe
