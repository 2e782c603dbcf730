__kernel void compiler_lower_return1(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    dst[i] = 100 + i;
    if (i < 11 && (src[i] > 0 || src[i + 1] < 2))
        return;
    dst[i] = src[i];
}
