// Swizzles, computed elements, comparisons, select, casts of vectors.
// run 4 4
// buffer int zero 32
// buffer float 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
kernel void vectors(global int *out, global const float4 *in) {
    int i = get_global_id(0);
    float4 x = in[i], y = in[3 - i];
    int4 less = x.wzyx < y;
    float4 picked = select(x, y, less);
    int4 whole = convert_int4(picked * 2.0f);
    char4 small = convert_char4(whole);
    whole[i] += 1000;
    int n = as_int(small.yxwz) + any(less) + all(less) * 2;
    float3 c = cross((float3)(x.xyz), (float3)(y.zyx));
    vstore4(whole, i, out);
    out[16 + i * 4] = n;
    out[17 + i * 4] = dot(x, y) + length(x.xy) * 100;
    out[18 + i * 4] = (int)c.x * 10000 + (int)c.y * 100 + (int)c.z;
    out[19 + i * 4] = (int)shuffle(x, (uint4)(3, i, 0, 1)).y + (int)(x.lo + y.hi).y * 100;
}
// expect
// 1026 28 30 32 18 1020 22 24 18 20 1022 24 26 28 30 1032 505420319 373 -156816 1801 370676247 1059 -156816 1806 370676244 1623 -156816 1811 505420316 2060 -156816 1816
// 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
