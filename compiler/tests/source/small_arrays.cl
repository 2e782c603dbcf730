// Small private arrays are vectors in registers, whatever indexes them: constants at the beginning, all element types, fills, indices that differ between lanes.
// run 8 8
// buffer uint zero 64
// buffer uint 3 1 4 1 5 9 2 6
kernel void small_arrays(global uint *out, global const uint *in) {
    uint i = get_global_id(0);
    int counts[8] = {0};
    uint table[5] = {11, 22, 33, 44, 55};
    uchar bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    short words[3] = {-1, -2, -3};
    float reals[4] = {0.5f, 1.5f, 2.5f, 3.5f};
    ulong longs[4];
    struct { ushort a; ushort b; } pairs[4];
    for (uint k = 0; k < 8; ++k) {
        counts[in[k] & 7] += k + i;
        bytes[(in[k] + i) & 7] ^= bytes[k];
        table[(i + in[k]) % 5] += in[(i + k) & 7];
    }
    for (uint k = 0; k < in[i]; ++k) {
        words[k % 3] -= words[(k + i) % 3];
        reals[(k + i) & 3] += reals[k & 3];
        longs[k & 3] = k < 4 ? k : longs[(k + 1) & 3] << 32 | k;
        pairs[(k * i) & 3].b = k;
        pairs[(k * i) & 3].a = i;
    }
    out[i * 8] = counts[i];
    out[i * 8 + 1] = table[(i * 3) % 5];
    out[i * 8 + 2] = bytes[i] | bytes[7 - i] << 8;
    out[i * 8 + 3] = words[i % 3];
    out[i * 8 + 4] = as_uint(reals[i & 3]);
    out[i * 8 + 5] = longs[0];
    out[i * 8 + 6] = longs[0] >> 32;
    out[i * 8 + 7] = pairs[0].a << 16 | pairs[0].b;
}

// expect
// 0x0 0x10 0x801 0x0 0x3f800000 0x0 0x0 0x2 0xc 0x32 0x302 0xfffffffe 0x40000000 0x0 0x0 0x10000 0x8 0x21 0x703 0x1 0x40400000 0x0 0x0 0x20002 0x3 0x42 0x504 0x0 0x40800000 0x0 0x0 0x30000 0x6 0x26 0x405 0x5 0x40000000 0x4 0x1 0x40004 0x9 0xc 0x606 0x6 0x42280000 0x8 0x5 0x50008 0xd 0x31 0x307 0x0 0x40400000 0x0 0x0 0x60000 0x0 0x1c 0x308 0x5 0x40c00000 0x4 0x1 0x70004
// 0x3 0x1 0x4 0x1 0x5 0x9 0x2 0x6
