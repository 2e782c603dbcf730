/* What a counter that is the same for all lanes held in the round in which each of them left the loop. */
__kernel void compiler_loop_value(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    uint x = src[i];
    int fuel = 30;
    for (;;) {
        if (fuel-- <= 0)
            break;
        x = x * 5 + 3;
        if ((x & 28) == 8)
            break;
    }
    while (fuel-- > 0 && (src[i + 1] & 3) != 1)
        x += 7;
    dst[i] = (int)x ^ fuel;
}
