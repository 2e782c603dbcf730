/* Kernels of the benchmarks. */
__kernel void empty(__global int *unused)
{
}

__kernel void mandelbrot(__global int *counts, int width, int limit)
{
    int px = get_global_id(0), py = get_global_id(1);
    float cx = -2.2f + 3.0f * px / width, cy = -1.5f + 3.0f * py / width, x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        n++;
    }
    counts[py * width + px] = n;
}

__kernel void nbody(__global const float4 *bodies, __global float4 *forces, int count)
{
    int i = get_global_id(0);
    float4 own = bodies[i];
    float3 sum = 0;
    for (int j = 0; j < count; j++) {
        float4 other = bodies[j];
        float3 d = other.xyz - own.xyz;
        float inverse = native_rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
        sum += d * (other.w * inverse * inverse * inverse);
    }
    forces[i] = (float4)(sum, own.w);
}
