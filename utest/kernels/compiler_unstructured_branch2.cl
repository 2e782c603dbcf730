/* Three overlapping forward jumps. */
__kernel void compiler_unstructured_branch2(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int value = src[i];
    dst[i] = value;
    if (value < 0)
        goto first;
    dst[i] = 1;
    if (value < 4)
        goto third;
    dst[i]++;
    if (src[i + 1] <= 2)
        goto second;
first:
    dst[i] -= 2;
second:
    dst[i] += 2;
third:
    dst[i] *= 3;
}
