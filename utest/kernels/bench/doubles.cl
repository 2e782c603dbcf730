/* The larger root of a x^2 + b x - c. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void doubles(__global double *roots, __global const double *a, __global const double *b,
                      __global const double *c)
{
    int i = get_global_id(0);
    roots[i] = (sqrt(b[i] * b[i] + 4 * a[i] * c[i]) - b[i]) / (2 * a[i]);
}
