#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* Results that are rounded once. */
__kernel void halves(__global const half *a, __global const half *b, __global half *dst, half third)
{
    int i = get_global_id(0), n = get_global_size(0);
    half x = a[i], y = b[i];
    __global half *d = dst + i;
    d[0 * n] = x + y;
    d[1 * n] = x - y;
    d[2 * n] = x * y;
    d[3 * n] = fma(x, y, third);
    d[4 * n] = sqrt(x);
    d[5 * n] = floor(x);
    d[6 * n] = ceil(x);
    d[7 * n] = trunc(x);
    d[8 * n] = rint(x);
    d[9 * n] = fmin(x, y);
    d[10 * n] = fmax(x, y);
    d[11 * n] = fabs(x);
    d[12 * n] = copysign(x, y);
    d[13 * n] = x < y ? x : -y;
    d[14 * n] = (half)(float)x;
    d[15 * n] = (half)(isnan(x) + 2 * isinf(y) + 4 * signbit(x) + 8 * isnormal(y) + 16 * isfinite(x));
    d[16 * n] = fmod(x, y);
}

/* Half floats in memory without arithmetic on them. */
__kernel void stored(__global const float *a, __global const double *b, __global half *dst, __local half *shared)
{
    int i = get_global_id(0), l = get_local_id(0), n = get_global_size(0);
    vstore_half(a[i], i, dst);
    vstore_half_rte(a[i], n + i, dst);
    vstore_half_rtz(a[i], 2 * n + i, dst);
    vstore_half_rtp(a[i], 3 * n + i, dst);
    vstore_half_rtn(a[i], 4 * n + i, dst);
    vstore_half(b[i], 5 * n + i, dst);
    vstore_half_rte(b[i], 6 * n + i, dst);
    vstore_half_rtz(b[i], 7 * n + i, dst);
    vstore_half_rtp(b[i], 8 * n + i, dst);
    vstore_half_rtn(b[i], 9 * n + i, dst);
    vstore_half(a[i], l, shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    /* A float from a half float is exact, so this is what was stored there. */
    vstore_half(vload_half(l, shared), 10 * n + i, dst);
    if (i % 4 == 0)
        vstore_half4(vload_half4(i / 4, dst + 1), i / 4, dst + 11 * n);
    if (i % 4 == 0)
        vstorea_half3_rtz(vload3(0, a + i), i / 4, dst + 12 * n);
}
