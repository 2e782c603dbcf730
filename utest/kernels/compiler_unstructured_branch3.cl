/* A forward jump over a join and a backward jump out of it. */
__kernel void compiler_unstructured_branch3(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int value = src[i];
    int turns = 0;
again:
    if (value >= 2)
        goto first;
    value += 3;
    if (src[i + 1] < 2)
        goto second;
    value--;
first:
    value -= 2;
    if (++turns < 4 && (value & 1))
        goto again;
second:
    dst[i] = value + 100 * turns;
}
