// Makes Intel's compiler emit many kinds of instructions: see intel_code.rs.

__kernel void arithmetic(__global const float *a, __global const int *b, __global float *out, int n)
{
    int i = get_global_id(0);
    float x = a[i];
    int y = b[i];
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        if (y & 1) {
            sum += native_sin(x) * native_rsqrt(x + (float)k);
        } else if (k % 3 == y) {
            sum = fma(sum, x, 2.5f);
            if (sum > 1000.0f)
                break;
        } else {
            continue;
        }
        y = (y * 1103515245 + 12345) / (k + 7);
        x = clamp(fabs(x) - sum, -1.0f, 1.0f);
    }
    out[i] = sum + (float)popcount(y) + (float)clz(y) + (float)mul_hi(y, n) + select(x, sum, y > 3);
}

__kernel void types(__global const uchar *a, __global const short *b, __global long *out,
                    __global ulong *more, __global half *halves)
{
    int i = get_global_id(0);
    long wide = (long)a[i] * b[i] + ((long)b[i] << (a[i] & 31));
    out[i] = wide / (b[i] | 1) + (wide >> 7) + rotate(wide, 13L);
    more[i] = (ulong)abs_diff(wide, out[i]) + add_sat(more[i], (ulong)wide);
    vstore_half((float)a[i] * 0.25f, i, halves);
}

__kernel void doubles(__global const double *a, __global double *out)
{
    int i = get_global_id(0);
    out[i] = a[i] * a[i] + 1.0 / a[i];
}

__kernel void local_memory(__global int *data, __global volatile int *counter, __local int *scratch)
{
    int l = get_local_id(0);
    scratch[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (l < step)
            scratch[l] += scratch[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    atomic_max((volatile __local int *)&scratch[1], l);
    if (l == 0) {
        atomic_add(counter, scratch[0]);
        atomic_cmpxchg(counter, 3, scratch[1]);
    }
}

__kernel void private_memory(__global int *out, int n)
{
    int table[128];
    for (int k = 0; k < 128; ++k)
        table[k] = k * n;
    int i = get_global_id(0);
    int at = i & 127;
    for (int k = 0; k < n; ++k)
        at = (table[at] + k) & 127;
    char bytes[16];
    for (int k = 0; k < 16; ++k)
        bytes[k] = (char)(at + k);
    out[i] = table[at] + bytes[at & 15];
}

__kernel void images(__read_only image2d_t in, __write_only image2d_t out)
{
    const sampler_t sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, at, read_imagef(in, sampler, convert_float2(at) + 0.5f));
}
