// Private arrays with computed indices, structures copied whole, vectors loaded and stored, unaligned and small elements.
// run 8 8
// buffer uint zero 64
// buffer uint iota 64
typedef struct { uchar a; ushort b; uint c; ulong d; uchar4 e; } __attribute__((packed)) Packed;
typedef struct { int a[24]; char b[3]; } Big;
kernel void memory(global uint *out, global const uint *in) {
    int i = get_global_id(0);
    uint table[16];
    for (int j = 0; j < 16; ++j)
        table[j] = in[j] * j;
    Packed p = {i, i * 300, i * 70000, (ulong)i << 33, (uchar4)(i, 1, 2, 3)};
    Packed q[2] = {p, p};
    q[i & 1].c += 5;
    Big big;
    for (int j = 0; j < 24; ++j)
        big.a[j] = j + i;
    for (int j = 0; j < 3; ++j)
        big.b[j] = -j;
    Big copy[2] = {big, big};
    copy[i & 1].a[i] = 77;
    uint8 v = vload8(i, in);
    v.s0 = table[(i * 7) & 15];
    v.s1 = q[i & 1].c + q[1 - (i & 1)].c + q[i & 1].e.x + (uint)(q[i >> 2].d >> 30) + q[0].b;
    v.s2 = copy[i & 1].a[i] + copy[1 - (i & 1)].a[i] + copy[i >> 2].b[i % 3];
    v.s3 = v[i];
    uchar3 small = vload3(i, (global const uchar *)in);
    v.s4 = small.x | small.y << 8 | small.z << 16;
    v.s5 = as_uint(vload2(i, (global const ushort *)in + 1));
    vstore8(v, i, out);
    vstore3((uchar3)(1, 2, 3), 0, (global uchar *)(out + i * 8 + 6) + 1);
}
