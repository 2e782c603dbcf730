__kernel void compiler_lower_return2(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int value = i;
    while (value > src[i]) {
        dst[i] = value;
        if (value > 10)
            return;
        value--;
    }
    dst[i] = value + 2;
}
