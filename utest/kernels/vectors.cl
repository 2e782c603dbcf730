__kernel void vectors(__global const float4 *a, __global const uchar4 *b, __global float4 *dst, __global int3 *odd, __global const float *packed)
{
    int i = get_global_id(0);
    float4 v = a[i];
    float4 w = convert_float4(b[i]);
    float3 p = vload3(i, packed);
    dst[i] = v.wzyx * w + (float4)(dot(v, w), p);
    int8 t = (int8)(convert_int4(v), convert_int4(w));
    odd[i] = t.s035 + t.s641 * 2;
}
