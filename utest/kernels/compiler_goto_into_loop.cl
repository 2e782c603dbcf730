/* Two entries into a loop nest, from outside at different depths. */
__kernel void compiler_goto_into_loop(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int value = src[i], outer = 0, inner = 0;
    if (value < -20)
        goto outer_body;
    if (value & 1)
        goto inner_body;
    for (; outer < 4; outer++) {
    outer_body:
        value += outer;
        for (inner = 0; inner < 3; inner++) {
            value ^= inner;
        inner_body:
            value += 5;
            if (value % 11 == 0)
                goto out;
        }
    }
out:
    dst[i] = value + 1000 * outer + 100 * inner;
}
