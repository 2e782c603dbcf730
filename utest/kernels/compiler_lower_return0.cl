__kernel void compiler_lower_return0(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    dst[i] = i;
    if (src[i] > 0)
        return;
    dst[i] = src[i] - 7;
}
