/* Each work-item walks its own way through the first elements, and stops when it wants. */
__kernel void compiler_gather_loop(__global const int *src, __global int *dst)
{
    int i = get_global_id(0), fuel = 40, sum = 0;
    uint at = (uint)src[i] & 15;
    while (fuel-- > 0) {
        int v = src[at];
        at = (at * 3 + v) & 15;
        if (v > sum)
            continue;
        sum += v - src[at];
        if ((v & 7) == 3)
            break;
    }
    dst[i] = sum * 64 + fuel;
}
