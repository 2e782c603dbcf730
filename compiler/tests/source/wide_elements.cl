// LLVM makes elements of 128 bits of a vector whose lower half is read as another vector, too.
// run 4 4
// buffer uint zero 8
// buffer uint 0x04030201 0x18171615 0x2c2b2a29 0x8f8e8d8c 0xffffffff 0x80000000 0x7fffffff 0x12345678
typedef union { ulong4 whole; short8 parts; } U;
kernel void wide_elements(global uint *out, global const U *in) {
    uint i = get_global_id(0);
    ulong all = in->whole[i];
    short part = in->parts[i + 2];
    out[i] = (uint)all ^ (uint)(all >> 32);
    out[4 + i] = (ushort)part;
}
// expect
// 0x1c141414 0xa3a5a7a5 0x7fffffff 0x6dcba987 0x1615 0x1817 0x2a29 0x2c2b
// 0x4030201 0x18171615 0x2c2b2a29 0x8f8e8d8c 0xffffffff 0x80000000 0x7fffffff 0x12345678
