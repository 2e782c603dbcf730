__kernel void compiler_if_else(__global const int *src, __global int *dst)
{
    size_t i = get_global_id(0);
    int value = src[i];
    if (value >= 0) {
        dst[i] = value + 3;
        value = 1;
    } else {
        dst[i] = value * 2;
        value = 2;
    }
    if (dst[i] > 5)
        dst[i] += value;
    else
        dst[i] -= 10 * value;
}
