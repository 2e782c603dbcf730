/* A step of heat conduction on a square; its border is fixed. */
__kernel void stencil2d(__global float *out, __global const float *in, int n)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * n + x;
    float center = in[i];
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        center += 0.2f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] - 4 * center);
    out[i] = center;
}
