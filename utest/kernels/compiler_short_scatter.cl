__kernel void compiler_short_scatter(__global short *dst, int n)
{
    int i = get_global_id(0);
    dst[n - 1 - i] = (short)(i * 3 - 20);
}
