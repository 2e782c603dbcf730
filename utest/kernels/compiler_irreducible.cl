/* A cycle with two entries: no node dominates the others. */
__kernel void compiler_irreducible(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int value = src[i], turns = 0, trace = 0;
    if (value & 1)
        goto b;
a:
    trace = trace * 3 + 1;
    value += 2;
    if (++turns > 9)
        goto end;
    if (value & 4)
        goto a;
b:
    trace = trace * 3 + 2;
    value -= 3;
    if (++turns > 7)
        goto end;
    if (value & 2)
        goto a;
    if (value & 8)
        goto b;
end:
    dst[i] = trace + value;
}
