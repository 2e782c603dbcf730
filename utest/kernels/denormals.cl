// Sums, products and copies of floats, some of them denormal.
kernel void denormals(global const float *a, global const float *b, global float *sum, global float *product,
                      global float *copy, global int *bits)
{
    size_t i = get_global_id(0);
    sum[i] = a[i] + b[i];
    product[i] = a[i] * b[i];
    copy[i] = a[i];
    bits[i] = as_int(a[i]) + 1;
}
