/* A jump into the middle of a loop. */
__kernel void compiler_unstructured_branch0(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int k = i % 7;
    int value = src[i];
    if (value >= 0)
        goto inside;
    do {
        value = value / 2 + 1;
    inside:
        value += k;
        k += 3;
    } while (k < 32);
    dst[i] = value;
}
