// Bit-fields, which clang has as an extension of OpenCL C: layout as in C; unions beside them.
// run 8 8
// buffer uint iota 64
// buffer uint 0xffffffff 0x12345678 0x9abcdef0 0x0f0f0f0f 0xdeadbeef 0x00000001 0x80000000 0x7fffffff 0xcafebabe 0x55555555 0xaaaaaaaa 0x13579bdf 0x2468ace0 0xfedcba98 0x76543210 0x31415926
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
typedef struct { uint a : 3; int b : 13; uint c : 17; ulong d : 40; short e : 5; char f; } Fields;
typedef union { Fields fields; uint words[6]; } Both;
kernel void bit_fields(global uint *out, global const uint *in) {
    uint i = get_global_id(0);
    Both x;
    for (int k = 0; k < 6; k++)
        x.words[k] = in[i + k];
    x.fields.a += i;
    x.fields.b = -x.fields.b + (int)i;
    x.fields.c ^= x.fields.b;
    x.fields.d += (ulong)x.fields.c << 20;
    x.fields.e = x.fields.e >> 1;
    x.fields.f = x.fields.b < 0;
    out[i * 8 + 6] = sizeof(Fields) + x.fields.e + (uint)(x.fields.d >> 17);
    out[i * 8 + 7] = ((global const Fields *)in)[i & 1].b;
    for (int k = 0; k < 6; k++)
        out[i * 8 + k] = x.words[k];
}

// expect
// 0xffff000f 0x12345679 0x24cdef0 0xf000715 0xdeadbeef 0x1 0xa813d 0xffffffff 0x1234a991 0x9abd2bc2 0xcb2f0f0f 0xde01bf01 0x1 0x80000000 0xe5a6 0xfffff7dd 0x9abc2122 0xf0f0b2b 0x915dbeef 0x12 0x80000000 0x7fffffff 0x948be 0xffffffff 0xf0ff112 0xdeac40cd 0xcd00001 0x80010004 0x7fffffff 0xcafebabe 0x20678 0xfffff7dd 0xdead413b 0x826 0x2600000 0x7f00ff00 0xcafebabe 0x55555555 0x13f 0xffffffff 0x2e 0x80000005 0x804fffff 0xca00bdbe 0x55555555 0xaaaaaaaa 0x5f4034 0xfffff7dd 0x80000036 0x7ffffff9 0xca8ebabe 0x55005a75 0xaaaaaaaa 0x13579bdf 0x3ae551 0xffffffff 0x7fff0046 0xcafebab6 0xb55555 0xaa00a5b6 0x13579bdf 0x2468ace0 0x5b006f 0xfffff7dd
// 0xffffffff 0x12345678 0x9abcdef0 0xf0f0f0f 0xdeadbeef 0x1 0x80000000 0x7fffffff 0xcafebabe 0x55555555 0xaaaaaaaa 0x13579bdf 0x2468ace0 0xfedcba98 0x76543210 0x31415926
