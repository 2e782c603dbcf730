// As wide.cl, where the part is the upper half: a shift of 256 bits.
// run 4 4
// buffer uint zero 16
// buffer uint 0x04030201 0x18171615 0x2c2b2a29 0x8f8e8d8c 0xffffffff 0x80000000 0x7fffffff 0x12345678
// value uint 1
kernel void wide_shift(global int *out, global const int *in, uint first) {
    uint i = get_global_id(0);
    // The same bytes twice.
    long4 all = i > first ? vload4(0, (global const long *)in) : 3;
    int4 sum = 1;
    if (i) {
        sum = sum + (vload4(1, in) ^ convert_int4(all));
        if (i > 2)
            sum.s3 = convert_int(*(global const long *)in >> (in[4] & 15));
    }
    vstore4(sum, i, out);
}
// expect
// 0x1 0x1 0x1 0x1 0xfffffffd 0x80000004 0x7ffffffd 0x1234567c 0xfbfcfdff 0xac2b2a2a 0x80000001 0x6dcba988 0xfbfcfdff 0xac2b2a2a 0x80000001 0x2c2a0806
// 0x4030201 0x18171615 0x2c2b2a29 0x8f8e8d8c 0xffffffff 0x80000000 0x7fffffff 0x12345678
