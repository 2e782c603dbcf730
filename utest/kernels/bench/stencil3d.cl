/* A step of heat conduction in a cube; its border is fixed. */
__kernel void stencil3d(__global float *out, __global const float *in, int n)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), i = (z * n + y) * n + x;
    float center = in[i];
    if (x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1)
        center += 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n] - 6 * center);
    out[i] = center;
}
