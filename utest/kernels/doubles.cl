#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* Results that IEEE 754 gives to the bit. */
__kernel void doubles(__global const double *a, __global const double *b, __global double *dst, double third)
{
    int i = get_global_id(0), n = get_global_size(0);
    double x = a[i], y = b[i], whole;
    __global double *d = dst + i;
    d[0 * n] = x + y;
    d[1 * n] = x - y;
    d[2 * n] = x * y;
    d[3 * n] = x / y;
    d[4 * n] = fma(x, y, third);
    d[5 * n] = sqrt(x);
    d[6 * n] = floor(x);
    d[7 * n] = ceil(x);
    d[8 * n] = trunc(x);
    d[9 * n] = rint(x);
    d[10 * n] = round(x);
    d[11 * n] = fmin(x, y);
    d[12 * n] = fmax(x, y);
    d[13 * n] = fabs(x);
    d[14 * n] = copysign(x, y);
    d[15 * n] = x < y ? x : -y;
    d[16 * n] = (double)(float)x;
    d[17 * n] = isnan(x) + 2 * isinf(y) + 4 * signbit(x) + 8 * isnormal(y) + 16 * isfinite(x);
    d[18 * n] = fmod(x, y);
    d[19 * n] = ldexp(x, 3);
    d[20 * n] = modf(x, &whole);
    d[21 * n] = whole;
    d[22 * n] = fma(third, third, third);
}

/* Doubles in local memory, in vectors, structures and tables. */
struct pair { double first; int number; double second; };
__constant double table[4] = {0.25, -1.0e300, 4.9e-324, 1.0};

__kernel void places(__global const double4 *a, __global double *dst, __local double *shared, struct pair p)
{
    int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    double4 v = a[i].wzyx * (double4)(p.first, p.second, l, table[i & 3]);
    shared[l] = v.x + v.y;
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore3((double3)(shared[n - 1 - l], v.z, v.w + p.number), i, dst);
}

/* Doubles in private arrays: the same in all lanes, and not. */
__kernel void arrays(__global double *dst)
{
    int i = get_global_id(0);
    double same[8], own[8];
    for (int k = 0; k < 8; ++k) {
        same[(k + i) & 7] = k * 0.5;
        own[(k + i) & 7] = i - k * 0.25;
    }
    dst[2 * i] = same[3 * i & 7];
    dst[2 * i + 1] = own[5 * i & 7];
}

/* Operations of doubles across a sub-group. */
#if __OPENCL_C_VERSION__ >= 300
__kernel void groups(__global const double *a, __global double *dst)
{
    int i = get_global_id(0);
    double x = a[i];
    dst[4 * i] = sub_group_reduce_add(x);
    dst[4 * i + 1] = sub_group_scan_inclusive_max(x);
    dst[4 * i + 2] = sub_group_scan_exclusive_add(x);
    dst[4 * i + 3] = sub_group_broadcast(x, 5);
}
#endif
