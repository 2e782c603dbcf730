__kernel void floats(__global const float *a, __global const float *b, __global float *dst)
{
    int i = get_global_id(0), n = get_global_size(0);
    float x = a[i], y = b[i];
    __global float *d = dst + i;
    d[0 * n] = x + y;
    d[1 * n] = x - y;
    d[2 * n] = x * y;
    d[3 * n] = fma(x, y, 0.75f);
    d[4 * n] = floor(x);
    d[5 * n] = ceil(x);
    d[6 * n] = trunc(x);
    d[7 * n] = rint(x);
    d[8 * n] = fmin(x, y);
    d[9 * n] = fmax(x, y);
    d[10 * n] = fabs(x);
    d[11 * n] = (int)x;
    d[12 * n] = (uint)fabs(x);
    d[13 * n] = (float)(int)(y * 1000.0f);
    d[14 * n] = copysign(x, y);
    d[15 * n] = x < y ? x : -y;
    d[16 * n] = convert_int_sat(x * 1e9f);
    d[17 * n] = convert_uchar_sat(x);
    d[18 * n] = as_float(as_int(x) ^ 0x80000000);
    d[19 * n] = isnan(x) + 2 * isinf(y) + 4 * signbit(x);
}

/* Functions with an error bound in ULP; 2000 is said of the native ones, whose bound is the driver's. */
__kernel void math(__global const float *a, __global const float *b, __global float *dst)
{
    int i = get_global_id(0), n = get_global_size(0);
    float x = a[i], y = b[i], p = fabs(x) + 0.001f;
    __global float *d = dst + i;
    d[0 * n] = x / y;
    d[1 * n] = sqrt(p);
    d[2 * n] = rsqrt(p);
    d[3 * n] = exp(x * 0.1f);
    d[4 * n] = log(p);
    d[5 * n] = sin(x);
    d[6 * n] = cos(x);
    d[7 * n] = tan(x);
    d[8 * n] = pow(p, y * 0.1f);
    d[9 * n] = atan2(x, y);
    d[10 * n] = exp2(y);
    d[11 * n] = log2(p);
    d[12 * n] = asin(x * 0.01f);
    d[13 * n] = tanh(x * 0.1f);
    d[14 * n] = cbrt(x);
    d[15 * n] = hypot(x, y);
    d[16 * n] = fmod(x, y);
    d[17 * n] = native_exp2(y);
    d[18 * n] = native_sqrt(p);
    d[19 * n] = native_recip(y);
    d[20 * n] = native_log2(p);
}
